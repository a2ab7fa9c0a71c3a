//! `r | partition:u16 | id:24` -> empty. The invocations in `Status::Running`, so that recovery
//! finds them without reading those that wait or are completed.

use super::codec::{KeyReader, KeyWriter};
use super::{TableId, codec};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use bytes::Bytes;

const TABLE: TableId = TableId::Running;

fn key(partition: PartitionId, id: InvocationId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).done()
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId) {
    txn.put(key(partition, id), Bytes::new());
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId) {
    txn.delete(key(partition, id));
}

pub fn contains(kv: &dyn Kv, partition: PartitionId, id: InvocationId) -> Result<bool, Fault> {
    Ok(kv.get(&key(partition, id))?.is_some())
}

/// Shows all running invocations.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(InvocationId) -> Result<(), Fault>,
) -> Result<(), Fault> {
    codec::scan_table(kv, (TABLE, partition), parse, &mut |(_, id), _| each(id).map(|()| true))
}

fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = reader.id()?;
    reader.end((partition, id))
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn what_runs_is_found_until_it_does_not(
            partition in arbitrary::partition(),
            ids in proptest::collection::btree_set(arbitrary::id(), 1..5),
        ) {
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            for id in &ids {
                put(&mut txn, partition, *id);
            }
            kv.apply(txn.into_writes());
            let found = |kv: &MemoryKv| {
                let mut found = BTreeSet::new();
                scan(kv, partition, &mut |id| {
                    found.insert(id);
                    Ok(())
                })
                .unwrap();
                found
            };
            prop_assert_eq!(found(&kv), ids.clone());
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, *ids.first().unwrap());
            kv.apply(txn.into_writes());
            prop_assert_eq!(found(&kv).len(), ids.len() - 1);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id()),
            b in (arbitrary::partition(), arbitrary::id()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
        }
    }
}
