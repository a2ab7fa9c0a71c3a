//! Everything that can enter a partition's order of events. A variant is a wish or a fact.

use crate::{
    ask::{Answer, Closed},
    cadence,
    id::{AskId, InvocationId, PartitionId, ScheduleId},
    model::*,
    retry::RetryPolicy,
    schedule::{Plan, Unfired},
    tables::push_config::PushConfig,
    task::{NewMessage, NewTask},
    time::Timestamp,
};
use bytes::Bytes;
use holdfast_wire::message::MessageType;
use std::{collections::BTreeMap, time::Duration};

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    // --- doors
    /// Call a target. Answers `Reply::Accepted`, with `new: false` where the id exists already; what
    /// a second workflow run means is the door's to say.
    Invoke(Box<NewInvocation>),
    /// Tell the outcome: `Reply::Completed`, `Reply::Pending` (the caller waits), `Reply::Unknown`.
    Attach {
        invocation: InvocationId,
    },
    /// As `Attach`, for a caller that does not wait.
    Output {
        invocation: InvocationId,
    },
    /// Give a signal: an awakeable, a named signal, or (index 1) the wish to cancel.
    Signal {
        invocation: InvocationId,
        signal: SignalName,
        value: SignalValue,
    },
    Cancel {
        invocation: InvocationId,
    },
    Kill {
        invocation: InvocationId,
    },
    Pause {
        invocation: InvocationId,
    },
    /// Start again what is paused, suspended or backing off; with `pin`, on that deployment.
    Resume {
        invocation: InvocationId,
        pin: Option<Pin>,
    },
    Purge {
        invocation: InvocationId,
    },
    PurgeJournal {
        invocation: InvocationId,
    },
    /// As `Purge`, for the budget of the disk, which chose among what it saw a while ago: only the
    /// invocation that completed then. Answers `Reply::Done` in any case.
    Forget {
        invocation: InvocationId,
        completed: Timestamp,
    },
    /// Run a completed invocation again under a new id, with entries `0..=from` of its journal.
    RestartAsNew {
        invocation: InvocationId,
        new: InvocationId,
        from: u32,
        pin: Option<Pin>,
    },
    /// Replace the state of an object key, in its inbox order. A `version` that does not match
    /// answers `Reply::VersionMismatch` where it can be seen at once.
    PatchState {
        service: String,
        key: String,
        version: Option<String>,
        state: StateMap,
    },

    // --- tasks and asks
    /// Call a target for somebody who follows it. Answers `Reply::Started`, `Reply::OtherRequest`
    /// where the id belongs to another request, or `Reply::NoTask` where it exists and is none.
    StartTask {
        new: Box<NewInvocation>,
        task: Box<NewTask>,
    },
    /// Say something to a task. It answers the ask that is open for longest, or waits for the next
    /// one. Answers `Reply::Messaged`, or why not.
    MessageTask {
        task: InvocationId,
        message: Box<NewMessage>,
    },
    /// Answer an ask. The first answer counts: `Reply::Answered`, `Reply::AskClosed`, or
    /// `Reply::Violation` where it does not fit, and nothing has changed. Where the root is gone
    /// its numbers begin again: `Reply::Unknown` where `ask` is not the one of that number.
    AnswerAsk {
        root: InvocationId,
        number: u32,
        ask: AskId,
        answer: Box<Answer>,
    },

    /// Send the feed of a task to a receiver, from now on; the one of that name is replaced. Answers
    /// `Reply::Stored`, `Reply::TooManyPushes`, `Reply::Unknown`.
    PutPush {
        invocation: InvocationId,
        name: String,
        config: Box<PushConfig>,
    },
    /// Send it there no more, nor what is queued. Answers `Reply::Done` also where there is no such
    /// receiver.
    DeletePush {
        invocation: InvocationId,
        name: String,
    },

    // --- schedules
    /// Create or replace a schedule. Answers `Reply::Stored`. The same plan again changes nothing;
    /// another one keeps what has happened, and begins to count anew only with other times.
    PutSchedule(Box<Plan>),
    DeleteSchedule {
        schedule: ScheduleId,
    },
    /// Nothing is due until it is resumed, and what would have been meanwhile is not made up for.
    PauseSchedule {
        schedule: ScheduleId,
    },
    ResumeSchedule {
        schedule: ScheduleId,
    },
    /// Run a schedule now, paused or not. `called` is the service and the handler that its plan
    /// names, and `callee` what is registered for them: a plan that names others is refused.
    TriggerSchedule {
        schedule: ScheduleId,
        called: (String, String),
        callee: Callee,
    },

    // --- attempts; what comes from an attempt that is no longer the current one is ignored
    /// What an attempt said, in order, and how it ended if it did.
    Attempt(Box<AttemptSaid>),

    // --- time
    /// A row of the timer table is due. `key` is that row's key; of a schedule, `callee` is what is
    /// registered now for its target.
    TimerDue {
        key: Vec<u8>,
        callee: Option<Callee>,
    },

    // --- other partitions
    /// The outbox row `sequence` of partition `from`, whose value is `message`. Deduplicated.
    Deliver {
        from: PartitionId,
        sequence: u64,
        message: Bytes,
    },
    /// `to` has made our outbox rows up to `sequence` durable.
    Delivered {
        to: PartitionId,
        sequence: u64,
    },

    // --- hands
    /// The notice `sequence` was delivered, or will never be: forget it. Answers `Reply::Done`,
    /// also where it is forgotten already.
    Noticed {
        sequence: u64,
    },
    /// The same of an event that was to be sent to a receiver.
    Pushed {
        sequence: u64,
    },
}

/// All pairs of one object key.
pub type StateMap = BTreeMap<Bytes, Bytes>;

#[derive(Debug, Clone, PartialEq)]
pub struct AttemptSaid {
    pub invocation: InvocationId,
    /// Number of the attempt, as `Effect::Invoke` gave it.
    pub attempt: u32,
    /// Deployment and version in use; the first journal effect pins them.
    pub pin: Option<Pin>,
    pub said: Vec<Said>,
    pub end: Option<AttemptEnd>,
}

/// One message of a service that changes the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A validated command, as the bytes that came. `callee` for calls and one-way calls.
    Command { ty: MessageType, payload: Bytes, callee: Option<Callee> },
    /// A proposed run result, as the encoded `RunCompletion` notification that will be stored.
    RunCompletion { completion: u32, payload: Bytes },
}

#[derive(Debug, Clone, PartialEq)]
pub enum AttemptEnd {
    /// The handler returned; its last output is the outcome.
    Completed,
    Suspended(Awaiting),
    Failed(Box<Failed>),
    /// It never began, and waits for its turn no longer: there was a wish to pause it, or to cancel
    /// what has no trace of a handler yet.
    Unstarted,
}

/// A failed attempt, and what is needed to decide about the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    pub failure: AttemptFailure,
    pub reaction: Reaction,
    pub policy: RetryPolicy,
    /// Chance made by the attempt's side, for jitter.
    pub jitter: u64,
    /// Whether it counts for `retry_count_since_last_stored_entry`.
    pub counts_for_entry: bool,
}

/// What the service (or its HTTP answer) wants done about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// By the retry policy.
    Retry,
    /// After this long, without using up an attempt of the policy.
    RetryAfter(Duration),
    Pause,
    /// End the invocation with the failure.
    Fail,
}

/// One row of what a door may ask to be told back.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Durable. `new` is false where the id existed already.
    Accepted {
        invocation: InvocationId,
        new: bool,
        start_at: Option<Timestamp>,
    },
    Completed {
        outcome: Outcome,
        expires_at: Option<Timestamp>,
    },
    /// Not finished yet; who waits is told by `Effect::Ended`.
    Pending,
    /// No such invocation.
    Unknown,
    /// Done at once.
    Done,
    /// Appended; the effect follows (a cancel that a handler will see, a pause under way).
    Appended,
    /// The status of the invocation does not allow it.
    Refused(Refusal),
    Restarted {
        invocation: InvocationId,
    },
    VersionMismatch {
        current: String,
    },
    /// A schedule or a receiver is stored; `new` where there was none of that name.
    Stored {
        new: bool,
    },
    /// A schedule was not stored: its plan says no times.
    NoCadence(cadence::Error),
    Triggered {
        invocation: InvocationId,
    },
    /// A schedule could not be run.
    NotTriggered(Unfired),
    /// A task is there; `new` where it was not before. What it was given to keep is what counts.
    Started {
        new: bool,
        secret: u128,
    },
    /// The id belongs to another request.
    OtherRequest,
    /// The id belongs to what is no task.
    NoTask,
    /// An ask is answered; the row of the feed that says so, where there is a feed.
    Answered {
        sequence: Option<u64>,
    },
    /// An ask had been closed before.
    AskClosed(Closed),
    /// What was said does not fit; a sentence.
    Violation(String),
    /// A task was told something.
    Messaged {
        /// The row of the feed.
        sequence: u64,
        /// It had been told so before.
        repeated: bool,
        /// The number of the ask that was answered.
        answered: Option<u32>,
    },
    /// A message of the same id said something else.
    OtherMessage,
    /// The task has no ask of the id that a message names.
    NoSuchAsk,
    /// The feed of a task is full.
    FeedFull,
    /// So many messages wait already.
    TooManyWait(usize),
    /// A task has so many receivers already.
    TooManyPushes(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    AlreadyCompleted,
    NotCompleted,
    NotRunning,
    NotStarted,
    AlreadyPaused,
    /// The journal or its input is gone.
    JournalGone,
    /// The prefix asked for does not exist or lacks completions.
    BadPrefix,
    /// Workflows cannot be restarted; the protocol version is too old for a prefix.
    Unsupported,
    /// The deployment can only be changed while paused or suspended, and pinned.
    NotMovable,
}
