//! Settings of the partitions.

use super::retention;
use serde::{Deserialize, Serialize};

/// How many partitions there are, and what one turn and one queue may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Partitions of a new data directory, each a thread; an existing one keeps its number. More
    /// of them use more cores, fewer of them share a commit among more invocations. At least 1.
    pub partitions: u16,
    /// Commands that may wait for one partition. Beyond it doors are refused for now, and attempts
    /// are asked to wait.
    pub commands_max: usize,
    /// Bytes of payload that may wait for one partition, with the same consequence.
    pub queue_bytes_max: usize,
    /// Commands that share one commit. At least 1.
    pub batch_commands_max: usize,
    /// Bytes of payload that share one commit; a single larger command has a commit of its own.
    pub batch_bytes_max: usize,
    /// Due timers that are taken into one commit. At least 1.
    pub batch_timers_max: usize,
    /// Rows that are forgotten in one commit, about, because their retention is over: the rest is
    /// left to the next ones. They are removed one by one, and nobody should wait for that.
    pub batch_forget_rows_max: usize,
    /// Where next to nothing goes on, whoever has something to say takes the turn, because waking
    /// the partition's thread takes longer than the turn. Without it a disk that stalls never holds
    /// up a thread that carries connections.
    pub inline_turns: bool,
    /// Notifications that may wait for one attempt to send them. An attempt that falls further
    /// behind is replaced by another, which has them all in its journal. At least 1.
    pub news_max: usize,
    /// Bytes of keyed state that are sent along when an attempt starts; the rest is read key by
    /// key.
    pub eager_state_bytes_max: usize,
    /// What is kept of what has ended.
    pub retention: retention::Config,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            partitions: 1,
            commands_max: 10_000,
            queue_bytes_max: 64 << 20,
            batch_commands_max: 1024,
            batch_bytes_max: 8 << 20,
            batch_timers_max: 1024,
            batch_forget_rows_max: 1024,
            inline_turns: true,
            news_max: 1024,
            eager_state_bytes_max: 1 << 20,
            retention: retention::Config::default(),
        }
    }
}
