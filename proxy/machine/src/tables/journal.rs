//! `j | partition:u16 | id:24 | index:u32` -> `JournalEntry`. What an invocation did, in order;
//! entry 0 is its input. The payload is what came over the wire, byte for byte.

use super::codec::{KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::{TableId, convert, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::Entry;
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Journal;

fn prefix(partition: PartitionId, id: InvocationId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).done()
}

pub fn key(partition: PartitionId, id: InvocationId, index: u32) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).u32(index).done()
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    index: u32,
) -> Result<Option<Entry>, Fault> {
    let value = kv.get(&key(partition, id, index))?;
    value.map(|value| entry_in(index, value)).transpose()
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, entry: &Entry) {
    let row = pb::JournalEntry {
        r#type: u32::from(entry.ty.0),
        payload: entry.payload.clone(),
        appended_at: entry.appended_at.0,
    };
    txn.put(key(partition, id, entry.index), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, index: u32) {
    txn.delete(key(partition, id, index));
}

/// Shows the journal in order, from entry `from` on, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    from: u32,
    each: &mut dyn FnMut(Entry) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let end = after(&prefix(partition, id));
    scan_rows(kv, &key(partition, id, from), &end, &mut |key, value| {
        let (_, _, index) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        each(entry_in(index, value)?)
    })
}

/// Up to so many entries are read one by one: an iterator costs as much as a few of them.
const SINGLE_READS_MAX: u32 = 4;

/// The journal of an invocation that has `length` entries.
pub fn first(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    length: u32,
) -> Result<Vec<Entry>, Fault> {
    if length > SINGLE_READS_MAX {
        return all(kv, partition, id);
    }
    let entry =
        |index| get(kv, partition, id, index)?.ok_or_else(|| corrupt(TABLE, "an entry is missing"));
    (0..length).map(entry).collect()
}

/// The whole journal.
pub fn all(kv: &dyn Kv, partition: PartitionId, id: InvocationId) -> Result<Vec<Entry>, Fault> {
    let mut entries = vec![];
    scan(kv, partition, id, 0, &mut |entry| {
        entries.push(entry);
        Ok(true)
    })?;
    Ok(entries)
}

fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, u32)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (partition, reader.id()?, reader.u32()?);
    reader.end(parsed)
}

fn entry_in(index: u32, value: Bytes) -> Result<Entry, Fault> {
    let row: pb::JournalEntry = decode(TABLE, value)?;
    Ok(Entry {
        index,
        ty: convert::type_in(row.r#type).map_err(|bad| bad.of(TABLE))?,
        payload: row.payload,
        appended_at: Timestamp(row.appended_at),
    })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use holdfast_wire::message::MessageType;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip_in_order(
            (partition, id) in (arbitrary::partition(), arbitrary::id()),
            contents in proptest::collection::vec((any::<u16>(), arbitrary::bytes()), 0..5),
            at in arbitrary::time(),
        ) {
            let entries: Vec<Entry> = (0..)
                .zip(contents)
                .map(|(index, (ty, payload))| {
                    Entry { index, ty: MessageType(ty), payload, appended_at: at }
                })
                .collect();
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            for entry in entries.iter().rev() {
                put(&mut txn, partition, id, entry);
            }
            kv.apply(txn.into_writes());
            prop_assert_eq!(all(&kv, partition, id).unwrap(), entries.clone());
            let length = u32::try_from(entries.len()).unwrap();
            prop_assert_eq!(first(&kv, partition, id, length).unwrap(), entries.clone());
            prop_assert!(first(&kv, partition, id, length + 1).is_err() == (length < 4));
            prop_assert_eq!(get(&kv, partition, id, 0).unwrap(), entries.first().cloned());
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
