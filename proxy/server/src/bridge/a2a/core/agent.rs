//! Agents: the handlers that are exposed under one name, and what is configured for it.

use super::{Caller, Core};
use crate::bridge::a2a::config::Settings;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::render::{ANSWERS, MESSAGE};
use crate::registry::exposure::Exposed;
use crate::tasks;
use std::sync::Arc;

/// What one caller sees of an agent at one moment.
#[derive(Debug, Clone)]
pub struct Agent {
    pub name: String,
    /// At least one.
    pub skills: Vec<Skill>,
    pub settings: Settings,
    /// The number of the catalogue that it is from: another number, perhaps another agent.
    pub revision: u64,
}

/// One handler of an agent.
#[derive(Debug, Clone)]
pub struct Skill {
    pub id: String,
    pub exposed: Arc<Exposed>,
}

/// Metadata of handlers that only matters here.
mod setting {
    /// `message`: the handler is given the whole message as JSON.
    pub const INPUT: &str = "holdfast.input";
    /// `true`: the handler takes the messages that name no skill.
    pub const DEFAULT: &str = "holdfast.default";
}

impl Skill {
    /// The handler is given the whole message.
    pub fn takes_messages(&self) -> bool {
        self.exposed.setting(setting::INPUT) == Some(MESSAGE)
    }

    /// What the handler returns may be a message instead of the result of a task.
    pub fn may_answer_directly(&self) -> bool {
        self.exposed.setting(ANSWERS) == Some(MESSAGE)
    }

    fn is_default(&self) -> bool {
        self.exposed.setting(setting::DEFAULT) == Some("true")
    }

    /// Media types of the parts that the handler understands; empty for one that sees whole
    /// messages and so anything.
    pub fn input_modes(&self) -> Vec<String> {
        if self.takes_messages() {
            return vec![];
        }
        let ty = self.exposed.handler.input.content_type.as_deref();
        match ty.unwrap_or("application/json") {
            "*/*" | "application/json" => vec!["application/json".into(), "text/plain".into()],
            other => vec![other.into()],
        }
    }

    pub fn service(&self) -> &str {
        &self.exposed.service.name
    }

    pub fn handler(&self) -> &str {
        &self.exposed.handler.name
    }

    fn owns(&self, task: &tasks::Task) -> bool {
        task.target.service == self.service() && task.target.handler == self.handler()
    }
}

impl Agent {
    /// Whether a task is one of this agent; others it does not know.
    pub fn owns(&self, task: &tasks::Task) -> bool {
        self.skills.iter().any(|skill| skill.owns(task))
    }

    pub fn skill_of(&self, task: &tasks::Task) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.owns(task))
    }

    /// The skill that a message is for: the one that it names, the only one, or the default one.
    pub fn skill(&self, named: Option<&str>) -> Result<&Skill, Error> {
        let wrong = |why: String| Error::invalid("message.metadata.skill", why);
        let known = || {
            let ids: Vec<&str> = self.skills.iter().map(|skill| skill.id.as_str()).collect();
            ids.join(", ")
        };
        if let Some(named) = named {
            let skill = self.skills.iter().find(|skill| skill.id == named);
            return skill.ok_or_else(|| wrong(format!("names no skill; there are: {}", known())));
        }
        match self.skills.as_slice() {
            [only] => Ok(only),
            skills => skills
                .iter()
                .find(|skill| skill.is_default())
                .ok_or_else(|| wrong(format!("must name a skill; there are: {}", known()))),
        }
    }

    /// What the card requires, the request has to name.
    ///
    /// # Errors
    /// `ExtensionRequired` with the first that is missing.
    pub fn check_extensions(&self, caller: &Caller) -> Result<(), Error> {
        let required = self.settings.extensions.iter().filter(|extension| extension.required);
        match { required }.find(|extension| !caller.extensions.contains(&extension.uri)) {
            Some(missing) => Err(Error::ExtensionRequired(missing.uri.clone())),
            None => Ok(()),
        }
    }

    /// The extensions that the request names and the agent has.
    pub fn activated(&self, caller: &Caller) -> Vec<&str> {
        let known = self.settings.extensions.iter().map(|extension| extension.uri.as_str());
        known.filter(|uri| caller.extensions.iter().any(|asked| asked == uri)).collect()
    }

    /// # Errors
    /// `UnsupportedOperation` where streams are off.
    pub fn check_streaming(&self) -> Result<(), Error> {
        match self.settings.streaming {
            true => Ok(()),
            false => Err(Error::UnsupportedOperation("this agent has no streams".into())),
        }
    }

    /// # Errors
    /// `PushNotSupported` where push notifications are off.
    pub fn check_push(&self) -> Result<(), Error> {
        if self.settings.push_notifications { Ok(()) } else { Err(Error::PushNotSupported) }
    }
}

impl Core {
    /// The agent of that name, as a caller sees it.
    pub fn agent(&self, name: &str, is_local: bool) -> Option<Agent> {
        let catalogue = self.shared.exposure.catalogue();
        let skills: Vec<Skill> = catalogue
            .agent(name, is_local)
            .map(|exposed| Skill { id: exposed.skill.clone(), exposed: exposed.clone() })
            .collect();
        let settings = || self.shared.config.agent(name);
        (!skills.is_empty()).then(|| Agent {
            name: name.to_owned(),
            skills,
            settings: settings(),
            revision: catalogue.number,
        })
    }

    /// The names of all agents that a caller sees, in order.
    pub fn agents(&self, is_local: bool) -> Vec<String> {
        let catalogue = self.shared.exposure.catalogue();
        catalogue.agents(is_local).into_iter().map(str::to_owned).collect()
    }

    /// The agent at the root of the listener, else the only one that there is.
    pub fn root_agent(&self, is_local: bool) -> Option<Agent> {
        if let Some(root) = &self.shared.config.root {
            return self.agent(root, is_local);
        }
        match self.agents(is_local).as_slice() {
            [only] => self.agent(only, is_local),
            _ => None,
        }
    }
}
