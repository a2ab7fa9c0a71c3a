//! The nouns that commands, effects and rows are made of.

use crate::{
    id::{DeploymentId, InvocationId},
    retry::RetryPolicy,
    time::Timestamp,
};
use bytes::Bytes;
use holdfast_wire::{manifest::HandlerType, message::MessageType, version::Version};
use std::time::Duration;

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    pub service: String,
    /// `None` for plain services.
    pub key: Option<String>,
    pub handler: String,
    pub ty: HandlerType,
}

/// How an invocation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Success(Bytes),
    Failure(Failure),
}

/// A terminal failure, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// HTTP status where it is one; user codes otherwise.
    pub code: u32,
    pub message: String,
    pub metadata: Vec<(String, String)>,
    /// Only of a handler whose retries were used up.
    pub stacktrace: String,
}

/// Who called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Ingress,
    Service {
        invocation: InvocationId,
        target: Target,
    },
    RestartAsNew {
        original: InvocationId,
    },
    /// The schedule of that name, for the time `planned`.
    Schedule {
        name: String,
        planned: Timestamp,
    },
}

/// How long what is left of an invocation is kept after its end. Zero: not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Status and outcome.
    pub completion: Duration,
    /// The journal; never longer than `completion`.
    pub journal: Duration,
}

/// An invocation on its way in. A door made the id and the seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInvocation {
    pub id: InvocationId,
    pub target: Target,
    pub argument: Bytes,
    pub headers: Vec<(String, String)>,
    pub idempotency_key: Option<String>,
    pub source: Source,
    /// The invocation at the top of the call tree; itself for what comes in by a door.
    pub root: InvocationId,
    /// Not before; `None` is now.
    pub start_at: Option<Timestamp>,
    pub retention: Retention,
    /// No state map is sent with an attempt; the handler reads key by key.
    pub lazy_state: bool,
    /// Constant for the whole life of the invocation.
    pub random_seed: u64,
}

/// What the registry knows about the target of a call that a handler makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    pub ty: HandlerType,
    /// Of a call without an idempotency key.
    pub retention: Retention,
    /// Of a call with one.
    pub idempotent_retention: Retention,
    pub lazy_state: bool,
}

/// Names one signal of an invocation. 1 is cancel; awakeables start at 17.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignalName {
    Index(u32),
    Name(String),
}

/// The value of a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalValue {
    Void,
    Success(Bytes),
    Failure(Failure),
}

/// One entry of a journal: the bytes that came over the wire, or that will go over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Position among commands and notifications; 0 is the input.
    pub index: u32,
    pub ty: MessageType,
    pub payload: Bytes,
    pub appended_at: Timestamp,
}

/// What an invocation is pinned to at its first journal effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    pub deployment: DeploymentId,
    pub version: Version,
}

/// Where an invocation stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// Waits for its start time.
    Scheduled {
        start_at: Timestamp,
    },
    /// Waits for the object's lock.
    Inboxed {
        sequence: u64,
    },
    /// An attempt is running, or is about to.
    Running,
    /// The last attempt failed; the next one starts at `until`.
    BackingOff {
        until: Timestamp,
    },
    Suspended {
        awaiting: Awaiting,
    },
    /// A person has to resume it.
    Paused,
    Completed {
        outcome: Outcome,
    },
}

/// What an attempt waits for: the tree of V7; the flat lists of V5 and V6 are a
/// `FirstCompleted` without children.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Awaiting {
    pub combinator: Combinator,
    pub completions: Vec<u32>,
    pub signals: Vec<SignalName>,
    pub nested: Vec<Awaiting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combinator {
    Unknown,
    #[default]
    FirstCompleted,
    AllCompleted,
    FirstSucceededOrAllFailed,
    AllSucceededOrFirstFailed,
}

/// The code of an attempt whose handler did not do again what its journal says.
pub const JOURNAL_MISMATCH: u32 = 570;

/// Why an attempt failed: a transient failure, kept as an event, never an outcome by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttemptFailure {
    /// 500 by default; 570 journal mismatch, 571 protocol violation.
    pub code: u32,
    pub message: String,
    pub stacktrace: String,
    /// Our own code for it (`HF0071`), where the sidecar found the failure or knows what to do.
    pub doc_code: Option<String>,
    pub related: Option<RelatedCommand>,
}

/// The command at which an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelatedCommand {
    pub index: Option<u32>,
    pub name: Option<String>,
    pub ty: Option<MessageType>,
}

/// Of what notices are written, for somebody outside who wants to be told. By default of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoticesWanted {
    pub paused: bool,
    pub failed: FailuresWanted,
}

/// Whose failures somebody outside wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailuresWanted {
    #[default]
    None,
    /// Only of what came by a door or a schedule, was sent one-way, or was restarted: of others the
    /// caller is told.
    Roots,
    All,
}

/// Who paused an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PausedBy {
    /// A person.
    Operator,
    /// The attempts of the retry policy are used up.
    Retries,
    /// The service asked for it, or the attempt failed in a way that no other attempt would mend.
    Service,
}

impl PausedBy {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            PausedBy::Operator => "operator",
            PausedBy::Retries => "retries",
            PausedBy::Service => "service",
        }
    }
}

/// What made an invocation end with a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedBy {
    /// The handler itself.
    Handler,
    /// The attempts of the retry policy are used up.
    Retries,
    /// The service asked to end it with the failure of the attempt.
    Service,
    /// It was killed, by a person or with its caller.
    Kill,
    /// It was asked to end, and did.
    Cancel,
    /// It could never have begun: what it waits for waits for it.
    Endless,
}

impl FailedBy {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            FailedBy::Handler => "handler",
            FailedBy::Retries => "retries",
            FailedBy::Service => "service",
            FailedBy::Kill => "killed",
            FailedBy::Cancel => "cancelled",
            FailedBy::Endless => "endless",
        }
    }
}

/// The settings of a handler that an attempt needs, resolved from handler, service and server.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptOptions {
    pub inactivity_timeout: Duration,
    pub abort_timeout: Duration,
    pub retry: RetryPolicy,
    /// Largest message to or from the service.
    pub message_bytes_max: usize,
    /// Largest state map that is sent with an attempt.
    pub eager_state_bytes_max: usize,
}
