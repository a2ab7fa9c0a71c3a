//! What is chosen to make room, and in which pieces it is asked for.

use super::{
    COMMAND_ENTRIES, SLICE_ENTRIES,
    oldest::{Candidate, look},
    on_disk, slices, take,
};
use crate::store::Usage;
use bytes::Bytes;
use holdfast_machine::{
    ask::Asks,
    id::{InvocationId, PartitionKey, Partitions},
    kv::{MemoryKv, Txn},
    model::{Outcome, Retention, Source, Status, Target},
    tables::{
        invocation::{self, JournalSummary, Record, Retries, Span, Times},
        task::{self, Task},
    },
    task::State,
    time::Timestamp,
};
use holdfast_wire::manifest::HandlerType;

const PARTITIONS: Partitions = Partitions(2);

/// In the first partition for even numbers, in the second for odd ones.
fn id(number: u64) -> InvocationId {
    let partition_key = PartitionKey((number % 2) << 63 | number);
    InvocationId { partition_key, uuid: u128::from(number) }
}

fn record(completed: Option<u64>, bytes: u64) -> Record {
    let status = match completed {
        Some(_) => Status::Completed { outcome: Outcome::Success(Bytes::new()) },
        None => Status::Paused,
    };
    Record {
        target: Target {
            service: "Greeter".into(),
            key: None,
            handler: "greet".into(),
            ty: HandlerType::Service,
        },
        status,
        source: Source::Ingress,
        root: id(0),
        idempotency_key: None,
        retention: Retention::default(),
        lazy_state: false,
        random_seed: 1,
        pin: None,
        sinks: vec![],
        attempt: 1,
        pause_wanted: false,
        journal: JournalSummary { length: 2, bytes, ..JournalSummary::default() },
        retries: Retries::default(),
        events: Span::default(),
        times: Times { completed: completed.map(Timestamp), ..Times::default() },
        is_task: false,
        asks: Asks::default(),
        asked: false,
    }
}

/// Numbers of the oldest, and whether what they and all take is as expected.
fn oldest(rows: &[(u64, Option<u64>)], max: usize) -> Vec<u64> {
    let mut kv = MemoryKv::default();
    let mut txn = Txn::new(&kv);
    for (number, completed) in rows {
        let partition = PARTITIONS.of(id(*number).partition_key);
        invocation::put(&mut txn, partition, id(*number), &record(*completed, 1_000));
    }
    kv.apply(txn.into_writes());
    let found = look(&kv, PARTITIONS, max).unwrap();
    assert_eq!(found.bytes, rows.len() as u64 * 1_420);
    assert!(found.oldest.iter().all(|candidate| candidate.bytes == 1_420));
    found.oldest.iter().map(|candidate| candidate.id.uuid as u64).collect()
}

#[test]
fn those_that_completed_first_are_chosen_from_all_partitions() {
    let rows = [(0, Some(9)), (1, Some(3)), (2, None), (3, Some(7)), (4, Some(5)), (5, None)];
    assert_eq!(oldest(&rows, 10), [1, 4, 3, 0]);
    assert_eq!(oldest(&rows, 2), [1, 4], "the bound keeps the oldest");
    assert_eq!(oldest(&rows, 0), Vec::<u64>::new());
    assert_eq!(oldest(&rows[2..3], 10), Vec::<u64>::new(), "what is not completed stays");
}

#[test]
fn what_a_task_told_and_asked_weighs() {
    let (mut kv, partition) = (MemoryKv::default(), PARTITIONS.of(id(2).partition_key));
    let mut txn = Txn::new(&kv);
    let asks = Asks { opened: 5, left: 2, ..Asks::default() };
    let followed = Record { is_task: true, asks, ..record(Some(1), 1_000) };
    invocation::put(&mut txn, partition, id(2), &followed);
    let row = Task {
        secret: 1,
        principal: "ada".into(),
        context: "c".into(),
        door: "mcp".into(),
        meta: Bytes::from_static(b"12345"),
        digest: Bytes::new(),
        state: State::Completed,
        next: 9,
        updated: Timestamp(1),
        progress: None,
        cancel_wanted: false,
        waiting: vec![],
        failed_by: None,
        feed_bytes: 1_000_000,
        pushes: 0,
    };
    task::put(&mut txn, partition, id(2), &row);
    kv.apply(txn.into_writes());
    let found = look(&kv, PARTITIONS, 10).unwrap();
    assert_eq!(found.bytes, 1_420 + 3 * 600 + 505 + 1_000_000);
    assert_eq!(found.oldest[0].bytes, found.bytes);
}

#[test]
fn what_invocations_take_is_never_thought_too_little() {
    const MB: u64 = 1_000_000;
    let usage = |rows: u64, values: u64, garbage: u64| Usage {
        row_bytes: (rows + values) * MB,
        value_bytes: values * MB,
        garbage_bytes: garbage * MB,
        ..Usage::default()
    };
    let taken = |usage, tables: u64, all: u64| on_disk(usage, tables * MB, all * MB) / MB;
    // Files too small to tell tables apart: all of it.
    assert_eq!(taken(usage(3, 0, 0), 0, 9), 3);
    assert_eq!(taken(usage(3, 50, 10), 0, 60), 43);
    // Small rows, which are compressed.
    assert_eq!(taken(usage(500, 0, 0), 200, 900), 200);
    // Large values of invocations beside much state in small rows, of which the store thinks that the
    // large values are.
    assert_eq!(taken(usage(500, 1_000, 0), 3, 1_001), 1_000);
    assert_eq!(taken(usage(500, 1_000, 100), 3, 900), 900);
    // Large values of state beside small invocations.
    assert_eq!(taken(usage(500, 1_000, 0), 600, 400), 600);
}

fn candidate(bytes: u64, entries: u32) -> Candidate {
    Candidate { completed: Timestamp(1), id: id(1), bytes, entries }
}

#[test]
fn no_more_is_taken_than_wanted() {
    let three = || vec![candidate(10, 1); 3];
    for (wanted, count, left) in [(0, 0, 0), (1, 1, 0), (10, 1, 0), (11, 2, 0), (31, 3, 1)] {
        let (taken, rest) = take(three(), wanted);
        assert_eq!((taken.len(), rest), (count, left), "{wanted} wanted");
    }
}

#[test]
fn slices_are_bounded_in_entries() {
    let long = SLICE_ENTRIES;
    let entries = [1, long, 1, 1, long, long, 1];
    let chosen: Vec<_> = entries.map(|entries| candidate(1, entries)).into();
    let lengths: Vec<_> = slices(&chosen).map(<[_]>::len).collect();
    assert_eq!(lengths, [2, 3, 1, 1]);
    let short = vec![candidate(1, 0); 2_000];
    let most = (SLICE_ENTRIES / COMMAND_ENTRIES) as usize;
    assert!(slices(&short).all(|slice| slice.len() <= most));
    assert_eq!(slices(&short).map(<[_]>::len).sum::<usize>(), 2_000);
    assert_eq!(slices(&[]).count(), 0);
}
