//! Settings of cards: what no manifest says of an agent.

use super::model::{AgentProvider, SecurityRequirement, SecurityScheme};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Who runs the agents: `organization` and `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// In which order the ways to speak with an agent are offered; what is missing is not offered.
    pub bindings: Vec<Binding>,
    /// Who sees the JSON schemas of handlers.
    pub schemas: Shown,
    /// Whether there is a card for those who have shown who they are. It has all skills; those with
    /// the metadata `holdfast.card = "extended"` are on no other.
    pub extended: bool,
    /// How long clients may keep a card without asking again, in seconds.
    pub max_age_s: u64,
    /// PKCS#8 PEM file with the P-256 or Ed25519 key that cards are signed with; unset: unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key_file: Option<PathBuf>,
    /// How verifiers find the key (`kid`); unset: its thumbprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key_id: Option<String>,
    /// Where verifiers find the set with the public key (`jku`), if it is to be told. The sidecar
    /// serves one at `/.well-known/jwks.json` of each agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing_key_url: Option<String>,
    /// Alternatives, of which one must hold. Unset: a bearer token where the sidecar asks for one.
    pub security_requirements: Vec<SecurityRequirement>,
    /// By name, each as it stands in the card.
    pub security_schemes: BTreeMap<String, SecurityScheme>,
}

/// One of the protocol's bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    Jsonrpc,
    HttpJson,
    Grpc,
}

/// On which cards something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    Everybody,
    /// Only on the extended card.
    Extended,
    Nobody,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            provider: None,
            icon_url: None,
            documentation_url: None,
            bindings: vec![Binding::Jsonrpc, Binding::HttpJson, Binding::Grpc],
            schemas: Shown::Everybody,
            extended: false,
            max_age_s: 300,
            signing_key_file: None,
            signing_key_id: None,
            signing_key_url: None,
            security_requirements: vec![],
            security_schemes: BTreeMap::new(),
        }
    }
}

impl Config {
    /// What is wrong with the settings, and with which.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let unknown = |requirement: &SecurityRequirement| {
            requirement.schemes.keys().any(|name| !self.security_schemes.contains_key(name))
        };
        if self.bindings.is_empty() {
            return Some(("a2a.card.bindings", "an agent needs a binding"));
        }
        self.security_requirements.iter().any(unknown).then_some((
            "a2a.card.security_requirements",
            "it names a scheme that is not among `security_schemes`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn schemes_are_written_as_they_stand_in_the_card() {
        let text = r#"
            provider = { organization = "Example", url = "https://example.com" }
            security_requirements = [{ schemes = { bearer = {} } }, { schemes = { login = { list = ["refund"] } } }]
            [security_schemes.bearer]
            httpAuthSecurityScheme = { scheme = "Bearer", bearerFormat = "JWT" }
            [security_schemes.login.oauth2SecurityScheme.flows.clientCredentials]
            tokenUrl = "https://id.example.com/token"
            scopes = { refund = "pays back" }
        "#;
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!(config.problem(), None);
        let schemes = serde_json::to_string(&config.security_schemes).unwrap();
        expect![[r#"{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer","bearerFormat":"JWT"}},"login":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://id.example.com/token","scopes":{"refund":"pays back"}}}}}}"#]]
            .assert_eq(&schemes);
        let again: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
        assert_eq!(again, config);
        let wrong = Config { security_schemes: BTreeMap::new(), ..config };
        assert_eq!(wrong.problem().unwrap().0, "a2a.card.security_requirements");
        let wrong = Config { bindings: vec![], ..Config::default() };
        assert_eq!(wrong.problem().unwrap().0, "a2a.card.bindings");
        assert!(toml::from_str::<Config>("security_schemes.x.password = {}").is_err());
    }
}
