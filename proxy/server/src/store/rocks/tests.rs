//! What only an engine on a disk can meet: other processes, other formats, damage, a full disk.

mod killed;
mod long;

use super::Rocks;
use crate::store::{Batch, CommitError, Config, Durability, Error, Fence, Lease, Space, Store};
use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Kv, Writes},
    tables::TableId,
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const FIRST: PartitionId = PartitionId(0);

fn config(directory: &Path) -> Config {
    Config { directory: directory.to_path_buf(), ..Config::default() }
}

fn open(directory: &Path) -> Result<Rocks, Error> {
    Rocks::open(&config(directory), Partitions(2))
}

fn refused(directory: &Path) -> Error {
    open(directory).err().expect("the directory must be refused")
}

/// Commits `number` rows named by number, one commit each, with values of `bytes`.
fn fill(store: &Rocks, lease: Lease, numbers: std::ops::Range<u64>, bytes: usize) -> Vec<u64> {
    let mut written = Vec::new();
    let mut sequence = lease.applied;
    for number in numbers {
        sequence = sequence.next();
        let key = format!("row{number:08}").into_bytes();
        let writes = Writes::from([(key, Some(Bytes::from(noise(number, bytes))))]);
        let Lease { fence, .. } = lease;
        match store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }) {
            Ok(()) => written.push(number),
            Err(_) => break,
        }
    }
    written
}

/// Bytes that do not compress.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(|_| next()).collect()
}

fn has(store: &Rocks, number: u64, bytes: usize) -> bool {
    let row = store.get(format!("row{number:08}").as_bytes()).unwrap();
    row.is_some_and(|row| row == noise(number, bytes))
}

#[test]
fn a_directory_is_for_one_process_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0020");
    let holder = format!("in use by process {}", std::process::id());
    assert!(error.to_string().contains(&holder), "{error}");
    drop(store);
    open(directory.path()).unwrap();
}

#[test]
fn a_directory_of_somebody_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.tex"), "years of work").unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0022");
    assert!(error.to_string().contains("`thesis.tex`"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_start_that_was_broken_off_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    drop(store);
    fs::remove_file(directory.path().join("holdfast.toml")).unwrap();
    fs::write(directory.path().join("holdfast.toml.new"), "form").unwrap();
    let store = open(directory.path()).unwrap();
    store.acquire(FIRST).unwrap();
    drop(store);
    // With data in it, a directory without a label is not one that is being made.
    fs::remove_file(directory.path().join("holdfast.toml")).unwrap();
    assert_eq!(refused(directory.path()).code(), "HF0021");
}

#[test]
fn another_format_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()).unwrap());
    let label = directory.path().join("holdfast.toml");
    fs::write(&label, "format = 4\nshards = \"many\"\n").unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0025");
    assert!(error.to_string().contains("has format 4, and this program reads up to 3"), "{error}");
    fs::write(&label, "format = 1\npartitions = 2\n").unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0038");
    assert!(error.to_string().contains("has format 1, and this program reads 2"), "{error}");
    fs::write(&label, "format = \n").unwrap();
    assert_eq!(refused(directory.path()).code(), "HF0021");
    fs::write(&label, "format = 3\npartitions = 0\n").unwrap();
    assert_eq!(refused(directory.path()).code(), "HF0021");
}

/// A directory as programs of format 2 made it: all rows in one family.
fn made_by_format_2(
    directory: &Path,
    rows: &BTreeMap<Vec<u8>, Vec<u8>>,
    mut options: rocksdb::Options,
) -> rocksdb::DB {
    fs::write(directory.join("holdfast.toml"), "format = 2\npartitions = 2\n").unwrap();
    options.create_if_missing(true);
    let db = rocksdb::DB::open(&options, directory.join("rocks")).unwrap();
    rows.iter().for_each(|(key, value)| db.put(key, value).unwrap());
    db
}

fn rows_of(store: &Rocks) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut rows = BTreeMap::<Vec<u8>, _>::new();
    store
        .scan(&[1], &[u8::MAX], &mut |key, value| {
            assert!(rows.last_key_value().is_none_or(|(last, _)| last.as_slice() < key));
            rows.insert(key.to_vec(), value.to_vec());
            true
        })
        .unwrap();
    rows
}

#[test]
fn rows_of_the_format_before_are_taken_over() {
    let rows: BTreeMap<_, _> = TableId::ALL
        .into_iter()
        .flat_map(|table| [0, 7, 255].map(|last| vec![table as u8, 0, last]))
        .map(|key| (key.clone(), noise(u64::from(key[2]), 600_000)))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let db = made_by_format_2(directory.path(), &rows, rocksdb::Options::default());
    drop(db);
    // The second time as if the first start had been broken off before its last step.
    let label = fs::read(directory.path().join("holdfast.toml")).unwrap();
    for _ in 0..2 {
        let store = open(directory.path()).unwrap();
        assert!(rows_of(&store) == rows, "rows are missing or in the wrong order");
        for (key, value) in &rows {
            assert!(store.get(key).unwrap().unwrap() == value, "{key:?}");
        }
        drop(store);
        let now = fs::read_to_string(directory.path().join("holdfast.toml")).unwrap();
        assert!(now.contains("format = 3\npartitions = 2\n"), "{now}");
        fs::write(directory.path().join("holdfast.toml"), &label).unwrap();
    }
}

/// Large values in files of their own, as programs of format 2 had them, and many small rows.
#[test]
fn taking_over_walks_over_no_row_twice_and_gives_the_space_back() {
    let directory = tempfile::tempdir().unwrap();
    let key = |table: TableId, number: u16| [&[table as u8][..], &number.to_be_bytes()].concat();
    let small = (0..3_000).map(|number| (key(TableId::Journal, number), 10_000));
    let large = (0..40).map(|number| (key(TableId::Invocation, number), 500_000));
    let rows: Vec<_> = small.chain(large).collect();
    let bytes: usize = rows.iter().map(|(_, bytes)| bytes).sum();
    let mut options = rocksdb::Options::default();
    options.set_enable_blob_files(true);
    options.set_min_blob_size(16 << 10);
    let db = made_by_format_2(directory.path(), &BTreeMap::new(), options);
    for (number, (key, bytes)) in rows.iter().enumerate() {
        db.put(key, noise(number as u64, *bytes)).unwrap();
    }
    db.flush().unwrap();
    drop(db);
    rocksdb::perf::set_perf_stats(rocksdb::perf::PerfStatsLevel::EnableCount);
    let mut seen = rocksdb::perf::PerfContext::default();
    seen.reset();
    let store = open(directory.path()).unwrap();
    let skipped = seen.metric(rocksdb::perf::PerfMetric::InternalDeleteSkippedCount);
    rocksdb::perf::set_perf_stats(rocksdb::perf::PerfStatsLevel::Disable);
    assert!(skipped < 100, "{skipped} deleted rows were walked over");
    store.flush().unwrap();
    let usage = store.usage().unwrap();
    assert!(usage.needed() < bytes as u64 * 11 / 10, "{bytes} in rows, {usage:?}");
    for (number, (key, bytes)) in rows.iter().enumerate() {
        assert!(store.get(key).unwrap().unwrap() == noise(number as u64, *bytes), "{key:?}");
    }
}

#[test]
fn a_disk_without_room_for_taking_over_is_told_and_nothing_is_lost() {
    let Some(disk) = SmallDisk::mount(44) else {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    };
    let data = disk.0.path().join("data");
    fs::create_dir(&data).unwrap();
    let rows: BTreeMap<_, _> =
        (0..30).map(|number| (vec![b'j', 0, number], noise(number.into(), 600_000))).collect();
    let db = made_by_format_2(&data, &rows, rocksdb::Options::default());
    db.flush().unwrap();
    drop(db);
    let resize = |size| {
        let options = format!("remount,size={size}m");
        let resized = Command::new("mount").args(["-o", &options]).arg(disk.0.path()).status();
        assert!(resized.unwrap().success());
    };
    // Room for the rows, and for less than half of their copies.
    resize(26);
    let error = refused(&data);
    assert_eq!(error.code(), "HF0024", "{error}");
    resize(160);
    assert!(rows_of(&open(&data).unwrap()) == rows);
}

#[test]
fn a_directory_keeps_its_number_of_partitions() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()).unwrap());
    let store = Rocks::open(&config(directory.path()), Partitions(7)).unwrap();
    assert_eq!(store.partitions(), Partitions(2));
}

#[test]
fn a_large_value_is_small_on_the_disk_if_it_can_be() {
    let directory = tempfile::tempdir().unwrap();
    let text = |number: u64| {
        Bytes::from(
            (number..)
                .flat_map(|line| format!("line {line}\n").into_bytes())
                .take(1 << 20)
                .collect::<Vec<_>>(),
        )
    };
    let store = open(directory.path()).unwrap();
    let Lease { fence, applied } = store.acquire(FIRST).unwrap();
    let writes = (0..8).map(|number| (vec![b'a', number], Some(text(number.into())))).collect();
    let sequence = applied.next();
    store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }).unwrap();
    assert!(store.usage().unwrap().log_bytes < 4 << 20);
    let check = |store: &Rocks| {
        assert_eq!(store.get(&[b'a', 3]).unwrap().unwrap(), text(3));
        let mut seen = 0;
        store
            .scan(b"a", b"b", &mut |key, value| {
                assert_eq!(value, text(key[1].into()));
                seen += 1;
                true
            })
            .unwrap();
        assert_eq!(seen, 8);
    };
    check(&store);
    store.rest().unwrap();
    drop(store);
    check(&open(directory.path()).unwrap());
}

#[test]
fn settings_out_of_bounds_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let small = Config { memory_bytes: 1000, ..config(directory.path()) };
    let error = Rocks::open(&small, Partitions(2)).err().unwrap();
    assert_eq!(error.code(), "HF0027");
    assert_eq!(error.to_string(), "memory_bytes is 1000, expected at least 16777216");
    let none = Rocks::open(&config(directory.path()), Partitions(0)).err().unwrap();
    assert_eq!(none.code(), "HF0027");
}

#[test]
fn files_that_are_gone_are_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, store.acquire(FIRST).unwrap(), 0..10, 100);
    drop(store);
    fs::remove_dir_all(directory.path().join("rocks")).unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0021", "{error}");
}

fn log_file(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory.join("rocks")).unwrap().map(|file| file.unwrap().path());
    let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "log");
    files.filter(is_log).max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}

#[test]
fn a_damaged_log_is_refused_and_lost_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, store.acquire(FIRST).unwrap(), 0..50, 1000);
    drop(store);
    let log = log_file(directory.path());
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    fs::write(&log, bytes).unwrap();
    let error = refused(directory.path());
    assert_eq!(error.code(), "HF0021", "{error}");
    let accepting = Config { accept_damaged_log: true, ..config(directory.path()) };
    let store = Rocks::open(&accepting, Partitions(2)).unwrap();
    assert!(has(&store, 0, 1000));
    assert!(!has(&store, 49, 1000), "what follows the damage is gone");
}

#[test]
fn a_torn_end_of_the_log_is_what_a_crash_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, store.acquire(FIRST).unwrap(), 0..50, 1000);
    drop(store);
    let log = log_file(directory.path());
    let length = fs::metadata(&log).unwrap().len();
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length - 500).unwrap();
    let store = open(directory.path()).unwrap();
    assert!(has(&store, 48, 1000));
    assert!(!has(&store, 49, 1000));
    let lease = store.acquire(FIRST).unwrap();
    assert_eq!(lease.applied.0, 49, "the number goes with the rows of its commit");
}

/// A file system of its own, which is full after a few commits.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(megabytes: u32) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn what_was_acknowledged_before_the_disk_was_full_is_there() {
    const BYTES: usize = 20_000;
    let Some(disk) = SmallDisk::mount(8) else {
        eprintln!("skipped: mounting a small file system needs root");
        return;
    };
    let data = disk.0.path().join("data");
    let store = open(&data).unwrap();
    let lease = store.acquire(FIRST).unwrap();
    let written = fill(&store, lease, 0..10_000, BYTES);
    assert!((10..9_000).contains(&written.len()), "{} commits", written.len());
    // The disk gets some space back, and still nothing is tried again.
    let next = lease.applied.0 + written.len() as u64 + 1;
    let again = Batch {
        fence: Fence { ..lease.fence },
        sequence: crate::store::Sequence(next),
        writes: Writes::new(),
        durability: Durability::Sync,
    };
    let Err(CommitError::Failed(reason)) = store.commit(&again) else {
        panic!("a commit after a failed one");
    };
    assert!(reason.contains("No space left"), "{reason}");
    assert!(written.iter().all(|number| has(&store, *number, BYTES)));
    drop(store);
    match open(&data) {
        Err(error) => assert_eq!(error.code(), "HF0024", "{error}"),
        Ok(store) => assert!(written.iter().all(|number| has(&store, *number, BYTES))),
    }
    let enlarged =
        Command::new("mount").args(["-o", "remount,size=64m"]).arg(disk.0.path()).status();
    assert!(enlarged.unwrap().success());
    let store = open(&data).unwrap();
    assert!(written.iter().all(|number| has(&store, *number, BYTES)));
    let lease = store.acquire(FIRST).unwrap();
    assert!(lease.applied.0 >= written.len() as u64);
    let more = fill(&store, lease, 20_000..20_010, BYTES);
    assert_eq!(more.len(), 10);
}

/// Deletes the rows of these numbers, all in one commit.
fn empty(store: &Rocks, fence: Fence, numbers: std::ops::Range<u64>) {
    let sequence = store.applied(FIRST).unwrap().next();
    let writes = numbers.map(|number| (format!("row{number:08}").into_bytes(), None)).collect();
    store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }).unwrap();
}

/// As `fill`, in one commit.
fn fill_at_once(store: &Rocks, fence: Fence, numbers: std::ops::Range<u64>, bytes: usize) {
    let sequence = store.applied(FIRST).unwrap().next();
    let row = |number: u64| {
        let key = format!("row{number:08}").into_bytes();
        (key, Some(Bytes::from(noise(number, bytes))))
    };
    let writes = numbers.map(row).collect();
    store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }).unwrap();
}

/// Bytes of what was committed: the engine's own files say how it was opened.
fn rows_and_log(store: &Rocks) -> u64 {
    let usage = store.usage().unwrap();
    usage.row_bytes + usage.log_bytes
}

/// What a quiet server does every few seconds, as long as it rewrites files.
fn upkeep(store: &Rocks) {
    // The first look learns that nothing was written since.
    store.upkeep().unwrap();
    while store.upkeep().unwrap() {}
}

#[test]
fn the_space_of_deleted_rows_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let fence = store.acquire(FIRST).unwrap().fence;
    fill_at_once(&store, fence, 0..5_000, 1_000);
    upkeep(&store);
    let full = store.usage().unwrap();
    assert!((5_000_000..6_000_000).contains(&full.row_bytes), "{full:?}");
    assert!(full.log_bytes < 10_000, "what was flushed is not in the log: {full:?}");
    let half = store.bytes_between(b"row00000000", b"row00002500");
    assert!((2_000_000..3_000_000).contains(&half), "{half}");
    empty(&store, fence, 0..4_000);
    let with_marks = store.usage().unwrap();
    assert!(with_marks.row_bytes >= full.row_bytes, "{with_marks:?}");
    assert!(store.reclaim().unwrap());
    let left = store.usage().unwrap();
    assert!((1_000_000..1_200_000).contains(&left.row_bytes), "{left:?}");
    assert!((4_000..5_000).all(|number| has(&store, number, 1_000)));
    assert!(!store.upkeep().unwrap(), "there is nothing left to do");
    empty(&store, fence, 4_000..5_000);
    upkeep(&store);
    let last = store.usage().unwrap();
    // A thousand marks are too small a log to be flushed, and are flushed with the next ones.
    assert!(last.log_bytes < 256 << 10, "{last:?}");
    store.reclaim().unwrap();
    assert!(rows_and_log(&store) < 10_000, "{:?}", store.usage());
}

#[test]
fn large_values_lie_apart_and_their_space_comes_back() {
    const BYTES: usize = 256 << 10;
    const ROWS: u64 = 200;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let fence = store.acquire(FIRST).unwrap().fence;
    for start in (0..ROWS).step_by(10) {
        fill_at_once(&store, fence, start..start + 10, BYTES);
    }
    store.flush().unwrap();
    let full = store.usage().unwrap();
    assert!(
        (ROWS * BYTES as u64..ROWS * BYTES as u64 * 11 / 10).contains(&full.row_bytes),
        "{full:?}"
    );
    assert!(full.value_bytes > full.row_bytes * 9 / 10, "{full:?}");
    // One of each five stays, so that no file of values goes by itself.
    for number in (0..ROWS).filter(|number| number % 5 > 0) {
        empty(&store, fence, number..number + 1);
    }
    assert!(store.reclaim().unwrap());
    let left = store.usage().unwrap();
    let wanted = ROWS / 5 * BYTES as u64;
    assert!((wanted..wanted * 5 / 4).contains(&left.row_bytes), "{left:?}");
    assert!((0..ROWS).step_by(5).all(|number| has(&store, number, BYTES)));
    assert!(!store.upkeep().unwrap(), "there is nothing left to do");
    drop(store);
    let store = open(directory.path()).unwrap();
    assert!((0..ROWS).step_by(5).all(|number| has(&store, number, BYTES)));
    // A hundred megabytes go with a few dozen deletions, and upkeep does not wait for a thousand.
    let fence = store.acquire(FIRST).unwrap().fence;
    for start in (0..4 * ROWS).step_by(20) {
        fill_at_once(&store, fence, 1_000 + start..1_020 + start, BYTES);
    }
    empty(&store, fence, 1_000..1_000 + 4 * ROWS);
    upkeep(&store);
    let last = store.usage().unwrap();
    assert!(last.total() < 2 * wanted, "{last:?}");
    assert!((0..ROWS).step_by(5).all(|number| has(&store, number, BYTES)));
}

#[test]
fn the_space_of_few_large_values_among_others_comes_back_on_request() {
    const BYTES: usize = 256 << 10;
    const ROWS: u64 = 160;
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let fence = store.acquire(FIRST).unwrap().fence;
    fill_at_once(&store, fence, 0..ROWS, BYTES);
    store.flush().unwrap();
    for round in 0..3 {
        for number in (round..ROWS).step_by(8) {
            empty(&store, fence, number..number + 1);
        }
        store.flush().unwrap();
        upkeep(&store);
        assert!(store.reclaim().unwrap());
        let left = store.usage().unwrap();
        let wanted = ROWS * (7 - round) / 8 * BYTES as u64;
        assert!((wanted..wanted * 17 / 16).contains(&left.value_bytes), "{left:?}");
        assert!(left.needed() < wanted * 17 / 16, "{left:?}");
        assert!((0..ROWS).all(|row| has(&store, row, BYTES) == (row % 8 > round)));
    }
    let names = fs::read_dir(directory.path().join("rocks")).unwrap();
    let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
    let settings = names.filter(|name| name.starts_with("OPTIONS")).count();
    assert!(settings <= 2, "{settings} files of settings");
}

#[test]
fn what_was_never_written_to_its_end_is_removed_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let fence = store.acquire(FIRST).unwrap().fence;
    fill_at_once(&store, fence, 0..4, 256 << 10);
    store.rest().unwrap();
    drop(store);
    let engine = directory.path().join("rocks");
    let files = || fs::read_dir(&engine).unwrap().map(|file| file.unwrap().path());
    let is = |path: &PathBuf, end: &str| path.extension().is_some_and(|extension| extension == end);
    let whole = files().find(|path| is(path, "blob")).unwrap();
    let values = fs::read(&whole).unwrap();
    for (number, bytes) in [(900_001, values.len() - 1), (900_002, 31), (900_003, 0)] {
        fs::write(engine.join(format!("{number}.blob")), &values[..bytes]).unwrap();
    }
    fs::write(engine.join("OPTIONS-900004.dbtmp"), "half").unwrap();
    let store = open(directory.path()).unwrap();
    let left: Vec<_> = files().filter(|path| is(path, "blob") || is(path, "dbtmp")).collect();
    assert_eq!(left, [whole]);
    assert!((0..4).all(|number| has(&store, number, 256 << 10)));
}

#[test]
fn what_a_reader_sees_is_not_compacted_over_and_over() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    let fence = store.acquire(FIRST).unwrap().fence;
    fill_at_once(&store, fence, 0..5_000, 1_000);
    store.reclaim().unwrap();
    let reader = store.snapshot().unwrap();
    empty(&store, fence, 0..5_000);
    store.flush().unwrap();
    assert!(store.upkeep().unwrap());
    assert!(!store.upkeep().unwrap(), "it was tried a moment ago");
    assert!(!store.reclaim().unwrap(), "the reader holds it back");
    assert_eq!(reader.get(b"row00000007").unwrap().unwrap(), noise(7, 1_000));
    drop(reader);
    assert!(store.reclaim().unwrap());
    assert!(rows_and_log(&store) < 10_000, "{:?}", store.usage());
}

#[test]
fn a_stop_in_good_order_leaves_no_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).unwrap();
    fill(&store, store.acquire(FIRST).unwrap(), 0..50, 1_000);
    assert!(store.usage().unwrap().log_bytes > 50_000);
    store.rest().unwrap();
    drop(store);
    assert!(fs::metadata(log_file(directory.path())).unwrap().len() < 1_000);
    let store = open(directory.path()).unwrap();
    assert!((0..50).all(|number| has(&store, number, 1_000)));
}
