//! Invocations that are followed by whoever started them: made, looked at, listed, cancelled,
//! answered and read on in. Both bridges stand on this room, so that one invocation is the same
//! thing at every door. Keeps nothing in memory for what waits, and decides nothing: that is the
//! machine's.

mod artifact;
mod ask;
mod create;
pub mod desk;
mod error;
mod feed;
mod list;
mod push;
mod read;
mod speak;
#[cfg(test)]
mod tests;

pub use artifact::{Artifact, artifacts};
pub use ask::{Answered, AskFilter, Asks};
pub use create::{Created, Idempotency, NewTask};
pub use error::Error;
pub use feed::Feed;
pub use holdfast_machine::ask::{Action, Answer, Ask, AskKind, Closed, Closing, Form};
pub use holdfast_machine::id::{AskId, TaskId};
pub use holdfast_machine::task::{Ended, Event, Message, Progress, State, Taken, What};
pub use list::{Filter, Page};
pub use read::Trace;
pub use speak::{Cancelled, Messaged, NewMessage};

use crate::clock::Clock;
use crate::partition::Router;
use bytes::Bytes;
use holdfast_machine::{id::InvocationId, model::Target, time::Timestamp};
use std::sync::Arc;

/// What the bridges stand on. Cheap to clone.
#[derive(Clone)]
pub struct Tasks {
    router: Router,
    clock: Arc<dyn Clock>,
}

/// A task at one moment: what the rows of its feed up to `sequence` say, and nothing of later ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: TaskId,
    pub invocation: InvocationId,
    pub target: Target,
    /// Who started it.
    pub principal: String,
    /// What it belongs to.
    pub context: String,
    /// The door that it came by.
    pub door: String,
    /// The door's own.
    pub meta: Bytes,
    pub state: State,
    pub sequence: u64,
    pub created_at: Timestamp,
    /// When its state, its asks or its progress last changed.
    pub updated_at: Timestamp,
    /// The last one that was told.
    pub progress: Option<Progress>,
    /// Open ones, by number.
    pub asks: Vec<Ask>,
    pub ended: Option<Ended>,
    /// Somebody asked for its end.
    pub cancel_wanted: bool,
    /// What keeps it, in words.
    pub waits: Option<String>,
    /// When it goes on by itself, where it waits for nothing but a time.
    pub wakes_at: Option<Timestamp>,
    /// When it is forgotten; of what has ended.
    pub expires_at: Option<Timestamp>,
}

impl Tasks {
    pub fn new(router: Router, clock: Arc<dyn Clock>) -> Tasks {
        Tasks { router, clock }
    }
}
