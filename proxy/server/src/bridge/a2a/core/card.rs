//! The cards of agents: the public one, and GetExtendedAgentCard.

use super::{Agent, Caller, Core};
use crate::bridge::a2a::card::model::AgentExtension;
use crate::bridge::a2a::card::{self, AgentCard, Reader, Subject};
use crate::bridge::a2a::error::Error;
use crate::http::Body;
use crate::registry::exposure::Exposed;
use http::{Response, request::Parts};
use serde_json::Value;
use std::sync::Arc;

impl Core {
    /// The card that is for everybody. `url` is the agent's own, without a slash at its end.
    pub fn public_card(&self, agent: &Agent, url: &str, head: &Parts) -> Response<Body> {
        let skills = skills(agent);
        let reader = Reader { url, extended: false, tokens: self.shared.tokens };
        self.shared.cards.answer(&subject(agent, &skills), reader, head)
    }

    /// The keys that cards are signed with.
    pub fn card_keys(&self, head: &Parts) -> Response<Body> {
        self.shared.cards.keys(head)
    }

    /// GetExtendedAgentCard, as JSON.
    pub async fn extended_card(&self, agent: &Agent, caller: &Caller) -> Result<Value, Error> {
        Ok(card::json(&self.extended_agent_card(agent, caller)?))
    }

    /// GetExtendedAgentCard.
    ///
    /// # Errors
    /// `UnsupportedOperation` where there is none, `ExtendedCardNotConfigured` where nobody can
    /// show who they are.
    pub fn extended_agent_card(&self, agent: &Agent, caller: &Caller) -> Result<AgentCard, Error> {
        if !self.shared.cards.extended() {
            let told = format!("the agent `{}` has no extended card", agent.name);
            return Err(Error::UnsupportedOperation(told));
        }
        if !self.shared.tokens {
            return Err(Error::ExtendedCardNotConfigured);
        }
        let skills = skills(agent);
        let reader = Reader { url: &caller.url, extended: true, tokens: true };
        Ok(self.shared.cards.card(&subject(agent, &skills), reader))
    }
}

fn skills(agent: &Agent) -> Vec<Arc<Exposed>> {
    agent.skills.iter().map(|skill| skill.exposed.clone()).collect()
}

fn subject<'a>(agent: &'a Agent, skills: &'a [Arc<Exposed>]) -> Subject<'a> {
    let extension = |it: &crate::bridge::a2a::config::Extension| AgentExtension {
        uri: it.uri.clone(),
        description: it.description.clone(),
        required: it.required,
        params: it.params.clone(),
    };
    Subject {
        name: &agent.name,
        title: None,
        description: None,
        skills,
        extensions: agent.settings.extensions.iter().map(extension).collect(),
        streaming: agent.settings.streaming,
        push: agent.settings.push_notifications,
    }
}
