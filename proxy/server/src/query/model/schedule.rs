//! Schedules as JSON: what is put, and what is shown.

use super::{Preview, is_false};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Body of `PUT /holdfast/schedules/{name}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Five fields, six with the second in front, `@daily`, `@every 90s`, …
    pub cron: String,
    /// A name of the IANA database.
    #[serde(default = "utc")]
    pub time_zone: String,
    pub service: String,
    pub handler: String,
    /// Of objects and workflows; `{time}` in it stands for the time of the run.
    #[serde(default)]
    pub key: Option<String>,
    /// Sent as it is written; without it there is no input.
    #[serde(default)]
    pub argument: Option<Box<RawValue>>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub catch_up: CatchUp,
    #[serde(default)]
    pub overlap: Overlap,
}

fn utc() -> String {
    "UTC".into()
}

/// What becomes of times that went by while nothing could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CatchUp {
    /// They are let go.
    Skip,
    /// One run for all of them, for the latest.
    #[default]
    Once,
}

/// What becomes of a time at which the run before has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// Both run.
    #[default]
    Allow,
    /// It is let go.
    Skip,
}

/// Answer of `GET /holdfast/schedules`: by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedules {
    pub schedules: Vec<Schedule>,
    /// There are more than `limit`.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub name: String,
    pub cron: String,
    pub time_zone: String,
    /// `service/handler`, or `service/key/handler`.
    pub target: String,
    pub service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub handler: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<Preview>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    pub catch_up: CatchUp,
    pub overlap: Overlap,
    pub paused: bool,
    pub created_at: String,
    /// When it was last put, paused or resumed.
    pub modified_at: String,
    /// Absent while it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Run>,
    /// Why its target could not be called the last time; absent after the next run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<ScheduleTrouble>,
    pub runs: u32,
    /// Runs that made up for missed times.
    pub caught_up: u32,
    /// Times that were let go.
    pub skipped: u32,
    /// Times for which the target could not be called.
    pub failed: u32,
}

/// One invocation that a schedule made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The time that it is for.
    pub planned_at: String,
    pub started_at: String,
    pub invocation: String,
    /// A person asked for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub triggered: bool,
    pub status: RunStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// `[code] sentence` of a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// It has not ended.
    Running,
    Succeeded,
    Failed,
}

/// Why a target could not be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleTrouble {
    pub at: String,
    pub planned_at: String,
    /// Names a page in `docs/errors`.
    pub doc_code: String,
    pub message: String,
}

/// Answer of `GET` and `PUT /holdfast/schedules/{name}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleDetail {
    #[serde(flatten)]
    pub schedule: Schedule,
    /// The next times.
    pub upcoming: Vec<Upcoming>,
}

/// A time to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upcoming {
    pub at: String,
    /// As the clocks of the time zone show it.
    pub local: String,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Succeeded => "succeeded",
            RunStatus::Failed => "failed",
        }
    }
}

impl CatchUp {
    pub fn as_str(self) -> &'static str {
        match self {
            CatchUp::Skip => "skip",
            CatchUp::Once => "once",
        }
    }
}

impl Overlap {
    pub fn as_str(self) -> &'static str {
        match self {
            Overlap::Allow => "allow",
            Overlap::Skip => "skip",
        }
    }
}
