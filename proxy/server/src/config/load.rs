//! Where settings come from, and which source is named when one is wrong.

use super::Config;
use crate::partition;
use crate::registry::limit;
use holdfast_wire::version::Version;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Prefix of environment variables; `__` goes one level down:
/// `HOLDFAST__INVOKER__CONCURRENT_ATTEMPTS_MAX=10`.
const PREFIX: &str = "HOLDFAST__";

/// Everything that settings may come from, lowest precedence first.
#[derive(Debug, Default)]
pub struct Sources {
    /// A TOML file that must exist.
    pub file: Option<PathBuf>,
    /// The environment, as pairs.
    pub env: Vec<(String, String)>,
    /// Flags, as dotted key and text (`ingress.bind`, `127.0.0.1:8080`), and what the flag is
    /// called.
    pub flags: Vec<Flag>,
}

/// One setting from the command line.
#[derive(Debug, Clone)]
pub struct Flag {
    /// As a person wrote it, for messages.
    pub name: String,
    /// Dotted path of the setting.
    pub key: String,
    pub value: Value,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// HF0001
    #[error("HF0001: cannot read the configuration file {}: {reason}; name a TOML file that exists", path.display())]
    Unreadable { path: PathBuf, reason: String },
    /// HF0002
    #[error("HF0002: {}:{line}: {reason}; `holdfast config` prints every setting there is", path.display())]
    File { path: PathBuf, line: usize, reason: String },
    /// HF0003
    #[error("HF0003: {name}: {reason}; `holdfast config` prints every setting there is")]
    Named { name: String, reason: String },
}

/// Merges the sources into the settings.
pub fn load(sources: Sources) -> Result<Config, Error> {
    let mut merged = Table::new();
    if let Some(path) = &sources.file {
        merge(&mut merged, read(path)?);
    }
    for (name, text) in sources.env {
        let Some(path) = name.strip_prefix(PREFIX) else { continue };
        let key = path.to_lowercase().replace("__", ".");
        set_checked(&mut merged, &name, &key, guess(&text))?;
    }
    for flag in sources.flags {
        set_checked(&mut merged, &flag.name, &flag.key, flag.value)?;
    }
    let config: Config = Value::Table(merged).try_into().map_err(|error: toml::de::Error| {
        Error::Named { name: "configuration".into(), reason: one_line(error.message()) }
    })?;
    check(config)
}

/// What no type can say.
fn check(config: Config) -> Result<Config, Error> {
    let complain =
        |name: &str, reason: &str| Err(Error::Named { name: name.into(), reason: reason.into() });
    if !(1..=64).contains(&config.partition.partitions) {
        return complain("partition.partitions", "is not between 1 and 64");
    }
    let budget = config.partition.retention.disk_bytes_max;
    if budget.is_some_and(|bytes| bytes < partition::retention::DISK_BYTES_MIN) {
        return complain("partition.retention.disk_bytes_max", "is below 16777216");
    }
    if Version::from_number(config.protocol.version_max).is_none() {
        return complain("protocol.version_max", "is not 5, 6 or 7");
    }
    if let Some(url) = config.services.iter().find(|url| !url.starts_with("http")) {
        return complain("services", &format!("`{url}` is no address; write http://HOST:PORT"));
    }
    if let Some((name, reason)) = config.notify.problem() {
        return complain(name, reason);
    }
    if let Some((name, reason)) = config.guard.problem() {
        return complain(name, reason);
    }
    if let Some((name, reason)) = config.a2a.problem() {
        return complain(name, reason);
    }
    match limit::check(&config.limits) {
        Ok(()) => Ok(config),
        Err(reason) => complain("limits", &reason),
    }
}

/// The file alone must be good, so that a wrong key is shown with its line.
fn read(path: &Path) -> Result<Table, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Unreadable { path: path.into(), reason: error.to_string() })?;
    let located = |error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..start].matches('\n').count() + 1;
        Error::File { path: path.into(), line, reason: one_line(error.message()) }
    };
    toml::from_str::<Config>(&text).map_err(located)?;
    toml::from_str::<Table>(&text).map_err(located)
}

/// Sets one key after proving that it is a setting on its own.
fn set_checked(table: &mut Table, name: &str, key: &str, value: Value) -> Result<(), Error> {
    let mut alone = Table::new();
    let named = |reason: String| Error::Named { name: name.into(), reason };
    set(&mut alone, key, value.clone()).map_err(named)?;
    Value::Table(alone)
        .try_into::<Config>()
        .map_err(|error: toml::de::Error| named(one_line(error.message())))?;
    set(table, key, value).map_err(named)
}

fn set(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    let Some((first, rest)) = key.split_once('.') else {
        table.insert(key.into(), value);
        return Ok(());
    };
    let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    match inner {
        Value::Table(inner) => set(inner, rest, value),
        _ => Err(format!("`{first}` is a value, not a section")),
    }
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// A text from the environment as the TOML value it looks like, else as the text it is.
pub fn guess(text: &str) -> Value {
    let line = format!("value = {text}");
    let parsed = toml::from_str::<Table>(&line).ok();
    match parsed.and_then(|mut table| table.remove("value")) {
        Some(
            value @ (Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Array(_)),
        ) => value,
        Some(Value::String(text)) => Value::String(text),
        _ => Value::String(text.into()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
