//! What the ingress counts.

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use std::{
    fmt::{self, Write},
    sync::{Arc, OnceLock, atomic::AtomicU64},
    time::Duration,
};

/// Counters of the HTTP door. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    requests: Family<Request, Counter>,
    request_seconds: Family<Request, Counter<f64, AtomicU64>>,
    in_progress: Gauge,
    /// Those of `requests` and `request_seconds` that were needed so far: a family is a lock and a
    /// search.
    found: Arc<[[OnceLock<Counters>; STATUSES]; KINDS]>,
}

/// How many kinds there are.
const KINDS: usize = Kind::Other as usize + 1;
/// How many statuses there are.
const STATUSES: usize = Status::IngressError as usize + 1;

/// What is counted of one kind and status.
#[derive(Debug)]
struct Counters {
    requests: Counter,
    seconds: Counter<f64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    kind: Kind,
    status: Status,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Call,
    Send,
    Outcome,
    Signal,
    Other,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Status {
    Completed,
    /// The handler's failure.
    InvocationError,
    /// Refused: 4xx.
    RequestError,
    /// Ours, or not now: 5xx.
    IngressError,
}

impl Metrics {
    pub fn new(registry: &mut Registry) -> Metrics {
        let metrics = Metrics::default();
        registry.register(
            "requests",
            "Requests answered, by kind and status",
            metrics.requests.clone(),
        );
        registry.register(
            "request_seconds",
            "Time from request to answer, the wait for the handler included, summed",
            metrics.request_seconds.clone(),
        );
        registry.register(
            "requests_in_progress",
            "Requests that are not answered yet",
            metrics.in_progress.clone(),
        );
        metrics
    }

    pub(super) fn answered(&self, kind: Kind, status: Status, took: Duration) {
        let counters = self.found[kind as usize][status as usize].get_or_init(|| {
            let request = Request { kind, status };
            Counters {
                requests: self.requests.get_or_create_owned(&request),
                seconds: self.request_seconds.get_or_create_owned(&request),
            }
        });
        counters.requests.inc();
        counters.seconds.inc_by(took.as_secs_f64());
    }
}

/// One request in progress, counted until it is dropped.
pub(super) struct InProgress<'m> {
    gauge: &'m Gauge,
    /// How many there were already.
    pub before: usize,
}

impl InProgress<'_> {
    pub fn enter(metrics: &Metrics) -> InProgress<'_> {
        let gauge = &metrics.in_progress;
        let before = usize::try_from(gauge.inc()).expect("entered at least as often as left");
        InProgress { gauge, before }
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

impl EncodeLabelValue for Kind {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.write_str(match self {
            Kind::Call => "call",
            Kind::Send => "send",
            Kind::Outcome => "outcome",
            Kind::Signal => "signal",
            Kind::Other => "other",
        })
    }
}

impl EncodeLabelValue for Status {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.write_str(match self {
            Status::Completed => "completed",
            Status::InvocationError => "invocation_error",
            Status::RequestError => "request_error",
            Status::IngressError => "ingress_error",
        })
    }
}
