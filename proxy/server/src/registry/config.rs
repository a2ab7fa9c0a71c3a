//! Settings of the registry: what handlers get that do not say it themselves, and how services
//! are asked what they offer.

use super::limit;
use holdfast_machine::retry::{OnMaxAttempts, RetryPolicy};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// For handlers and services that do not declare a setting.
    pub defaults: Defaults,
    /// What no handler may exceed; unset is unlimited.
    pub maxima: Maxima,
    pub discovery: Discovery,
    /// How often a watched service is asked whether its manifest changed, in ms. 100 and up.
    pub watch_interval_ms: u64,
    /// Path prefixes of the ingress listener that are doors of our own; a service of the same
    /// name would be hidden and is refused.
    pub doors: Vec<String>,
    /// Sent to services as `x-restate-cluster-name`.
    pub cluster_name: String,
    /// What operators limit; in a configuration file it is the list `limits` at its top.
    #[serde(skip)]
    pub limits: Vec<limit::Setting>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    /// After this long without a message the service is asked to suspend. 0: at once.
    pub inactivity_timeout_ms: u64,
    /// After this long without an answer to that, the attempt is cut off and fails.
    pub abort_timeout_ms: u64,
    /// How long journals of completed invocations are kept. 0: not at all.
    pub journal_retention_ms: u64,
    /// How long outcomes of calls with an idempotency key are kept.
    pub idempotency_retention_ms: u64,
    /// How long outcomes, promises and state of workflows are kept.
    pub workflow_completion_retention_ms: u64,
    pub retry: Retry,
}

/// When failed attempts are repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    pub initial_interval_ms: u64,
    /// At least 1.
    pub exponentiation_factor: f64,
    pub max_interval_ms: u64,
    /// Counts the first attempt. 0: without limit.
    pub max_attempts: u32,
    pub on_max_attempts: OnMaxAttempts,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Maxima {
    pub journal_retention_ms: Option<u64>,
    pub idempotency_retention_ms: Option<u64>,
    pub workflow_completion_retention_ms: Option<u64>,
    /// Counts the first attempt.
    pub retry_attempts: Option<u32>,
}

/// How a service is asked for its manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Discovery {
    /// For one request, from connecting to the last byte, in ms.
    pub timeout_ms: u64,
    /// Requests, the first included. 1 and up.
    pub attempts_max: u32,
    /// Wait before the second request, in ms; doubled for each one after it.
    pub retry_initial_ms: u64,
    /// Longest wait between two requests, in ms.
    pub retry_max_ms: u64,
    /// Largest manifest, in bytes.
    pub manifest_bytes_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            defaults: Defaults::default(),
            maxima: Maxima::default(),
            discovery: Discovery::default(),
            watch_interval_ms: 2_000,
            doors: ["mcp", "a2a", "holdfast", "restate", ".well-known"].map(String::from).into(),
            cluster_name: "holdfast".into(),
            limits: Vec::new(),
        }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            inactivity_timeout_ms: 60_000,
            abort_timeout_ms: 600_000,
            journal_retention_ms: DAY_MS,
            idempotency_retention_ms: DAY_MS,
            workflow_completion_retention_ms: DAY_MS,
            retry: Retry::default(),
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        let policy = RetryPolicy::default();
        Retry {
            initial_interval_ms: millis(policy.initial_interval),
            exponentiation_factor: policy.exponentiation_factor,
            max_interval_ms: millis(policy.max_interval),
            max_attempts: policy.max_attempts.unwrap_or(0),
            on_max_attempts: policy.on_max_attempts,
        }
    }
}

impl Default for Discovery {
    fn default() -> Self {
        Discovery {
            timeout_ms: 5_000,
            attempts_max: 4,
            retry_initial_ms: 100,
            retry_max_ms: 1_000,
            manifest_bytes_max: 8 * 1024 * 1024,
        }
    }
}

impl Retry {
    pub fn policy(&self) -> RetryPolicy {
        RetryPolicy {
            initial_interval: Duration::from_millis(self.initial_interval_ms),
            exponentiation_factor: self.exponentiation_factor.max(1.0),
            max_interval: Duration::from_millis(self.max_interval_ms),
            max_attempts: (self.max_attempts > 0).then_some(self.max_attempts),
            on_max_attempts: self.on_max_attempts,
        }
    }
}

/// Whole milliseconds; the largest number where there are more.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
