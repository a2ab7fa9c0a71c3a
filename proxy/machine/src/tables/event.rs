//! `e | partition:u16 | id:24 | number:u32` -> `Event`. What happened to an invocation beside its
//! journal. The invocation's row says which numbers there are; there are never more than
//! `EVENTS_MAX`.

use super::codec::{Bad, KeyReader, KeyWriter, after, decode, encode, scan as scan_rows};
use super::{TableId, convert, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::AttemptFailure;
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Event;

/// Events kept for one invocation; older ones make room.
pub const EVENTS_MAX: u32 = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub kind: EventKind,
    /// The journal had this many entries.
    pub after_entry: u32,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// How often it happened without anything else in between.
    pub count: u32,
    /// Of a failed attempt, or why it was paused.
    pub failure: Option<AttemptFailure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    AttemptFailed,
    Paused,
}

fn key(partition: PartitionId, id: InvocationId, number: u32) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).u32(number).done()
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    number: u32,
) -> Result<Option<Event>, Fault> {
    kv.get(&key(partition, id, number))?.map(event_in).transpose()
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    number: u32,
    event: &Event,
) {
    let kind = match event.kind {
        EventKind::AttemptFailed => pb::EventKind::AttemptFailed,
        EventKind::Paused => pb::EventKind::Paused,
    };
    let row = pb::Event {
        kind: kind.into(),
        after_entry: event.after_entry,
        first_at: event.first_at.0,
        last_at: event.last_at.0,
        count: event.count,
        failure: event.failure.as_ref().map(convert::attempt_failure_out),
    };
    txn.put(key(partition, id, number), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, number: u32) {
    txn.delete(key(partition, id, number));
}

/// All events of an invocation, oldest first.
pub fn all(kv: &dyn Kv, partition: PartitionId, id: InvocationId) -> Result<Vec<Event>, Fault> {
    let prefix = KeyWriter::new(TABLE, partition).id(id).done();
    let mut events = vec![];
    scan_rows(kv, &prefix, &after(&prefix), &mut |_, value| {
        events.push(event_in(value)?);
        Ok(true)
    })?;
    Ok(events)
}

fn event_in(value: Bytes) -> Result<Event, Fault> {
    let row: pb::Event = decode(TABLE, value)?;
    let read = |row: pb::Event| {
        let kind = match row.kind() {
            pb::EventKind::AttemptFailed => EventKind::AttemptFailed,
            pb::EventKind::Paused => EventKind::Paused,
            pb::EventKind::Unspecified => return Err(Bad("the kind of an event is unknown")),
        };
        Ok(Event {
            kind,
            after_entry: row.after_entry,
            first_at: Timestamp(row.first_at),
            last_at: Timestamp(row.last_at),
            count: row.count,
            failure: row.failure.map(convert::attempt_failure_in).transpose()?,
        })
    };
    read(row).map_err(|bad| bad.of(TABLE))
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, u32)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (partition, reader.id()?, reader.u32()?);
    reader.end(parsed)
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(
            (partition, id) in (arbitrary::partition(), arbitrary::id()),
            (number, after_entry, count) in any::<(u32, u32, u32)>(),
            (first_at, last_at) in (arbitrary::time(), arbitrary::time()),
            kind in prop_oneof![Just(EventKind::AttemptFailed), Just(EventKind::Paused)],
            failure in proptest::option::of(arbitrary::attempt_failure()),
        ) {
            let event = Event { kind, after_entry, first_at, last_at, count, failure };
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, number, &event);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, id, number).unwrap(), Some(event.clone()));
            prop_assert_eq!(all(&kv, partition, id).unwrap(), vec![event]);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id(), any::<u32>()),
            b in (arbitrary::partition(), arbitrary::id(), any::<u32>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1, a.2)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1, a.2).cmp(&key(b.0, b.1, b.2)));
        }
    }
}
