//! Settings of the agents: bounds of the door, and what differs from agent to agent.

use super::{card, push};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The section `[a2a]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Off: `/a2a` is no door. A service that has that name can only be registered where
    /// `registry.doors` does not list it either.
    pub enabled: bool,
    /// The agent that also is the one at the root of the listener, with its card at
    /// `/.well-known/agent-card.json`. Unset: only the agents under `/a2a/` are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What a token has to allow; all of it. Unset: as `mcp.scopes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// How long a message waits for its task to end or to ask, in ms; then the task is told as it
    /// is, and goes on.
    pub wait_ms: u64,
    /// How long a cancellation waits for the handler to end, in ms.
    pub cancel_wait_ms: u64,
    /// A stream that is silent for so long is sent a comment, in ms.
    pub keep_alive_ms: u64,
    /// Largest body of a request, in bytes.
    pub request_bytes_max: usize,
    /// Requests at once, streams included; more are refused with 503.
    pub requests_max: usize,
    /// Clients that do not say their version are refused, as the specification has it; else they
    /// are taken for 1.0 where what they ask for is of 1.0.
    pub require_version: bool,
    /// Clients of 0.3 are served.
    pub serve_0_3: bool,
    /// Cards of the agents.
    pub card: card::Config,
    /// Push notifications.
    pub push: push::Config,
    /// What holds for every agent, unless it says otherwise itself.
    pub defaults: AgentConfig,
    /// What holds for one agent, by its name.
    pub agents: BTreeMap<String, AgentConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: true,
            root: None,
            scopes: None,
            wait_ms: 600_000,
            cancel_wait_ms: 10_000,
            keep_alive_ms: 15_000,
            request_bytes_max: 10 << 20,
            requests_max: 10_000,
            require_version: false,
            serve_0_3: true,
            card: card::Config::default(),
            push: push::Config::default(),
            defaults: AgentConfig::default(),
            agents: BTreeMap::new(),
        }
    }
}

/// What may differ from agent to agent. Unset is what holds for every agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// How messages that come twice are told: by `message_id` (the default), or not at all (`off`).
    /// A header `Idempotency-Key` is honoured in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<Idempotency>,
    /// Streams and subscriptions; on by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Push notifications; on by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Parts whose media type the skill does not take are refused; off by default, since handlers
    /// see the parts as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict_media_types: Option<bool>,
    /// Extensions of the protocol that the handlers understand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idempotency {
    #[default]
    MessageId,
    Off,
}

/// An extension of the protocol, as the card tells it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Extension {
    pub uri: String,
    pub description: String,
    /// Requests that do not name it are refused.
    pub required: bool,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub params: serde_json::Map<String, serde_json::Value>,
}

impl Config {
    /// What is wrong with the settings, and with which.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        self.card.problem()
    }

    /// What holds for one agent.
    pub fn agent(&self, name: &str) -> Settings {
        let (own, every) = (self.agents.get(name), &self.defaults);
        let pick = |of: fn(&AgentConfig) -> Option<bool>, default| {
            own.and_then(of).or_else(|| of(every)).unwrap_or(default)
        };
        let idempotency = own.and_then(|own| own.idempotency).or(every.idempotency);
        let extensions = own.map(|own| &own.extensions).filter(|own| !own.is_empty());
        Settings {
            idempotency: idempotency.unwrap_or_default(),
            streaming: pick(|it| it.streaming, true),
            push_notifications: pick(|it| it.push_notifications, true),
            strict_media_types: pick(|it| it.strict_media_types, false),
            extensions: extensions.unwrap_or(&every.extensions).clone(),
        }
    }
}

/// What holds for one agent, all of it said.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub idempotency: Idempotency,
    pub streaming: bool,
    pub push_notifications: bool,
    pub strict_media_types: bool,
    pub extensions: Vec<Extension>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_says_what_differs() {
        let text = "
            [defaults]
            idempotency = 'off'
            streaming = false
            [agents.refund]
            idempotency = 'message_id'
            [[agents.refund.extensions]]
            uri = 'urn:x'
            required = true
        ";
        let config: Config = toml::from_str(text).unwrap();
        let (refund, other) = (config.agent("refund"), config.agent("other"));
        assert_eq!(refund.idempotency, Idempotency::MessageId);
        assert_eq!(other.idempotency, Idempotency::Off);
        assert!(!refund.streaming && !other.streaming);
        assert!(refund.push_notifications && !refund.strict_media_types);
        assert_eq!(refund.extensions.len(), 1);
        assert_eq!(other.extensions, []);
    }

    #[test]
    fn what_is_written_is_read() {
        let config = Config { root: Some("refund".into()), ..Config::default() };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
    }
}
