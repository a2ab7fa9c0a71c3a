//! `q | partition:u16 | service | key | sequence:u64` -> `Waiting`. Who waits for an object key,
//! first come first served. The lock's row says where to look, so that what was deleted before is
//! never read again.

use super::codec::{
    Bad, KeyReader, KeyWriter, corrupt, decode, encode, scan as scan_rows, scan_table,
};
use super::state::Owner;
use super::{TableId, convert, generated as pb};
use crate::command::StateMap;
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Inbox;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub what: What,
    pub since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Invocation(InvocationId),
    /// Replace the state, if it still has this version then.
    Patch {
        version: Option<String>,
        state: StateMap,
    },
}

fn key(partition: PartitionId, owner: Owner<'_>, sequence: u64) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).text(owner.service).text(owner.key).u64(sequence).done()
}

/// The first row within `head..tail`, with its sequence.
pub fn first(
    kv: &dyn Kv,
    partition: PartitionId,
    owner: Owner<'_>,
    (head, tail): (u64, u64),
) -> Result<Option<(u64, Waiting)>, Fault> {
    let mut first = None;
    let (from, to) = (key(partition, owner, head), key(partition, owner, tail));
    scan_rows(kv, &from, &to, &mut |key, value| {
        let (_, _, sequence) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        first = Some((sequence, waiting_in(value)?));
        Ok(false)
    })?;
    Ok(first)
}

/// Shows who waits for one key, within `head..tail`, until `each` answers false.
pub fn scan_key(
    kv: &dyn Kv,
    partition: PartitionId,
    owner: Owner<'_>,
    (head, tail): (u64, u64),
    each: &mut dyn FnMut(Waiting) -> bool,
) -> Result<(), Fault> {
    let (from, to) = (key(partition, owner, head), key(partition, owner, tail));
    scan_rows(kv, &from, &to, &mut |_, value| Ok(each(waiting_in(value)?)))
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    owner: Owner<'_>,
    sequence: u64,
    waiting: &Waiting,
) {
    use pb::waiting::Waiting as Out;
    let what = match &waiting.what {
        What::Invocation(id) => Out::Invocation(convert::id_out(*id)),
        What::Patch { version, state } => {
            let pair = |(key, value): (&Bytes, &Bytes)| pb::StatePair {
                key: key.clone(),
                value: value.clone(),
            };
            Out::Patch(pb::StatePatch {
                version: version.clone(),
                pairs: state.iter().map(pair).collect(),
            })
        }
    };
    let row = pb::Waiting { waiting: Some(what), since: waiting.since.0 };
    txn.put(key(partition, owner, sequence), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, owner: Owner<'_>, sequence: u64) {
    txn.delete(key(partition, owner, sequence));
}

/// A row, as [`scan`] shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub service: String,
    pub key: String,
    pub sequence: u64,
    pub waiting: Waiting,
}

/// Shows all inboxes of a partition until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    each: &mut dyn FnMut(Row) -> bool,
) -> Result<(), Fault> {
    scan_table(kv, (TABLE, partition), parse, &mut |(service, key, sequence), value| {
        Ok(each(Row { service, key, sequence, waiting: waiting_in(value)? }))
    })
}

fn waiting_in(value: Bytes) -> Result<Waiting, Fault> {
    use pb::waiting::Waiting as In;
    let row: pb::Waiting = decode(TABLE, value)?;
    let what = match row.waiting {
        Some(In::Invocation(id)) => convert::id_in(&id).map(What::Invocation),
        Some(In::Patch(patch)) => Ok(What::Patch {
            version: patch.version,
            state: patch.pairs.into_iter().map(|pair| (pair.key, pair.value)).collect(),
        }),
        None => Err(Bad("it is not said what waits")),
    };
    Ok(Waiting { what: what.map_err(|bad| bad.of(TABLE))?, since: Timestamp(row.since) })
}

fn parse(key: &[u8]) -> Option<(String, String, u64)> {
    let (_, mut reader) = KeyReader::new(TABLE, key)?;
    let parsed = (reader.text()?, reader.text()?, reader.u64()?);
    reader.end(parsed)
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn what() -> impl Strategy<Value = What> {
        let pairs = proptest::collection::btree_map(arbitrary::bytes(), arbitrary::bytes(), 0..3);
        prop_oneof![
            arbitrary::id().prop_map(What::Invocation),
            (any::<Option<String>>(), pairs)
                .prop_map(|(version, state)| What::Patch { version, state }),
        ]
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_the_first_is_first(
            partition in arbitrary::partition(),
            (service, object) in any::<(String, String)>(),
            (a, b, since) in (what(), what(), arbitrary::time()),
            (early, late) in (0..100u64, 100..200u64),
        ) {
            let owner = Owner { service: &service, key: &object };
            let [a, b] = [a, b].map(|what| Waiting { what, since });
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, owner, late, &b);
            put(&mut txn, partition, owner, early, &a);
            kv.apply(txn.into_writes());
            let first = |from, to| first(&kv, partition, owner, (from, to)).unwrap();
            prop_assert_eq!(first(0, 200), Some((early, a)));
            prop_assert_eq!(first(early + 1, 200), Some((late, b)));
            prop_assert_eq!(first(early + 1, late), None);
            let mut seen = vec![];
            scan(&kv, partition, &mut |row| {
                seen.push((row.service, row.key, row.sequence));
                true
            })
            .unwrap();
            let expected = [early, late].map(|sequence| (service.clone(), object.clone(), sequence));
            prop_assert_eq!(seen, expected);
        }
    }
}
