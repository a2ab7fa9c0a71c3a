//! Rows that stay in the order in which they came, each until it is over with it:
//! `TABLE | partition:u16 | sequence:u64` -> a message. `m | partition:u16 | COUNTER:u8` -> `Queue`
//! keeps the next sequence, so that none is given twice. Rows belong to no invocation: they
//! outlive what they are about. Knows no table: what is queued has a file of its own.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::{TableId, generated as pb};
use crate::id::PartitionId;
use crate::kv::{Fault, Kv, Txn};

const COUNTERS: TableId = TableId::Meta;

/// What a table is a queue of.
pub trait Queued: Sized {
    const TABLE: TableId;
    /// The meta row of its queue. A number once given is never given again.
    const COUNTER: u8;
    type Row: prost::Message + Default;

    fn to_row(&self) -> Self::Row;

    /// # Errors
    /// What is wrong with a row that this program cannot have written.
    fn from_row(row: Self::Row) -> Result<Self, Bad>;
}

fn key<T: Queued>(partition: PartitionId, sequence: u64) -> Vec<u8> {
    KeyWriter::new(T::TABLE, partition).u64(sequence).done()
}

fn counter_key<T: Queued>(partition: PartitionId) -> Vec<u8> {
    KeyWriter::new(COUNTERS, partition).u8(T::COUNTER).done()
}

/// Appends rows and gives the sequence of the first. Sequences begin with 1.
pub fn push<T: Queued>(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    queued: &[T],
) -> Result<u64, Fault> {
    let counter = counter_key::<T>(partition);
    let first = match txn.get(&counter)? {
        Some(value) => decode::<pb::Queue>(COUNTERS, value)?.next,
        None => 1,
    };
    let mut next = first;
    for queued in queued {
        txn.put(key::<T>(partition, next), encode(&queued.to_row()));
        next += 1;
    }
    txn.put(counter, encode(&pb::Queue { next }));
    Ok(first)
}

pub fn delete<T: Queued>(txn: &mut Txn<'_>, partition: PartitionId, sequence: u64) {
    txn.delete(key::<T>(partition, sequence));
}

/// The sequence of the earliest row.
pub fn first<T: Queued>(kv: &dyn Kv, partition: PartitionId) -> Result<Option<u64>, Fault> {
    let mut first = None;
    scan::<T>(kv, partition, 0, &mut |sequence, _| {
        first = Some(sequence);
        false
    })?;
    Ok(first)
}

/// Shows the rows from sequence `from` on, in order, until `each` answers false.
pub fn scan<T: Queued>(
    kv: &dyn Kv,
    partition: PartitionId,
    from: u64,
    each: &mut dyn FnMut(u64, T) -> bool,
) -> Result<(), Fault> {
    let end = after(&KeyWriter::new(T::TABLE, partition).done());
    scan_rows(kv, &key::<T>(partition, from), &end, &mut |key, value| {
        let (_, sequence) =
            parse::<T>(key).ok_or_else(|| corrupt(T::TABLE, "a key is malformed"))?;
        let queued = T::from_row(decode(T::TABLE, value)?).map_err(|bad| bad.of(T::TABLE))?;
        Ok(each(sequence, queued))
    })
}

/// Takes a key apart.
pub fn parse<T: Queued>(key: &[u8]) -> Option<(PartitionId, u64)> {
    let (partition, mut reader) = KeyReader::new(T::TABLE, key)?;
    let sequence = reader.u64()?;
    reader.end((partition, sequence))
}

/// What holds of every queue, for the tests of its table.
#[cfg(test)]
pub(super) mod check {
    use super::*;
    use crate::kv::MemoryKv;
    use std::fmt::Debug;

    pub(in super::super) fn rows<T: Queued>(
        kv: &dyn Kv,
        partition: PartitionId,
        from: u64,
    ) -> Vec<(u64, T)> {
        let mut rows = vec![];
        scan(kv, partition, from, &mut |sequence, queued| {
            rows.push((sequence, queued));
            true
        })
        .unwrap();
        rows
    }

    #[track_caller]
    pub(in super::super) fn rows_round_trip_and_no_sequence_comes_twice<T>(
        partition: PartitionId,
        [a, b, c]: [T; 3],
    ) where
        T: Queued + Clone + PartialEq + Debug,
    {
        let mut kv = MemoryKv::default();
        assert_eq!(first::<T>(&kv, partition), Ok(None));
        let mut txn = Txn::new(&kv);
        assert_eq!(push(&mut txn, partition, &[a.clone(), b.clone()]), Ok(1));
        kv.apply(txn.into_writes());
        assert_eq!(rows(&kv, partition, 0), [(1, a), (2, b.clone())]);
        assert_eq!(rows(&kv, partition, 2), [(2, b)]);
        let mut txn = Txn::new(&kv);
        delete::<T>(&mut txn, partition, 1);
        assert_eq!(first::<T>(&txn, partition), Ok(Some(2)));
        delete::<T>(&mut txn, partition, 2);
        assert_eq!(push(&mut txn, partition, std::slice::from_ref(&c)), Ok(3));
        kv.apply(txn.into_writes());
        assert_eq!(rows(&kv, partition, 0), [(3, c)]);
    }

    #[track_caller]
    pub(in super::super) fn keys_round_trip_and_keep_order<T: Queued>(
        a: (PartitionId, u64),
        b: (PartitionId, u64),
    ) {
        assert_eq!(parse::<T>(&key::<T>(a.0, a.1)), Some(a));
        assert_eq!(a.cmp(&b), key::<T>(a.0, a.1).cmp(&key::<T>(b.0, b.1)));
    }
}
