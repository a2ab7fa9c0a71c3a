//! How the settings of a handler come about: handler, else service (or what an operator patched),
//! else the server's defaults, field by field; then the server's maxima. Pure arithmetic.

use super::config::Config;
use holdfast_machine::retry::{OnMaxAttempts, RetryPolicy};
use std::time::Duration;

/// Settings after resolution.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub inactivity_timeout: Duration,
    pub abort_timeout: Duration,
    pub journal_retention: Duration,
    pub idempotency_retention: Duration,
    pub workflow_completion_retention: Duration,
    pub lazy_state: bool,
    pub retry: RetryPolicy,
}

/// What one level set; `None` leaves the setting to the next level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declared {
    pub inactivity_timeout: Option<Duration>,
    pub abort_timeout: Option<Duration>,
    pub journal_retention: Option<Duration>,
    pub idempotency_retention: Option<Duration>,
    pub workflow_completion_retention: Option<Duration>,
    pub lazy_state: Option<bool>,
    pub retry: DeclaredRetry,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeclaredRetry {
    pub initial_interval: Option<Duration>,
    pub exponentiation_factor: Option<f64>,
    pub max_interval: Option<Duration>,
    /// Counts the first attempt; 0 is read as 1.
    pub max_attempts: Option<u32>,
    pub on_max_attempts: Option<OnMaxAttempts>,
}

impl Declared {
    /// These settings, with those of `below` where there is none.
    pub fn or(&self, below: &Declared) -> Declared {
        Declared {
            inactivity_timeout: self.inactivity_timeout.or(below.inactivity_timeout),
            abort_timeout: self.abort_timeout.or(below.abort_timeout),
            journal_retention: self.journal_retention.or(below.journal_retention),
            idempotency_retention: self.idempotency_retention.or(below.idempotency_retention),
            workflow_completion_retention: self
                .workflow_completion_retention
                .or(below.workflow_completion_retention),
            lazy_state: self.lazy_state.or(below.lazy_state),
            retry: self.retry.or(&below.retry),
        }
    }

    /// What is in force: the server's values where nothing is declared, cut to its maxima.
    pub fn resolve(&self, config: &Config) -> Options {
        let (defaults, maxima) = (&config.defaults, &config.maxima);
        let retention = |declared: Option<Duration>, default_ms: u64, max_ms: Option<u64>| {
            let chosen = declared.unwrap_or(Duration::from_millis(default_ms));
            max_ms.map_or(chosen, |max| chosen.min(Duration::from_millis(max)))
        };
        Options {
            inactivity_timeout: retention(
                self.inactivity_timeout,
                defaults.inactivity_timeout_ms,
                None,
            ),
            abort_timeout: retention(self.abort_timeout, defaults.abort_timeout_ms, None),
            journal_retention: retention(
                self.journal_retention,
                defaults.journal_retention_ms,
                maxima.journal_retention_ms,
            ),
            idempotency_retention: retention(
                self.idempotency_retention,
                defaults.idempotency_retention_ms,
                maxima.idempotency_retention_ms,
            ),
            workflow_completion_retention: retention(
                self.workflow_completion_retention,
                defaults.workflow_completion_retention_ms,
                maxima.workflow_completion_retention_ms,
            ),
            lazy_state: self.lazy_state.unwrap_or(false),
            retry: self.retry.resolve(config),
        }
    }
}

impl DeclaredRetry {
    fn or(&self, below: &DeclaredRetry) -> DeclaredRetry {
        DeclaredRetry {
            initial_interval: self.initial_interval.or(below.initial_interval),
            exponentiation_factor: self.exponentiation_factor.or(below.exponentiation_factor),
            max_interval: self.max_interval.or(below.max_interval),
            max_attempts: self.max_attempts.or(below.max_attempts),
            on_max_attempts: self.on_max_attempts.or(below.on_max_attempts),
        }
    }

    fn resolve(&self, config: &Config) -> RetryPolicy {
        let default = config.defaults.retry.policy();
        let attempts = self.max_attempts.map(|attempts| attempts.max(1)).or(default.max_attempts);
        let max_attempts = match (attempts, config.maxima.retry_attempts) {
            (Some(attempts), Some(max)) => Some(attempts.min(max.max(1))),
            (attempts, max) => attempts.or(max.map(|max| max.max(1))),
        };
        RetryPolicy {
            initial_interval: self.initial_interval.unwrap_or(default.initial_interval),
            exponentiation_factor: self
                .exponentiation_factor
                .filter(|factor| factor.is_finite() && *factor >= 1.0)
                .unwrap_or(default.exponentiation_factor),
            max_interval: self.max_interval.unwrap_or(default.max_interval),
            max_attempts,
            on_max_attempts: self.on_max_attempts.unwrap_or(default.on_max_attempts),
        }
    }
}
