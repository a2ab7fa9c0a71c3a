//! How an attempt that did not come to a result ends, and in which words.
//!
//! Payloads never stand in a message. A mismatch shows both sides: what the journal holds and what
//! the handler does now, and where in its source it does so.

use super::command::{Command, label_of};
use bytes::Bytes;
use holdfast_wire::message::MessageType;
use holdfast_wire::message::pb::{self, ErrorBehavior};
use std::panic::Location;
use std::time::Duration;

/// What the sidecar shows for a handler that failed; the default of errors in handlers.
pub(crate) const CODE_INTERNAL: u32 = 500;
/// The journal says one thing and the handler does another.
pub(crate) const CODE_MISMATCH: u32 = 570;
/// The sidecar said something that the protocol does not allow.
pub(crate) const CODE_PROTOCOL: u32 = 571;

/// Why an attempt failed. The sidecar decides by `behavior` and its retry policy how to go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) code: u32,
    pub(crate) message: String,
    pub(crate) behavior: ErrorBehavior,
    pub(crate) next_retry_delay: Option<Duration>,
    pub(crate) related: Option<Related>,
}

/// The command that a failure is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Related {
    pub(crate) index: u32,
    pub(crate) ty: MessageType,
    pub(crate) name: String,
}

impl Failed {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Failed {
        Failed {
            code,
            message: message.into(),
            behavior: ErrorBehavior::Retry,
            next_retry_delay: None,
            related: None,
        }
    }

    pub(crate) fn about(self, related: Related) -> Failed {
        Failed { related: Some(related), ..self }
    }

    /// As it is sent. Older versions of the protocol know no behaviour and skip it.
    pub(super) fn into_message(self) -> pb::Error {
        let (index, ty, name) = match self.related {
            Some(related) => {
                (Some(related.index), Some(u32::from(related.ty.0)), Some(related.name))
            }
            None => (None, None, None),
        };
        pb::Error {
            code: self.code,
            message: self.message,
            stacktrace: String::new(),
            related_command_index: index,
            related_command_name: name.filter(|name| !name.is_empty()),
            related_command_type: ty,
            next_retry_delay: self
                .next_retry_delay
                .map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            behavior: self.behavior.into(),
        }
    }
}

const ADVICE: &str = "the handler must do the same in each attempt: do not change the code under a \
                      running invocation, and put chance, time and reads from outside into \
                      `ctx.run`";

/// The journal holds one command, the handler gives another.
pub(super) fn differs<C: Command>(
    index: u32,
    held: (MessageType, &Bytes),
    now: &C,
    what: Option<&str>,
    at: &Location<'_>,
) -> Failed {
    let held = phrase(held.0, &label_of(held.0, held.1));
    let now_is = match C::TYPE {
        MessageType::OUTPUT => format!("ends with {}", now.label()),
        ty => format!("gives {} at {at}", phrase(ty, &now.label())),
    };
    let what = what.map(|what| format!("; the {what} differs")).unwrap_or_default();
    let message = format!(
        "journal mismatch at command {index}: the journal holds {held}, but the handler \
         {now_is}{what}; {ADVICE}"
    );
    Failed::new(CODE_MISMATCH, message).about(Related {
        index,
        ty: C::TYPE,
        name: now.name().to_owned(),
    })
}

/// The journal goes on with a command, the handler waits for something that never came.
pub(super) fn waits_instead(
    index: u32,
    held: (MessageType, &Bytes),
    at: Option<&Location<'_>>,
) -> Failed {
    let related = Related { index, ty: held.0, name: String::new() };
    let held = phrase(held.0, &label_of(held.0, held.1));
    let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
    let message = format!(
        "journal mismatch at command {index}: the journal holds {held}, but the handler waits{at} \
         for a result that the journal does not have; {ADVICE}"
    );
    Failed::new(CODE_MISMATCH, message).about(related)
}

/// A command was given from within a step, where no replay would come by.
pub(super) fn inside_a_step<C: Command>(now: &C, inside: &str, at: &Location<'_>) -> Failed {
    let now = phrase(C::TYPE, &now.label());
    Failed::new(
        CODE_INTERNAL,
        format!(
            "the handler gives {now} at {at} from inside of {inside}; use the context outside of \
             it: what happens inside is not replayed"
        ),
    )
}

/// The handler waits for something that the sidecar knows nothing of.
pub(super) fn waits_unrecorded(places: Option<&str>) -> Failed {
    let places = places.map(|places| format!(", at {places}")).unwrap_or_default();
    Failed::new(
        CODE_INTERNAL,
        format!(
            "the handler awaits something that is not in its journal{places}; wrap it in \
             `ctx.run` to record its result, or in `ctx.unrecorded` if every attempt may do it \
             again"
        ),
    )
}

pub(super) fn protocol(what: impl std::fmt::Display) -> Failed {
    Failed::new(CODE_PROTOCOL, format!("the sidecar broke the service protocol: {what}"))
}

fn phrase(ty: MessageType, label: &str) -> String {
    match label {
        "" => ty.name().to_owned(),
        label => format!("{} {label}", ty.name()),
    }
}
