//! What a service and each of its handlers may say alike.
//!
//! The value of a handler goes over that of its service, field by field; defaults and limits of the
//! sidecar are not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a service and each of its handlers may say alike. Everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    #[serde(deserialize_with = "super::or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// How long an attempt may say nothing before it is asked to suspend. 0 asks at once.
    #[serde(rename = "inactivityTimeout", skip_serializing_if = "Option::is_none")]
    pub inactivity_timeout_ms: Option<u64>,
    /// How long an attempt that was asked to suspend may say nothing before it is cut off.
    #[serde(rename = "abortTimeout", skip_serializing_if = "Option::is_none")]
    pub abort_timeout_ms: Option<u64>,
    /// How long the journal of a completed invocation is kept.
    #[serde(rename = "journalRetention", skip_serializing_if = "Option::is_none")]
    pub journal_retention_ms: Option<u64>,
    /// How long the result of an invocation with an idempotency key is kept.
    #[serde(rename = "idempotencyRetention", skip_serializing_if = "Option::is_none")]
    pub idempotency_retention_ms: Option<u64>,
    /// State is read when it is needed and not sent along with each attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_lazy_state: Option<bool>,
    /// Only other services may call; the doors may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_private: Option<bool>,
    #[serde(flatten)]
    pub retry: RetryPolicy,
}

impl Options {
    /// These options, and those of the service where nothing is said. Documentation and metadata
    /// describe the one they stand at and are not handed down.
    pub fn over(&self, service: &Options) -> Options {
        Options {
            documentation: self.documentation.clone(),
            metadata: self.metadata.clone(),
            inactivity_timeout_ms: self.inactivity_timeout_ms.or(service.inactivity_timeout_ms),
            abort_timeout_ms: self.abort_timeout_ms.or(service.abort_timeout_ms),
            journal_retention_ms: self.journal_retention_ms.or(service.journal_retention_ms),
            idempotency_retention_ms: self
                .idempotency_retention_ms
                .or(service.idempotency_retention_ms),
            enable_lazy_state: self.enable_lazy_state.or(service.enable_lazy_state),
            ingress_private: self.ingress_private.or(service.ingress_private),
            retry: self.retry.over(&service.retry),
        }
    }
}

/// How attempts that fail are repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// From the first failure to the second attempt.
    #[serde(rename = "retryPolicyInitialInterval", skip_serializing_if = "Option::is_none")]
    pub initial_interval_ms: Option<u64>,
    #[serde(rename = "retryPolicyMaxInterval", skip_serializing_if = "Option::is_none")]
    pub max_interval_ms: Option<u64>,
    /// Counts the first attempt too; 0 means 1.
    #[serde(rename = "retryPolicyMaxAttempts", skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u64>,
    /// What each interval is multiplied with to get the next. Any number may stand here.
    #[serde(rename = "retryPolicyExponentiationFactor", skip_serializing_if = "Option::is_none")]
    pub exponentiation_factor: Option<f64>,
    #[serde(rename = "retryPolicyOnMaxAttempts", skip_serializing_if = "Option::is_none")]
    pub on_max_attempts: Option<OnMaxAttempts>,
}

impl RetryPolicy {
    /// This policy, and that of the service where nothing is said.
    pub fn over(&self, service: &RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            initial_interval_ms: self.initial_interval_ms.or(service.initial_interval_ms),
            max_interval_ms: self.max_interval_ms.or(service.max_interval_ms),
            max_attempts: self.max_attempts.or(service.max_attempts),
            exponentiation_factor: self.exponentiation_factor.or(service.exponentiation_factor),
            on_max_attempts: self.on_max_attempts.or(service.on_max_attempts),
        }
    }
}

/// What becomes of an invocation whose last attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OnMaxAttempts {
    /// It waits until someone resumes it.
    Pause,
    /// It ends with the error of that attempt.
    Kill,
}
