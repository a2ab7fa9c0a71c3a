//! A process that is killed while it commits large values, flushes, compacts and collects values,
//! all at once: what it said is committed is there, and nothing else is.

use super::{FIRST, config};
use crate::store::{
    Batch, Durability, Lease, Space, Store,
    rocks::{Rocks, families::FAMILIES},
};
use holdfast_machine::{
    id::Partitions,
    kv::{Kv, Writes},
};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const KEYS: u64 = 48;
const ROUNDS: u32 = 5;
const DIRECTORY: &str = "HOLDFAST_TEST_KILLED_DIRECTORY";

fn chance(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// What commit `number` writes: keys, and the sizes of their values.
fn commit(number: u64) -> BTreeMap<u64, Option<usize>> {
    let mut next = chance(number);
    (0..1 + next() % 6)
        .map(|_| {
            let bytes = match next() % 8 {
                0..3 => None,
                3 => Some(next() % 4_000),
                4 => Some(16_000 + next() % 1_000),
                _ => Some(next() % 400_000),
            };
            (next() % KEYS, bytes.map(|bytes| bytes as usize))
        })
        .collect()
}

fn value(number: u64, key: u64, bytes: usize) -> Vec<u8> {
    let mut next = chance(number * KEYS + key);
    let words = std::iter::repeat_with(|| next().to_le_bytes()).take(bytes / 8 + 1);
    words.flatten().take(bytes).collect()
}

/// One in each family and two among the rest, in turn.
fn row(key: u64) -> Vec<u8> {
    let table = b"aijlnrstx"[key as usize % 9] as char;
    format!("{table}-{key:03}").into_bytes()
}

/// The process that is killed; where it is not asked for, there is nothing to do.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let store = Rocks::open(&config(Path::new(&directory)), Partitions(2)).unwrap();
    let Lease { fence, applied } = store.acquire(FIRST).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            loop {
                store.reclaim().unwrap();
            }
        });
        threads.spawn(|| {
            loop {
                let frozen = store.snapshot().unwrap();
                std::thread::sleep(Duration::from_millis(7));
                let mut seen = vec![];
                frozen
                    .scan(b"a", b"y", &mut |key, _| {
                        seen.push(key.to_vec());
                        true
                    })
                    .unwrap();
                assert!(seen.is_sorted(), "{seen:?}");
            }
        });
        let mut sequence = applied;
        loop {
            sequence = sequence.next();
            let writes: Writes = commit(sequence.0)
                .into_iter()
                .map(|(key, bytes)| {
                    (row(key), bytes.map(|bytes| value(sequence.0, key, bytes).into()))
                })
                .collect();
            store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }).unwrap();
            if writeln!(std::io::stdout(), "committed {}", sequence.0).is_err() {
                std::process::exit(1); // Nobody is left to kill it.
            }
        }
    });
}

/// What the rows are after so many commits.
fn model(commits: u64) -> BTreeMap<u64, (u64, usize)> {
    let mut rows = BTreeMap::new();
    for number in 1..=commits {
        for (key, bytes) in commit(number) {
            match bytes {
                Some(bytes) => rows.insert(key, (number, bytes)),
                None => rows.remove(&key),
            };
        }
    }
    rows
}

/// Starts the process, kills it after `life`, and says which commit it named last.
fn killed_after(directory: &Path, life: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "store::rocks::tests::killed::child"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("committed ")?.parse().ok()).last()
    });
    let end = Instant::now() + life;
    while Instant::now() < end {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap().unwrap_or(0)
}

#[test]
fn what_was_committed_is_there_whenever_the_process_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let mut next = chance(7);
    for round in 1..=ROUNDS {
        let said = killed_after(directory.path(), Duration::from_millis(300 + next() % 600));
        let store = Rocks::open(&config(directory.path()), Partitions(2)).unwrap();
        let there = store.applied(FIRST).unwrap().0;
        assert!(said <= there, "{said} said, {there} there");
        let rows = model(there);
        let mut scanned = 0;
        store
            .scan(b"a", b"y", &mut |_, _| {
                scanned += 1;
                true
            })
            .unwrap();
        assert_eq!(scanned, rows.len());
        for key in 0..KEYS {
            let expected = rows.get(&key).map(|(number, bytes)| value(*number, key, *bytes));
            let found = store.get(&row(key)).unwrap().map(|found| found.to_vec());
            assert!(found == expected, "round {round}: key {key} after commit {there}");
        }
        if round == ROUNDS {
            leaves_little(&store, directory.path(), &rows);
        }
    }
}

/// What the killed ones were writing does not stay for ever.
fn leaves_little(store: &Rocks, directory: &Path, rows: &BTreeMap<u64, (u64, usize)>) {
    store.reclaim().unwrap();
    let live: u64 = rows.values().map(|(_, bytes)| *bytes as u64).sum();
    let mut usage = store.usage().unwrap();
    // The engine removes files in the background.
    let end = Instant::now() + Duration::from_secs(20);
    while usage.row_bytes > live * 9 / 8 + (64 << 10) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
        usage = store.usage().unwrap();
    }
    let files = std::fs::read_dir(directory.join("rocks")).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert!(usage.row_bytes <= live * 9 / 8 + (64 << 10), "{live} live, {usage:?}: {names:?}");
    // A file of rows and one of values of each family, and a few of the engine's own.
    assert!(names.len() < 2 * FAMILIES + 18, "{names:?}");
}
