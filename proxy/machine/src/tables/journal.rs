//! `j | partition:u16 | id:24 | index:u32` -> `JournalEntry`. What an invocation did, in order;
//! entry 0 is its input. The payload is what came over the wire, byte for byte.

use super::codec::{KeyReader, KeyWriter, after, corrupt, decode, scan as scan_rows};
use super::protobuf::{Reader, Writer};
use super::{TableId, convert, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::Entry;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::message::MessageType;

const TABLE: TableId = TableId::Journal;
/// What a row has beside the payload, at most.
const NUMBERS_BYTES_MAX: usize = 26;

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
    txn.put(key(partition, id, entry.index), row_out(entry));
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

/// `JournalEntry`, written field by field: it is what is written most.
fn row_out(entry: &Entry) -> Bytes {
    let mut row = Writer::new(NUMBERS_BYTES_MAX + entry.payload.len());
    row.number(1, entry.ty.0);
    row.bytes(2, &entry.payload);
    row.number(3, entry.appended_at.0);
    row.done()
}

fn entry_in(index: u32, value: Bytes) -> Result<Entry, Fault> {
    match entry_read(index, &value) {
        Some(entry) => Ok(entry),
        None => entry_of_any_form(index, value),
    }
}

/// `None`: it does not stand there as `row_out` writes it.
fn entry_read(index: u32, value: &Bytes) -> Option<Entry> {
    let mut row = Reader::new(value);
    let ty = MessageType(row.number(1));
    let payload = row.maybe_shared(2).unwrap_or_default();
    let appended_at = Timestamp(row.number(3));
    row.end(Entry { index, ty, payload, appended_at })
}

/// As other versions may write it; or it says what is wrong.
fn entry_of_any_form(index: u32, value: Bytes) -> Result<Entry, Fault> {
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
    use crate::tables::codec::encode;
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
        fn rows_are_what_prost_writes(
            (ty, payload, at) in (any::<u16>(), arbitrary::bytes(), arbitrary::time()),
        ) {
            let entry = Entry { index: 7, ty: MessageType(ty), payload, appended_at: at };
            let written = row_out(&entry);
            let expected = pb::JournalEntry {
                r#type: u32::from(ty),
                payload: entry.payload.clone(),
                appended_at: at.0,
            };
            prop_assert_eq!(&written, &encode(&expected));
            prop_assert!(written.len() <= NUMBERS_BYTES_MAX + entry.payload.len());
            prop_assert_eq!(entry_of_any_form(7, written.clone()).unwrap(), entry.clone());
            prop_assert_eq!(entry_read(7, &written), Some(entry));
        }

        /// Whatever stands there: where a row can be read field by field, prost reads the same.
        #[test]
        fn no_row_is_read_as_another_than_prost_reads(
            bytes in proptest::collection::vec(prop_oneof![Just(8u8), Just(18), Just(24), 0..4u8, any::<u8>()], 0..12),
        ) {
            let bytes = Bytes::from(bytes);
            if let Some(entry) = entry_read(7, &bytes) {
                prop_assert_eq!(entry_of_any_form(7, bytes), Ok(entry));
            }
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
