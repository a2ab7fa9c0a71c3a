//! Settings of the admin listener's routes.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Largest request body, in bytes.
    pub body_bytes_max: usize,
    /// Most invocations of one batch operation.
    pub batch_invocations_max: usize,
    /// Where clients reach the ingress, as `/version` tells it; unset: the address it listens at.
    pub ingress_endpoint: Option<String>,
    /// How long open requests may take after the shutdown began, in ms.
    pub shutdown_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            body_bytes_max: 32 * 1024 * 1024,
            batch_invocations_max: 1_000,
            ingress_endpoint: None,
            shutdown_ms: 5_000,
        }
    }
}
