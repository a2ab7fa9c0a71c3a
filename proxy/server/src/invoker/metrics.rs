//! What the invoker counts.

use super::places::{Standing, Standings};
use crate::telemetry;
use holdfast_machine::{command::AttemptEnd, command::Reaction};
use prometheus_client::{
    collector::Collector,
    encoding::DescriptorEncoder,
    metrics::{
        MetricType,
        counter::Counter,
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
};
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

type Label = [(&'static str, &'static str); 1];

/// The families of the invoker. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    started: Counter,
    ended: Family<Label, Counter>,
    /// Those of `ended` that were needed so far: a family is a lock and a search.
    ended_found: [OnceLock<Counter>; HOWS],
    looked_at: Arc<LookedAt>,
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
            ended_found: Default::default(),
            looked_at: Arc::default(),
            pressed: Counter::default(),
            sent_bytes: Counter::default(),
            received_bytes: Counter::default(),
            attempt_seconds: Histogram::new(exponential_buckets(0.000_25, 2.0, 20)),
        };
        telemetry.register("invoker", |registry| {
            let f = &families;
            registry.register("attempts_started", "Attempts begun", f.started.clone());
            registry.register("attempts_ended", "Attempts ended, by how", f.ended.clone());
            registry.register_collector(Box::new(OfAttempts(f.looked_at.clone())));
            let help = "Attempts asked to suspend because others waited";
            registry.register("attempts_pressed", help, f.pressed.clone());
            registry.register("sent_bytes", "Bytes sent to services", f.sent_bytes.clone());
            let help = "Bytes received from services";
            registry.register("received_bytes", help, f.received_bytes.clone());
            let help = "Time from the begin of an attempt to its end";
            registry.register("attempt_seconds", help, f.attempt_seconds.clone());
        });
        let of_limits = Box::new(OfLimits(families.looked_at.clone()));
        telemetry.register("limit", |registry| registry.register_collector(of_limits));
        Metrics(Arc::new(families))
    }

    /// Where to look for the places when somebody asks; a second one is ignored.
    pub(super) fn look_at(&self, look: impl Fn() -> Option<Standings> + Send + Sync + 'static) {
        let _ = self.0.looked_at.0.set(Box::new(look));
    }

    pub(super) fn started(&self) {
        self.0.started.inc();
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

    pub(super) fn ended(&self, how: How, took: Duration) {
        let find = || self.0.ended.get_or_create_owned(&[("how", how.word())]);
        self.0.ended_found[how as usize].get_or_init(find).inc();
        self.0.attempt_seconds.observe(took.as_secs_f64());
    }
}

/// The places, looked at when metrics are asked for: it costs nothing meanwhile, and a limit that
/// is gone has no metrics.
#[derive(Default)]
struct LookedAt(OnceLock<Look>);

type Look = Box<dyn Fn() -> Option<Standings> + Send + Sync>;

impl LookedAt {
    fn standings(&self) -> Option<Standings> {
        self.0.get().and_then(|look| look())
    }
}

impl fmt::Debug for LookedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.standings())
    }
}

/// The places of all.
#[derive(Debug)]
struct OfAttempts(Arc<LookedAt>);

/// The places of each limit.
#[derive(Debug)]
struct OfLimits(Arc<LookedAt>);

impl Collector for OfAttempts {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let standings = self.0.standings();
        let (running, waiting) = standings.map_or((0, 0), |it| (it.running, it.waiting));
        let mut gauge = |name, help, value: usize| {
            let mut gauge = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            gauge.encode_gauge(&count(value))
        };
        gauge("attempts_running", "Attempts that run now", running)?;
        gauge("attempts_waiting", "Attempts that wait for a place", waiting)
    }
}

impl Collector for OfLimits {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let limits = self.0.standings().map_or(vec![], |standings| standings.limits);
        let mut gauges = |name, help, value: fn(&Standing) -> usize| {
            let mut gauges = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for standing in &limits {
                let labels = [("limit", standing.limit.subject.to_string())];
                gauges.encode_family(&labels)?.encode_gauge(&count(value(standing)))?;
            }
            Ok(())
        };
        gauges("concurrency", "Invocations that may run at once", |it| {
            it.limit.concurrency as usize
        })?;
        gauges("running", "Invocations that run now, by limit", |it| it.running)?;
        gauges("waiting", "Invocations that wait for a place, by limit", |it| it.waiting)
    }
}

fn count(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Completed,
    Suspended,
    Paused,
    Failed,
    Unstarted,
}

/// How many there are.
const HOWS: usize = How::Unstarted as usize + 1;

impl How {
    pub(super) fn of(end: &AttemptEnd) -> How {
        match end {
            AttemptEnd::Completed => How::Completed,
            AttemptEnd::Suspended(_) => How::Suspended,
            AttemptEnd::Failed(failed) if failed.reaction == Reaction::Pause => How::Paused,
            AttemptEnd::Failed(_) => How::Failed,
            AttemptEnd::Unstarted => How::Unstarted,
        }
    }

    fn word(self) -> &'static str {
        match self {
            How::Completed => "completed",
            How::Suspended => "suspended",
            How::Paused => "paused",
            How::Failed => "failed",
            How::Unstarted => "unstarted",
        }
    }
}
