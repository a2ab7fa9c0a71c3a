//! Why an attempt fails where the sidecar finds it: one code and one sentence each, and what is
//! to be done. What a service itself reports as its error is not here. Never holds payloads.

use crate::{
    command::Reaction,
    id,
    model::{AttemptFailure, RelatedCommand},
};
use holdfast_wire::{frame, message::MessageType};
use std::time::Duration;

/// A failure of an attempt. Each variant has a page `docs/errors/{code}.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    // --- the connection
    #[error("the conversation with the service broke: {reason}")]
    Broken { reason: String },
    #[error(
        "the response ended {place} without a final message (end, suspension or error); the \
         service's log may say why, a crash and a proxy in between are the usual causes"
    )]
    Unfinished { place: Place },
    #[error(
        "the service sent nothing for {waited_ms} ms {after}; if its work takes that long, raise \
         the abort timeout"
    )]
    Silent { waited_ms: u128, after: Silence },
    #[error(
        "the service answered 200 and then nothing for {waited_ms} ms; it is likely that its \
         runtime is too old for its SDK (the TypeScript SDK 1.17 needs Node 22), or that the \
         handler blocks its thread"
    )]
    Mute { waited_ms: u128 },

    // --- the response head
    #[error("the service answered with content type {seen}, expected `{expected}`")]
    ContentType { seen: String, expected: &'static str },
    #[error(
        "the service answered 404: handler `{handler}` is not at this address; deploy it there, \
         or register the deployment again"
    )]
    NotFound { handler: String },
    #[error("the service answered 401: it does not accept the identity of this server")]
    Unauthorized,
    #[error("the service answered 413: the journal or its state is too large for it")]
    PayloadTooLarge,
    #[error(
        "the service answered 415: it does not speak `{content_type}`; register the deployment \
         again after a change of its SDK"
    )]
    VersionUnsupported { content_type: &'static str },
    #[error("the service answered {status}: it is overloaded or not ready")]
    NotNow { status: u16, retry_after: Option<Duration> },
    #[error("the service answered {status}: a gateway in between could not reach it")]
    Gateway { status: u16 },
    #[error("the service answered {status}, expected 200")]
    Status { status: u16 },

    // --- the protocol
    #[error("the response cannot be read: {0}")]
    Frame(#[from] frame::Error),
    #[error("the service sent a message of type {ty}, {why}")]
    Unexpected { ty: MessageType, why: &'static str },
    #[error("the service sent a message of type {ty} that cannot be understood: {reason}")]
    Malformed { ty: MessageType, reason: String },
    #[error("the service suspended without naming anything to wait for; it would never wake")]
    EmptyFuture,
    #[error("the service waits for combinators nested deeper than {depth_max}; flatten them")]
    FutureTooDeep { depth_max: usize },

    // --- commands
    #[error("no handler `{service}/{handler}` is registered; register its deployment first")]
    UnknownCallee { service: String, handler: String },
    #[error("`{service}` has no keys and was called with one; call it without")]
    Key { service: String },
    #[error("{access} state is not allowed in {place}")]
    State { access: &'static str, place: &'static str },
    #[error("promises exist in workflows only, `{service}` is not one")]
    Promise { service: String },
    #[error(transparent)]
    Id(#[from] id::Malformed),
    #[error("a call with a scope or a limit key; this server does not have them, leave them out")]
    Scoped,
    #[error("a call with an empty idempotency key; leave it out, or give it a value")]
    EmptyIdempotencyKey,
}

/// Where a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    BeforeAnyMessage,
    BetweenMessages,
    InsideMessage,
}

/// What came before the service said nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    Request,
    Messages,
}

/// The page of the one failure that a service finds and that says what to do on our side.
pub(super) const MISMATCH_PAGE: &str = "HF0094";

/// What broke the protocol, as opposed to its use.
const PROTOCOL_VIOLATION: u32 = 571;
const UNSUPPORTED_VERSION: u32 = 415;
const INTERNAL: u32 = 500;

impl Error {
    /// The name of its page.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Broken { .. } => "HF0070",
            Error::Unfinished { .. } => "HF0071",
            Error::Silent { .. } => "HF0072",
            Error::Mute { .. } => "HF0073",
            Error::ContentType { .. } => "HF0074",
            Error::NotFound { .. } => "HF0075",
            Error::Unauthorized => "HF0076",
            Error::PayloadTooLarge => "HF0077",
            Error::VersionUnsupported { .. } => "HF0078",
            Error::NotNow { .. } => "HF0079",
            Error::Gateway { .. } => "HF0080",
            Error::Status { .. } => "HF0081",
            Error::Frame(_) => "HF0082",
            Error::Unexpected { .. } => "HF0083",
            Error::Malformed { .. } => "HF0084",
            Error::EmptyFuture => "HF0085",
            Error::FutureTooDeep { .. } => "HF0086",
            Error::UnknownCallee { .. } => "HF0087",
            Error::Key { .. } => "HF0088",
            Error::State { .. } => "HF0089",
            Error::Promise { .. } => "HF0090",
            Error::Id(_) => "HF0091",
            Error::Scoped => "HF0092",
            Error::EmptyIdempotencyKey => "HF0093",
        }
    }

    /// What is to be done about it.
    pub fn reaction(&self) -> Reaction {
        match self {
            Error::NotNow { retry_after: Some(delay), .. } => Reaction::RetryAfter(*delay),
            Error::FutureTooDeep { .. } => Reaction::Pause,
            _ => Reaction::Retry,
        }
    }

    /// Whether it counts as a failure at the entry that comes next: a service that was never
    /// asked in its language cannot have failed there.
    pub fn counts_for_entry(&self) -> bool {
        !matches!(self, Error::VersionUnsupported { .. })
    }

    /// The failure as it is kept, seen at `related`.
    pub fn into_failure(self, related: Option<RelatedCommand>) -> AttemptFailure {
        AttemptFailure {
            code: self.failure_code(),
            message: self.to_string(),
            stacktrace: String::new(),
            doc_code: Some(self.code().to_owned()),
            related,
        }
    }

    fn failure_code(&self) -> u32 {
        match self {
            Error::VersionUnsupported { .. } => UNSUPPORTED_VERSION,
            Error::Unexpected { .. } | Error::Malformed { .. } | Error::EmptyFuture => {
                PROTOCOL_VIOLATION
            }
            _ => INTERNAL,
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Place::BeforeAnyMessage => "before any message,",
            Place::BetweenMessages => "after some messages,",
            Place::InsideMessage => "in the middle of a message,",
        })
    }
}

impl std::fmt::Display for Silence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Silence::Request => "and did not begin to answer",
            Silence::Messages => "although it was expected to finish or to suspend",
        })
    }
}
