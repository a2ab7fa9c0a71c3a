//! The command line: what a person types and what they read back. Talks to a running sidecar over
//! its admin listener only. Never opens a data directory itself.

mod api;
mod args;
mod ask;
mod asks;
mod calls;
mod deployments;
mod identity;
mod invocations;
mod limits;
mod notices;
mod schedules;
mod serve;
mod services;
mod sql;
mod state;
mod status;
mod storage;
mod text;
mod timeline;

use args::{Cli, Command, Start, Typed};
use clap::Parser;
use std::process::ExitCode;

/// Runs what the arguments of the process say.
pub fn main() -> ExitCode {
    let ended = match Typed::<Start>::try_parse() {
        Ok(cli) => start(cli.command.unwrap_or(Start::Serve(cli.serve))),
        // Another command, or something that only all commands together can say.
        Err(_) => run(Cli::parse()),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Who reads no further, as `head` does, ends the command in silence.
fn end_with_the_reader() {
    // SAFETY: nothing else runs yet, and the default is what every program begins with.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Prints a value as JSON, for programs.
fn print_json(value: &impl serde::Serialize) -> Result<ExitCode, Failure> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(ExitCode::SUCCESS)
}

/// Anything that ends a command: a sentence for the person who typed it.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn start(command: Start) -> Result<ExitCode, Failure> {
    match command {
        Start::Serve(args) => serve::serve(args, None),
        Start::Run(args) => serve::serve(args.serve, Some(args.command)),
        Start::Config(args) => {
            end_with_the_reader();
            serve::print_config(args)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode, Failure> {
    let command = cli.command.unwrap_or(Command::Start(Start::Serve(cli.serve)));
    if !matches!(command, Command::Start(_)) {
        end_with_the_reader();
    }
    match command {
        Command::Start(command) => start(command),
        Command::Status { admin, json } => status::run(&admin.connect()?, json),
        Command::Call { ingress, payload } => calls::call(&ingress.connect()?, &payload),
        Command::Send { ingress, payload, delay, json } => {
            calls::send(&ingress.connect()?, &payload, delay.as_deref(), json)
        }
        Command::Attach { ingress, sent } => calls::attach(&ingress.connect()?, &sent.id),
        Command::Output { ingress, sent } => calls::output(&ingress.connect()?, &sent.id),
        Command::Awakeables { ingress, command } => calls::awakeables(&ingress.connect()?, command),
        Command::Deployments { admin, command } => deployments::run(admin.connect()?, command),
        Command::Services { admin, command } => services::run(admin.connect()?, command),
        Command::Invocations { admin, command } => invocations::run(admin.connect()?, command),
        Command::Limits { admin, command } => limits::run(admin.connect()?, command),
        Command::Asks { admin, command } => asks::run(admin.connect()?, command),
        Command::Notices { admin, command } => notices::run(admin.connect()?, command),
        Command::Schedules { admin, command } => schedules::run(admin.connect()?, command),
        Command::State { admin, command } => state::run(admin.connect()?, command),
        Command::Sql { admin, query, json, jsonl } => {
            sql::run(&admin.connect()?, &query, sql::Form::of(json, jsonl))
        }
        Command::Storage { admin, count, json } => storage::run(&admin.connect()?, count, json),
        Command::Identity { command } => identity::run(command),
    }
}
