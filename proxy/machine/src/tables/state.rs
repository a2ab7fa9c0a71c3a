//! `s | partition:u16 | service | key | state key` -> `State`. The state of objects and workflows;
//! the pairs of one key scan in the order of the bytes of their state keys.

use super::codec::{
    KeyReader, KeyWriter, after, decode, encode, keys, scan as scan_rows, scan_table,
};
use super::{TableId, generated as pb};
use crate::id::PartitionId;
use crate::kv::{Fault, Kv, Txn};
use bytes::Bytes;

const TABLE: TableId = TableId::State;

/// One object or workflow key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner<'a> {
    pub service: &'a str,
    pub key: &'a str,
}

fn prefix(partition: PartitionId, owner: Owner<'_>) -> KeyWriter {
    KeyWriter::new(TABLE, partition).text(owner.service).text(owner.key)
}

/// How many bytes of a key of this table name its owner.
pub fn owner_bytes(key: &[u8]) -> Option<usize> {
    let (_, mut rest) = KeyReader::new(TABLE, key)?;
    rest.skip_text()?;
    rest.skip_text()?;
    Some(key.len() - rest.rest().len())
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    owner: Owner<'_>,
    state_key: &[u8],
) -> Result<Option<Bytes>, Fault> {
    let value = kv.get(&prefix(partition, owner).rest(state_key).done())?;
    value.map(|value| Ok(decode::<pb::State>(TABLE, value)?.value)).transpose()
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    owner: Owner<'_>,
    state_key: &[u8],
    value: Bytes,
) {
    txn.put(prefix(partition, owner).rest(state_key).done(), encode(&pb::State { value }));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, owner: Owner<'_>, state_key: &[u8]) {
    txn.delete(prefix(partition, owner).rest(state_key).done());
}

pub fn delete_all(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    owner: Owner<'_>,
) -> Result<(), Fault> {
    for key in keys(txn, &prefix(partition, owner).done())? {
        txn.delete(key);
    }
    Ok(())
}

/// Shows the pairs of one key in order until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    owner: Owner<'_>,
    each: &mut dyn FnMut(Bytes, Bytes) -> bool,
) -> Result<(), Fault> {
    let prefix = prefix(partition, owner).done();
    scan_rows(kv, &prefix, &after(&prefix), &mut |key, value| {
        let value = decode::<pb::State>(TABLE, value)?.value;
        Ok(each(Bytes::copy_from_slice(&key[prefix.len()..]), value))
    })
}

/// A row, as [`scan_all`] shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub service: String,
    pub key: String,
    pub state_key: Bytes,
    pub value: Bytes,
}

/// Shows all state of a partition until `each` answers false.
pub fn scan_all(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(Row) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |(service, key, state_key), value| {
        let value = decode::<pb::State>(TABLE, value)?.value;
        Ok(each(Row { service, key, state_key, value }))
    })
}

fn parse(key: &[u8]) -> Option<(String, String, Bytes)> {
    let (_, mut reader) = KeyReader::new(TABLE, key)?;
    let (service, key) = (reader.text()?, reader.text()?);
    Some((service, key, Bytes::copy_from_slice(reader.rest())))
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn pairs_round_trip_in_the_order_of_their_bytes(
            partition in arbitrary::partition(),
            (service, key, other) in any::<(String, String, String)>(),
            pairs in proptest::collection::btree_map(any::<Vec<u8>>(), any::<Vec<u8>>(), 0..5),
        ) {
            prop_assume!(key != other);
            let owner = Owner { service: &service, key: &key };
            let neighbour = Owner { service: &service, key: &other };
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, neighbour, b"n", Bytes::from_static(b"1"));
            for (key, value) in &pairs {
                put(&mut txn, partition, owner, key, value.clone().into());
            }
            kv.apply(txn.into_writes());
            let mut seen = vec![];
            scan(&kv, partition, owner, &mut |key, value| {
                seen.push((key.to_vec(), value.to_vec()));
                true
            })
            .unwrap();
            prop_assert_eq!(&seen, &pairs.clone().into_iter().collect::<Vec<_>>());
            let mut rows = BTreeMap::new();
            scan_all(&kv, partition, &mut |row| {
                if row.key == key {
                    rows.insert(row.state_key.to_vec(), row.value.to_vec());
                }
                true
            })
            .unwrap();
            prop_assert_eq!(rows, pairs);
            let mut txn = Txn::new(&kv);
            delete_all(&mut txn, partition, owner).unwrap();
            delete(&mut txn, partition, neighbour, b"n");
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }
    }
}
