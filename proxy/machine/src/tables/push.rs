//! `w | partition:u16 | sequence:u64` -> `PushDelivery`. Events of feeds that are to be sent, in the
//! order in which they happened, until they were. `m | partition:u16 | 3:u8` -> `PushDeliveries`
//! keeps the next sequence, so that none is given twice. What is sent is read from the feed and
//! from the receiver's own row when it goes out.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::convert::{id_in, id_out};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Push;
const COUNTER: TableId = TableId::Meta;
/// The meta row for deliveries. A number once given is never given again.
const META_PUSH: u8 = 3;

/// One event for one receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub invocation: InvocationId,
    /// Which of the task's receivers.
    pub config: String,
    /// Its number in the feed.
    pub event: u64,
    pub at: Timestamp,
}

fn key(partition: PartitionId, sequence: u64) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).u64(sequence).done()
}

fn counter_key(partition: PartitionId) -> Vec<u8> {
    KeyWriter::new(COUNTER, partition).u8(META_PUSH).done()
}

/// Appends deliveries and gives the sequence of the first. Sequences begin with 1.
pub fn push(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    deliveries: &[Delivery],
) -> Result<u64, Fault> {
    let counter = counter_key(partition);
    let first = match txn.get(&counter)? {
        Some(value) => decode::<pb::PushDeliveries>(COUNTER, value)?.next,
        None => 1,
    };
    let mut next = first;
    for delivery in deliveries {
        txn.put(key(partition, next), encode(&delivery_out(delivery)));
        next += 1;
    }
    txn.put(counter, encode(&pb::PushDeliveries { next }));
    Ok(first)
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, sequence: u64) {
    txn.delete(key(partition, sequence));
}

/// The earliest row.
pub fn first(kv: &dyn Kv, partition: PartitionId) -> Result<Option<u64>, Fault> {
    let mut first = None;
    scan(kv, partition, 0, &mut |sequence, _| {
        first = Some(sequence);
        false
    })?;
    Ok(first)
}

/// Shows the rows from sequence `from` on, in order, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    from: u64,
    each: &mut dyn FnMut(u64, Delivery) -> bool,
) -> Result<(), Fault> {
    let end = after(&KeyWriter::new(TABLE, partition).done());
    scan_rows(kv, &key(partition, from), &end, &mut |key, value| {
        let (_, sequence) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        Ok(each(sequence, delivery_in(value)?))
    })
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, u64)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let sequence = reader.u64()?;
    reader.end((partition, sequence))
}

fn delivery_out(delivery: &Delivery) -> pb::PushDelivery {
    pb::PushDelivery {
        invocation: id_out(delivery.invocation),
        config: delivery.config.clone(),
        event: delivery.event,
        at: delivery.at.0,
    }
}

fn delivery_in(value: Bytes) -> Result<Delivery, Fault> {
    let row: pb::PushDelivery = decode(TABLE, value)?;
    let invocation = id_in(&row.invocation).map_err(|bad: Bad| bad.of(TABLE))?;
    Ok(Delivery { invocation, config: row.config, event: row.event, at: Timestamp(row.at) })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn delivery() -> impl Strategy<Value = Delivery> {
        (arbitrary::id(), any::<(String, u64)>(), arbitrary::time()).prop_map(
            |(invocation, (config, event), at)| Delivery { invocation, config, event, at },
        )
    }

    fn rows(kv: &dyn Kv, partition: PartitionId, from: u64) -> Vec<(u64, Delivery)> {
        let mut rows = vec![];
        scan(kv, partition, from, &mut |sequence, delivery| {
            rows.push((sequence, delivery));
            true
        })
        .unwrap();
        rows
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_no_sequence_comes_twice(
            partition in arbitrary::partition(),
            (a, b, c) in (delivery(), delivery(), delivery()),
        ) {
            let mut kv = MemoryKv::default();
            prop_assert_eq!(first(&kv, partition), Ok(None));
            let mut txn = Txn::new(&kv);
            prop_assert_eq!(push(&mut txn, partition, &[a.clone(), b.clone()]), Ok(1));
            kv.apply(txn.into_writes());
            prop_assert_eq!(rows(&kv, partition, 0), vec![(1, a), (2, b.clone())]);
            prop_assert_eq!(rows(&kv, partition, 2), vec![(2, b)]);
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, 1);
            prop_assert_eq!(first(&txn, partition), Ok(Some(2)));
            delete(&mut txn, partition, 2);
            let next = std::slice::from_ref(&c);
            prop_assert_eq!(push(&mut txn, partition, next), Ok(3));
            kv.apply(txn.into_writes());
            prop_assert_eq!(rows(&kv, partition, 0), vec![(3, c)]);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), any::<u64>()),
            b in (arbitrary::partition(), any::<u64>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
        }
    }
}
