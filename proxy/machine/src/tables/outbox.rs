//! `x | partition:u16 | to:u16 | sequence:u64` -> `Message`. What this partition asks of another,
//! in order, until the other has made it durable. `m | partition:u16 | 1:u8 | to:u16` -> `Outbox`
//! says which sequences there are, so that nothing is searched for.

use super::codec::{KeyReader, KeyWriter, decode, encode, scan_table};
use super::{TableId, generated as pb};
use crate::id::PartitionId;
use crate::kv::{Fault, Kv, Txn};
use bytes::Bytes;

const TABLE: TableId = TableId::Outbox;
const COUNTERS: TableId = TableId::Meta;
/// The meta row for outboxes. A number once given is never given again.
const META_OUTBOX: u8 = 1;

fn key(partition: PartitionId, to: PartitionId, sequence: u64) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).u16(to.0).u64(sequence).done()
}

fn counters_key(partition: PartitionId, to: PartitionId) -> Vec<u8> {
    KeyWriter::new(COUNTERS, partition).u8(META_OUTBOX).u16(to.0).done()
}

/// Sequences begin with 1.
fn counters(kv: &dyn Kv, partition: PartitionId, to: PartitionId) -> Result<pb::Outbox, Fault> {
    match kv.get(&counters_key(partition, to))? {
        Some(value) => decode(COUNTERS, value),
        None => Ok(pb::Outbox { first: 1, next: 1 }),
    }
}

/// Appends a message and gives its sequence.
pub fn push(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    to: PartitionId,
    message: Bytes,
) -> Result<u64, Fault> {
    let mut counters = counters(txn, partition, to)?;
    let sequence = counters.next;
    counters.next += 1;
    txn.put(key(partition, to, sequence), message);
    txn.put(counters_key(partition, to), encode(&counters));
    Ok(sequence)
}

/// Removes all messages to `to` up to `sequence`.
pub fn remove_up_to(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    to: PartitionId,
    sequence: u64,
) -> Result<(), Fault> {
    let mut counters = counters(txn, partition, to)?;
    let end = sequence.saturating_add(1).min(counters.next);
    if end <= counters.first {
        return Ok(());
    }
    for sequence in counters.first..end {
        txn.delete(key(partition, to, sequence));
    }
    counters.first = end;
    txn.put(counters_key(partition, to), encode(&counters));
    Ok(())
}

/// Shows all messages that are not yet durable elsewhere, by destination and in order, until
/// `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(PartitionId, u64, Bytes) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |(_, to, sequence), value| {
        Ok(each(to, sequence, value))
    })
}

fn parse(key: &[u8]) -> Option<(PartitionId, PartitionId, u64)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (partition, PartitionId(reader.u16()?), reader.u64()?);
    reader.end(parsed)
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn rows(kv: &dyn Kv, partition: PartitionId) -> Vec<(u16, u64)> {
        let mut rows = vec![];
        scan(kv, partition, &mut |to, sequence, _| {
            rows.push((to.0, sequence));
            true
        })
        .unwrap();
        rows
    }

    #[test]
    fn each_destination_has_its_own_sequence() {
        let (here, there, elsewhere) = (PartitionId(0), PartitionId(1), PartitionId(2));
        let kv = MemoryKv::default();
        let mut txn = Txn::new(&kv);
        let message = Bytes::from_static(b"x");
        for to in [there, elsewhere, there, there] {
            push(&mut txn, here, to, message.clone()).unwrap();
        }
        assert_eq!(rows(&txn, here), [(1, 1), (1, 2), (1, 3), (2, 1)]);
        remove_up_to(&mut txn, here, there, 2).unwrap();
        assert_eq!(rows(&txn, here), [(1, 3), (2, 1)]);
        remove_up_to(&mut txn, here, there, 1).unwrap();
        remove_up_to(&mut txn, here, there, u64::MAX).unwrap();
        assert_eq!(rows(&txn, here), [(2, 1)]);
        assert_eq!(push(&mut txn, here, there, message), Ok(4));
    }

    proptest! {
        #[test]
        fn keys_round_trip_and_keep_order(a: (u16, u16, u64), b: (u16, u16, u64)) {
            let typed = |(partition, to, sequence): (u16, u16, u64)| {
                (PartitionId(partition), PartitionId(to), sequence)
            };
            let key = |row| {
                let (partition, to, sequence) = typed(row);
                key(partition, to, sequence)
            };
            prop_assert_eq!(parse(&key(a)), Some(typed(a)));
            prop_assert_eq!(a.cmp(&b), key(a).cmp(&key(b)));
        }

        #[test]
        fn messages_round_trip(
            sequence in any::<u64>(),
            partition in arbitrary::partition(),
            message in arbitrary::bytes(),
        ) {
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            txn.put(key(partition, partition, sequence), message.clone());
            kv.apply(txn.into_writes());
            let mut seen = vec![];
            scan(&kv, partition, &mut |to, sequence, message| {
                seen.push((to, sequence, message));
                true
            })
            .unwrap();
            prop_assert_eq!(seen, vec![(partition, sequence, message)]);
        }
    }
}
