//! One conversation with a service about an invocation, without I/O: bytes and stored entries
//! go in, bytes to send and commands for the partition come out. One input, then poll until
//! `None`. A broken attempt stays broken. Never decides what a command does: `apply` does that.
//!
//! How to drive it:
//!
//! ```text
//! let mut attempt = Attempt::new(now, start, terms);
//! POST attempt.request_head() with a body that stays open, and at once poll until `None`;
//! then for each event the one `handle_*` that fits it, and again poll until `None`;
//! when `deadline()` has passed, `handle_deadline`;
//! after `Output::Finished` drop everything: no input has an effect any more.
//! ```

mod answer;
mod check;
mod conversation;
pub mod error;
mod field;
mod future;
mod outbox;
mod receive;
mod replay;
mod request;

#[cfg(test)]
pub(crate) mod tests;

pub use conversation::Attempt;

use crate::command::{AttemptEnd, Said};
use crate::model::{AttemptOptions, Awaiting, Callee, Entry, Pin, Target};
use crate::{id::InvocationId, time::Timestamp};
use bytes::Bytes;
use holdfast_wire::{manifest::ServiceType, version::Version};

/// Everything an attempt starts from: the rows of its invocation at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub invocation: InvocationId,
    pub attempt: u32,
    pub target: Target,
    pub idempotency_key: Option<String>,
    /// What earlier attempts are pinned to.
    pub pin: Option<Pin>,
    pub random_seed: u64,
    /// The whole journal, entry 0 first.
    pub entries: Vec<Entry>,
    /// The state map, cut to `eager_state_bytes_max`; empty where `lazy_state`.
    pub state: Vec<(Bytes, Bytes)>,
    /// The map is not all there is.
    pub partial_state: bool,
    pub retry_count_since_last_stored_entry: u32,
    /// When the journal or the status last changed.
    pub last_stored_at: Timestamp,
}

/// How the conversation is held: what the invoker knows beside the rows.
pub struct Terms {
    pub options: AttemptOptions,
    /// The pinned protocol version, or the one chosen for a first attempt.
    pub version: Version,
    /// What the target's service is: the type of a shared handler does not tell.
    pub service: ServiceType,
    /// Whether the deployment takes notifications while it answers. An inactivity timeout of zero
    /// makes every conversation request/response.
    pub bidirectional: bool,
    /// 64 bits of chance for the retry delay, drawn by the invoker.
    pub jitter: u64,
    /// Asked at each call the service makes: should answer from what is registered *then*.
    pub callees: Box<dyn Callees + Send>,
}

/// Answers what the attempt must know about the targets of the calls it sees.
pub trait Callees {
    /// `None`: no such service or handler is registered.
    fn resolve(&self, service: &str, handler: &str) -> Option<Callee>;
}

/// The head of the request that carries the attempt. The invoker adds what belongs to the
/// deployment (prefix of the path, identity, additional headers) and to tracing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// `/invoke/{service}/{handler}`; also the audience of a signature.
    pub path: String,
    /// For both `content-type` and `accept`.
    pub content_type: &'static str,
    /// Names are in lower case, values are ASCII.
    pub headers: Vec<(&'static str, String)>,
}

/// What is to be done, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Write these to the request body, one after the other.
    Send(Vec<Bytes>),
    /// End the request body. Nothing is sent afterwards.
    HalfClose,
    /// Tell the partition, now. At most `SAID_MAX` entries. `end` comes once, in the last one;
    /// the stream is not over by it: poll on.
    Say { said: Vec<Said>, end: Option<AttemptEnd> },
    /// What the service waits for at the moment; a hint for those who look on.
    AwaitingOn(Awaiting),
    /// Something odd but harmless, for the log.
    Note(&'static str),
    /// Cut the stream (RST_STREAM with CANCEL; close the connection in HTTP/1.1).
    Reset,
    /// Nothing follows. The place of the attempt is free.
    Finished,
}

/// Most entries of one `Output::Say`: bounds one command of the partition.
pub const SAID_MAX: usize = 256;
