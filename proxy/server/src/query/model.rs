//! What people and tools see of invocations, as JSON: the answers of `/holdfast/…` on the admin
//! listener, which the CLI reads back with the same types. Points in time are RFC 3339 in UTC with
//! milliseconds; fields that have no value are absent. Never holds whole payloads, only previews.

mod ask;
mod schedule;

pub use ask::{Action, Answer, Answered, Ask, AskStatus, Asks, Late};
pub use schedule::{
    CatchUp, Overlap, Plan, Run, RunStatus, Schedule, ScheduleDetail, ScheduleTrouble, Schedules,
    Upcoming,
};

use holdfast_machine::{id::InvocationId, time::Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where an invocation stands, in the words of the CLI, the UI and SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Waits for the lock of its object.
    Pending,
    /// Waits for its start time.
    Scheduled,
    /// May run; waits for a place among the running attempts.
    Ready,
    /// An attempt is talking to the service.
    Running,
    /// The last attempt failed; the next one has a time.
    BackingOff,
    /// Waits for something that it awaits; no attempt is held.
    Suspended,
    /// Waits for a person to resume it.
    Paused,
    Completed,
}

/// Answer of `GET /holdfast/invocations`: newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocations {
    pub invocations: Vec<Invocation>,
    /// There are more than `limit` that match.
    pub more: bool,
}

/// One invocation without its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    pub id: String,
    /// `service/handler`, or `service/key/handler`.
    pub target: String,
    pub service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub handler: String,
    pub handler_type: HandlerType,
    pub status: Status,
    /// Why it is not going on, or what it waits for, as a sentence. Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    pub created_at: String,
    /// When its status or journal last changed.
    pub modified_at: String,
    /// Only of scheduled ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The deployment that it is pinned to. Not pinned before its first journal effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// Service protocol version that it is pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<u32>,
    /// Number of the latest attempt, from 1; 0 where there was none yet.
    pub attempt: u32,
    /// Failed attempts in a row.
    pub failed_attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<String>,
    /// Of the last failed attempt; stays after a success of a later one only as an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    pub invoked_by: Caller,
    /// The invocation at the top of the call tree; its own id for what came in by a door.
    pub root: String,
    /// Entries in the journal.
    pub journal_entries: u32,
    /// How long status and outcome are kept after the end.
    pub completion_retention_ms: u64,
    pub journal_retention_ms: u64,
}

/// What kind of handler is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandlerType {
    /// Of a plain service.
    Service,
    /// One at a time for each key.
    Exclusive,
    /// Of an object or a workflow, any number at a time.
    Shared,
    /// The run handler of a workflow.
    Workflow,
}

/// How an invocation ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Outcome {
    Success { value: Preview },
    Failure { code: u32, message: String },
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Failure {
    pub code: u32,
    pub message: String,
    /// Our own code (`HF0071`) where the sidecar found the failure or knows what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stacktrace: Option<String>,
    /// The command at which it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub related: Option<RelatedCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RelatedCommand {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub ty: Option<String>,
}

/// Who called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Caller {
    Ingress,
    Service { id: String, target: String },
    RestartAsNew { id: String },
    Schedule { name: String, planned_at: String },
}

/// Answer of `GET /holdfast/invocations/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvocationDetail {
    #[serde(flatten)]
    pub invocation: Invocation,
    /// What it awaits while it is suspended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<Awaited>,
    /// Oldest first. Empty where the journal is gone.
    pub journal: Vec<JournalEntry>,
    /// Oldest first.
    pub events: Vec<Event>,
    /// Journal or events are cut at `entries_max`.
    pub more: bool,
}

/// One thing that a suspended invocation awaits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// `completion` of an entry, or a `signal`.
    pub kind: String,
    /// Completion id, signal index, or signal name.
    pub id: String,
    /// What will complete it: the sentence of its command, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// One entry of a journal, for display.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub index: u32,
    /// `command` or `notification`.
    pub class: EntryClass,
    /// `Run`, `Sleep`, `Call`, …
    pub kind: String,
    /// As the handler named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Ids of the notifications that complete a command; the id that a notification completes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completions: Vec<u32>,
    /// Of a command that something completes: whether it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<bool>,
    /// Facts about the entry by name: target, wake-up time, signal, key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// The value that the entry carries, if it carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Preview>,
    /// The failure that the entry carries, if it carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    pub appended_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryClass {
    Command,
    Notification,
}

/// The beginning of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// Length of the whole payload in bytes.
    pub bytes: usize,
    /// The beginning, where it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The beginning in base64, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// There is more than is shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
}

/// Something that happened to an invocation beside its journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened first.
    pub at: String,
    /// When it happened last, without anything else in between.
    pub last_at: String,
    /// How often.
    pub count: u32,
    /// The journal had this many entries then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_entry: Option<u32>,
    /// `attempt-failed`, `paused`, …
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Of an attempt that failed because the handler did not do again what its journal says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
}

/// What is recorded at a place of a journal, and what the handler did there instead. Fields have
/// the names of the service protocol, and `type` is the kind of the command; payloads and headers
/// are told by size and hash.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mismatch {
    /// Number of the command, counted from the input without notifications, as SDKs count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<u32>,
    /// Index of that command in the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// As the handler named the recorded command, or else the received one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub recorded: BTreeMap<String, String>,
    /// As far as the SDK tells it.
    pub received: BTreeMap<String, String>,
    /// Names of the fields in which the two differ.
    pub differing: Vec<String>,
}

/// Answer of `GET /holdfast/counts`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    pub total: u64,
    pub by_status: BTreeMap<Status, u64>,
    /// Of what is not completed.
    pub by_service: BTreeMap<String, u64>,
    /// Pinned to each deployment and not completed.
    pub by_deployment: BTreeMap<String, u64>,
}

/// Answer of `GET /holdfast/limits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Of all attempts together: `invoker.concurrent_attempts_max`. Who waits here waits for no
    /// limit.
    pub attempts: Places,
    /// In the order of their names.
    pub limits: Vec<Limit>,
}

/// How many invocations of some kind may run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// `service`, `service/handler`, `service/prefix*` or `service/prefix*/handler`.
    pub limit: String,
    pub service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
    /// `config` or `metadata`.
    pub from: String,
    #[serde(flatten)]
    pub places: Places,
}

/// Places among running attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    pub concurrency: u64,
    pub running: u64,
    pub waiting: u64,
    /// Who waits longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_waiter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_since: Option<String>,
}

impl Places {
    /// `oldest` is who waits longest, and since when.
    pub fn new(
        concurrency: usize,
        (running, waiting): (usize, usize),
        oldest: Option<(InvocationId, Timestamp)>,
    ) -> Places {
        Places {
            concurrency: concurrency as u64,
            running: running as u64,
            waiting: waiting as u64,
            oldest_waiter: oldest.map(|(id, _)| id.to_string()),
            waiting_since: oldest.map(|(_, since)| super::text::rfc3339(since)),
        }
    }
}

/// Answer of `GET /holdfast/notices`: oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notices {
    pub notices: Vec<Notice>,
    /// There are more than `limit`.
    pub more: bool,
}

/// A notice that was not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The same at every try.
    pub id: String,
    /// `invocation.paused` or `invocation.failed`.
    #[serde(rename = "type")]
    pub ty: String,
    /// When it happened.
    pub at: String,
    /// Who paused it: `operator`, `retries` or `service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it failed: `handler`, `retries`, `service`, `killed`, `cancelled` or
    /// `endless`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    pub invocation: String,
    pub target: String,
    /// What it was pinned to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// Of the invocation, when it happened.
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Tries to deliver it that came to nothing, since the process started.
    pub tries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<String>,
}

/// Answer of `GET /holdfast/state/{service}/{key}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectState {
    pub service: String,
    pub key: String,
    /// Give it back with a patch to be sure that nothing changed in between.
    pub version: String,
    /// The exclusive invocation that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked_by: Option<String>,
    pub entries: Vec<StateEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateEntry {
    pub key: String,
    pub value: Preview,
}

/// Answer of `GET /holdfast/health`: 200 when everything is ready, else 503.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    pub ready: bool,
    pub version: String,
    pub partitions: Vec<PartitionHealth>,
    /// Registered services.
    pub services: u64,
    pub deployments: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionHealth {
    pub partition: u16,
    pub ready: bool,
    /// Why it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answer of `GET /holdfast/storage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// All files of the data directory.
    pub disk_bytes: u64,
    /// Of these: files of rows, which are compressed and may hold deleted rows for a while.
    pub row_file_bytes: u64,
    /// The write-ahead log: rows of the last minutes.
    pub log_bytes: u64,
    pub other_bytes: u64,
    pub tables: Vec<TableStorage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableStorage {
    pub table: String,
    /// About, and without what is in the log only.
    pub disk_bytes: u64,
    /// Only where it was asked to count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Keys and values of these rows, not compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_bytes: Option<u64>,
}

/// Body of every error of the admin listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub message: String,
    /// `META0003`, … where one of the codes that existing tools know fits; else null.
    pub restate_code: Option<String>,
}

pub(super) fn is_false(value: &bool) -> bool {
    !value
}

impl Status {
    /// All but the last of all.
    pub const UNDER_WAY: [Status; 7] = {
        let [under_way @ .., Status::Completed] = Status::ALL else {
            panic!("what has completed is not under way")
        };
        under_way
    };

    pub const ALL: [Status; 8] = [
        Status::Pending,
        Status::Scheduled,
        Status::Ready,
        Status::Running,
        Status::BackingOff,
        Status::Suspended,
        Status::Paused,
        Status::Completed,
    ];

    /// As it is written in JSON and SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Scheduled => "scheduled",
            Status::Ready => "ready",
            Status::Running => "running",
            Status::BackingOff => "backing-off",
            Status::Suspended => "suspended",
            Status::Paused => "paused",
            Status::Completed => "completed",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str() == text)
    }
}
