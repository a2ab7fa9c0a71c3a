//! Bounds of the ingress.

use serde::{Deserialize, Serialize};

/// Settings of the HTTP door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Largest request body, in bytes. More is answered 413.
    pub request_bytes_max: usize,
    /// Requests in progress at once, those that wait for an invocation included. More are
    /// answered 429.
    pub requests_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config { request_bytes_max: 32 << 20, requests_max: 100_000 }
    }
}
