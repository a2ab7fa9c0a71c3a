//! What is counted of letters.

use super::{Failed, Settled};
use crate::telemetry;
use holdfast_machine::time::Timestamp;
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};
use std::sync::Arc;

type Label = [(&'static str, &'static str); 1];

/// The families of one office. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

#[derive(Default)]
struct Families {
    settled: Family<Label, Counter>,
    failed_tries: Family<Label, Counter>,
    held: Gauge,
    oldest_timestamp_seconds: Gauge,
    failing_receivers: Gauge,
}

impl Metrics {
    /// `room` becomes part of the names, and `letters` is what they are called there.
    pub fn new(telemetry: &telemetry::Metrics, room: &str, letters: &str) -> Metrics {
        let families = Families::default();
        telemetry.register(room, |registry| {
            let f = &families;
            let help = format!("How {letters} ended: taken, given_up, nowhere, gone");
            registry.register("settled", help, f.settled.clone());
            let help = format!("Tries to deliver {letters} that came to nothing, by why");
            registry.register("failed_tries", help, f.failed_tries.clone());
            let help = format!("How many {letters} wait in memory; more may wait on disk");
            registry.register("held", help, f.held.clone());
            let help = "When the oldest of them was written, since 1970; 0 where there is none";
            let oldest = f.oldest_timestamp_seconds.clone();
            registry.register("oldest_timestamp_seconds", help, oldest);
            let help = format!("Receivers that did not take the last of their {letters}");
            registry.register("failing_receivers", help, f.failing_receivers.clone());
        });
        Metrics(Arc::new(families))
    }

    pub(super) fn settled(&self, how: Settled) {
        let how = match how {
            Settled::Taken => "taken",
            Settled::GivenUp => "given_up",
            Settled::Nowhere => "nowhere",
            Settled::Gone => "gone",
        };
        self.0.settled.get_or_create(&[("how", how)]).inc();
    }

    pub(super) fn failed(&self, why: &Failed) {
        let why = match why {
            Failed::Refused(_) => "refused",
            Failed::Unreachable(_) => "unreachable",
            Failed::Late { .. } => "late",
            Failed::Bug => "bug",
        };
        self.0.failed_tries.get_or_create(&[("why", why)]).inc();
    }

    pub(super) fn waiting(&self, held: usize, oldest: Option<Timestamp>, failing: usize) {
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let oldest = oldest.map_or(0, |at| i64::try_from(at.0 / 1000).unwrap_or(i64::MAX));
        self.0.held.set(gauge(held));
        self.0.oldest_timestamp_seconds.set(oldest);
        self.0.failing_receivers.set(gauge(failing));
    }
}
