//! Letters that are sent until they are taken: in order for each receiver, receivers apart from one
//! another, with growing pauses between the tries, and not for ever. Never knows what is said or
//! where it is kept: that is its [`Office`]'s. What is said can arrive more than once.

mod courier;
mod lanes;
mod mailroom;
mod metrics;
mod rows;
mod signature;
#[cfg(test)]
mod tests;

pub use courier::Courier;
pub use mailroom::{Bell, Mailroom, Piece, Queue};
pub use metrics::Metrics;
pub use signature::{SIGNATURE_HEADER, Secret};

use crate::clock::Clock;
use crate::http::{Body, client::Client};
use holdfast_machine::{id::PartitionId, retry::RetryPolicy, time::Timestamp};
use hyper::{Request, StatusCode};
use std::{sync::Arc, time::Duration};

/// How letters are delivered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms {
    /// How long one try may take, from connecting to the head of the response.
    pub timeout: Duration,
    /// The pauses between tries. Its number of attempts is not looked at: see `give_up_after`.
    pub retry: RetryPolicy,
    /// A letter older than this is given up when the receiver keeps failing.
    pub give_up_after: Duration,
    /// Tries at once, over all receivers. At least 1.
    pub concurrent_max: usize,
    /// Letters of one source for one receiver that are held in memory. At least 1.
    pub held_max: usize,
    /// Letters that are held for all receivers, without those for receivers that fail, where no
    /// more are read of a queue.
    pub held_all_max: usize,
}

/// The pauses between tries: doubled after each, and tries as many as there is time for.
pub fn pauses(initial: Duration, longest: Duration) -> RetryPolicy {
    RetryPolicy {
        initial_interval: initial,
        max_interval: longest,
        max_attempts: None,
        ..RetryPolicy::default()
    }
}

/// What letters are delivered with.
#[derive(Clone)]
pub struct Means {
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    pub metrics: Metrics,
}

/// What is to be delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter<T> {
    /// Names the receiver; letters for the same one are delivered one after another.
    pub to: String,
    /// Letters of one source arrive in the order in which they were offered; among several
    /// sources the oldest goes first.
    pub source: PartitionId,
    pub written_at: Timestamp,
    pub what: T,
}

/// Whose letters they are.
pub trait Office: Send + Sync + 'static {
    type What: Clone + Send + Sync + 'static;

    /// The request that delivers it, made anew for each try. `None`: it has nowhere to go any
    /// more, and is settled so.
    fn request(
        &self,
        letter: &Letter<Self::What>,
        now: Timestamp,
    ) -> impl Future<Output = Option<Request<Body>>> + Send;

    /// Whether a receiver that answers so is gone for good.
    fn is_gone(&self, _status: StatusCode) -> bool {
        false
    }

    /// A try came to nothing; the next one is at `next_at`.
    fn failed(&self, letter: &Letter<Self::What>, why: &Failed, next_at: Timestamp);

    /// It is over with this letter. Returns when that is durable; the next one for the same
    /// receiver goes out after it.
    fn settle(&self, letter: &Letter<Self::What>, how: Settled) -> impl Future<Output = ()> + Send;
}

/// What became of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The receiver has answered with a 2xx status.
    Taken,
    /// The receiver failed for too long.
    GivenUp,
    /// There is no receiver.
    Nowhere,
    /// The receiver has answered that it is gone for good.
    Gone,
}

/// What a courier has to tell.
#[derive(Debug, Clone, PartialEq)]
pub enum News<T> {
    /// It is over with this letter: there is room for another.
    Settled(Letter<T>),
    /// A letter was not taken.
    Failed,
}

/// Why a letter was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// Redirects are not followed.
    #[error("the receiver answered {}", .0.as_u16())]
    Refused(StatusCode),
    #[error("{0}")]
    Unreachable(String),
    #[error("the receiver did not answer within {timeout_ms} ms")]
    Late { timeout_ms: u64 },
    #[error("the sidecar failed while it made the request; its log says more")]
    Bug,
}
