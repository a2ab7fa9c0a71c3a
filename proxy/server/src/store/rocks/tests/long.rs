//! A directory that is written to for long, with little between two flushes: neither the number of its
//! files nor the list of them may grow with the number of flushes.

use super::{FIRST, noise, open};
use crate::store::{Batch, Durability, Fence, Lease, Space, Store, rocks::Rocks};
use bytes::Bytes;
use holdfast_machine::{
    kv::{Kv, Writes},
    tables::TableId,
};
use std::collections::BTreeMap;

const FLUSHES: u64 = 400;
/// Calls between two flushes.
const CALLS: u64 = 8;
/// Flushes between two looks at the files.
const LOOK: u64 = 10;
/// Of one family: as many small ones as are left alone, and what comes between two looks.
const FILES_MAX: usize = 32 + LOOK as usize + 8;

fn key(table: TableId, call: u64) -> Vec<u8> {
    [&[table as u8, 0, 0][..], &call.to_be_bytes(), &[0; 16]].concat()
}
/// The list of files with what it may grow by, and settings.
const OTHER_BYTES_MAX: u64 = 400 << 10;

/// The rows of calls in order: some stay, some are gone a commit later.
fn call(store: &Rocks, fence: Fence, call: u64) {
    let row = |table, bytes| (key(table, call), Some(Bytes::from(noise(call, bytes))));
    let stay = [TableId::Invocation, TableId::Journal, TableId::Notified];
    let go = [TableId::Running, TableId::Timer];
    let begun: Writes = stay.into_iter().chain(go).map(|table| row(table, 100)).collect();
    let mut ended: Writes = go.map(|table| (key(table, call), None)).into();
    ended.extend([row(TableId::Invocation, 200)]);
    for writes in [begun, ended] {
        let sequence = store.applied(FIRST).unwrap().next();
        store.commit(&Batch { fence, sequence, writes, durability: Durability::Async }).unwrap();
    }
}

fn files(store: &Rocks) -> BTreeMap<String, usize> {
    let mut files = BTreeMap::new();
    for file in store.db.live_files().unwrap() {
        *files.entry(file.column_family_name).or_default() += 1;
    }
    files
}

#[test]
fn the_number_of_files_does_not_grow_with_the_number_of_flushes() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let Lease { fence, .. } = store.acquire(FIRST).unwrap();
    for flush in 0..FLUSHES {
        (0..CALLS).for_each(|number| call(&store, fence, flush * CALLS + number));
        store.flush().unwrap();
        if flush % LOOK == 0 {
            store.upkeep().unwrap();
            let files = files(&store);
            assert!(files.values().all(|files| *files <= FILES_MAX), "{flush} flushes: {files:?}");
            let usage = store.usage().unwrap();
            assert!(usage.other_bytes <= OTHER_BYTES_MAX, "{flush} flushes: {usage:?}");
        }
    }
    for call in 0..FLUSHES * CALLS {
        let row = store.get(&key(TableId::Invocation, call)).unwrap().unwrap();
        assert_eq!(row, noise(call, 200));
        assert_eq!(store.get(&key(TableId::Running, call)).unwrap(), None);
    }
}
