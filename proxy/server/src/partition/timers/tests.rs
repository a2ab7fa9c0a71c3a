//! Which timers a turn takes.

use super::*;
use holdfast_machine::{id::InvocationId, kv::MemoryKv, kv::Txn};

const HERE: PartitionId = PartitionId(0);

fn timer(due: u64, kind: TimerKind, number: u128) -> Timer {
    Timer::new(Timestamp(due), kind, InvocationId::random("s", None, 0, number))
}

fn with(timers: &[Timer]) -> MemoryKv {
    let mut kv = MemoryKv::default();
    let mut txn = Txn::new(&kv);
    for each in timers {
        timer::put(&mut txn, HERE, each);
    }
    kv.apply(txn.into_writes());
    kv
}

/// Takes one turn: what is not to be forgotten is fired, and of the rest at most `forgotten`.
/// Tells the due times of what was fired.
fn turn(timers: &mut Timers, kv: &mut MemoryKv, now: u64, forgotten: usize) -> Vec<u64> {
    let due = timers.due(kv, Timestamp(now)).unwrap();
    let (forgets, mut fired): (Vec<_>, Vec<_>) = due.into_iter().partition(|due| due.forgets);
    let (now, later) = forgets.split_at(forgotten.min(forgets.len()));
    if let Some(first) = later.first() {
        timers.forget_later(first.at);
    }
    fired.extend_from_slice(now);
    for due in &fired {
        assert!(kv.0.remove(&due.key).is_some(), "it was taken twice");
    }
    fired.iter().map(|due| due.at.0).collect()
}

#[test]
fn what_is_waited_for_does_not_stand_behind_what_is_forgotten() {
    let mut all: Vec<Timer> = (0..100u64)
        .map(|number| timer(10 + number / 20, TimerKind::Forget, number.into()))
        .collect();
    all.extend([timer(12, TimerKind::Sleep, 200), timer(20, TimerKind::Retry, 201)]);
    all.push(timer(30, TimerKind::Sleep, 202));
    let mut kv = with(&all);
    let mut timers = Timers::new(HERE, 10);
    // The batch is the first ten, and forty rows behind it are looked through.
    assert_eq!(turn(&mut timers, &mut kv, 25, 2), [12, 10, 10]);
    assert_eq!(turn(&mut timers, &mut kv, 25, 2), [10, 10]);
    assert_eq!(turn(&mut timers, &mut kv, 25, 2), [20, 10, 10]);
    // A new one, and one that is due by now, are found as well.
    let new = timer(14, TimerKind::Start, 203);
    kv.0.insert(new.key(HERE), bytes::Bytes::new());
    timers.wake_at(new.due);
    let fired = turn(&mut timers, &mut kv, 30, 2);
    assert_eq!(fired[..2], [14, 30]);
    let mut left = 0;
    while !kv.0.is_empty() {
        left += turn(&mut timers, &mut kv, 30, 2).len();
    }
    assert_eq!(left, 92);
    assert_eq!(timers.due(&kv, Timestamp(1_000)).unwrap(), []);
}

#[test]
fn of_what_is_waited_for_a_turn_takes_a_batch() {
    let sleeps: Vec<Timer> =
        (0..25u8).map(|number| timer(10, TimerKind::Sleep, number.into())).collect();
    let mut kv = with(&sleeps);
    let mut timers = Timers::new(HERE, 5);
    let mut turns = vec![];
    while !kv.0.is_empty() {
        turns.push(turn(&mut timers, &mut kv, 10, 0).len());
    }
    assert_eq!(turns, [5; 5]);
}
