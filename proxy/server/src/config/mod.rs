//! The settings of the whole process: defaults, then a TOML file, then the environment, then
//! flags. Each room owns its own section. Never reads a setting that no one can see in
//! `holdfast config`.

mod load;
#[cfg(test)]
pub(crate) mod pages;

pub use load::{Error, Flag, Sources, guess, load};

use crate::admin;
use crate::bridge::a2a;
use crate::bridge::mcp;
use crate::guard;
use crate::http::{client, listen};
use crate::ingress;
use crate::invoker;
use crate::notifier;
use crate::partition;
use crate::query;
use crate::registry;
use crate::store;
use crate::tasks::desk;
use crate::telemetry;
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf};

/// Every setting of the process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Addresses of services to wait for, register, and register again when they change.
    pub services: Vec<String>,
    /// Threads for all connections; each partition has one more for its decisions and the disk. 0:
    /// half of the machine's cores, since the other half is the service's.
    pub worker_threads: usize,
    /// How long work under way may take to come to rest at shutdown, in milliseconds.
    pub shutdown_ms: u64,
    /// PEM file with the Ed25519 key that requests to services are signed with; unset: unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_key_file: Option<PathBuf>,
    /// How many invocations of a service, a handler or the keys with one prefix run at once.
    pub limits: Vec<registry::limit::Setting>,
    pub listen: Listen,
    pub protocol: Protocol,
    pub ingress: ingress::Config,
    /// Who may use the doors for agents.
    pub guard: guard::Config,
    /// Which handlers agents see.
    pub exposure: registry::exposure::Config,
    pub mcp: mcp::Config,
    /// Agents of A2A.
    pub a2a: a2a::Config,
    /// Questions to people, at the listener of the ingress.
    pub asks: desk::Config,
    pub admin: admin::Config,
    pub invoker: invoker::Config,
    /// Who is told of invocations that are paused or fail.
    pub notify: notifier::Config,
    /// Connections to services.
    pub client: client::Config,
    /// Defaults and bounds of what services may set.
    pub registry: registry::Config,
    pub partition: partition::Config,
    /// Bounds of questions in SQL.
    pub query: query::sql::Config,
    pub store: store::Config,
    pub telemetry: telemetry::Config,
}

/// How services are spoken to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protocol {
    /// Highest version of the service protocol that is chosen for a new invocation: 5, 6 or 7.
    pub version_max: u32,
    /// Largest message to or from a service, in bytes.
    pub message_bytes_max: usize,
}

impl Default for Protocol {
    fn default() -> Self {
        Protocol { version_max: 7, message_bytes_max: 32 << 20 }
    }
}

/// Where the doors are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// For callers. Port 0 takes a free one, which the log names.
    pub ingress: SocketAddr,
    /// For operators; also `/metrics`.
    pub admin: SocketAddr,
    /// Connections to the ingress.
    pub connections: listen::Config,
}

impl Default for Listen {
    fn default() -> Self {
        Listen {
            ingress: SocketAddr::from(([127, 0, 0, 1], 8080)),
            admin: SocketAddr::from(([127, 0, 0, 1], 9070)),
            connections: listen::Config::default(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            services: Vec::new(),
            worker_threads: 0,
            shutdown_ms: 10_000,
            identity_key_file: None,
            limits: Vec::new(),
            listen: Listen::default(),
            protocol: Protocol::default(),
            ingress: ingress::Config::default(),
            guard: guard::Config::default(),
            exposure: registry::exposure::Config::default(),
            mcp: mcp::Config::default(),
            a2a: a2a::Config::default(),
            asks: desk::Config::default(),
            admin: admin::Config::default(),
            invoker: invoker::Config::default(),
            notify: notifier::Config::default(),
            client: client::Config::default(),
            registry: registry::Config::default(),
            partition: partition::Config::default(),
            query: query::sql::Config::default(),
            store: store::Config::default(),
            telemetry: telemetry::Config::default(),
        }
    }
}

impl Config {
    /// The effective settings as TOML, ready to be a configuration file.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("every setting has a TOML form")
    }
}
