//! Forgetting at work: in bounded pieces when its time has come, and before it where the disk has a
//! budget.

use super::bench::*;
use crate::partition::{
    Config,
    retention::{self, Retention},
};
use crate::store::{Space, memory::Memory};
use holdfast_machine::{
    command::{Command, Reply},
    id::{InvocationId, Partitions},
    kv::Kv,
};
use std::{ops::Range, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

impl Bench {
    /// Calls that have completed one after the other, a second apart.
    async fn completed(&mut self, numbers: Range<u128>) -> Vec<InvocationId> {
        let mut ids = vec![];
        for number in numbers {
            let new = service(number);
            let caller = self.call(&new);
            self.attempt(new.id).await.complete("out");
            caller.await.unwrap().unwrap();
            self.clock.advance(Duration::from_secs(1));
            ids.push(new.id);
        }
        ids
    }

    async fn is_kept(&self, id: InvocationId) -> bool {
        let output = Command::Output { invocation: id };
        self.router.of(id).call(output).await != Ok(Reply::Unknown)
    }

    /// The numbers of those that are kept.
    async fn kept(&self, ids: &[InvocationId]) -> Vec<usize> {
        let mut kept = vec![];
        for (number, id) in ids.iter().enumerate() {
            if self.is_kept(*id).await {
                kept.push(number);
            }
        }
        kept
    }

    fn keep_within(&self, bytes: u64) -> (JoinHandle<()>, CancellationToken) {
        let config = retention::Config { disk_bytes_max: Some(bytes), interval_ms: 10 };
        let retention = Retention::new(config, self.router.clone(), &self.telemetry);
        let shutdown = CancellationToken::new();
        (tokio::spawn(retention.run(shutdown.clone())), shutdown)
    }

    async fn metric(&self, line: &str) {
        while !self.telemetry.encode().lines().any(|shown| shown == line) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn rows(store: &Memory) -> usize {
    let mut rows = 0;
    store
        .scan(&[1], &[u8::MAX], &mut |_, _| {
            rows += 1;
            true
        })
        .unwrap();
    rows
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, work).await.expect("it did not happen in time")
}

#[tokio::test]
async fn what_is_due_at_once_is_forgotten_over_several_commits() {
    const COUNT: u128 = 60;
    let config = Config { batch_forget_rows_max: 20, ..Config::default() };
    let mut bench = Bench::with(Memory::new(Partitions(1)), config);
    bench.completed(0..COUNT).await;
    assert_eq!(rows(&bench.store), 4 * COUNT as usize, "row, input, output and timer");
    let before = bench.store.commits();
    bench.clock.advance(Duration::from_secs(86_400));
    in_time(async {
        while rows(&bench.store) > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // Five invocations have the twenty rows of a commit.
    let commits = bench.store.commits() - before;
    assert!(commits >= COUNT as u64 / 5, "{commits} commits");
}

#[tokio::test]
async fn the_oldest_make_room_and_what_runs_stays() {
    let mut bench = Bench::new(2);
    let waits = service(1_000);
    let caller = bench.call(&waits);
    let attempt = bench.attempt(waits.id).await;
    let ids = bench.completed(0..40).await;
    let all = bench.store.usage().unwrap().total();
    let budget = all * 3 / 4;
    let (task, shutdown) = bench.keep_within(budget);
    in_time(async {
        while bench.store.usage().unwrap().total() > budget {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    bench.metric("holdfast_retention_over_budget 0").await;
    let kept = bench.kept(&ids).await;
    assert!((20..=34).contains(&kept.len()), "{kept:?}");
    let newest: Vec<usize> = (40 - kept.len()..40).collect();
    assert_eq!(kept, newest, "the newest are kept and no others");
    attempt.complete("at last");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("at last"));
    let forgotten = 40 - kept.len();
    in_time(bench.metric(&format!("holdfast_retention_forgotten_total {forgotten}"))).await;
    shutdown.cancel();
    in_time(task).await.unwrap();
}

#[tokio::test]
async fn a_budget_that_cannot_be_met_is_told_and_stops_nothing() {
    let mut bench = Bench::new(1);
    let first = service(1_000);
    let caller = bench.call(&first);
    let attempt = bench.attempt(first.id).await;
    let ids = bench.completed(0..5).await;
    let (task, shutdown) = bench.keep_within(1);
    in_time(bench.metric("holdfast_retention_over_budget 1")).await;
    assert_eq!(bench.kept(&ids).await, Vec::<usize>::new());
    attempt.complete("out");
    assert_eq!(outcome(caller.await.unwrap().unwrap()), success("out"));
    shutdown.cancel();
    in_time(task).await.unwrap();
}

#[tokio::test]
async fn nothing_is_forgotten_for_space_that_does_not_come_back() {
    let mut bench = Bench::new(1);
    let ids = bench.completed(0..5).await;
    bench.store.keep_space();
    let (task, shutdown) = bench.keep_within(1);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(bench.kept(&ids).await.len(), 5);
    shutdown.cancel();
    in_time(task).await.unwrap();
}

#[tokio::test]
async fn a_partition_that_has_ended_ends_nothing_else() {
    let mut bench = Bench::new(1);
    bench.completed(0..5).await;
    bench.running.stop();
    let config = retention::Config { disk_bytes_max: Some(1), interval_ms: 10 };
    let retention = Retention::new(config, bench.router.clone(), &bench.telemetry);
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(retention.run(shutdown.clone()));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!task.is_finished());
    shutdown.cancel();
    in_time(task).await.unwrap();
}
