//! `t | partition:u16 | due:u64 | kind:u8 | id:24 | completion:u32` -> empty. What is to happen at
//! a time, in that order. The key says everything; only a sleep has a completion and
//! only an ask a number, others have 0.

use super::TableId;
use super::codec::{KeyReader, KeyWriter, after};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Timer;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timer {
    pub due: Timestamp,
    pub kind: TimerKind,
    pub invocation: InvocationId,
    pub completion: u32,
}

/// What is to happen. A number once given is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TimerKind {
    /// A scheduled invocation begins.
    Start = 1,
    /// A sleep is over.
    Sleep = 2,
    /// The next attempt begins.
    Retry = 3,
    /// The journal of a completed invocation is forgotten.
    ForgetJournal = 4,
    /// A completed invocation is forgotten.
    Forget = 5,
    /// A schedule is due, whose id stands in place of an invocation's.
    Schedule = 6,
    /// The time of an ask is over; the id is its root's, and its number stands in place of a
    /// completion.
    Ask = 7,
}

impl TimerKind {
    const ALL: [TimerKind; 7] = [
        TimerKind::Start,
        TimerKind::Sleep,
        TimerKind::Retry,
        TimerKind::ForgetJournal,
        TimerKind::Forget,
        TimerKind::Schedule,
        TimerKind::Ask,
    ];
}

impl Timer {
    /// A timer that needs no completion.
    pub fn new(due: Timestamp, kind: TimerKind, invocation: InvocationId) -> Timer {
        Timer { due, kind, invocation, completion: 0 }
    }

    pub fn sleep(due: Timestamp, invocation: InvocationId, completion: u32) -> Timer {
        Timer { due, kind: TimerKind::Sleep, invocation, completion }
    }

    pub fn ask(due: Timestamp, root: InvocationId, number: u32) -> Timer {
        Timer { due, kind: TimerKind::Ask, invocation: root, completion: number }
    }

    pub fn key(&self, partition: PartitionId) -> Vec<u8> {
        KeyWriter::new(TABLE, partition)
            .u64(self.due.0)
            .u8(self.kind as u8)
            .id(self.invocation)
            .u32(self.completion)
            .done()
    }

    /// Takes a key apart. `None` for what is no key of this table.
    pub fn parse(key: &[u8]) -> Option<(PartitionId, Timer)> {
        let (partition, mut reader) = KeyReader::new(TABLE, key)?;
        let due = Timestamp(reader.u64()?);
        let kind = reader.u8()?;
        let kind = TimerKind::ALL.into_iter().find(|known| *known as u8 == kind)?;
        let timer = Timer { due, kind, invocation: reader.id()?, completion: reader.u32()? };
        reader.end((partition, timer))
    }
}

pub fn exists(kv: &dyn Kv, partition: PartitionId, timer: &Timer) -> Result<bool, Fault> {
    Ok(kv.get(&timer.key(partition))?.is_some())
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, timer: &Timer) {
    txn.put(timer.key(partition), Bytes::new());
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, timer: &Timer) {
    txn.delete(timer.key(partition));
}

/// Keys of the timers that are due at `now`, at most `max`, earliest first. `from` is a time
/// before which there are none: it saves the engine from wading through what was deleted.
pub fn due(
    kv: &dyn Kv,
    partition: PartitionId,
    from: Timestamp,
    now: Timestamp,
    max: usize,
) -> Result<Vec<Vec<u8>>, Fault> {
    due_from(kv, partition, &first_key(partition, from), now, max)
}

/// Before every key of a timer that is due at `due`, and behind those of all that are due earlier.
pub fn first_key(partition: PartitionId, due: Timestamp) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).u64(due.0).done()
}

/// As `due`, beginning at a key.
pub fn due_from(
    kv: &dyn Kv,
    partition: PartitionId,
    from: &[u8],
    now: Timestamp,
    max: usize,
) -> Result<Vec<Vec<u8>>, Fault> {
    let mut keys = vec![];
    let end = after(&first_key(partition, now));
    kv.scan(from, &end, &mut |key, _| {
        keys.push(key.to_vec());
        keys.len() < max
    })?;
    keys.truncate(max);
    Ok(keys)
}

/// When the earliest timer at or after `from` is due.
pub fn next(
    kv: &dyn Kv,
    partition: PartitionId,
    from: Timestamp,
) -> Result<Option<Timestamp>, Fault> {
    let mut next = None;
    let start = KeyWriter::new(TABLE, partition).u64(from.0).done();
    let end = after(&KeyWriter::new(TABLE, partition).done());
    kv.scan(&start, &end, &mut |key, _| {
        next = Some(key.to_vec());
        false
    })?;
    next.map(|key| {
        let (_, timer) =
            Timer::parse(&key).ok_or_else(|| super::codec::corrupt(TABLE, "a key is malformed"))?;
        Ok(timer.due)
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn timers() -> impl Strategy<Value = Timer> {
        let kind = proptest::sample::select(TimerKind::ALL.to_vec());
        (0..20u64, kind, arbitrary::id(), any::<u32>()).prop_map(
            |(due, kind, invocation, completion)| Timer {
                due: Timestamp(due),
                kind,
                invocation,
                completion,
            },
        )
    }

    proptest! {
        #[test]
        fn keys_round_trip_and_keep_order(
            partition in arbitrary::partition(),
            (a, b) in (timers(), timers()),
        ) {
            prop_assert_eq!(Timer::parse(&a.key(partition)), Some((partition, a)));
            prop_assert_eq!(a.cmp(&b), a.key(partition).cmp(&b.key(partition)));
        }

        #[test]
        fn what_is_due_comes_in_order(
            partition in arbitrary::partition(),
            timers in proptest::collection::btree_set(timers(), 0..8),
            (now, max) in (0..20u64, 0..8usize),
        ) {
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            for timer in &timers {
                put(&mut txn, partition, timer);
            }
            kv.apply(txn.into_writes());
            let now = Timestamp(now);
            let expected: Vec<_> = timers
                .iter()
                .filter(|timer| timer.due <= now)
                .take(max)
                .map(|timer| timer.key(partition))
                .collect();
            prop_assert_eq!(due(&kv, partition, Timestamp(0), now, max).unwrap(), expected);
            let expected = timers.iter().map(|timer| timer.due).find(|due| *due >= now);
            prop_assert_eq!(next(&kv, partition, now).unwrap(), expected);
            let exist = timers.iter().all(|timer| exists(&kv, partition, timer).unwrap());
            prop_assert!(exist);
        }
    }
}
