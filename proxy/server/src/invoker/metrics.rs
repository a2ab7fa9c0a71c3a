//! What the invoker counts.

use crate::telemetry;
use holdfast_machine::{command::AttemptEnd, command::Reaction};
use prometheus_client::metrics::{
    counter::Counter,
    family::Family,
    gauge::Gauge,
    histogram::{Histogram, exponential_buckets},
};
use std::{sync::Arc, time::Duration};

type Label = [(&'static str, &'static str); 1];

/// The families of the invoker. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    started: Counter,
    ended: Family<Label, Counter>,
    running: Gauge,
    waiting: Gauge,
    pressed: Counter,
    sent_bytes: Counter,
    received_bytes: Counter,
    attempt_seconds: Histogram,
}

impl Metrics {
    pub fn new(telemetry: &telemetry::Metrics) -> Metrics {
        let families = Families {
            started: Counter::default(),
            ended: Family::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            pressed: Counter::default(),
            sent_bytes: Counter::default(),
            received_bytes: Counter::default(),
            attempt_seconds: Histogram::new(exponential_buckets(0.000_25, 2.0, 20)),
        };
        telemetry.register("invoker", |registry| {
            let f = &families;
            registry.register("attempts_started", "Attempts begun", f.started.clone());
            registry.register("attempts_ended", "Attempts ended, by how", f.ended.clone());
            registry.register("attempts_running", "Attempts that run now", f.running.clone());
            let help = "Attempts that wait for a place";
            registry.register("attempts_waiting", help, f.waiting.clone());
            let help = "Attempts asked to suspend because others waited";
            registry.register("attempts_pressed", help, f.pressed.clone());
            registry.register("sent_bytes", "Bytes sent to services", f.sent_bytes.clone());
            let help = "Bytes received from services";
            registry.register("received_bytes", help, f.received_bytes.clone());
            let help = "Time from the begin of an attempt to its end";
            registry.register("attempt_seconds", help, f.attempt_seconds.clone());
        });
        Metrics(Arc::new(families))
    }

    pub(super) fn started(&self) {
        self.0.started.inc();
    }

    pub(super) fn places(&self, taken: usize, waiting: usize) {
        self.0.running.set(i64::try_from(taken).unwrap_or(i64::MAX));
        self.0.waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    pub(super) fn pressed(&self) {
        self.0.pressed.inc();
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.0.sent_bytes.inc_by(bytes as u64);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.0.received_bytes.inc_by(bytes as u64);
    }

    pub(super) fn ended(&self, how: &'static str, took: Duration) {
        self.0.ended.get_or_create(&[("how", how)]).inc();
        self.0.attempt_seconds.observe(took.as_secs_f64());
    }
}

/// How an attempt ended, in one word.
pub(super) fn word(end: &AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Completed => "completed",
        AttemptEnd::Suspended(_) => "suspended",
        AttemptEnd::Failed(failed) if failed.reaction == Reaction::Pause => "paused",
        AttemptEnd::Failed(_) => "failed",
    }
}
