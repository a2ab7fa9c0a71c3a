//! The end-to-end benchmark: how many durable calls a second, and how long each takes. See
//! `docs/benchmarks.md`.
//!
//! Starts a sidecar with a data directory of its own and the service `bench_service`, both on loopback;
//! or measures a server that is there already, and only registers the service with it.

use benches::Failure;
use benches::load::{self, Measured, Times};
use benches::plot;
use benches::report::{self, Load, Machine, Outcome, Report, Spent};
use benches::scenario::Scenario;
use benches::stage::{Server, Stage};
use benches::usage::Usage;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long messages may take to be executed after the calls that sent them.
const MESSAGES_MAX: Duration = Duration::from_secs(120);

/// Measures durable calls per second, end to end.
#[derive(Parser)]
struct Options {
    /// What is measured; all of it without
    #[arg(long, value_enum, value_delimiter = ',')]
    scenarios: Vec<Scenario>,
    /// Callers at once, in place of those that each scenario has
    #[arg(long, value_delimiter = ',')]
    callers: Vec<u32>,
    /// Calls due each second, whoever answers: an open loop in place of the closed ones
    #[arg(long, conflicts_with = "callers")]
    rate: Option<f64>,
    /// After each scenario an open loop at this part of the throughput that it had, as 0.5
    #[arg(long, conflicts_with = "rate")]
    open: Option<f64>,
    /// How long each load is measured
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// How long each load runs before anything counts
    #[arg(long, default_value_t = 1.0)]
    warm_up: f64,
    /// The sidecar's program; without, `holdfast` beside this one
    #[arg(long, env = "HOLDFAST_BIN")]
    holdfast: Option<PathBuf>,
    /// A flag for the sidecar, as --flag=--partitions=4; as often as needed
    #[arg(long = "flag", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// In which folder the data directory is made; decides which disk is measured
    #[arg(long)]
    data: Option<PathBuf>,
    /// A server that is there: where callers call. Needs --admin
    #[arg(long, requires = "admin", conflicts_with_all = ["flags", "data"])]
    ingress: Option<String>,
    /// Where the service is registered with that server
    #[arg(long, requires = "ingress")]
    admin: Option<String>,
    /// The process of that server, if it runs here: for processor time and memory
    #[arg(long, requires = "ingress")]
    pid: Option<u32>,
    /// What it is called in tables and pictures
    #[arg(long)]
    label: Option<String>,
    /// Where the results are written as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Where they are drawn
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Results of an earlier run, to be compared with and drawn beside
    #[arg(long)]
    beside: Vec<PathBuf>,
    /// Measures nothing: draws and compares what --beside names
    #[arg(long, requires = "beside")]
    only_draw: bool,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let earlier: Vec<Report> =
        options.beside.iter().map(|path| Report::read(path)).collect::<Result<_, _>>()?;
    let mut reports = vec![];
    if !options.only_draw {
        let runtime = tokio::runtime::Runtime::new()?;
        let report = runtime.block_on(async {
            tokio::select! {
                report = measure(&options) => report,
                _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
            }
        })?;
        if let Some(path) = &options.json {
            report.write(path)?;
        }
        reports.push(report);
    }
    reports.extend(earlier);
    if let Some((first, others)) = reports.split_first() {
        for other in others {
            println!("\n{}", report::comparison(first, other));
        }
    }
    if let Some(path) = &options.svg {
        std::fs::write(path, plot::svg(&reports))?;
    }
    Ok(())
}

async fn measure(options: &Options) -> Result<Report, Failure> {
    let stage = Stage::set(server(options)?, &beside("bench_service")?).await?;
    println!("{}", report::header());
    let mut results = vec![];
    let chosen = match options.scenarios.is_empty() {
        true => &Scenario::ALL[..],
        false => &options.scenarios,
    };
    for scenario in chosen {
        for load in loads(options, *scenario) {
            results.push(one(&stage, options, *scenario, load).await?);
        }
        if let Some(part) = options.open {
            let of_scenario = results.iter().filter(|it| it.scenario == scenario.name());
            let most = of_scenario.map(|it| it.calls_per_second).fold(0.0, f64::max);
            let load = Load::Rate((most * part).max(1.0));
            results.push(one(&stage, options, *scenario, load).await?);
        }
    }
    let usage = stage.server_usage();
    let report = Report {
        label: label(options),
        at: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        machine: Machine::this(),
        measured_seconds: options.seconds,
        results,
        rss_peak_bytes: usage.map(|it| it.rss_peak_bytes),
        threads: usage.map(|it| it.threads),
        disk_bytes: stage.disk_bytes(),
    };
    stage.end()?;
    println!("\n{}", report.footer());
    Ok(report)
}

fn loads(options: &Options, scenario: Scenario) -> Vec<Load> {
    if let Some(rate) = options.rate {
        return vec![Load::Rate(rate)];
    }
    let callers = match options.callers.is_empty() {
        true => scenario.callers(),
        false => &options.callers,
    };
    callers.iter().copied().map(Load::Callers).collect()
}

/// One scenario under one load.
async fn one(
    stage: &Stage,
    options: &Options,
    scenario: Scenario,
    load: Load,
) -> Result<Outcome, Failure> {
    let times = Times {
        warm_up: Duration::try_from_secs_f64(options.warm_up)?,
        measured: Duration::try_from_secs_f64(options.seconds)?,
    };
    let received = match scenario.messages() {
        Some(_) => stage.received_so_far().await?,
        None => 0,
    };
    let look = || (stage.server_usage(), stage.service_usage());
    let (measured, (before, after)) = match load {
        Load::Callers(callers) => {
            load::closed(&stage.ingress, scenario, callers, times, look).await?
        }
        Load::Rate(rate) => load::open(&stage.ingress, scenario, rate, times, look).await?,
    };
    let used = |from: Option<Usage>, to: Option<Usage>| Some(to?.cpu.saturating_sub(from?.cpu));
    let spent = Spent { server: used(before.0, after.0), service: used(before.1, after.1) };
    let mut outcome = Outcome::of(scenario, load, &measured, spent);
    if let Some(each) = scenario.messages() {
        outcome.messages_per_second = Some(executed(stage, &measured, each, received).await?);
    }
    println!("{}", report::line(&outcome));
    Ok(outcome)
}

/// Messages that were executed in a second, those included that come after the last call.
async fn executed(
    stage: &Stage,
    measured: &Measured,
    each: u64,
    received: u64,
) -> Result<f64, Failure> {
    let messages = measured.answered * each;
    stage.received(received + messages, MESSAGES_MAX).await?;
    Ok(messages as f64 / measured.begun.elapsed().as_secs_f64())
}

fn server(options: &Options) -> Result<Server, Failure> {
    if let (Some(ingress), Some(admin)) = (&options.ingress, &options.admin) {
        let (ingress, admin) = (ingress.clone(), admin.clone());
        return Ok(Server::There { ingress, admin, process: options.pid });
    }
    let program = match &options.holdfast {
        Some(program) => program.clone(),
        None => beside("holdfast")?,
    };
    Ok(Server::Ours { program, data: options.data.clone(), flags: options.flags.clone() })
}

fn label(options: &Options) -> String {
    let named = options.label.clone().or_else(|| options.ingress.clone());
    named.unwrap_or_else(|| "Holdfast".to_owned())
}

/// A program beside this one.
fn beside(name: &str) -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let path: PathBuf = program.parent().map_or_else(PathBuf::new, Path::to_owned).join(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("there is no {}; `make bench` builds it", path.display()).into()),
    }
}
