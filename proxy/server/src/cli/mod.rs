//! The command line: what a person types and what they read back. Talks to a running sidecar over
//! its admin listener only. Never opens a data directory itself.

mod api;
mod args;
mod deployments;
mod invocations;
mod limits;
mod schedules;
mod serve;
mod services;
mod text;
mod timeline;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

/// Runs what the arguments of the process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Anything that ends a command: a sentence for the person who typed it.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn run(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Serve(args) => serve::serve(args, None),
        Command::Run(args) => serve::serve(args.serve, Some(args.command)),
        Command::Config(args) => serve::print_config(args),
        Command::Deployments { admin, command } => deployments::run(admin.connect()?, command),
        Command::Services { admin, command } => services::run(admin.connect()?, command),
        Command::Invocations { admin, command } => invocations::run(admin.connect()?, command),
        Command::Limits { admin, command } => limits::run(admin.connect()?, command),
        Command::Schedules { admin, command } => schedules::run(admin.connect()?, command),
        Command::State { admin, command } => services::state(admin.connect()?, command),
    }
}
