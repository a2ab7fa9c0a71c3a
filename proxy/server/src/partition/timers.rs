//! When the next timer of the partition is due. The timers themselves are rows of the store; of
//! them only two moments are held in memory. Never fires a timer early.

use holdfast_machine::{
    id::PartitionId,
    kv::{Fault, Kv},
    tables::timer::{self, Timer, TimerKind},
    time::Timestamp,
};
/// So many batches of rows are looked through in one turn for what somebody waits for.
const LOOK_AHEAD: usize = 4;

/// The timers of one partition.
pub(super) struct Timers {
    partition: PartitionId,
    /// Most due timers in one turn.
    batch_max: usize,
    /// No row is due before it. A scan begins here, and not among all the rows that were deleted.
    from: Timestamp,
    /// No row is due before it, and if it is set there may be one due then.
    next: Option<Timestamp>,
    /// Behind a full batch there is nothing before this key that anybody waits for.
    ahead: Vec<u8>,
}

/// A row that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Due {
    pub key: Vec<u8>,
    pub at: Timestamp,
    /// Nobody waits for it.
    pub forgets: bool,
}

impl Timers {
    /// `next` is unknown at first, so the table is looked at in the first turn.
    pub(super) fn new(partition: PartitionId, batch_max: usize) -> Self {
        let (from, next) = (Timestamp(0), Some(Timestamp(0)));
        Timers { partition, batch_max: batch_max.max(1), from, next, ahead: Vec::new() }
    }

    /// A row due at `due` was written.
    pub(super) fn wake_at(&mut self, due: Timestamp) {
        self.forget_later(due);
        let key = timer::first_key(self.partition, due);
        if key < self.ahead {
            self.ahead = key;
        }
    }

    /// What is to be forgotten was taken from `due` on, and not forgotten yet.
    pub(super) fn forget_later(&mut self, due: Timestamp) {
        self.from = self.from.min(due);
        self.next = Some(self.next.map_or(due, |next| next.min(due)));
    }

    /// When something may be due. `None`: not until some command comes.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.next
    }

    /// The rows that are due, earliest first; at most a batch of them, and where some of it is to be
    /// forgotten, as many behind it that somebody waits for. The caller applies them in this turn, which deletes them, and says by
    /// `forget_later` which it does not.
    pub(super) fn due(&mut self, kv: &dyn Kv, now: Timestamp) -> Result<Vec<Due>, Fault> {
        if self.next.is_none_or(|next| next > now) {
            return Ok(Vec::new());
        }
        let keys = timer::due(kv, self.partition, self.from, now, self.batch_max)?;
        let mut due = keys.into_iter().map(Due::parse).collect::<Result<Vec<_>, Fault>>()?;
        // What is due is deleted in this turn; rows that this turn writes lower both bounds again
        // by `wake_at`.
        (self.from, self.next) = match due.last().filter(|_| due.len() == self.batch_max) {
            Some(last) => {
                let at = last.at;
                if due.iter().any(|due| due.forgets) {
                    let ahead = self.look_ahead(kv, now, &due)?;
                    due.extend(ahead);
                }
                (at, Some(at))
            }
            None => {
                let later = Timestamp(now.0 + 1);
                (later, timer::next(kv, self.partition, later)?)
            }
        };
        Ok(due)
    }

    /// What somebody waits for does not stand behind all that is to be forgotten: a little further
    /// at each turn it is looked for behind the batch.
    fn look_ahead(
        &mut self,
        kv: &dyn Kv,
        now: Timestamp,
        batch: &[Due],
    ) -> Result<Vec<Due>, Fault> {
        let behind = batch.last().map(|last| successor(&last.key)).unwrap_or_default();
        let from = behind.max(std::mem::take(&mut self.ahead));
        let max = self.batch_max * LOOK_AHEAD;
        let keys = timer::due_from(kv, self.partition, &from, now, max)?;
        self.ahead = match keys.last().filter(|_| keys.len() == max) {
            Some(last) => successor(last),
            None => timer::first_key(self.partition, Timestamp(now.0 + 1)),
        };
        let mut found = Vec::new();
        for key in keys {
            let due = Due::parse(key)?;
            if due.forgets {
                continue;
            }
            if found.len() == self.batch_max {
                self.ahead = due.key;
                break;
            }
            found.push(due);
        }
        Ok(found)
    }
}

fn successor(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

impl Due {
    fn parse(key: Vec<u8>) -> Result<Due, Fault> {
        let (_, timer) = Timer::parse(&key).ok_or_else(|| Fault::Corrupt {
            table: "timer",
            what: format!("a key of {} bytes is malformed", key.len()),
        })?;
        let forgets = matches!(timer.kind, TimerKind::Forget | TimerKind::ForgetJournal);
        Ok(Due { key, at: timer.due, forgets })
    }
}

#[cfg(test)]
mod tests;
