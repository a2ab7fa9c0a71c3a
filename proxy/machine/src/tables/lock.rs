//! `l | partition:u16 | service | key` -> `Lock`. Which invocation holds an object key, and where
//! the inbox of the key begins and ends. No row: nobody holds it and nobody waits.

use super::codec::{KeyReader, KeyWriter, decode, encode, scan_table};
use super::state::Owner;
use super::{TableId, convert, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use bytes::Bytes;

const TABLE: TableId = TableId::Lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    pub holder: InvocationId,
    /// Nothing in the inbox has a lower sequence.
    pub head: u64,
    /// The next sequence to be given.
    pub tail: u64,
}

fn key(partition: PartitionId, owner: Owner<'_>) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).text(owner.service).text(owner.key).done()
}

pub fn get(kv: &dyn Kv, partition: PartitionId, owner: Owner<'_>) -> Result<Option<Lock>, Fault> {
    kv.get(&key(partition, owner))?.map(lock_in).transpose()
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, owner: Owner<'_>, lock: Lock) {
    let row = pb::Lock { holder: convert::id_out(lock.holder), head: lock.head, tail: lock.tail };
    txn.put(key(partition, owner), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, owner: Owner<'_>) {
    txn.delete(key(partition, owner));
}

/// Shows all locks of a partition, by service and key, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(String, String, Lock) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |(service, key), value| {
        Ok(each(service, key, lock_in(value)?))
    })
}

fn lock_in(value: Bytes) -> Result<Lock, Fault> {
    let row: pb::Lock = decode(TABLE, value)?;
    let holder = convert::id_in(&row.holder).map_err(|bad| bad.of(TABLE))?;
    Ok(Lock { holder, head: row.head, tail: row.tail })
}

fn parse(key: &[u8]) -> Option<(String, String)> {
    let (_, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (reader.text()?, reader.text()?);
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
            partition in arbitrary::partition(),
            (service, object) in any::<(String, String)>(),
            holder in arbitrary::id(),
            (head, tail) in any::<(u64, u64)>(),
        ) {
            let owner = Owner { service: &service, key: &object };
            let lock = Lock { holder, head, tail };
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, owner, lock);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, owner).unwrap(), Some(lock));
            let mut seen = vec![];
            scan(&kv, partition, &mut |service, key, lock| {
                seen.push((service, key, lock));
                true
            })
            .unwrap();
            prop_assert_eq!(seen, vec![(service, object, lock)]);
        }
    }
}
