//! What operators see: log lines on stderr, and metrics as text. Never sends anything anywhere.

use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use std::{io::IsTerminal, sync::Mutex};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, registry::LookupSpan};

/// Every metric's name begins with it.
const PREFIX: &str = "holdfast";

/// How to log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub format: Format,
    /// Which lines: a level, or levels by target (`warn,holdfast::invoker=debug`).
    pub filter: String,
}

/// What a log line looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// For people; in colour on a terminal.
    #[default]
    Pretty,
    /// One object a line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Config { format: Format::default(), filter: "info".to_owned() }
    }
}

/// Why logging cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "log filter `{filter}` cannot be read: {reason}; expected a level (`info`) or levels by \
         target (`warn,holdfast::invoker=debug`)"
    )]
    Filter { filter: String, reason: String },
    #[error("somebody else in this process logs already: {0}")]
    Taken(String),
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Filter { .. } => "HF0033",
            Error::Taken(_) => "HF0034",
        }
    }
}

/// Sends all log lines of the process to stderr from now on.
pub fn init(config: &Config) -> Result<(), Error> {
    let filter = EnvFilter::try_new(&config.filter).map_err(|error| Error::Filter {
        filter: config.filter.clone(),
        reason: error.to_string(),
    })?;
    let lines = tracing_subscriber::registry().with(lines(config.format).with_filter(filter));
    tracing::subscriber::set_global_default(lines).map_err(|error| Error::Taken(error.to_string()))
}

fn lines<S>(format: Format) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        Format::Pretty => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    }
}

/// The metrics of all rooms. Each room registers its families once, when it is made.
pub struct Metrics {
    registry: Mutex<Registry>,
}

impl Metrics {
    pub fn new() -> Self {
        Metrics { registry: Mutex::new(Registry::with_prefix(PREFIX)) }
    }

    /// Gives a room its part of the registry; `room` becomes part of the names.
    pub fn register<T>(&self, room: &str, families: impl FnOnce(&mut Registry) -> T) -> T {
        let mut registry = self.registry.lock().expect("registering does not panic");
        families(registry.sub_registry_with_prefix(room))
    }

    /// All metrics in the OpenMetrics text format.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().expect("registering does not panic");
        prometheus_client::encoding::text::encode(&mut text, &registry)
            .expect("writing to a string does not fail");
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use prometheus_client::metrics::counter::Counter;

    #[test]
    fn rooms_share_one_text() {
        let metrics = Metrics::new();
        let calls = metrics.register("ingress", |registry| {
            let calls = Counter::<u64>::default();
            registry.register("calls", "Calls that came in", calls.clone());
            calls
        });
        calls.inc();
        expect![[r##"
            # HELP holdfast_ingress_calls Calls that came in.
            # TYPE holdfast_ingress_calls counter
            holdfast_ingress_calls_total 1
            # EOF
        "##]]
        .assert_eq(&metrics.encode());
    }

    #[test]
    fn a_wrong_filter_is_refused_with_a_sentence() {
        let config = Config { filter: "holdfast=loud".to_owned(), ..Config::default() };
        let error = init(&config).unwrap_err();
        assert_eq!(error.code(), "HF0033");
        assert!(error.to_string().starts_with("log filter `holdfast=loud` cannot be read"));
    }
}
