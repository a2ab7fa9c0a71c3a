//! Settings of push notifications.

use crate::delivery::{Terms, pauses};
use crate::http::{Network, not_public};
use serde::{Deserialize, Serialize};
use std::{net::IpAddr, path::PathBuf, time::Duration};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Networks in which receivers may be although they are not public, such as `127.0.0.0/8` or
    /// `10.1.0.0/16`. Without them only public addresses are sent to.
    pub private_networks: Vec<Network>,
    /// Whether receivers may be named by `http://` URLs.
    pub allow_http: bool,
    /// How the body of a notification is called.
    pub content_type: ContentType,
    /// A file with the secret that notifications are signed with, at least 16 bytes; blanks around
    /// it do not count. Unset: unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// For one try, from connecting to the head of the response, in ms.
    pub timeout_ms: u64,
    /// Pause after the first try that came to nothing, in ms; doubled for each one after it.
    pub retry_initial_ms: u64,
    /// Longest pause between two tries, in ms.
    pub retry_max_ms: u64,
    /// A notification that is older than this is given up when its receiver keeps failing, in ms.
    pub give_up_after_ms: u64,
    /// Tries at once, over all receivers. 1 and up.
    pub concurrent_max: usize,
    /// Notifications for one receiver that are held in memory. 1 and up.
    pub held_max: usize,
    /// Notifications for all receivers that are held in memory, without those that wait for a
    /// receiver that fails; more wait on disk. 1 and up.
    pub held_all_max: usize,
}

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentType {
    /// `application/a2a+json`, as the protocol says.
    A2aJson,
    /// `application/json`, for receivers that know no other.
    Json,
}

impl ContentType {
    pub fn as_str(self) -> &'static str {
        match self {
            ContentType::A2aJson => "application/a2a+json",
            ContentType::Json => "application/json",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            private_networks: vec![],
            allow_http: false,
            content_type: ContentType::A2aJson,
            secret_file: None,
            timeout_ms: 10_000,
            retry_initial_ms: 1_000,
            retry_max_ms: 5 * 60 * 1000,
            give_up_after_ms: DAY_MS,
            concurrent_max: 32,
            held_max: 16,
            held_all_max: 4_096,
        }
    }
}

impl Config {
    /// Whether anything may be sent to an address.
    ///
    /// # Errors
    /// Why not.
    pub fn check_address(&self, ip: IpAddr) -> Result<(), &'static str> {
        if self.private_networks.iter().any(|network| network.contains(ip)) {
            return Ok(());
        }
        not_public(ip).map_or(Ok(()), Err)
    }

    pub(super) fn terms(&self) -> Terms {
        let ms = Duration::from_millis;
        Terms {
            timeout: ms(self.timeout_ms),
            retry: pauses(ms(self.retry_initial_ms), ms(self.retry_max_ms)),
            give_up_after: ms(self.give_up_after_ms),
            concurrent_max: self.concurrent_max,
            held_max: self.held_max,
            held_all_max: self.held_all_max,
        }
    }
}
