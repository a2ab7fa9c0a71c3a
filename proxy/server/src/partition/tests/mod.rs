//! The partitions at work.

mod bench;
mod retention;
mod schedules;

use super::{Config, News, Place, Unavailable, Waited};
use crate::clock::Clock;
use crate::store::Store;
use crate::store::memory::{Memory, Trouble};
use bench::*;
use holdfast_machine::{
    command::{AttemptEnd, Command, Reply},
    id::{InvocationId, Partitions},
    kv::Kv,
    model::{Awaiting, Combinator, NewInvocation, Outcome},
};
use holdfast_wire::message::MessageType;
use std::{sync::atomic::Ordering::SeqCst, time::Duration};

/// For tests whose commits are held up: their own thread must not be.
fn on_its_thread() -> Config {
    Config { inline_turns: false, ..Config::default() }
}

fn invoke(new: &NewInvocation) -> Command {
    Command::Invoke(Box::new(new.clone()))
}

#[tokio::test]
async fn a_call_is_accepted_run_and_answered() {
    let mut bench = Bench::new(2);
    let new = service(1);
    let caller = bench.call(&new);
    let attempt = bench.attempt(new.id).await;
    assert_eq!((attempt.start.attempt, attempt.start.entries.len()), (1, 1));
    attempt.complete("out");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("out"));
    bench.running.stop();
}

#[tokio::test]
async fn nothing_leaves_before_it_is_durable() {
    let mut bench = Bench::with(Memory::new(Partitions(1)), on_its_thread());
    let new = service(1);
    let held = bench.store.hold();
    let accepted = bench.of(&new);
    let mut reply = tokio::spawn(async move { accepted.call(invoke(&service(1))).await });
    let early = tokio::time::timeout(Duration::from_millis(50), &mut reply).await;
    assert!(early.is_err(), "answered before the commit");
    assert!(bench.nothing_done(), "started before the commit");
    drop(held);
    assert!(matches!(reply.await.unwrap(), Ok(Reply::Accepted { new: true, .. })));
    bench.attempt(new.id).await;
}

#[tokio::test]
async fn what_is_ready_shares_one_commit() {
    let bench = Bench::with(Memory::new(Partitions(1)), on_its_thread());
    bench.of(&service(0)).call(invoke(&service(0))).await.unwrap();
    let held = bench.store.hold();
    let call = |number| {
        let handle = bench.of(&service(number));
        tokio::spawn(async move { handle.call(invoke(&service(number))).await })
    };
    let waiting = || bench.router.all()[0].shared.queue.depth().0;
    let mut calls = vec![call(1)];
    while !bench.store.is_waited_for() {
        tokio::task::yield_now().await;
    }
    calls.extend((2..=64).map(call));
    while waiting() < 63 {
        tokio::task::yield_now().await;
    }
    let before = bench.store.commits();
    drop(held);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let commits = bench.store.commits() - before;
    assert!(commits <= 4, "{commits} commits for 64 calls");
}

/// Some calls, one after the other, after which nothing goes on.
async fn quiet(bench: &mut Bench) {
    for _ in 0..3 {
        let number = bench.store.commits();
        let new = service(1_000 + u128::from(number));
        bench.of(&new).call(invoke(&new)).await.unwrap();
        bench.attempt(new.id).await.complete("out");
        bench.of(&new).call(Command::Output { invocation: new.id }).await.unwrap();
    }
}

#[tokio::test]
async fn where_nothing_else_goes_on_the_caller_takes_the_turn() {
    for inline_turns in [true, false] {
        let config = Config { inline_turns, ..Config::default() };
        let mut bench = Bench::with(Memory::new(Partitions(1)), config);
        let mut here = false;
        // A commit that was slow, on a busy machine, makes the next turn the thread's.
        for _ in 0..100 {
            quiet(&mut bench).await;
            here |= *bench.started_on.lock().unwrap() == Some(std::thread::current().id());
        }
        assert_eq!(here, inline_turns);
    }
}

#[tokio::test]
async fn a_turn_of_the_caller_that_fails_stops_the_partition() {
    let mut bench = Bench::new(1);
    quiet(&mut bench).await;
    bench.store.plan(bench.store.commits() + 1, Trouble::Fail);
    let new = service(9);
    let refused = bench.of(&new).call(invoke(&new)).await;
    assert!(matches!(refused, Err(Unavailable::Stopped { .. })), "{refused:?}");
    assert!(matches!(bench.of(&new).closed(), Some(Unavailable::Stopped { .. })));
    bench.running.stop();
}

#[tokio::test]
async fn a_timer_that_a_turn_of_the_caller_sets_rings() {
    let mut bench = Bench::new(1);
    quiet(&mut bench).await;
    let mut new = service(9);
    new.start_at = Some(NOW.plus(Duration::from_secs(5)));
    bench.of(&new).call(invoke(&new)).await.unwrap();
    assert!(bench.nothing_done());
    bench.clock.advance(Duration::from_secs(5));
    bench.attempt(new.id).await;
}

#[tokio::test]
async fn an_outcome_that_is_there_is_told_at_once() {
    let mut bench = Bench::new(1);
    let mut new = service(1);
    new.idempotency_key = Some("key".to_owned());
    let first = bench.call(&new);
    bench.attempt(new.id).await.complete("out");
    first.await.unwrap().unwrap();
    let Ok(Waited::Ended(again)) = bench.call(&new).await.unwrap() else {
        panic!("the second call has the outcome of the first");
    };
    assert_eq!(again.outcome, success("out"));
    assert!(again.expires_at > Some(NOW), "{:?}", again.expires_at);
    let unknown = Command::Attach { invocation: service(9).id };
    let waited = bench.of(&service(9)).wait(unknown, |_| {}).await;
    assert_eq!(waited, Ok(Waited::Reply(Reply::Unknown)));
}

#[tokio::test]
async fn all_who_wait_are_told_and_who_left_is_forgotten() {
    let mut bench = Bench::new(1);
    let new = service(1);
    let first = bench.call(&new);
    let attempt = bench.attempt(new.id).await;
    let second = bench.call(&new);
    let gone = bench.call(&new);
    let waited = || bench.telemetry.encode().contains("waited_invocations{partition=\"0\"} 1");
    while !waited() {
        bench.of(&new).call(Command::Output { invocation: new.id }).await.unwrap();
    }
    gone.abort();
    first.abort();
    attempt.complete("out");
    assert_eq!(outcome(second.await.unwrap().unwrap()), success("out"));
    bench.of(&new).call(Command::Output { invocation: new.id }).await.unwrap();
    assert!(bench.telemetry.encode().contains("waited_invocations{partition=\"0\"} 0"));
}

#[tokio::test]
async fn what_was_accepted_goes_on_after_a_crash() {
    let mut bench = Bench::new(2);
    let (done, open) = (service(1), object("k", 2));
    let caller = bench.call(&done);
    bench.attempt(done.id).await.complete("first");
    caller.await.unwrap().unwrap();
    bench.of(&open).call(invoke(&open)).await.unwrap();
    let lost = bench.attempt(open.id).await;
    let mut bench = bench.crash();
    lost.complete("from the process before");
    let caller = bench.call(&open);
    bench.attempt(open.id).await.complete("second");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("second"));
    let attach = Command::Attach { invocation: done.id };
    let waited = bench.of(&done).wait(attach, |_| {}).await.unwrap();
    assert_eq!(outcome(waited), success("first"));
}

#[tokio::test]
async fn a_failed_commit_stops_the_partition() {
    let mut bench = Bench::new(1);
    let new = service(1);
    let caller = bench.call(&new);
    let mut attempt = bench.attempt(new.id).await;
    bench.store.plan(bench.store.commits() + 1, Trouble::Fail);
    attempt.complete("never seen");
    let Err(Unavailable::Stopped { reason, .. }) = caller.await.unwrap() else {
        panic!("what is not durable was acknowledged");
    };
    assert!(reason.starts_with("HF0028: cannot write to the data directory"), "{reason}");
    assert_eq!(heard(&mut attempt).await, Some(News::Abort));
    let later = bench.of(&new).call(invoke(&service(2))).await;
    assert!(matches!(later, Err(Unavailable::Stopped { .. })), "{later:?}");
    assert!(!bench.router.is_ready());
    assert!(bench.telemetry.encode().contains("stopped{partition=\"0\"} 1"));
    // What was acknowledged is there after a restart, and what was not is not.
    let mut bench = bench.crash();
    let caller = bench.call(&new);
    bench.attempt(new.id).await.complete("now");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("now"));
    let absent = Command::Output { invocation: service(2).id };
    assert_eq!(bench.of(&new).call(absent).await, Ok(Reply::Unknown));
}

#[tokio::test]
async fn an_unknown_commit_is_looked_up() {
    let bench = Bench::new(1);
    let handle = bench.of(&service(1));
    bench.store.plan(1, Trouble::UnknownWritten);
    assert!(handle.call(invoke(&service(1))).await.is_ok());
    bench.store.plan(2, Trouble::UnknownLost);
    let lost = handle.call(invoke(&service(2))).await;
    assert!(matches!(lost, Err(Unavailable::Stopped { .. })), "{lost:?}");
}

#[tokio::test]
async fn a_corrupt_row_stops_the_partition() {
    let bench = Bench::new(1);
    let new = service(1);
    bench.of(&new).call(invoke(&new)).await.unwrap();
    let store = Memory::new(Partitions(1));
    let lease = store.acquire(bench.router.all()[0].id()).unwrap();
    let mut writes = std::collections::BTreeMap::new();
    bench
        .store
        .scan(&[1], &[255], &mut |key, _| {
            writes.insert(key.to_vec(), Some(bytes::Bytes::from_static(b"\xff\xff\xff")));
            true
        })
        .unwrap();
    let (fence, sequence) = (lease.fence, lease.applied.next());
    let durability = crate::store::Durability::Sync;
    store.commit(&crate::store::Batch { fence, sequence, writes, durability }).unwrap();
    let bench = Bench::with(store, Config::default());
    let answer = bench.of(&new).call(Command::Output { invocation: new.id }).await;
    let Err(Unavailable::Stopped { reason, .. }) = answer else { panic!("{answer:?}") };
    assert!(reason.starts_with("HF0029: corrupt row"), "{reason}");
}

#[tokio::test]
async fn too_many_commands_are_refused_and_none_is_lost() {
    let config = Config { commands_max: 4, ..on_its_thread() };
    let bench = Bench::with(Memory::new(Partitions(1)), config);
    let held = bench.store.hold();
    let handle = bench.of(&service(0));
    let mut calls = Vec::new();
    let refused = loop {
        let number = calls.len() as u128;
        assert!(number < 100, "never refused");
        match handle.ask(invoke(&service(number))) {
            Ok(call) => calls.push(call),
            Err(refused) => break refused,
        }
        tokio::task::yield_now().await;
    };
    assert!(matches!(refused, Unavailable::Overloaded { .. }));
    drop(held);
    for call in calls {
        assert!(matches!(call.await, Ok(Reply::Accepted { .. })));
    }
    handle.room().await;
    handle.call(invoke(&service(1000))).await.unwrap();
}

#[tokio::test]
async fn a_timer_fires_when_it_is_due_and_not_before() {
    let mut bench = Bench::new(1);
    let new = service(1);
    let caller = bench.call(&new);
    let attempt = bench.attempt(new.id).await;
    let due = NOW.plus(Duration::from_secs(3600));
    let on_sleep = Awaiting {
        combinator: Combinator::FirstCompleted,
        completions: vec![1],
        ..Awaiting::default()
    };
    attempt.say(vec![sleep_until(due)], Some(AttemptEnd::Suspended(on_sleep)));
    let handle = bench.of(&new);
    let output = || handle.call(Command::Output { invocation: new.id });
    bench.clock.advance(Duration::from_millis(3_599_999));
    assert_eq!(output().await, Ok(Reply::Pending));
    assert!(bench.nothing_done());
    bench.clock.advance(Duration::from_millis(1));
    let attempt = bench.attempt(new.id).await;
    assert_eq!(attempt.start.entries.last().unwrap().ty, MessageType::SLEEP_COMPLETION);
    attempt.complete("awake");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("awake"));
    assert!(bench.telemetry.encode().contains("timer_lateness_seconds_count 1"));
}

#[tokio::test]
async fn timers_are_found_again_after_a_crash_and_fire_in_batches() {
    let config = Config { batch_timers_max: 3, ..Config::default() };
    let bench = Bench::with(Memory::new(Partitions(1)), config.clone());
    for number in 0..10 {
        let mut new = service(number);
        new.start_at = Some(NOW.plus(Duration::from_secs(60 + number as u64 % 4)));
        bench.of(&new).call(invoke(&new)).await.unwrap();
    }
    let mut bench = Bench::with(bench.store.reopen().unwrap(), config);
    assert_eq!(bench.clock.now(), NOW);
    bench.clock.advance(Duration::from_secs(70));
    for number in 0..10 {
        bench.attempt(service(number).id).await;
    }
}

/// Keys that belong to the two partitions.
fn keys_apart() -> (String, String) {
    let of = |key: &String| Partitions(2).of(holdfast_machine::id::PartitionKey::of_key(key)).0;
    let mut keys = (0..).map(|number| format!("key{number}"));
    let first = keys.clone().find(|key| of(key) == 0).unwrap();
    (first, keys.find(|key| of(key) == 1).unwrap())
}

#[tokio::test]
async fn partitions_call_each_other_also_over_a_crash() {
    for crash in [false, true] {
        let mut bench = Bench::new(2);
        let (here, there) = keys_apart();
        let parent = object(&here, 1);
        bench.of(&parent).call(invoke(&parent)).await.unwrap();
        let attempt = bench.attempt(parent.id).await;
        let on_result = Awaiting { completions: vec![2], ..Awaiting::default() };
        attempt.say(vec![call_of(&there)], Some(AttemptEnd::Suspended(on_result)));
        let child = InvocationId::child(parent.id, 1, Some(&there));
        let attempt = bench.attempt(child).await;
        let attempt = match crash {
            true => {
                bench = bench.crash();
                bench.attempt(child).await
            }
            false => attempt,
        };
        attempt.complete("from there");
        let attempt = bench.attempt(parent.id).await;
        let last = attempt.start.entries.last().unwrap();
        assert_eq!(last.ty, MessageType::CALL_COMPLETION);
        attempt.complete("done");
        let attach = Command::Attach { invocation: parent.id };
        let waited = bench.of(&parent).wait(attach, |_| {}).await.unwrap();
        assert_eq!(outcome(waited), success("done"));
        outbox_empties(&bench).await;
    }
}

/// Acknowledged messages are deleted.
async fn outbox_empties(bench: &Bench) {
    let rows = || {
        let mut rows = 0;
        let mut count = |_: &[u8], _: &[u8]| {
            rows += 1;
            true
        };
        bench.store.scan(b"x", b"y", &mut count).unwrap();
        rows
    };
    while rows() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_live_attempt_hears_what_is_appended() {
    let mut bench = Bench::new(1);
    let new = service(1);
    bench.of(&new).call(invoke(&new)).await.unwrap();
    let mut attempt = bench.attempt(new.id).await;
    let due = NOW.plus(Duration::from_secs(5));
    attempt.say(vec![sleep_until(due)], None);
    bench.of(&new).call(Command::Output { invocation: new.id }).await.unwrap();
    bench.clock.advance(Duration::from_secs(5));
    let Some(News::Notification(entry)) = heard(&mut attempt).await else {
        panic!("a notification was expected");
    };
    assert_eq!((entry.index, entry.ty), (2, MessageType::SLEEP_COMPLETION));
    bench.of(&new).call(Command::Kill { invocation: new.id }).await.unwrap();
    assert_eq!(heard(&mut attempt).await, Some(News::Abort));
    assert_eq!(heard(&mut attempt).await, None, "the channel ends with the attempt");
}

#[tokio::test]
async fn an_attempt_without_a_place_waits_for_one() {
    let mut bench = Bench::new(1);
    bench.places.0.store(0, SeqCst);
    let (first, second) = (service(1), object(ASKED_KEY, 2));
    for new in [&first, &second] {
        bench.of(new).call(invoke(new)).await.unwrap();
        let Done::Refused(invocation, 1) = bench.done().await else { panic!("there is no place") };
        assert_eq!(invocation, new.id);
    }
    bench.of(&first).call(Command::Kill { invocation: first.id }).await.unwrap();
    let Done::Withdrawn(invocation, 1) = bench.done().await else { panic!("it was killed") };
    assert_eq!(invocation, first.id);
    let place = || Place::new(bench.places.clone(), 0);
    bench.of(&first).start_attempt(first.id, 1, place()).unwrap();
    bench.of(&first).call(Command::Output { invocation: first.id }).await.unwrap();
    assert_eq!(bench.places.0.load(SeqCst), 1, "a place that comes too late is given back");
    bench.of(&second).start_attempt(second.id, 1, place()).unwrap();
    let attempt = bench.attempt(second.id).await;
    bench.of(&second).ask_again(second.id, 1);
    bench.of(&second).call(Command::Output { invocation: second.id }).await.unwrap();
    assert_eq!(bench.places.0.load(SeqCst), 1, "what runs does not ask for another place");
    drop(attempt);
    assert_eq!(bench.places.0.load(SeqCst), 2);
}

#[tokio::test]
async fn what_waits_for_a_place_is_paused_and_cancelled_at_once() {
    let mut bench = Bench::new(1);
    bench.places.0.store(0, SeqCst);
    let (paused, cancelled) = (service(1), service(2));
    for new in [&paused, &cancelled] {
        bench.of(new).call(invoke(new)).await.unwrap();
        assert!(matches!(bench.done().await, Done::Refused(..)));
    }
    bench.of(&paused).call(Command::Pause { invocation: paused.id }).await.unwrap();
    assert!(matches!(bench.done().await, Done::Withdrawn(id, 1) if id == paused.id));
    let resume = Command::Resume { invocation: paused.id, pin: None };
    // What was withdrawn is paused by the turn after.
    while bench.of(&paused).call(resume.clone()).await != Ok(Reply::Done) {}
    assert!(matches!(bench.done().await, Done::Refused(id, 2) if id == paused.id));
    let caller = bench.call(&cancelled);
    bench.of(&cancelled).call(Command::Cancel { invocation: cancelled.id }).await.unwrap();
    assert!(matches!(bench.done().await, Done::Withdrawn(id, 1) if id == cancelled.id));
    let Outcome::Failure(failure) = outcome(caller.await.unwrap().unwrap()) else {
        panic!("it was cancelled");
    };
    assert_eq!((failure.code, failure.message.as_str()), (409, "canceled"));
}

#[tokio::test]
async fn no_place_is_lost_with_a_partition() {
    let mut bench = Bench::new(1);
    bench.places.0.store(0, SeqCst);
    let new = service(1);
    bench.of(&new).call(invoke(&new)).await.unwrap();
    assert!(matches!(bench.done().await, Done::Refused(..)));
    bench.store.plan(bench.store.commits() + 1, Trouble::Fail);
    let stopped = bench.of(&new).call(invoke(&service(2))).await;
    assert!(matches!(stopped, Err(Unavailable::Stopped { .. })), "{stopped:?}");
    let place = Place::new(bench.places.clone(), 7);
    let refused = bench.of(&new).start_attempt(new.id, 1, place);
    assert_eq!(refused.unwrap_err().into_seat(), 7);
}

#[tokio::test]
async fn stopping_works_on_what_is_queued_and_refuses_the_rest() {
    let bench = Bench::with(Memory::new(Partitions(1)), on_its_thread());
    let handle = bench.of(&service(0));
    let held = bench.store.hold();
    let calls: Vec<_> =
        (0..5).map(|number| handle.ask(invoke(&service(number))).unwrap()).collect();
    let running = bench.running;
    let stopping = tokio::task::spawn_blocking(move || running.stop());
    while handle.closed().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(handle.call(invoke(&service(9))).await, Err(Unavailable::ShuttingDown));
    drop(held);
    stopping.await.unwrap();
    for call in calls {
        assert!(matches!(call.await, Ok(Reply::Accepted { .. })));
    }
    assert!(!bench.router.is_ready());
}
