//! Bounds of SQL questions.

use serde::{Deserialize, Serialize};

/// What one question, and all of them together, may cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Longest time a question may run, in milliseconds. The tools that ask give up after 13 s.
    pub sql_ms_max: u64,
    /// Most rows of an answer; a question with more of them fails and says so.
    pub sql_rows_max: usize,
    /// Most bytes of the values of an answer.
    pub sql_bytes_max: usize,
    /// Memory of the SQL engine for all questions together, in bytes: sorting, grouping, joins.
    pub sql_memory_bytes_max: u64,
    /// Most questions that run at the same time; others wait for their turn.
    pub sql_concurrent_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            sql_ms_max: 10_000,
            sql_rows_max: 100_000,
            sql_bytes_max: 64 << 20,
            sql_memory_bytes_max: 256 << 20,
            sql_concurrent_max: 4,
        }
    }
}
