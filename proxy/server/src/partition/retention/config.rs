//! Settings of what is kept of what has ended.

use serde::{Deserialize, Serialize};

/// Least budget of the disk: below it the log alone could use it up.
pub const DISK_BYTES_MIN: u64 = 16 << 20;

/// How often the data directory is looked at, and what it may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Bytes that the data directory may take. Where it takes more, what completed first is
    /// forgotten, although its retention is not over, until nine tenths of it are left. What is not
    /// completed is never forgotten. Unset: retention alone decides. At least 16 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes_max: Option<u64>,
    /// Wait between two looks at the data directory, in milliseconds. The space of what was
    /// forgotten is given back at such a look, and in between the budget may be exceeded.
    /// At least 10.
    pub interval_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config { disk_bytes_max: None, interval_ms: 5_000 }
    }
}
