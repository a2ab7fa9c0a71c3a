//! What every engine has to do: one suite, run over each of them.

use super::{
    Batch, CommitError, Config, Durability, Fence, REGISTRY, Sequence, Store,
    memory::{Memory, Trouble},
    rocks::Rocks,
};
use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Kv, Writes},
};
use std::sync::Arc;

const PARTITIONS: Partitions = Partitions(2);
const FIRST: PartitionId = PartitionId(0);
const SECOND: PartitionId = PartitionId(1);

/// An engine that can be closed and opened again.
enum Bench {
    Memory(Arc<Memory>),
    Rocks { directory: tempfile::TempDir, store: Option<Arc<Rocks>> },
}

impl Bench {
    fn all() -> Vec<Bench> {
        let directory = tempfile::tempdir().unwrap();
        let mut rocks = Bench::Rocks { directory, store: None };
        rocks.reopen();
        vec![Bench::Memory(Arc::new(Memory::new(PARTITIONS))), rocks]
    }

    fn store(&self) -> Arc<dyn Store> {
        match self {
            Bench::Memory(store) => store.clone(),
            Bench::Rocks { store, .. } => store.clone().unwrap(),
        }
    }

    fn reopen(&mut self) {
        match self {
            Bench::Memory(store) => *store = Arc::new(store.reopen().unwrap()),
            Bench::Rocks { directory, store } => {
                *store = None;
                let directory = directory.path().join("data");
                let config = Config { directory, ..Config::default() };
                *store = Some(Arc::new(Rocks::open(&config, PARTITIONS).unwrap()));
            }
        }
    }
}

fn batch(fence: Fence, sequence: u64, writes: &[(&str, Option<&str>)]) -> Batch {
    let row = |(key, value): &(&str, Option<&str>)| {
        (key.as_bytes().to_vec(), value.map(|value| Bytes::copy_from_slice(value.as_bytes())))
    };
    let writes: Writes = writes.iter().map(row).collect();
    Batch { fence, sequence: Sequence(sequence), writes, durability: Durability::Sync }
}

fn put(store: &dyn Store, fence: Fence, writes: &[(&str, Option<&str>)]) {
    let next = store.applied(fence.partition).unwrap().next();
    store.commit(&batch(fence, next.0, writes)).unwrap();
}

/// The rows of `from..to`, as one line.
fn rows(kv: &dyn Kv, from: &str, to: &str) -> String {
    let mut rows = Vec::new();
    kv.scan(from.as_bytes(), to.as_bytes(), &mut |key, value| {
        rows.push(format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value)));
        true
    })
    .unwrap();
    rows.join(" ")
}

#[test]
fn reads_see_what_was_committed_in_key_order() {
    for bench in Bench::all() {
        let store = bench.store();
        let fence = store.acquire(FIRST).unwrap().fence;
        put(&*store, fence, &[("b", Some("2")), ("a", Some("1")), ("ab", Some("")), ("c", None)]);
        assert_eq!(store.get(b"a").unwrap().unwrap(), "1");
        assert_eq!(store.get(b"ab").unwrap().unwrap(), "");
        assert_eq!(store.get(b"c").unwrap(), None);
        assert_eq!(rows(&*store, "a", "z"), "a=1 ab= b=2");
        assert_eq!(rows(&*store, "a", "b"), "a=1 ab=", "the end is not part of the range");
        assert_eq!(rows(&*store, "aa", "b"), "ab=", "the beginning need not exist");
        assert_eq!(rows(&*store, "b", "a"), "", "a range backwards is empty");
        put(&*store, fence, &[("a", None), ("b", Some("3"))]);
        assert_eq!(rows(&*store, "a", "z"), "ab= b=3");
    }
}

#[test]
fn a_scan_ends_when_it_is_told_to() {
    for bench in Bench::all() {
        let store = bench.store();
        let fence = store.acquire(FIRST).unwrap().fence;
        put(&*store, fence, &[("a", Some("")), ("b", Some("")), ("c", Some(""))]);
        let mut seen = Vec::new();
        let mut each = |key: &[u8], _: &[u8]| {
            seen.push(key.to_vec());
            seen.len() < 2
        };
        store.scan(b"a", b"z", &mut each).unwrap();
        assert_eq!(seen, [b"a", b"b"]);
    }
}

#[test]
fn a_snapshot_stays_as_it_was() {
    for bench in Bench::all() {
        let store = bench.store();
        let fence = store.acquire(FIRST).unwrap().fence;
        put(&*store, fence, &[("a", Some("1")), ("b", Some("1"))]);
        let snapshot = store.snapshot().unwrap();
        put(&*store, fence, &[("a", Some("2")), ("b", None), ("c", Some("2"))]);
        assert_eq!(rows(&*snapshot, "a", "z"), "a=1 b=1");
        assert_eq!(snapshot.get(b"a").unwrap().unwrap(), "1");
        assert_eq!(rows(&*store, "a", "z"), "a=2 c=2");
        drop((bench, store));
        assert_eq!(rows(&*snapshot, "a", "z"), "a=1 b=1", "it holds on to its engine");
    }
}

#[test]
fn an_old_fence_cannot_write() {
    for bench in Bench::all() {
        let store = bench.store();
        let old = store.acquire(FIRST).unwrap().fence;
        put(&*store, old, &[("a", Some("1"))]);
        let new = store.acquire(FIRST).unwrap();
        assert_eq!((new.fence.epoch, new.applied), (old.epoch + 1, Sequence(1)));
        let refused = store.commit(&batch(old, 2, &[("a", Some("old"))]));
        assert_eq!(refused, Err(CommitError::Fenced { fence: old, current: new.fence.epoch }));
        store.commit(&batch(new.fence, 2, &[("a", Some("new"))])).unwrap();
        assert_eq!(rows(&*store, "a", "z"), "a=new");
    }
}

#[test]
fn commits_follow_each_other_by_one_in_each_partition() {
    for bench in Bench::all() {
        let store = bench.store();
        let fence = store.acquire(FIRST).unwrap().fence;
        put(&*store, fence, &[("a", Some("1"))]);
        for wrong in [0, 1, 3] {
            let refused = store.commit(&batch(fence, wrong, &[("a", Some("wrong"))]));
            let (sequence, applied) = (Sequence(wrong), Sequence(1));
            assert_eq!(refused, Err(CommitError::OutOfOrder { sequence, applied }));
        }
        let other = store.acquire(SECOND).unwrap();
        assert_eq!(other.applied, Sequence(0), "each partition counts for itself");
        store.commit(&batch(fence, 2, &[("b", Some("2"))])).unwrap();
        assert_eq!(rows(&*store, "a", "z"), "a=1 b=2");
        assert_eq!(store.applied(FIRST).unwrap(), Sequence(2));
        assert_eq!(store.applied(SECOND).unwrap(), Sequence(0));
    }
}

#[test]
fn the_registry_writes_beside_the_partitions() {
    for mut bench in Bench::all() {
        let lease = bench.store().acquire(REGISTRY).unwrap();
        put(&*bench.store(), lease.fence, &[("S", Some("1"))]);
        bench.reopen();
        let lease = bench.store().acquire(REGISTRY).unwrap();
        assert_eq!((lease.fence.epoch, lease.applied), (2, Sequence(1)));
        assert_eq!(bench.store().applied(FIRST).unwrap(), Sequence(0));
    }
}

#[test]
fn a_reopened_store_holds_what_was_committed() {
    for mut bench in Bench::all() {
        let fence = bench.store().acquire(FIRST).unwrap().fence;
        put(&*bench.store(), fence, &[("a", Some("1")), ("b", Some("1"))]);
        put(&*bench.store(), fence, &[("a", None)]);
        bench.reopen();
        let store = bench.store();
        assert_eq!(rows(&*store, "a", "z"), "b=1");
        let lease = store.acquire(FIRST).unwrap();
        assert_eq!((lease.fence.epoch, lease.applied), (fence.epoch + 1, Sequence(2)));
        assert!(matches!(store.commit(&batch(fence, 3, &[])), Err(CommitError::Fenced { .. })));
    }
}

#[test]
fn partitions_commit_at_the_same_time() {
    for bench in Bench::all() {
        let store = bench.store();
        std::thread::scope(|scope| {
            for (partition, letter) in [(FIRST, "a"), (SECOND, "b")] {
                let store = &*store;
                scope.spawn(move || {
                    let fence = store.acquire(partition).unwrap().fence;
                    for i in 0..50 {
                        put(store, fence, &[(&format!("{letter}{i:02}"), Some("x"))]);
                    }
                });
            }
        });
        assert_eq!(rows(&*store, "a", "z").split(' ').count(), 100);
        assert_eq!(store.applied(SECOND).unwrap(), Sequence(50));
    }
}

#[test]
#[should_panic = "a row of the store's own"]
fn a_batch_cannot_write_the_rows_of_the_store() {
    let store = Memory::new(PARTITIONS);
    let fence = store.acquire(FIRST).unwrap().fence;
    let _ = store.commit(&batch(fence, 1, &[("\0\0\0\0", Some("forged"))]));
}

#[test]
fn after_a_failed_commit_the_memory_engine_takes_none() {
    let store = Memory::new(PARTITIONS);
    let fence = store.acquire(FIRST).unwrap().fence;
    store.plan(2, Trouble::Fail);
    store.commit(&batch(fence, 1, &[("a", Some("1"))])).unwrap();
    for _ in 0..2 {
        let failed = store.commit(&batch(fence, 2, &[("a", Some("2"))]));
        assert!(matches!(failed, Err(CommitError::Failed(_))));
    }
    assert_eq!(rows(&store, "a", "z"), "a=1");
}

#[test]
fn the_applied_number_tells_what_became_of_an_unknown_commit() {
    let store = Memory::new(PARTITIONS);
    let fence = store.acquire(FIRST).unwrap().fence;
    store.plan(1, Trouble::UnknownLost);
    store.plan(2, Trouble::UnknownWritten);
    let unknown = store.commit(&batch(fence, 1, &[("a", Some("1"))]));
    assert!(matches!(unknown, Err(CommitError::Unknown { .. })));
    assert_eq!(store.applied(FIRST).unwrap(), Sequence(0));
    let unknown = store.commit(&batch(fence, 1, &[("a", Some("1"))]));
    assert!(matches!(unknown, Err(CommitError::Unknown { .. })));
    assert_eq!(store.applied(FIRST).unwrap(), Sequence(1));
    store.commit(&batch(fence, 2, &[("b", Some("2"))])).unwrap();
    assert_eq!(rows(&store, "a", "z"), "a=1 b=2");
}
