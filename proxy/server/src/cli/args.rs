//! What can be typed. One voice: what a command does, in the words of `ARCHITECTURE.md`; an option
//! says what it changes.

mod asks;
mod calls;
mod deployments;
#[cfg(test)]
mod documented;
mod identity;
mod invocations;
mod limits;
mod notices;
mod schedules;
mod services;
mod state;

pub use asks::{Action, AnswerAsk, Asks, ListAsks};
pub use calls::{Awakeables, Payload, Sent};
pub use deployments::{Deployments, Register, Remove, Update};
pub use identity::Identity;
pub use invocations::{Invocations, List, Which};
pub use limits::Limits;
pub use notices::Notices;
pub use schedules::{Schedules, SetSchedule};
pub use services::{ServiceConfig, Services, Settings};
pub use state::State;

use super::api::{Admin, Ingress};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Durable RPC sidecar: what was done once returns its recorded result, whatever dies.
#[derive(Debug, Parser)]
#[command(version, about, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub struct Typed<C: Subcommand> {
    #[command(subcommand)]
    pub command: Option<C>,
    #[command(flatten)]
    pub serve: Serve,
}

pub type Cli = Typed<Command>;

/// What needs no running sidecar. Read by itself, because a sidecar would keep in memory what all the
/// other commands are made with.
#[derive(Debug, Subcommand)]
pub enum Start {
    /// Run the sidecar (also without a subcommand: `holdfast --service URL`)
    Serve(Serve),
    /// Run the sidecar and the service next to it: `holdfast run -- node app.js`
    Run(Run),
    /// Print the effective settings as TOML
    Config(Serve),
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Start(Start),
    /// Which sidecar answers, whether it is well, and what it has to do
    #[command(visible_alias = "whoami")]
    Status {
        #[command(flatten)]
        admin: AdminUrl,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Call a handler and print its answer: `holdfast call Greeter/greet -d '"Ada"'`
    Call {
        #[command(flatten)]
        ingress: IngressUrl,
        #[command(flatten)]
        payload: Payload,
    },
    /// Call a handler and do not wait: prints the id of the invocation
    Send {
        #[command(flatten)]
        ingress: IngressUrl,
        #[command(flatten)]
        payload: Payload,
        /// Start so much later: `10s`, `1h 30m`, `PT3H`
        #[arg(long, value_name = "DURATION")]
        delay: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Wait for an invocation and print its answer
    Attach {
        #[command(flatten)]
        ingress: IngressUrl,
        #[command(flatten)]
        sent: Sent,
    },
    /// Print the answer of an invocation, if it has one already
    Output {
        #[command(flatten)]
        ingress: IngressUrl,
        #[command(flatten)]
        sent: Sent,
    },
    /// Promises that handlers wait for and others fulfil
    #[command(visible_alias = "awakeable")]
    Awakeables {
        #[command(flatten)]
        ingress: IngressUrl,
        #[command(subcommand)]
        command: Awakeables,
    },
    /// What is deployed where
    #[command(visible_alias = "deployment")]
    Deployments {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Deployments,
    },
    /// Services, their handlers, their settings, and what they do
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
    /// Questions to people, and their answers
    #[command(visible_alias = "ask")]
    Asks {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Asks,
    },
    /// What somebody outside is to be told, and was not yet
    #[command(visible_alias = "notice")]
    Notices {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: Notices,
    },
    /// State of objects and workflows
    #[command(visible_alias = "kv")]
    State {
        #[command(flatten)]
        admin: AdminUrl,
        #[command(subcommand)]
        command: State,
    },
    /// Ask in SQL about everything that is stored; docs/sql.md lists the tables
    Sql {
        #[command(flatten)]
        admin: AdminUrl,
        /// One question: `SELECT target, status FROM sys_invocation LIMIT 10`
        query: String,
        /// As one JSON array
        #[arg(long, conflicts_with = "jsonl")]
        json: bool,
        /// As JSON, a row a line
        #[arg(long)]
        jsonl: bool,
    },
    /// What the data directory takes, table by table
    Storage {
        #[command(flatten)]
        admin: AdminUrl,
        /// Count the rows too, which reads all of them
        #[arg(long)]
        count: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// The key that requests to services are signed with
    Identity {
        #[command(subcommand)]
        command: Identity,
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
        id = "admin_url",
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

/// Which sidecar to call through.
#[derive(Debug, Args)]
pub struct IngressUrl {
    /// Ingress address of the sidecar
    #[arg(
        id = "ingress_url",
        long = "ingress",
        env = "HOLDFAST_INGRESS",
        default_value = "http://127.0.0.1:8080",
        value_name = "URL",
        global = true
    )]
    url: String,
}

impl IngressUrl {
    pub fn connect(&self) -> Result<Ingress, super::Failure> {
        Ingress::new(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn no_two_arguments_have_one_name() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_sidecar_is_started_without_all_other_commands() {
        let is_start = |line: &str| Typed::<Start>::try_parse_from(line.split(' ')).is_ok();
        for line in ["holdfast --service http://s:1", "holdfast serve", "holdfast run -- node a.js"]
        {
            assert!(is_start(line) && Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
        for line in ["holdfast status", "holdfast --help", "holdfast help serve", "holdfast serv"] {
            assert!(!is_start(line), "{line}: only all commands together have an answer");
        }
    }

    #[test]
    fn an_address_that_is_given_to_a_command_is_not_the_one_of_the_sidecar() {
        let typed = ["holdfast", "deployments", "register", "http://s:1", "--admin", "http://a:2"];
        let Some(Command::Deployments { admin, command }) = Cli::parse_from(typed).command else {
            panic!("it is about deployments");
        };
        let Deployments::Register(register) = command else {
            panic!("it registers one");
        };
        assert_eq!((admin.url.as_str(), register.url.as_str()), ("http://a:2", "http://s:1"));
    }
}
