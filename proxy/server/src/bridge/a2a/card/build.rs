//! From what is registered to a card. Pure: what no manifest and no setting says is derived so that
//! every required member has something in it.

use super::config::{Binding, Config, Shown};
use super::model::*;
use crate::registry::exposure::Exposed;
use holdfast_wire::manifest::{Input, Output, ServiceType};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};

/// The extension whose parameters are the JSON schemas of the skills.
pub const SCHEMAS_URI: &str = "urn:holdfast:a2a:schemas:1";
/// Metadata of a handler or service: `extended` keeps a skill off the public card.
const CARD: &str = "holdfast.card";
/// Metadata: tags of a skill, between commas.
const TAGS: &str = "holdfast.tags";
/// Metadata: what one could say to a skill, one a line.
const EXAMPLES: &str = "holdfast.examples";
/// Metadata of a service: its version as people see it.
const VERSION: &str = "holdfast.version";
const PROTOCOL_VERSION: &str = "1.0";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
/// Examples of one skill that are taken from its schema.
const EXAMPLES_MAX: usize = 8;

/// What a card is about.
pub struct Subject<'a> {
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// At least one.
    pub skills: &'a [Arc<Exposed>],
    pub extensions: Vec<AgentExtension>,
    pub streaming: bool,
    pub push: bool,
}

/// Who will read the card, and where.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// The absolute URL of the agent, without a slash at its end.
    pub url: &'a str,
    /// The reader has shown who it is, and asks for all.
    pub extended: bool,
    /// The sidecar asks for bearer tokens.
    pub tokens: bool,
}

/// The card, unsigned.
pub fn card(config: &Config, subject: &Subject<'_>, reader: Reader<'_>) -> AgentCard {
    let is_public = |skill: &&Arc<Exposed>| skill.setting(CARD) != Some("extended");
    let skills = subject.skills.iter().filter(|skill| reader.extended || is_public(skill));
    let skills: Vec<&Exposed> = skills.map(|skill| &**skill).collect();
    let (security_schemes, security_requirements) = security(config, reader.tokens);
    AgentCard {
        name: subject.title.unwrap_or(subject.name).to_owned(),
        description: description(subject),
        supported_interfaces: interfaces(config, subject.name, reader.url),
        provider: config.provider.clone(),
        version: version(subject),
        documentation_url: config.documentation_url.clone(),
        capabilities: AgentCapabilities {
            streaming: Some(subject.streaming),
            push_notifications: Some(subject.push),
            extensions: extensions(config, subject, &skills, reader.extended),
            extended_agent_card: Some(config.extended),
        },
        security_schemes,
        security_requirements,
        default_input_modes: vec![JSON.to_owned(), TEXT.to_owned()],
        default_output_modes: vec![JSON.to_owned(), TEXT.to_owned()],
        skills: skills.into_iter().map(skill).collect(),
        signatures: vec![],
        icon_url: config.icon_url.clone(),
    }
}

fn description(subject: &Subject<'_>) -> String {
    let service = subject.skills.first().map(|skill| &skill.service);
    let documented = service.and_then(|service| service.documentation.as_deref());
    let said = subject.description.or(documented).map(str::trim);
    match (said.filter(|said| !said.is_empty()), service) {
        (Some(said), _) => said.to_owned(),
        (None, None) => format!("The agent `{}`.", subject.name),
        (None, Some(service)) => {
            let kind = match service.ty {
                ServiceType::Service => "service",
                ServiceType::VirtualObject => "object",
                ServiceType::Workflow => "workflow",
            };
            format!("The durable {kind} `{}`.", service.name)
        }
    }
}

/// A new revision may be incompatible: nobody but the service knows, which can say it.
fn version(subject: &Subject<'_>) -> String {
    let said = subject.skills.iter().find_map(|skill| skill.setting(VERSION));
    match said.filter(|said| !said.is_empty()) {
        Some(said) => said.to_owned(),
        None => {
            let revisions = subject.skills.iter().map(|skill| skill.service.revision);
            format!("{}.0.0", revisions.max().unwrap_or(1))
        }
    }
}

fn interfaces(config: &Config, agent: &str, url: &str) -> Vec<AgentInterface> {
    let interface = |binding: &Binding| {
        let (name, url, tenant) = match binding {
            Binding::Jsonrpc => ("JSONRPC", url.to_owned(), ""),
            Binding::HttpJson => ("HTTP+JSON", url.to_owned(), ""),
            // One port for all agents, which are told apart by the tenant.
            Binding::Grpc => ("GRPC", authority(url), if is_root(url) { "" } else { agent }),
        };
        AgentInterface {
            url,
            protocol_binding: name.to_owned(),
            tenant: tenant.to_owned(),
            protocol_version: PROTOCOL_VERSION.to_owned(),
        }
    };
    config.bindings.iter().map(interface).collect()
}

/// Scheme and path of a URL.
fn split(url: &str) -> (&str, &str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let end = rest.find('/').unwrap_or(rest.len());
    (scheme, &rest[..end], &rest[end..])
}

/// Whether the agent is the only one of its host.
fn is_root(url: &str) -> bool {
    split(url).2.is_empty()
}

/// `host:port`, as gRPC clients are told an address.
fn authority(url: &str) -> String {
    let (scheme, authority, _) = split(url);
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
    match (has_port, scheme) {
        (true, _) => authority.to_owned(),
        (false, "https") => format!("{authority}:443"),
        (false, _) => format!("{authority}:80"),
    }
}

fn security(
    config: &Config,
    tokens: bool,
) -> (BTreeMap<String, SecurityScheme>, Vec<SecurityRequirement>) {
    if !tokens || !config.security_schemes.is_empty() {
        return (config.security_schemes.clone(), config.security_requirements.clone());
    }
    let bearer = HttpAuth {
        description: String::new(),
        scheme: "Bearer".to_owned(),
        bearer_format: String::new(),
    };
    let required =
        SecurityRequirement { schemes: [("bearer".to_owned(), StringList::default())].into() };
    let schemes = [("bearer".to_owned(), SecurityScheme::HttpAuthSecurityScheme(bearer))];
    (schemes.into(), vec![required])
}

fn extensions(
    config: &Config,
    subject: &Subject<'_>,
    skills: &[&Exposed],
    extended: bool,
) -> Vec<AgentExtension> {
    let mut extensions = subject.extensions.clone();
    let shown = match config.schemas {
        Shown::Everybody => true,
        Shown::Extended => extended,
        Shown::Nobody => false,
    };
    if shown && !skills.is_empty() {
        extensions.push(schemas(skills));
    }
    extensions
}

fn schemas(skills: &[&Exposed]) -> AgentExtension {
    let of = |skill: &&Exposed| {
        let mut schemas = Map::new();
        schemas.insert("input".to_owned(), skill.input_schema.clone());
        if let Some(output) = &skill.output_schema {
            schemas.insert("output".to_owned(), output.clone());
        }
        (skill.skill.clone(), Value::Object(schemas))
    };
    let skills: Map<String, Value> = skills.iter().map(of).collect();
    let params = [("skills".to_owned(), Value::Object(skills))];
    AgentExtension {
        uri: SCHEMAS_URI.to_owned(),
        description: "JSON schemas of what each skill takes and gives".to_owned(),
        required: false,
        params: params.into_iter().collect(),
    }
}

fn skill(skill: &Exposed) -> AgentSkill {
    let said = skill.description.as_deref().map(str::trim).filter(|said| !said.is_empty());
    let unsaid = || format!("Calls `{}` of `{}`.", skill.handler.name, skill.service.name);
    AgentSkill {
        id: skill.skill.clone(),
        name: skill.title.clone().unwrap_or_else(|| skill.skill.clone()),
        description: said.map_or_else(unsaid, str::to_owned),
        tags: tags(skill),
        examples: examples(skill),
        input_modes: input_modes(&skill.handler.input),
        output_modes: output_modes(&skill.handler.output),
    }
}

/// At least one.
fn tags(skill: &Exposed) -> Vec<String> {
    let said = skill.setting(TAGS).unwrap_or_default().split(',').map(str::trim);
    let tags: Vec<String> = said.filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    if tags.is_empty() { vec![skill.service.name.clone()] } else { tags }
}

/// Those that are said, else those of the schema.
fn examples(skill: &Exposed) -> Vec<String> {
    if let Some(said) = skill.setting(EXAMPLES) {
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        return lines.map(str::to_owned).collect();
    }
    let examples = skill.input_schema.get("examples").and_then(Value::as_array);
    let examples = examples.into_iter().flatten().take(EXAMPLES_MAX);
    examples.map(Value::to_string).collect()
}

/// JSON can come as text too. Empty: the agent's defaults.
fn input_modes(input: &Input) -> Vec<String> {
    match input.content_type.as_deref() {
        None => vec![TEXT.to_owned()],
        Some("*/*" | JSON) => vec![],
        Some(other) => vec![other.to_owned()],
    }
}

fn output_modes(output: &Output) -> Vec<String> {
    match output.content_type.as_deref() {
        None | Some("*/*" | JSON) => vec![],
        Some(other) => vec![other.to_owned()],
    }
}
