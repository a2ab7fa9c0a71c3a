//! What is counted of push notifications.

use crate::delivery::{Failed, Settled};
use crate::telemetry;
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge};
use std::sync::Arc;

type Label = [(&'static str, &'static str); 1];

/// The families of push notifications. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

#[derive(Default)]
struct Families {
    settled: Family<Label, Counter>,
    failed_tries: Family<Label, Counter>,
    held: Gauge,
    failing_receivers: Gauge,
}

impl Metrics {
    pub fn new(telemetry: &telemetry::Metrics) -> Metrics {
        let families = Families::default();
        telemetry.register("a2a_push", |registry| {
            let f = &families;
            let help = "Push notifications that are over, by how: taken, given_up, nowhere, gone";
            registry.register("settled", help, f.settled.clone());
            let help = "Tries to deliver a push notification that came to nothing, by why";
            registry.register("failed_tries", help, f.failed_tries.clone());
            let help = "Push notifications in memory that wait; more may wait on disk";
            registry.register("held", help, f.held.clone());
            let help = "Receivers that did not take the last push notification";
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

    pub(super) fn waiting(&self, held: usize, failing: usize) {
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.0.held.set(gauge(held));
        self.0.failing_receivers.set(gauge(failing));
    }
}
