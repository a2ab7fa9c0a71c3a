//! What goes wrong with tasks and asks. A door renders it its way.

use crate::partition::Unavailable;
use holdfast_machine::kv::Fault;

use super::{Closed, State};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Unknown, forgotten, or somebody else's: nobody learns which.
    #[error("there is no such task")]
    NotFound,
    /// Of an ask.
    #[error("there is no such ask; it may have been forgotten with its invocation")]
    NoSuchAsk,
    #[error("the task has ended ({}), and takes no more messages", .0.as_str())]
    Ended(State),
    #[error(
        "another request was made with this idempotency key; use a new key, or send the same again"
    )]
    OtherRequest,
    #[error("another message was sent with this id; use a new id, or send the same again")]
    OtherMessage,
    /// Of a task or of a caller that may be anybody's: nobody learns which.
    #[error("the workflow key has its run already, and runs once for each key; use another key")]
    Exists,
    #[error("{0}")]
    Key(String),
    /// Of the ask that a message was meant for.
    #[error("the question was closed before: {}", .0.how.as_str())]
    Late(Closed),
    #[error("so much was told of the task that nothing more is; start another one")]
    FeedFull,
    /// What was said does not fit the form of the ask.
    #[error("the answer does not fit: {0}")]
    Violation(String),
    #[error("{0}")]
    Full(String),
    #[error("the page token is not of this listing; begin again without one")]
    PageToken,
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error("{0}")]
    Fault(String),
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Violation(_) => "HF0201",
            Error::Late(_) => "HF0202",
            Error::NoSuchAsk => "HF0203",
            Error::NotFound => "HF0204",
            Error::Ended(_) => "HF0205",
            Error::OtherRequest => "HF0206",
            Error::OtherMessage => "HF0207",
            Error::Exists => "HF0208",
            Error::Key(_) => "HF0209",
            Error::Full(_) => "HF0210",
            Error::PageToken => "HF0211",
            Error::FeedFull => "HF0215",
            Error::Unavailable(unavailable) => unavailable.code(),
            Error::Fault(_) => "HF0026",
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Fault(fault.to_string())
    }
}

/// A reply that no command of ours is given.
pub(super) fn unexpected(reply: &holdfast_machine::command::Reply) -> Error {
    Error::Fault(format!("a partition answered {reply:?}"))
}
