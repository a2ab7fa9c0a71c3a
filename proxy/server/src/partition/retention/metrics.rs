//! What is counted of the disk and of what had to make room.

use crate::telemetry;
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};

/// The families of the retention.
#[derive(Default)]
pub(super) struct Metrics {
    pub disk_bytes: Gauge,
    pub disk_bytes_max: Gauge,
    pub over_budget: Gauge,
    pub forgotten: Counter,
    pub compactions: Counter,
}

impl Metrics {
    pub fn new(telemetry: &telemetry::Metrics) -> Metrics {
        let metrics = Metrics::default();
        telemetry.register("retention", |registry| {
            let m = &metrics;
            registry.register("disk_bytes", "Data directory", m.disk_bytes.clone());
            let help = "Budget of the data directory; 0 where there is none";
            registry.register("disk_bytes_max", help, m.disk_bytes_max.clone());
            let help = "1 where the budget is exceeded by what may not be forgotten";
            registry.register("over_budget", help, m.over_budget.clone());
            let help = "Completed invocations that were forgotten before their time";
            registry.register("forgotten", help, m.forgotten.clone());
            let help = "Compactions that gave back the space of deleted rows";
            registry.register("compactions", help, m.compactions.clone());
        });
        metrics
    }
}

/// A number of bytes as a gauge holds it.
pub(super) fn gauge(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
