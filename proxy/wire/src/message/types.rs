//! The types of messages: a number each, and what can be told from the number.
//!
//! A number that is not in the catalogue is kept as it is; whoever cannot do without knowing it
//! has to refuse it.

use std::fmt;

use super::pb::notification::Result as Outcome;

/// The type of a message, as it stands in the header of its frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageType(pub u16);

/// Writes the catalogue once: a constant for each type, and its name.
macro_rules! catalogue {
    ($($constant:ident = $number:literal, $name:literal;)*) => {
        impl MessageType {
            $(#[doc = concat!("`", $name, "`, ", stringify!($number), ".")]
            pub const $constant: MessageType = MessageType($number);)*

            /// All types there are in versions 5 to 7, in the order of their numbers.
            pub const ALL: &[MessageType] = &[$(MessageType::$constant),*];

            /// The type as people read it: `Run`, `SleepCompletion`; `Unknown` if it is none of
            /// the catalogue.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MessageType::$constant => $name,)*
                    _ => "Unknown",
                }
            }
        }
    };
}

catalogue! {
    START = 0x0000, "Start";
    SUSPENSION = 0x0001, "Suspension";
    ERROR = 0x0002, "Error";
    END = 0x0003, "End";
    COMMAND_ACK = 0x0004, "CommandAck";
    PROPOSE_RUN_COMPLETION = 0x0005, "ProposeRunCompletion";
    AWAITING_ON = 0x0006, "AwaitingOn";
    PROPOSE_RUN_COMPLETION_ACK = 0x0007, "ProposeRunCompletionAck";

    INPUT = 0x0400, "Input";
    OUTPUT = 0x0401, "Output";
    GET_LAZY_STATE = 0x0402, "GetLazyState";
    SET_STATE = 0x0403, "SetState";
    CLEAR_STATE = 0x0404, "ClearState";
    CLEAR_ALL_STATE = 0x0405, "ClearAllState";
    GET_LAZY_STATE_KEYS = 0x0406, "GetLazyStateKeys";
    GET_EAGER_STATE = 0x0407, "GetEagerState";
    GET_EAGER_STATE_KEYS = 0x0408, "GetEagerStateKeys";
    GET_PROMISE = 0x0409, "GetPromise";
    PEEK_PROMISE = 0x040A, "PeekPromise";
    COMPLETE_PROMISE = 0x040B, "CompletePromise";
    SLEEP = 0x040C, "Sleep";
    CALL = 0x040D, "Call";
    ONE_WAY_CALL = 0x040E, "OneWayCall";
    SEND_SIGNAL = 0x0410, "SendSignal";
    RUN = 0x0411, "Run";
    ATTACH_INVOCATION = 0x0412, "AttachInvocation";
    GET_INVOCATION_OUTPUT = 0x0413, "GetInvocationOutput";
    COMPLETE_AWAKEABLE = 0x0414, "CompleteAwakeable";

    GET_LAZY_STATE_COMPLETION = 0x8002, "GetLazyStateCompletion";
    GET_LAZY_STATE_KEYS_COMPLETION = 0x8006, "GetLazyStateKeysCompletion";
    GET_PROMISE_COMPLETION = 0x8009, "GetPromiseCompletion";
    PEEK_PROMISE_COMPLETION = 0x800A, "PeekPromiseCompletion";
    COMPLETE_PROMISE_COMPLETION = 0x800B, "CompletePromiseCompletion";
    SLEEP_COMPLETION = 0x800C, "SleepCompletion";
    CALL_COMPLETION = 0x800D, "CallCompletion";
    CALL_INVOCATION_ID_COMPLETION = 0x800E, "CallInvocationIdCompletion";
    RUN_COMPLETION = 0x8011, "RunCompletion";
    ATTACH_INVOCATION_COMPLETION = 0x8012, "AttachInvocationCompletion";
    GET_INVOCATION_OUTPUT_COMPLETION = 0x8013, "GetInvocationOutputCompletion";
    SIGNAL = 0xFBFF, "Signal";
}

impl MessageType {
    /// Whether it belongs to the conversation and not to the journal.
    pub const fn is_control(self) -> bool {
        self.0 <= 0x01FF
    }

    /// Whether it is a command: an entry of the journal that the service writes.
    pub const fn is_command(self) -> bool {
        matches!(self.0, 0x0400..=0x7FFF)
    }

    /// Whether it is a notification: an entry of the journal that the sidecar writes.
    pub const fn is_notification(self) -> bool {
        matches!(self.0, 0x8000..=0xFBFF)
    }

    /// Whether it is in the catalogue of versions 5 to 7.
    pub fn is_known(self) -> bool {
        MessageType::ALL.binary_search(&self).is_ok()
    }

    /// Whether it is the last message of an attempt.
    pub const fn is_terminal(self) -> bool {
        matches!(self, MessageType::SUSPENSION | MessageType::ERROR | MessageType::END)
    }

    /// The notification that brings the result of this command, if there is one. The invocation id
    /// of a call comes by [`MessageType::CALL_INVOCATION_ID_COMPLETION`] besides.
    pub fn completion(self) -> Option<MessageType> {
        if !self.is_command() || self == MessageType::ONE_WAY_CALL {
            return None;
        }
        Some(MessageType(0x8000 | (self.0 & 0x03FF))).filter(|completion| completion.is_known())
    }

    /// The kind of entry as the SQL surface shows it after `Command: ` or `Notification: `; there a
    /// completion has the name of the command it completes.
    pub fn kind(self) -> &'static str {
        let name = self.name();
        name.strip_suffix("Completion").filter(|_| self.is_notification()).unwrap_or(name)
    }

    /// Whether a notification of this type may carry such a result.
    pub const fn may_carry(self, result: &Outcome) -> bool {
        use Outcome::{Failure, InvocationId, StateKeys, Value, Void};
        match self {
            MessageType::GET_LAZY_STATE_COMPLETION => matches!(result, Void(_) | Value(_)),
            MessageType::GET_LAZY_STATE_KEYS_COMPLETION => matches!(result, StateKeys(_)),
            MessageType::COMPLETE_PROMISE_COMPLETION => matches!(result, Void(_) | Failure(_)),
            MessageType::SLEEP_COMPLETION => matches!(result, Void(_)),
            MessageType::CALL_INVOCATION_ID_COMPLETION => matches!(result, InvocationId(_)),
            MessageType::GET_PROMISE_COMPLETION
            | MessageType::CALL_COMPLETION
            | MessageType::RUN_COMPLETION
            | MessageType::ATTACH_INVOCATION_COMPLETION => matches!(result, Value(_) | Failure(_)),
            MessageType::PEEK_PROMISE_COMPLETION
            | MessageType::GET_INVOCATION_OUTPUT_COMPLETION
            | MessageType::SIGNAL => matches!(result, Void(_) | Value(_) | Failure(_)),
            _ => false,
        }
    }
}

impl From<u16> for MessageType {
    fn from(number: u16) -> MessageType {
        MessageType(number)
    }
}

impl From<MessageType> for u16 {
    fn from(ty: MessageType) -> u16 {
        ty.0
    }
}

/// Name and number: an unknown type is told by its number alone.
impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#06x})", self.name(), self.0)
    }
}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
