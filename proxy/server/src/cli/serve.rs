//! `holdfast serve`, `run` and `config`: from flags to settings to a running sidecar.

use super::{Failure, args::Serve};
use crate::config::{self, Config, Flag, Sources};
use crate::node;
use std::process::ExitCode;
use toml::Value;

/// Exit status when a start fails for a reason that a person has to mend.
const EXIT_BAD_START: u8 = 2;

/// Runs the sidecar, and `command` beside it, until a signal or the end of `command`.
pub fn serve(args: Serve, command: Option<Vec<String>>) -> Result<ExitCode, Failure> {
    let config = settings(args)?;
    match node::run(config, command) {
        Ok(code) => Ok(code),
        Err(error) => {
            eprintln!("error: {error}");
            eprintln!("       see docs/errors/{}.md", error.code());
            Ok(ExitCode::from(EXIT_BAD_START))
        }
    }
}

/// Prints the effective settings.
pub fn print_config(args: Serve) -> Result<ExitCode, Failure> {
    print!("{}", settings(args)?.to_toml());
    Ok(ExitCode::SUCCESS)
}

fn settings(args: Serve) -> Result<Config, Failure> {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let file = args.config.clone();
    Ok(config::load(Sources { file, env, flags: flags(args)? })?)
}

fn flags(args: Serve) -> Result<Vec<Flag>, Failure> {
    let mut flags = Vec::new();
    let mut flag = |name: &str, key: &str, value: Value| {
        flags.push(Flag { name: name.into(), key: key.into(), value });
    };
    for pair in &args.set {
        let (key, text) = pair
            .split_once('=')
            .ok_or_else(|| format!("HF0003: --set {pair}: is not KEY=VALUE"))?;
        flag(&format!("--set {key}"), key.trim(), config::guess(text.trim()));
    }
    if let Some(dir) = &args.data_dir {
        flag("--data-dir", "store.directory", Value::String(dir.display().to_string()));
    }
    if let Some(address) = args.ingress {
        flag("--ingress", "listen.ingress", Value::String(address));
    }
    if let Some(address) = args.admin {
        flag("--admin", "listen.admin", Value::String(address));
    }
    if let Some(partitions) = args.partitions {
        flag("--partitions", "partition.partitions", Value::Integer(partitions.into()));
    }
    if let Some(format) = args.log_format {
        flag("--log-format", "telemetry.format", Value::String(format));
    }
    if let Some(filter) = args.log {
        flag("--log", "telemetry.filter", Value::String(filter));
    }
    if !args.services.is_empty() {
        let urls = args.services.into_iter().map(Value::String).collect();
        flag("--service", "services", Value::Array(urls));
    }
    Ok(flags)
}
