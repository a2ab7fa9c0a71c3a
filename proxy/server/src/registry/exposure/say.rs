//! What is said of a handler: by the settings, else by its own metadata, else by that of its
//! service. A value of metadata that cannot be read counts as not said, and is told in the log.

use super::{
    Annotations, Bridge, Config, Handler, Service, Shown, TaskSupport, To,
    config::{Default as ByDefault, Rule},
};
use std::collections::BTreeMap;

/// All that is said, put together.
pub(super) struct Said {
    pub shown: Shown,
    pub tool: Option<String>,
    pub agent: Option<String>,
    pub skill: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub annotations: Annotations,
    pub tasks: TaskSupport,
    pub asks: bool,
    pub asks_first: bool,
    pub requires: Vec<String>,
    pub metadata: BTreeMap<String, String>,
}

impl Said {
    pub fn of(service: &Service, handler: &Handler, config: &Config) -> Said {
        let about = |rule: &&Rule| rule.is_about(&service.name, &handler.name);
        let rules: Vec<&Rule> = config.rules.iter().rev().filter(about).collect();
        // What the settings say in the place of metadata counts as the handler's own.
        let mut stated = handler.metadata.clone();
        stated.extend(rules.iter().rev().flat_map(|rule| rule.metadata.clone()));
        let own = Words { service: &service.name, metadata: &stated };
        let above = Words { service: &service.name, metadata: &service.metadata };
        // What names one handler cannot be said of all of them together, unless there is only one.
        let of_one = |name: &str| {
            let alone = service.handlers.len() == 1;
            own.text(name).or_else(|| above.text(name).filter(|_| alone))
        };
        let text = |rule: fn(&Rule) -> &Option<String>, name: &str| {
            let ruled = rules.iter().find_map(|it| rule(it).clone());
            ruled.or_else(|| of_one(name))
        };
        let flag = |rule: fn(&Rule) -> Option<bool>, name: &str| {
            let ruled = rules.iter().find_map(|it| rule(it));
            ruled.or_else(|| own.flag(name)).or_else(|| above.flag(name))
        };
        let tasks = rules.iter().find_map(|rule| rule.tasks);
        let requires = own.text("requires").or_else(|| above.text("requires"));
        let agent = rules.iter().find_map(|rule| rule.agent.clone());
        Said {
            shown: shown(&rules, own, above, config.default),
            tool: text(|rule| &rule.tool, "tool"),
            agent: agent.or_else(|| own.text("agent")).or_else(|| above.text("agent")),
            skill: text(|rule| &rule.skill, "skill"),
            title: text(|rule| &rule.title, "title"),
            description: text(|rule| &rule.description, "description"),
            annotations: Annotations {
                read_only: flag(|rule| rule.read_only, "readOnly"),
                destructive: flag(|rule| rule.destructive, "destructive"),
                idempotent: flag(|rule| rule.idempotent, "idempotent"),
                open_world: flag(|rule| rule.open_world, "openWorld"),
            },
            tasks: tasks.or_else(|| own.tasks()).or_else(|| above.tasks()).unwrap_or_default(),
            asks: flag(|rule| rule.asks, "asks").unwrap_or(false),
            asks_first: flag(|rule| rule.asks_first, "asksFirst").unwrap_or(false),
            requires: requires.map(|text| words(&text)).unwrap_or_default(),
            metadata: service.metadata.clone().into_iter().chain(stated.clone()).collect(),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

fn shown(rules: &[&Rule], own: Words<'_>, above: Words<'_>, by_default: ByDefault) -> Shown {
    let ruled = rules.iter().find_map(|rule| rule.expose.clone());
    let stated = ruled.or_else(|| own.bridges()).or_else(|| above.bridges());
    match stated {
        Some(bridges) => {
            let to = |bridge| if bridges.contains(&bridge) { To::All } else { To::Nobody };
            Shown { mcp: to(Bridge::Mcp), a2a: to(Bridge::A2a) }
        }
        None => {
            let to = match by_default {
                ByDefault::None => To::Nobody,
                ByDefault::Local => To::Local,
                ByDefault::All => To::All,
            };
            Shown { mcp: to, a2a: to }
        }
    }
}

/// Metadata with the prefix `holdfast.`.
#[derive(Clone, Copy)]
struct Words<'m> {
    service: &'m str,
    metadata: &'m BTreeMap<String, String>,
}

impl Words<'_> {
    fn text(self, name: &str) -> Option<String> {
        self.metadata.get(&format!("holdfast.{name}")).filter(|text| !text.is_empty()).cloned()
    }

    fn flag(self, name: &str) -> Option<bool> {
        match self.text(name)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            other => self.unread(name, other),
        }
    }

    fn tasks(self) -> Option<TaskSupport> {
        match self.text("tasks")?.as_str() {
            "optional" => Some(TaskSupport::Optional),
            "required" => Some(TaskSupport::Required),
            "forbidden" => Some(TaskSupport::Forbidden),
            other => self.unread("tasks", other),
        }
    }

    /// `mcp,a2a`, or `none`. What is no bridge shows nothing.
    fn bridges(self) -> Option<Vec<Bridge>> {
        let text = self.text("expose")?;
        let names = text.split(',').map(str::trim).filter(|name| !matches!(*name, "" | "none"));
        Some(
            names
                .filter_map(|name| Bridge::parse(name).or_else(|| self.unread("expose", name)))
                .collect(),
        )
    }

    fn unread<T>(self, name: &str, value: &str) -> Option<T> {
        tracing::warn!(service = self.service, value, "metadata `holdfast.{name}` cannot be read");
        None
    }
}
