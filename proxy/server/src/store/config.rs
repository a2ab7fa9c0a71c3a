//! Settings of the store.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Least memory the embedded engine works with.
pub const MEMORY_BYTES_MIN: u64 = 16 << 20;

/// Where the data is and what it may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Directory of all data. Made when it does not exist; one process at a time.
    pub directory: PathBuf,
    /// Bytes of memory of the engine in all: unwritten tables and cached blocks. At least 16 MiB.
    pub memory_bytes: u64,
    /// Bytes of the write-ahead log on the disk, about; a start after a crash reads all of it.
    pub log_bytes_max: u64,
    /// Files held open at once.
    pub files_max: u32,
    /// Open a data directory whose log is damaged before its end, and lose what was written after
    /// the damage, although it was acknowledged.
    pub accept_damaged_log: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            directory: PathBuf::from("holdfast-data"),
            memory_bytes: 128 << 20,
            log_bytes_max: 64 << 20,
            files_max: 512,
            accept_damaged_log: false,
        }
    }
}
