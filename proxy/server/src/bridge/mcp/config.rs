//! Settings of the bridge for MCP.

use serde::{Deserialize, Serialize};

/// How MCP is served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Off: `/mcp` is no door. A service that has that name can only be registered where
    /// `registry.doors` does not list it either.
    pub enabled: bool,
    /// What clients are told about this server, for their models to read.
    pub instructions: String,
    /// What a signed or listed token has to allow; all of it.
    pub scopes: Vec<String>,
    /// Largest message of a client, in bytes.
    pub request_bytes_max: usize,
    /// Tools on one page of a list.
    pub tools_page_max: usize,
    /// How long clients may keep a list of tools, in ms. They are told of changes if they listen.
    pub tools_fresh_ms: u64,
    /// How often a client is to ask for a task, in ms.
    pub poll_interval_ms: u64,
    /// How often while the task waits for a human, in ms.
    pub poll_interval_asking_ms: u64,
    /// How long a call of a client that cannot follow tasks may wait for its result, in ms. The
    /// work goes on after that.
    pub call_wait_ms: u64,
    /// A client that goes away before its call has ended does not want it any more: cancel it.
    pub cancel_when_gone: bool,
    /// How often a waiting client hears that the work goes on, in ms.
    pub progress_interval_ms: u64,
    /// Tasks that one stream follows.
    pub listen_tasks_max: usize,
    /// Streams at once: of listeners, and of calls that wait.
    pub streams_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: true,
            instructions:
                "Durable handlers as tools. A call that takes long comes back as a task, \
                           which goes on whatever crashes; ask for it again later."
                    .to_owned(),
            scopes: vec!["tools:call".to_owned()],
            request_bytes_max: 4 << 20,
            tools_page_max: 250,
            tools_fresh_ms: 5_000,
            poll_interval_ms: 1_000,
            poll_interval_asking_ms: 5_000,
            call_wait_ms: 300_000,
            cancel_when_gone: true,
            progress_interval_ms: 5_000,
            listen_tasks_max: 100,
            streams_max: 1_000,
        }
    }
}
