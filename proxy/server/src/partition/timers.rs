//! When the next timer of the partition is due. The timers themselves are rows of the store; of
//! them only two moments are held in memory. Never fires a timer early.

use crate::clock::Clock;
use holdfast_machine::{
    id::PartitionId,
    kv::{Fault, Kv},
    tables::timer::{self, Timer},
    time::Timestamp,
};
use std::time::Duration;

/// Longest sleep until a timer: the machine's clock may be set forward, or the machine suspended,
/// and nothing wakes who sleeps by another clock.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The timers of one partition.
pub(super) struct Timers {
    partition: PartitionId,
    /// Most due timers in one turn.
    batch_max: usize,
    /// No row is due before it. A scan begins here, and not among all the rows that were deleted.
    from: Timestamp,
    /// No row is due before it, and if it is set there may be one due then.
    next: Option<Timestamp>,
}

/// A row that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Due {
    pub key: Vec<u8>,
    pub at: Timestamp,
}

impl Timers {
    /// `next` is unknown at first, so the table is looked at in the first turn.
    pub(super) fn new(partition: PartitionId, batch_max: usize) -> Self {
        let (from, next) = (Timestamp(0), Some(Timestamp(0)));
        Timers { partition, batch_max: batch_max.max(1), from, next }
    }

    /// A row due at `due` was written.
    pub(super) fn wake_at(&mut self, due: Timestamp) {
        self.from = self.from.min(due);
        self.next = Some(self.next.map_or(due, |next| next.min(due)));
    }

    /// How long nothing is due. `None`: until some command comes.
    pub(super) fn patience(&self, clock: &dyn Clock) -> Option<Duration> {
        self.next.map(|next| clock.until(next).min(SLEEP_MAX))
    }

    /// The rows that are due, earliest first; at most a batch of them. The caller applies them all
    /// in this turn, which deletes them.
    pub(super) fn due(&mut self, kv: &dyn Kv, now: Timestamp) -> Result<Vec<Due>, Fault> {
        if self.next.is_none_or(|next| next > now) {
            return Ok(Vec::new());
        }
        let keys = timer::due(kv, self.partition, self.from, now, self.batch_max)?;
        let due = keys.into_iter().map(Due::parse).collect::<Result<Vec<_>, Fault>>()?;
        // What is due is deleted in this turn; rows that this turn writes lower both bounds again
        // by `wake_at`.
        (self.from, self.next) = match due.last().filter(|_| due.len() == self.batch_max) {
            Some(last) => (last.at, Some(last.at)),
            None => {
                let later = Timestamp(now.0 + 1);
                (later, timer::next(kv, self.partition, later)?)
            }
        };
        Ok(due)
    }
}

impl Due {
    fn parse(key: Vec<u8>) -> Result<Due, Fault> {
        let (_, timer) = Timer::parse(&key).ok_or_else(|| Fault::Corrupt {
            table: "timer",
            what: format!("a key of {} bytes is malformed", key.len()),
        })?;
        Ok(Due { key, at: timer.due })
    }
}
