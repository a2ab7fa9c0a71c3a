//! What can be typed.

use super::api::Admin;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Durable RPC sidecar: what was done once returns its recorded result, whatever dies.
#[derive(Debug, Parser)]
#[command(version, about, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: Serve,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the sidecar (also without a subcommand: `holdfast --service URL`)
    Serve(Serve),
    /// Run the sidecar and the service next to it: `holdfast run -- node app.js`
    Run(Run),
    /// Print the effective settings as TOML
    Config(Serve),
    /// What is deployed where
    #[command(visible_alias = "deployment")]
    Deployments {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Deployments,
    },
    /// Services and their handlers
    #[command(visible_alias = "service")]
    Services {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Services,
    },
    /// Calls: what they did, what they wait for
    #[command(visible_aliases = ["invocation", "inv"])]
    Invocations {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Invocations,
    },
    /// How many invocations may run at once, and who waits for that
    #[command(visible_alias = "limit")]
    Limits {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Limits,
    },
    /// Calls at fixed times
    #[command(visible_alias = "schedule")]
    Schedules {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Schedules,
    },
    /// State of objects and workflows
    State {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: State,
    },
}

/// Settings of the sidecar. Precedence: flags, environment (`HOLDFAST__SECTION__KEY`), file, defaults.
#[derive(Debug, Clone, Default, Args)]
pub struct Serve {
    /// TOML file with settings
    #[arg(long, short, env = "HOLDFAST_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where the journal lives [default: holdfast-data]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address for callers [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub ingress: Option<String>,
    /// Address for operators, and of /metrics [default: 127.0.0.1:9070]
    #[arg(long, value_name = "ADDR")]
    pub admin: Option<String>,
    /// A service to wait for, register, and register again when it changes; may be repeated
    #[arg(long = "service", value_name = "URL")]
    pub services: Vec<String>,
    /// Writers that share the keys; fixed when the data directory is made [default: 1]
    #[arg(long, value_name = "N")]
    pub partitions: Option<u16>,
    /// `pretty` or `json` [default: pretty]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// Which log lines, as in `info` or `warn,holdfast=debug` [default: info]
    #[arg(long, env = "HOLDFAST_LOG", value_name = "FILTER")]
    pub log: Option<String>,
    /// Any other setting: `--set invoker.concurrent_attempts_max=10`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub serve: Serve,
    /// The service and its arguments; it is told its port through PORT
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<String>,
}

/// Which sidecar to talk to.
#[derive(Debug, Args)]
pub struct AdminUrl {
    /// Admin address of the sidecar
    #[arg(
        long = "admin",
        env = "HOLDFAST_ADMIN",
        default_value = "http://127.0.0.1:9070",
        value_name = "URL",
        global = true
    )]
    url: String,
}

impl AdminUrl {
    pub fn connect(&self) -> Result<Admin, super::Failure> {
        Admin::new(&self.url)
    }
}

#[derive(Debug, Subcommand)]
pub enum Deployments {
    /// Discover the services at URL and make them callable
    Register {
        url: String,
        /// Register again although the address is known
        #[arg(long)]
        force: bool,
        /// Allow a service to change its type
        #[arg(long)]
        breaking: bool,
        /// Only say what would happen
        #[arg(long)]
        dry_run: bool,
        /// The service speaks HTTP/1.1 only
        #[arg(long)]
        http1: bool,
        /// Sent with every request to the service; may be repeated
        #[arg(long = "header", value_name = "NAME: VALUE")]
        headers: Vec<String>,
    },
    /// All deployments
    List,
    /// One deployment and its handlers
    Describe { id: String },
    /// Forget a deployment
    Remove {
        id: String,
        /// Even though invocations are pinned to it
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Services {
    /// All services
    List,
    /// One service, its handlers and its settings
    Describe { name: String },
}

#[derive(Debug, Subcommand)]
pub enum Invocations {
    /// What is under way; with --all also what has ended
    List {
        /// Also completed ones
        #[arg(long, short)]
        all: bool,
        /// Only these: pending, scheduled, ready, running, backing-off, suspended, paused, completed
        #[arg(long, value_name = "STATUS", value_delimiter = ',')]
        status: Vec<String>,
        #[arg(long)]
        service: Option<String>,
        #[arg(long)]
        handler: Option<String>,
        #[arg(long)]
        key: Option<String>,
        #[arg(long)]
        deployment: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The journal of one invocation as a timeline, and why it waits
    Describe {
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask the handler to stop; it can clean up
    Cancel { ids: Vec<String> },
    /// End at once, with everything it called
    Kill { ids: Vec<String> },
    /// Stop making attempts until resumed
    Pause { ids: Vec<String> },
    /// Go on with what is paused, suspended or backing off, now
    Resume {
        ids: Vec<String>,
        /// `keep`, `latest`, or a deployment id
        #[arg(long)]
        deployment: Option<String>,
    },
    /// Forget completed ones
    Purge { ids: Vec<String> },
    /// Forget the journals of completed ones, not their outcomes
    PurgeJournal { ids: Vec<String> },
    /// Run completed ones again under a new id
    Restart {
        ids: Vec<String>,
        /// Keep the journal up to this entry
        #[arg(long)]
        from: Option<u32>,
        /// `keep`, `latest`, or a deployment id
        #[arg(long)]
        deployment: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum Limits {
    /// All limits, and how many run and wait under each
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Schedules {
    /// All schedules, when they are due and how their last run went
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One schedule and its next times
    Describe {
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a schedule, or give it another plan
    Set(Box<SetSchedule>),
    /// Nothing is due until resumed
    Pause { names: Vec<String> },
    /// Go on; what was missed meanwhile is not made up for
    Resume { names: Vec<String> },
    /// Run once now
    Trigger { names: Vec<String> },
    /// Forget schedules; what they have called goes on
    Delete { names: Vec<String> },
}

#[derive(Debug, Args)]
pub struct SetSchedule {
    pub name: String,
    /// When: `0 9 * * MON-FRI`, six fields with the second in front, `@daily`, `@every 90s`
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: String,
    /// Whose clocks: a name of the IANA database [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// What to call: `Service/handler`
    #[arg(long, value_name = "SERVICE/HANDLER")]
    pub target: String,
    /// Key of the object or workflow; `{time}` in it stands for the time of the run
    #[arg(long)]
    pub key: Option<String>,
    /// The input, as JSON
    #[arg(long, value_name = "JSON")]
    pub data: Option<String>,
    /// Given to the handler; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Times missed while nothing could run: `once` for all of them, or `skip` [default: once]
    #[arg(long, value_name = "POLICY", value_parser = ["once", "skip"])]
    pub catch_up: Option<String>,
    /// A time at which the run before has not ended: `allow` both, or `skip` it [default: allow]
    #[arg(long, value_name = "POLICY", value_parser = ["allow", "skip"])]
    pub overlap: Option<String>,
    /// Only show the next times
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub enum State {
    /// All pairs of one key
    Get { service: String, key: String },
}
