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
    use crate::kv::{Bounds, Forms, Fresh, Kept, MemoryKv, Recent};
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

        /// Names that begin with others, and empty ones; keys that are no text.
        #[test]
        fn owners_are_remembered_apart(
            turns in proptest::collection::vec(
                proptest::collection::vec(
                    (0..2u16, name(), name(), state_key(), 0..6u8),
                    0..5,
                ),
                1..8,
            ),
        ) {
            let kept = |key: &[u8]| owner_bytes(key).map_or(Kept::Nothing, Kept::Range);
            let bounds = Bounds { rows: 4, row_bytes: 100, ranges: 4, range_bytes: 120 };
            let (mut kv, mut recent) = (MemoryKv::default(), Recent::new(bounds, kept));
            for turn in turns {
                let fresh = Fresh { base: &kv, recent: &recent };
                let (mut txn, mut plain) = (Txn::new(&fresh), Txn::new(&kv));
                for (partition, service, key, state_key, what) in turn {
                    let (partition, owner) = (PartitionId(partition), Owner { service, key });
                    for txn in [&mut txn, &mut plain] {
                        match what {
                            0 => delete_all(txn, partition, owner).unwrap(),
                            1 => delete(txn, partition, owner, &state_key),
                            2 => put(txn, partition, owner, &state_key, vec![7; 90].into()),
                            3 => put(txn, partition, owner, &state_key, Bytes::new()),
                            _ => {}
                        }
                    }
                    let rows = |kv| {
                        let mut rows = vec![];
                        scan(kv, partition, owner, &mut |key, value| {
                            rows.push((key, value));
                            what > 4 || rows.len() < 2
                        })
                        .unwrap();
                        rows
                    };
                    prop_assert_eq!(rows(&txn), rows(&plain));
                }
                let writes = plain.into_writes();
                prop_assert_eq!(&txn.into_writes(), &writes);
                kv.apply(writes.clone());
                recent.remember(writes, Forms::default());
            }
        }
    }

    fn name() -> impl Strategy<Value = &'static str> {
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("\u{0}"), Just("\u{7f}")]
    }

    fn state_key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0), Just(0xff), Just(b'a')], 0..3)
    }
}
