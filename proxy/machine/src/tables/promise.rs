//! `o | partition:u16 | service | key | name` -> `Promise`. The promises of a workflow key: a
//! result, or those who wait for it.

use super::codec::{KeyReader, KeyWriter, decode, encode, keys, scan_table};
use super::state::Owner;
use super::{TableId, convert, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::Outcome;
use bytes::Bytes;

const TABLE: TableId = TableId::Promise;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    Completed(Outcome),
    /// Who waits, and for which of their completions.
    Open(Vec<(InvocationId, u32)>),
}

fn key(partition: PartitionId, owner: Owner<'_>, name: &str) -> Vec<u8> {
    let key = KeyWriter::new(TABLE, partition).text(owner.service).text(owner.key);
    key.rest(name.as_bytes()).done()
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    owner: Owner<'_>,
    name: &str,
) -> Result<Option<Promise>, Fault> {
    kv.get(&key(partition, owner, name))?.map(promise_in).transpose()
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    owner: Owner<'_>,
    name: &str,
    promise: &Promise,
) {
    let row = match promise {
        Promise::Completed(outcome) => {
            pb::Promise { result: Some(convert::outcome_out(outcome)), listeners: vec![] }
        }
        Promise::Open(listeners) => pb::Promise {
            result: None,
            listeners: listeners
                .iter()
                .map(|(id, completion)| pb::Listener {
                    invocation: convert::id_out(*id),
                    completion: *completion,
                })
                .collect(),
        },
    };
    txn.put(key(partition, owner, name), encode(&row));
}

pub fn delete_all(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    owner: Owner<'_>,
) -> Result<(), Fault> {
    let prefix = KeyWriter::new(TABLE, partition).text(owner.service).text(owner.key).done();
    for key in keys(txn, &prefix)? {
        txn.delete(key);
    }
    Ok(())
}

/// A row, as [`scan`] shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub service: String,
    pub key: String,
    pub name: String,
    pub promise: Promise,
}

/// Shows all promises of a partition until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(Row) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |(service, key, name), value| {
        Ok(each(Row { service, key, name, promise: promise_in(value)? }))
    })
}

fn promise_in(value: Bytes) -> Result<Promise, Fault> {
    let row: pb::Promise = decode(TABLE, value)?;
    let read = |row: pb::Promise| match row.result {
        Some(result) => convert::outcome_in(result).map(Promise::Completed),
        None => row
            .listeners
            .into_iter()
            .map(|listener| Ok((convert::id_in(&listener.invocation)?, listener.completion)))
            .collect::<Result<_, _>>()
            .map(Promise::Open),
    };
    read(row).map_err(|bad| bad.of(TABLE))
}

fn parse(key: &[u8]) -> Option<(String, String, String)> {
    let (_, mut reader) = KeyReader::new(TABLE, key)?;
    let (service, key) = (reader.text()?, reader.text()?);
    Some((service, key, String::from_utf8(reader.rest().to_vec()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip_and_go_together(
            partition in arbitrary::partition(),
            (service, object, name) in any::<(String, String, String)>(),
            promise in prop_oneof![
                arbitrary::outcome().prop_map(Promise::Completed),
                proptest::collection::vec((arbitrary::id(), any::<u32>()), 0..3)
                    .prop_map(Promise::Open),
            ],
        ) {
            let owner = Owner { service: &service, key: &object };
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, owner, &name, &promise);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, owner, &name).unwrap(), Some(promise.clone()));
            let mut seen = vec![];
            scan(&kv, partition, &mut |row| {
                seen.push(row);
                true
            })
            .unwrap();
            let row = Row { service: service.clone(), key: object.clone(), name, promise };
            prop_assert_eq!(seen, vec![row]);
            let mut txn = Txn::new(&kv);
            delete_all(&mut txn, partition, owner).unwrap();
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }
    }
}
