//! What runs now, for people who look on and for the invoker's own watch. Never decides anything.

use foldhash::HashMap;
use holdfast_machine::{
    id::InvocationId,
    model::{Awaiting, Pin, Target},
    time::Timestamp,
};
use holdfast_wire::version::Feature;
use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{
            AtomicU8, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};
use tokio::sync::Notify;

/// Power of two; attempts of different invocations rarely meet at one lock.
const SHARDS: usize = 16;

/// All attempts that run now. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct View {
    shards: Arc<[Shard; SHARDS]>,
}

type Shard = Mutex<HashMap<InvocationId, Arc<Live>>>;

/// One running attempt, as it is at this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    pub invocation: InvocationId,
    pub attempt: u32,
    pub target: Target,
    pub pin: Pin,
    pub started_at: Timestamp,
    /// The last message in either direction.
    pub active_at: Timestamp,
    /// What it waits for, where the service said so.
    pub awaiting: Option<Awaiting>,
    /// Failed attempts since the last stored entry.
    pub retry_count: u32,
}

/// What is kept of a running attempt.
#[derive(Debug)]
pub(super) struct Live {
    pub invocation: InvocationId,
    pub attempt: u32,
    pub target: Target,
    pub pin: Pin,
    /// Of the place that it has.
    pub seat: u64,
    pub started_at: Timestamp,
    pub retry_count: u32,
    active_ms: AtomicU64,
    awaiting: Mutex<Option<Awaiting>>,
    wish: AtomicU8,
    wished: Notify,
}

/// What the invoker wants of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Wish {
    Nothing = 0,
    Suspend = 1,
    /// Say nothing more.
    Cut = 2,
}

impl View {
    /// Everything that runs now, oldest first.
    pub fn list(&self) -> Vec<Running> {
        let mut running: Vec<Running> = self.all().iter().map(|live| live.running()).collect();
        running.sort_by_key(|running| (running.started_at, running.invocation));
        running
    }

    /// The running attempt of one invocation.
    pub fn of(&self, invocation: InvocationId) -> Option<Running> {
        self.shard(invocation).get(&invocation).map(|live| live.running())
    }

    pub(super) fn begin(&self, live: Arc<Live>) {
        self.shard(live.invocation).insert(live.invocation, live);
    }

    /// Forgets the attempt, unless a later one of the same invocation took its place.
    pub(super) fn end(&self, ended: &Arc<Live>) {
        let mut shard = self.shard(ended.invocation);
        if shard.get(&ended.invocation).is_some_and(|live| Arc::ptr_eq(live, ended)) {
            shard.remove(&ended.invocation);
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        let lock = |shard: &Shard| -> Vec<Arc<Live>> { locked(shard).values().cloned().collect() };
        self.shards.iter().flat_map(lock).collect()
    }

    fn shard(&self, invocation: InvocationId) -> MutexGuard<'_, HashMap<InvocationId, Arc<Live>>> {
        locked(&self.shards[invocation.uuid as usize % SHARDS])
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics while holding the lock")
}

impl Live {
    pub(super) fn new(
        start: &holdfast_machine::attempt::Start,
        pin: Pin,
        seat: u64,
        now: Timestamp,
    ) -> Arc<Live> {
        Arc::new(Live {
            invocation: start.invocation,
            attempt: start.attempt,
            target: start.target.clone(),
            pin,
            seat,
            started_at: now,
            retry_count: start.retry_count_since_last_stored_entry,
            active_ms: AtomicU64::new(now.0),
            awaiting: Mutex::default(),
            wish: AtomicU8::new(Wish::Nothing as u8),
            wished: Notify::new(),
        })
    }

    /// A message came or went.
    pub(super) fn active(&self, now: Timestamp) {
        self.active_ms.store(now.0, Relaxed);
    }

    /// The service said what it waits for; `None` when something was sent to it since.
    pub(super) fn awaits(&self, awaiting: Option<Awaiting>) {
        *locked(&self.awaiting) = awaiting;
    }

    /// Wants something of the attempt. True if it is more than what was wanted before.
    pub(super) fn want(&self, wish: Wish) -> bool {
        let more = self.wish.fetch_max(wish as u8, SeqCst) < wish as u8;
        if more {
            self.wished.notify_one();
        }
        more
    }

    /// Waits until more is wanted than before. Cancel safe.
    pub(super) async fn wanted(&self) -> Wish {
        self.wished.notified().await;
        match self.wish.load(SeqCst) {
            2.. => Wish::Cut,
            _ => Wish::Suspend,
        }
    }

    /// Whether it holds a place only to wait: for `idle` where it told us, for `silent` where its
    /// version has no words for it.
    pub(super) fn only_waits(&self, now: Timestamp, idle: Duration, silent: Duration) -> bool {
        if self.wish.load(SeqCst) != Wish::Nothing as u8 {
            return false;
        }
        let quiet = now.since(Timestamp(self.active_ms.load(Relaxed)));
        match self.pin.version.supports(Feature::AwaitingOn) {
            true => quiet >= idle && locked(&self.awaiting).is_some(),
            false => quiet >= silent,
        }
    }

    fn running(&self) -> Running {
        Running {
            invocation: self.invocation,
            attempt: self.attempt,
            target: self.target.clone(),
            pin: self.pin,
            started_at: self.started_at,
            active_at: Timestamp(self.active_ms.load(Relaxed)),
            awaiting: locked(&self.awaiting).clone(),
            retry_count: self.retry_count,
        }
    }
}
