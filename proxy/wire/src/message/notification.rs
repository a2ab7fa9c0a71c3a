//! Short ways to write the notifications the sidecar sends and the results in them.
//!
//! All notifications have one shape; which results may stand in which type is said by
//! [`MessageType::may_carry`](super::MessageType::may_carry).

use bytes::Bytes;

use super::pb::notification::{Id, Result as Outcome};
use super::pb::{Failure, Notification, StateKeys, Value, Void};

/// The signal that cancels an invocation.
pub const CANCEL_SIGNAL_INDEX: u32 = 1;

impl Notification {
    /// Brings the result that a command waits for under a completion id.
    pub fn completion(id: u32, result: Outcome) -> Notification {
        Notification { id: Some(Id::CompletionId(id)), result: Some(result) }
    }

    /// Delivers a signal by its number: [`CANCEL_SIGNAL_INDEX`], or an awakeable.
    pub fn signal(index: u32, result: Outcome) -> Notification {
        Notification { id: Some(Id::SignalIndex(index)), result: Some(result) }
    }

    /// Delivers a signal by its name.
    pub fn named_signal(name: impl Into<String>, result: Outcome) -> Notification {
        Notification { id: Some(Id::SignalName(name.into())), result: Some(result) }
    }

    /// Asks an invocation to cancel itself.
    pub fn cancel() -> Notification {
        Notification::signal(CANCEL_SIGNAL_INDEX, Outcome::void())
    }
}

impl Outcome {
    /// Nothing, and that is the result.
    pub fn void() -> Outcome {
        Outcome::Void(Void {})
    }

    /// Bytes, empty ones too.
    pub fn value(content: impl Into<Bytes>) -> Outcome {
        Outcome::Value(Value { content: content.into() })
    }

    /// A terminal failure.
    pub fn failure(code: u32, message: impl Into<String>) -> Outcome {
        Outcome::Failure(Failure::new(code, message))
    }

    /// The names under which there is state, in the order given.
    pub fn state_keys(keys: impl IntoIterator<Item = Bytes>) -> Outcome {
        Outcome::StateKeys(StateKeys { keys: keys.into_iter().collect() })
    }
}

impl Failure {
    /// A failure without metadata.
    pub fn new(code: u32, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into(), metadata: vec![] }
    }
}
