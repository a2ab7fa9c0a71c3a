//! `d | partition:u16 | from:u16` -> `Dedup`. The last message of each other partition that was
//! applied here; none is applied twice.

use super::codec::{KeyReader, KeyWriter, decode, encode};
use super::{TableId, generated as pb};
use crate::id::PartitionId;
use crate::kv::{Fault, Kv, Txn};

const TABLE: TableId = TableId::Dedup;

fn key(partition: PartitionId, from: PartitionId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).u16(from.0).done()
}

/// The last sequence of `from` that was applied; 0 before the first.
pub fn last(kv: &dyn Kv, partition: PartitionId, from: PartitionId) -> Result<u64, Fault> {
    match kv.get(&key(partition, from))? {
        Some(value) => Ok(decode::<pb::Dedup>(TABLE, value)?.sequence),
        None => Ok(0),
    }
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, from: PartitionId, sequence: u64) {
    txn.put(key(partition, from), encode(&pb::Dedup { sequence }));
}

/// Takes a key apart: the partition, and the one that sends.
pub fn parse(key: &[u8]) -> Option<(PartitionId, PartitionId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let from = PartitionId(reader.u16()?);
    reader.end((partition, from))
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
            a in (arbitrary::partition(), arbitrary::partition()),
            b in (arbitrary::partition(), arbitrary::partition()),
            sequence: u64,
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
            let mut kv = MemoryKv::default();
            prop_assert_eq!(last(&kv, a.0, a.1), Ok(0));
            let mut txn = Txn::new(&kv);
            put(&mut txn, a.0, a.1, sequence);
            kv.apply(txn.into_writes());
            prop_assert_eq!(last(&kv, a.0, a.1), Ok(sequence));
        }
    }
}
