//! Settings of the invoker. Timeouts and retries of handlers are not here: they belong to the
//! registry.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Attempts at once, over all services. More wait in memory, about 200 bytes each. 1 and up.
    pub concurrent_attempts_max: usize,
    /// While attempts wait for a place, one that has nothing to do but wait for others, and has
    /// done so for this long, is asked to suspend, in ms.
    pub pressure_idle_ms: u64,
    /// The same for a service whose protocol version does not tell what it waits for: it has been
    /// silent for this long, in ms.
    pub pressure_silent_ms: u64,
    /// The same where they wait for a limit, not for a place among all: what a limit protects may
    /// well be slow to answer, in ms.
    pub pressure_limit_silent_ms: u64,
    /// Pieces of one request that may wait to be sent, of about 4 KiB, or one larger message each.
    pub request_pieces_max: usize,
    /// Bytes of notifications that a service has not taken yet; with more it is asked to suspend,
    /// and reads them with its next replay.
    pub backlog_bytes_max: usize,
    /// How long attempts may take to suspend when the process shuts down, in ms; then they are
    /// cut off.
    pub drain_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            concurrent_attempts_max: 1_000,
            pressure_idle_ms: 100,
            pressure_silent_ms: 1_000,
            pressure_limit_silent_ms: 10_000,
            request_pieces_max: 16,
            backlog_bytes_max: 32 << 20,
            drain_ms: 3_000,
        }
    }
}
