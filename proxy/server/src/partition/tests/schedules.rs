//! Schedules under partitions that run and crash.

use super::bench::*;
use holdfast_machine::{
    command::{Command, Reply},
    id::{InvocationId, ScheduleId},
    kv::Kv,
    model::{Callee, Retention},
    schedule::{CatchUp, Overlap, Plan},
    tables::{
        invocation,
        schedule::{self, Schedule},
    },
    time::Timestamp,
};
use holdfast_wire::manifest::HandlerType;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(5);

fn id() -> ScheduleId {
    ScheduleId::of("every-5s")
}

/// What is called for the time that is so many periods away.
fn call(periods: u32) -> InvocationId {
    InvocationId::scheduled(id(), NOW.plus(PERIOD * periods), None, None)
}

impl Bench {
    /// Registers the target of the schedule, and how long its outcomes are kept.
    fn register(&self, kept: Duration) {
        *self.registered.lock().unwrap() = Some(Callee {
            ty: HandlerType::Service,
            retention: Retention::default(),
            idempotent_retention: Retention { completion: kept, journal: kept },
            lazy_state: false,
        });
    }

    async fn put_schedule(&self) {
        let plan = Plan {
            name: "every-5s".into(),
            cron: "@every 5s".into(),
            time_zone: "UTC".into(),
            service: "Greeter".into(),
            handler: "run".into(),
            key: None,
            argument: bytes::Bytes::new(),
            headers: vec![],
            catch_up: CatchUp::Once,
            overlap: Overlap::Allow,
        };
        let put = Command::PutSchedule(Box::new(plan));
        let reply = self.router.of_schedule(id()).call(put).await;
        assert_eq!(reply, Ok(Reply::Stored { new: true }));
    }

    fn schedule(&self) -> Schedule {
        let partition = self.router.of_schedule(id()).id();
        let kv: &dyn Kv = &*self.store;
        schedule::get(kv, partition, id()).unwrap().unwrap()
    }

    /// Waits until the next time is so many periods away from the beginning.
    async fn next(&self, periods: u32) {
        while self.schedule().next != Some(NOW.plus(PERIOD * periods)) {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_time_has_one_call_and_missed_ones_have_one_together() {
    let mut bench = Bench::new(2);
    bench.register(PERIOD);
    bench.put_schedule().await;
    bench.clock.advance(PERIOD);
    let attempt = bench.attempt(call(1)).await;
    assert_eq!(attempt.start.target.service, "Greeter");
    // Killed while it runs: it goes on, and is not called again.
    let mut bench = bench.crash();
    bench.register(PERIOD);
    bench.attempt(call(1)).await.complete("out");
    bench.clock.advance(PERIOD * 4 + PERIOD / 2);
    bench.attempt(call(4)).await;
    bench.next(5).await;
    for missed in [2, 3] {
        let invocation = call(missed);
        let output = bench.router.of(invocation).call(Command::Output { invocation }).await;
        assert_eq!(output, Ok(Reply::Unknown), "{missed}");
    }
    let counts = bench.schedule().counts;
    assert_eq!((counts.runs, counts.caught_up), (2, 1));
}

#[tokio::test]
async fn a_target_that_is_gone_is_told_and_looked_up_again() {
    let mut bench = Bench::new(1);
    bench.put_schedule().await;
    bench.clock.advance(PERIOD);
    bench.next(2).await;
    let trouble = bench.schedule().trouble.unwrap();
    assert_eq!((trouble.code.as_str(), trouble.planned), ("HF0180", Timestamp(NOW.0 + 5_000)));
    assert!(bench.nothing_done());
    for (periods, kept) in [(2, PERIOD), (3, PERIOD * 7)] {
        bench.register(kept);
        bench.clock.advance(PERIOD);
        bench.attempt(call(periods)).await;
        assert_eq!(bench.schedule().trouble, None);
        let kv: &dyn Kv = &*bench.store;
        let record = invocation::get(kv, bench.router.of(call(periods)).id(), call(periods));
        assert_eq!(record.unwrap().unwrap().retention.completion, kept);
    }
}
