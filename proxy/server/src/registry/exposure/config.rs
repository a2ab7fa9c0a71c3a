//! What an operator says of the handlers that agents see.

use super::{Bridge, TaskSupport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of what agents see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// To whom handlers are shown that do not say it themselves.
    pub default: self::Default,
    /// What is said here wins over the metadata of services and handlers; a later rule wins over
    /// an earlier one.
    pub rules: Vec<Rule>,
}

/// Who sees handlers that do not say it themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Default {
    None,
    /// Callers on this machine.
    #[default]
    Local,
    All,
}

/// What is said of one handler, or of all handlers of a service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub service: String,
    /// Without it, all of them; names of tools and skills are for a handler only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The bridges that show it: `mcp`, `a2a`. An empty list hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expose: Option<Vec<Bridge>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// What it changes may be lost for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Called twice, it does no more than called once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches beyond what belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Whether a call is a task: `optional`, `required`, `forbidden`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskSupport>,
    /// It asks a human before it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<bool>,
    /// It begins with a question to whoever calls it, which comes before the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_first: Option<bool>,
    /// More of what its metadata could say, such as `"holdfast.input" = "message"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Rule {
    /// Whether it is about that handler.
    pub fn is_about(&self, service: &str, handler: &str) -> bool {
        self.service == service && self.handler.as_deref().is_none_or(|it| it == handler)
    }
}

impl Serialize for Bridge {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Bridge {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Bridge, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom("expected `mcp` or `a2a`");
        Bridge::parse(&text).ok_or_else(unknown)
    }
}

impl Bridge {
    pub const fn as_str(self) -> &'static str {
        match self {
            Bridge::Mcp => "mcp",
            Bridge::A2a => "a2a",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Bridge> {
        [Bridge::Mcp, Bridge::A2a].into_iter().find(|bridge| bridge.as_str() == text)
    }
}
