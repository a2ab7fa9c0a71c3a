//! Which handlers are shown to agents, and under which names: said in the metadata of handlers and
//! services, or in the settings, which win. A catalogue never changes once built; each change of
//! what is registered makes a new one.

mod arguments;
mod config;
mod say;
#[cfg(test)]
mod tests;

pub use arguments::{Call, Refused};
pub use config::{Config, Default as ByDefault, Rule};

use super::{Handler, Registry, Schema, Service};
use say::Said;
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, RwLock},
};
use tokio::sync::watch;

/// Longest name of a tool, in characters.
const NAME_CHARS_MAX: usize = 128;

/// A way for agents to call handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bridge {
    Mcp,
    A2a,
}

/// A handler as agents see it.
#[derive(Debug)]
pub struct Exposed {
    pub service: Arc<Service>,
    pub handler: Arc<Handler>,
    /// The name of the tool, unique among all.
    pub tool: String,
    /// The name of the agent; handlers with the same one are its skills.
    pub agent: String,
    pub skill: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub annotations: Annotations,
    pub tasks: TaskSupport,
    /// It asks a human before it is done.
    pub asks: bool,
    /// It begins with a question to whoever calls it: only when that is answered, the caller is
    /// given a task.
    pub asks_first: bool,
    /// What a client must be capable of, by the names of the protocol.
    pub requires: Vec<String>,
    /// All metadata that is said of it: of the service, of the handler, of the settings.
    metadata: BTreeMap<String, String>,
    /// What a caller sends; made for arguments by name, so its root is an object.
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    shown: Shown,
    shape: arguments::Shape,
}

/// Hints for whoever decides whether a tool may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// Whether a call is a task that goes on by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// Where the caller can follow one.
    #[default]
    Optional,
    /// Who cannot follow one is refused.
    Required,
    /// The caller always waits.
    Forbidden,
}

/// To whom a handler is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    mcp: To,
    a2a: To,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Nobody,
    /// Callers on this machine.
    Local,
    All,
}

impl Exposed {
    /// What is said of the handler under `name` (with its prefix), by the settings, else by its
    /// metadata, else by that of its service.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.metadata.get(name).map(String::as_str)
    }

    fn is_shown(&self, bridge: Bridge, is_local: bool) -> bool {
        let to = match bridge {
            Bridge::Mcp => self.shown.mcp,
            Bridge::A2a => self.shown.a2a,
        };
        match to {
            To::Nobody => false,
            To::Local => is_local,
            To::All => true,
        }
    }
}

/// All exposed handlers at one moment.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Counts the changes that can be seen.
    pub number: u64,
    handlers: Vec<Arc<Exposed>>,
    by_tool: BTreeMap<String, usize>,
}

impl Catalogue {
    /// What a bridge shows to a caller, in the order of services and handlers.
    pub fn shown(&self, bridge: Bridge, is_local: bool) -> impl Iterator<Item = &Arc<Exposed>> {
        self.handlers.iter().filter(move |exposed| exposed.is_shown(bridge, is_local))
    }

    /// The tools of MCP, in the order of their names, from the one behind `after` on.
    pub fn tools(
        &self,
        after: Option<&str>,
        is_local: bool,
    ) -> impl Iterator<Item = &Arc<Exposed>> {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, |after| Excluded(after.to_owned()));
        let places = self.by_tool.range((from, Unbounded));
        let tools = places.map(|(_, place)| &self.handlers[*place]);
        tools.filter(move |exposed| exposed.is_shown(Bridge::Mcp, is_local))
    }

    /// The tool of that name, where it is shown to the caller.
    pub fn tool(&self, name: &str, is_local: bool) -> Option<&Arc<Exposed>> {
        let exposed = &self.handlers[*self.by_tool.get(name)?];
        exposed.is_shown(Bridge::Mcp, is_local).then_some(exposed)
    }

    /// The names of the agents that are shown to the caller, in order.
    pub fn agents(&self, is_local: bool) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.shown(Bridge::A2a, is_local).map(|it| it.agent.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The handlers of the agent of that name that are shown to the caller.
    pub fn agent<'c>(
        &'c self,
        name: &'c str,
        is_local: bool,
    ) -> impl Iterator<Item = &'c Arc<Exposed>> {
        self.shown(Bridge::A2a, is_local).filter(move |it| it.agent == name)
    }

    /// The handler with that name, where it is in the catalogue at all.
    pub fn of_handler(&self, service: &str, handler: &str) -> Option<&Arc<Exposed>> {
        let is_it = |it: &&Arc<Exposed>| it.service.name == service && it.handler.name == handler;
        self.handlers.iter().find(is_it)
    }
}

/// Follows the registry. Cheap to clone.
#[derive(Clone)]
pub struct Exposure {
    current: Arc<RwLock<Arc<Catalogue>>>,
    changes: watch::Receiver<u64>,
}

impl Exposure {
    pub fn new(config: Config, registry: &Registry) -> Exposure {
        let current = Arc::new(RwLock::new(Arc::new(Catalogue::default())));
        let (tell, changes) = watch::channel(0);
        let shown = current.clone();
        registry.when_changed(move |schema| {
            let mut current = shown.write().expect("readers do not panic");
            let number = current.number + 1;
            *current = Arc::new(catalogue(schema, &config, number));
            tell.send_replace(number);
        });
        Exposure { current, changes }
    }

    /// What is exposed now.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.current.read().expect("no writer panics while it holds the lock").clone()
    }

    /// The number of the catalogue, to be told of changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

/// What `schema` exposes. Pure.
pub fn catalogue(schema: &Schema, config: &Config, number: u64) -> Catalogue {
    let mut names = HashSet::new();
    let mut handlers = Vec::new();
    for service in schema.services.values() {
        for handler in service.handlers.values().filter(|handler| handler.public) {
            let said = Said::of(service, handler, config);
            if said.shown == (Shown { mcp: To::Nobody, a2a: To::Nobody }) {
                continue;
            }
            handlers.push(Arc::new(exposed(service, handler, said, &mut names)));
        }
    }
    let tools = handlers.iter().enumerate();
    let by_tool = tools.map(|(place, exposed)| (exposed.tool.clone(), place)).collect();
    Catalogue { number, handlers, by_tool }
}

fn exposed(
    service: &Arc<Service>,
    handler: &Arc<Handler>,
    said: Said,
    names: &mut HashSet<String>,
) -> Exposed {
    let (shape, input_schema) = arguments::Shape::of(handler);
    Exposed {
        tool: tool_name(service, handler, said.tool.as_deref(), names),
        agent: said.agent.unwrap_or_else(|| service.name.clone()),
        skill: said.skill.unwrap_or_else(|| handler.name.clone()),
        title: said.title,
        description: said.description.or_else(|| documentation(service, handler)),
        annotations: said.annotations,
        tasks: said.tasks,
        asks: said.asks || said.asks_first,
        asks_first: said.asks_first,
        requires: said.requires,
        metadata: said.metadata,
        input_schema,
        output_schema: arguments::output_schema(handler),
        shown: said.shown,
        shape,
        service: service.clone(),
        handler: handler.clone(),
    }
}

/// Of a service with one handler, its own words serve too.
fn documentation(service: &Service, handler: &Handler) -> Option<String> {
    let of_service = || service.documentation.clone().filter(|_| service.handlers.len() == 1);
    handler.documentation.clone().or_else(of_service)
}

/// A name that can be one of a tool and that no tool has yet.
fn tool_name(
    service: &Service,
    handler: &Handler,
    wished: Option<&str>,
    names: &mut HashSet<String>,
) -> String {
    let full = format!("{}.{}", service.name, handler.name);
    let mut name = fit(wished.unwrap_or(&full));
    if names.contains(&name) {
        tracing::warn!(
            service = service.name,
            handler = handler.name,
            tool = name,
            "another handler has this tool name already; this one gets a longer name"
        );
        name = fit(&full);
    }
    let mut count = 1;
    while names.contains(&name) {
        count += 1;
        name = format!("{}_{count}", fit(&full[..full.len().min(NAME_CHARS_MAX - 8)]));
    }
    names.insert(name.clone());
    name
}

fn fit(name: &str) -> String {
    let allowed = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
    let name = name.chars().take(NAME_CHARS_MAX);
    let name: String = name.map(|it| if allowed(it) { it } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}
