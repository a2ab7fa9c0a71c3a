//! What was measured, as a table for people and as JSON for programs and plots.

use crate::Failure;
use crate::load::Measured;
use crate::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// One run of the benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Which server it was.
    pub label: String,
    /// Seconds since 1970.
    pub at: u64,
    pub machine: Machine,
    pub measured_seconds: f64,
    /// In the order in which it was measured.
    pub results: Vec<Outcome>,
    /// The most memory that the server ever had.
    pub rss_peak_bytes: Option<u64>,
    pub threads: Option<u64>,
    /// What the data directory held in the end.
    pub disk_bytes: Option<u64>,
}

/// Where it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    pub cores: usize,
    pub cpu: String,
    pub kernel: String,
}

/// Of one scenario under one load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub scenario: String,
    #[serde(flatten)]
    pub load: Load,
    pub calls: u64,
    pub failed: u64,
    pub calls_per_second: f64,
    pub latency_us: Latency,
    /// Processor time of the server for each call.
    pub server_cpu_us: Option<f64>,
    pub service_cpu_us: Option<f64>,
    /// Payload there and back, where the scenario is about that.
    pub mib_per_second: Option<f64>,
    /// Messages sent and executed, where the scenario is about that.
    pub messages_per_second: Option<f64>,
}

/// How it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Closed loop: so many callers at once.
    Callers(u32),
    /// Open loop: so many calls due each second.
    Rate(f64),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Latency {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// Processor time of both sides while it was measured, if known.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub server: Option<Duration>,
    pub service: Option<Duration>,
}

impl Machine {
    /// This one.
    pub fn this() -> Machine {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
        let model =
            model.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name);
        Machine {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: model.trim().to_owned(),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

impl Outcome {
    pub fn of(scenario: Scenario, load: Load, measured: &Measured, spent: Spent) -> Outcome {
        let (latencies, seconds) = (&measured.latencies, measured.lasted.as_secs_f64());
        let calls = latencies.total();
        let us = |percent| latencies.percentile(percent) as f64 / 1e3;
        let per_call = |cpu: Duration| (calls > 0).then(|| cpu.as_secs_f64() * 1e6 / calls as f64);
        let calls_per_second = calls as f64 / seconds;
        let mib = |bytes: u64| calls_per_second * bytes as f64 / f64::from(1 << 20);
        Outcome {
            scenario: scenario.name().to_owned(),
            load,
            calls,
            failed: measured.failed,
            calls_per_second,
            latency_us: Latency {
                p50: us(50.0),
                p90: us(90.0),
                p99: us(99.0),
                p999: us(99.9),
                max: latencies.max() as f64 / 1e3,
            },
            server_cpu_us: spent.server.and_then(per_call),
            service_cpu_us: spent.service.and_then(per_call),
            mib_per_second: scenario.payload_bytes().map(mib),
            messages_per_second: None,
        }
    }

    /// What is shown where there is room for one number only.
    pub fn headline(&self) -> String {
        let calls = format!("{}/s", grouped(self.calls_per_second));
        match (self.mib_per_second, self.messages_per_second) {
            (Some(mib), _) => format!("{mib:.0} MiB/s"),
            (_, Some(messages)) => format!("{} messages/s", grouped(messages)),
            _ => calls,
        }
    }
}

impl Load {
    pub fn name(self) -> String {
        match self {
            Load::Callers(1) => "1 caller".to_owned(),
            Load::Callers(callers) => format!("{callers} callers"),
            Load::Rate(rate) => format!("{}/s due", grouped(rate)),
        }
    }
}

impl Report {
    pub fn read(path: &Path) -> Result<Report, Failure> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(())
    }

    /// The same scenario under the same load.
    pub fn like(&self, wanted: &Outcome) -> Option<&Outcome> {
        let closed = |it: &&Outcome| it.scenario == wanted.scenario && it.load == wanted.load;
        self.results.iter().find(closed)
    }

    /// The last lines of the table.
    pub fn footer(&self) -> String {
        let mut said = format!(
            "{}: {} cores, {}, Linux {}\n",
            self.label, self.machine.cores, self.machine.cpu, self.machine.kernel
        );
        if let (Some(rss), Some(threads)) = (self.rss_peak_bytes, self.threads) {
            let mib = rss as f64 / f64::from(1 << 20);
            said.push_str(&format!("server: {mib:.0} MiB at most, {threads} threads"));
            if let Some(disk) = self.disk_bytes {
                let mib = disk as f64 / f64::from(1 << 20);
                said.push_str(&format!(", {mib:.0} MiB on disk in the end"));
            }
            said.push('\n');
        }
        said
    }
}

/// The first line of the table.
pub fn header() -> String {
    format!(
        "{:<24}{:<14}{:>16} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}",
        "scenario", "load", "throughput", "p50", "p90", "p99", "p99.9", "CPU/call", "service"
    )
}

/// A line of the table.
pub fn line(outcome: &Outcome) -> String {
    let Latency { p50, p90, p99, p999, .. } = outcome.latency_us;
    let cpu = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), time);
    let latency = |us: f64| cpu((outcome.calls > 0).then_some(us));
    let mut line = format!(
        "{:<24}{:<14}{:>16} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}",
        Scenario::title(&outcome.scenario),
        outcome.load.name(),
        outcome.headline(),
        latency(p50),
        latency(p90),
        latency(p99),
        latency(p999),
        cpu(outcome.server_cpu_us),
        cpu(outcome.service_cpu_us),
    );
    if outcome.failed > 0 {
        // Writing to a text cannot fail.
        let _ = write!(line, "  {} failed", outcome.failed);
    }
    line
}

/// How two runs compare, a line for each result that both have.
pub fn comparison(ours: &Report, theirs: &Report) -> String {
    let mut said = format!("{} against {}:\n", ours.label, theirs.label);
    for outcome in &ours.results {
        let Some(other) = theirs.like(outcome) else {
            continue;
        };
        let times = |one: f64, other: f64| format!("{:.2}x", one / other.max(f64::MIN_POSITIVE));
        let cpu = match (outcome.server_cpu_us, other.server_cpu_us) {
            (Some(one), Some(other)) => times(one, other),
            _ => "-".to_owned(),
        };
        said.push_str(&format!(
            "{:<24}{:<14}{:>10} throughput {:>10} p50 {:>10} p99 {:>10} CPU/call\n",
            Scenario::title(&outcome.scenario),
            outcome.load.name(),
            times(outcome.calls_per_second, other.calls_per_second),
            times(outcome.latency_us.p50, other.latency_us.p50),
            times(outcome.latency_us.p99, other.latency_us.p99),
            cpu,
        ));
    }
    said
}

/// Microseconds in the unit that is read most easily.
pub fn time(us: f64) -> String {
    match us {
        us if us < 9_995.0 / 10.0 => format!("{us:.0} us"),
        us if us < 99_950.0 => format!("{:.2} ms", us / 1e3),
        us if us < 999_500.0 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// A whole number with its thousands apart; small ones keep a decimal.
pub fn grouped(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut said = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;

    #[test]
    fn numbers_are_written_for_people() {
        let times = [7.4, 999.0, 1000.0, 12_345.0, 123_456.0, 2_500_000.0].map(time);
        assert_eq!(times, ["7 us", "999 us", "1.00 ms", "12.35 ms", "123 ms", "2.50 s"]);
        let numbers = [7.25, 999.0, 12_000.0, 1_234_567.0].map(grouped);
        assert_eq!(numbers, ["7.2", "999", "12,000", "1,234,567"]);
    }

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let mut measured = Measured {
            latencies: Histogram::default(),
            failed: 0,
            lasted: Duration::from_secs(2),
            answered: 1000,
            begun: std::time::Instant::now(),
        };
        (1..=1000).for_each(|n| measured.latencies.record(n * 1000));
        let spent = Spent { server: Some(Duration::from_millis(100)), service: None };
        let load = Load::Callers(32);
        let outcome = Outcome::of(Scenario::Echo, load, &measured, spent);
        assert_eq!((outcome.calls_per_second, outcome.server_cpu_us), (500.0, Some(100.0)));
        assert!((495.0..510.0).contains(&outcome.latency_us.p50), "{outcome:?}");
        let rate = Outcome { load: Load::Rate(250.0), ..outcome.clone() };
        let report = Report {
            label: "one".to_owned(),
            at: 7,
            machine: Machine::this(),
            measured_seconds: 2.0,
            results: vec![outcome, rate],
            rss_peak_bytes: Some(30 << 20),
            threads: Some(4),
            disk_bytes: None,
        };
        let json = serde_json::to_string(&report).unwrap();
        let again: Report = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
        let faster = Report { label: "other".to_owned(), ..again };
        let compared = comparison(&report, &faster);
        assert_eq!(compared.matches("1.00x throughput").count(), 2, "{compared}");
        assert!(line(&report.results[0]).contains("32 callers"), "{}", line(&report.results[0]));
        let none = Outcome { calls: 0, server_cpu_us: None, ..report.results[0].clone() };
        assert_eq!(line(&none).split_whitespace().filter(|word| *word == "-").count(), 6);
        assert!(report.footer().contains("30 MiB at most, 4 threads"), "{}", report.footer());
    }
}
