//! Settings of notices.

use crate::delivery::{Terms, pauses};
use crate::http::address_without_user;
use holdfast_machine::model::{FailuresWanted, NoticesWanted};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Notices for all receivers that are held in memory, without those that wait for a receiver that
/// fails; more wait on disk.
const HELD_ALL_MAX: usize = 4_096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where notices are sent, `http` or `https`; unset: only to where deployments say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What is told.
    pub on: Vec<Event>,
    /// Whose failures are told. A pause is told whoever called.
    pub calls: Calls,
    /// A file with the secret that notices are signed with, at least 16 bytes; blanks around it do
    /// not count. Unset: unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// Where operators reach the admin listener, for the links in notices; unset: its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_url: Option<String>,
    /// For one try, from connecting to the head of the response, in ms.
    pub timeout_ms: u64,
    /// Pause after the first try that came to nothing, in ms; doubled for each one after it.
    pub retry_initial_ms: u64,
    /// Longest pause between two tries, in ms.
    pub retry_max_ms: u64,
    /// A notice that is older than this is forgotten when its receiver keeps failing, in ms.
    pub give_up_after_ms: u64,
    /// Tries at once, over all receivers. 1 and up.
    pub concurrent_max: usize,
    /// Notices of one partition for one receiver that are held in memory. 1 and up.
    pub held_max: usize,
}

/// What a notice can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// An invocation was paused, whoever did it.
    Paused,
    /// An invocation ended with a failure, whatever the cause.
    Failed,
}

/// Whose failures are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// Not of what a handler called and so is answered with: only of what came by a door or a
    /// schedule, was sent one-way, or was restarted.
    Root,
    All,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            url: None,
            on: vec![Event::Paused, Event::Failed],
            calls: Calls::Root,
            secret_file: None,
            admin_url: None,
            timeout_ms: 10_000,
            retry_initial_ms: 1_000,
            retry_max_ms: 5 * 60 * 1000,
            give_up_after_ms: 3 * DAY_MS,
            concurrent_max: 16,
            held_max: 16,
        }
    }
}

impl Config {
    /// What is wrong with the settings, and with which.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let wrong = |url: &Option<String>| address_without_user(url.as_deref()?).err();
        let url = wrong(&self.url).map(|reason| ("notify.url", reason));
        url.or_else(|| Some(("notify.admin_url", wrong(&self.admin_url)?)))
    }

    pub(super) fn receiver(&self) -> Option<http::Uri> {
        let url = self.url.as_deref()?;
        Some(address_without_user(url).expect("the settings were checked"))
    }

    /// Of what notices are to be written, where there is somebody to tell.
    pub(super) fn wanted(&self) -> NoticesWanted {
        let failed = match self.calls {
            _ if !self.on.contains(&Event::Failed) => FailuresWanted::None,
            Calls::Root => FailuresWanted::Roots,
            Calls::All => FailuresWanted::All,
        };
        NoticesWanted { paused: self.on.contains(&Event::Paused), failed }
    }

    pub(super) fn terms(&self) -> Terms {
        let ms = Duration::from_millis;
        Terms {
            timeout: ms(self.timeout_ms),
            retry: pauses(ms(self.retry_initial_ms), ms(self.retry_max_ms)),
            give_up_after: ms(self.give_up_after_ms),
            concurrent_max: self.concurrent_max,
            held_max: self.held_max,
            held_all_max: HELD_ALL_MAX,
        }
    }
}
