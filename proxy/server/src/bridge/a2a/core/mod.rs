//! The operations, the same for every binding: messages become invocations and answers, rows of the
//! feed become tasks and streams. Every decision about a task is made by the room below; here is
//! only what A2A says about it.

mod agent;
mod cancel;
mod card;
mod follow_up;
mod input;
mod list;
mod look;
mod push;
mod send;
mod start;
mod stream;
#[cfg(test)]
mod tests;

pub use agent::{Agent, Skill};
pub use stream::{Event, Events};

use super::card::Cards;
use super::config::Config;
use super::error::Error;
use super::operation::{Operation, Outcome};
use super::version::Wire;
use crate::guard::Principal;
use crate::registry::exposure::Exposure;
use crate::tasks::{self, Tasks};
use std::sync::Arc;

/// What the operations are done with. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    exposure: Exposure,
    tasks: Tasks,
    cards: Cards,
    /// Callers have to show who they are.
    tokens: bool,
}

/// What a core is made of.
pub struct Parts {
    pub exposure: Exposure,
    pub tasks: Tasks,
    pub cards: Cards,
    /// Callers have to show who they are.
    pub tokens: bool,
}

/// Who asks, and how.
#[derive(Debug, Clone)]
pub struct Caller {
    pub principal: Principal,
    /// From this machine.
    pub is_local: bool,
    /// Extensions that the request names.
    pub extensions: Vec<String>,
    /// A header that says which requests are the same one.
    pub idempotency_key: Option<String>,
    pub wire: Wire,
    /// The address of the agent as the caller reaches it, without a slash at its end.
    pub url: String,
}

impl Core {
    pub fn new(config: Config, parts: Parts) -> Core {
        let Parts { exposure, tasks, cards, tokens } = parts;
        Core { shared: Arc::new(Shared { config, exposure, tasks, cards, tokens }) }
    }

    pub fn config(&self) -> &Config {
        &self.shared.config
    }

    pub fn exposure(&self) -> &Exposure {
        &self.shared.exposure
    }

    pub fn tasks(&self) -> &Tasks {
        &self.shared.tasks
    }

    /// Does what is asked of an agent.
    ///
    /// # Errors
    /// All of section 9 of the specification but those of the bindings.
    pub async fn perform(
        &self,
        agent: &Agent,
        caller: &Caller,
        operation: Operation,
    ) -> Result<Outcome, Error> {
        Ok(match operation {
            Operation::Send(send) => Outcome::Sent(self.send(agent, caller, *send).await?),
            Operation::SendStreaming(send) => {
                Outcome::Events(Box::new(self.send_streaming(agent, caller, *send).await?))
            }
            Operation::Get(get) => Outcome::Task(Box::new(self.get(agent, caller, get).await?)),
            Operation::List(list) => Outcome::Page(self.list(agent, caller, list).await?),
            Operation::Cancel(cancel) => {
                Outcome::Task(Box::new(self.cancel(agent, caller, cancel).await?))
            }
            Operation::Subscribe(to) => {
                Outcome::Events(Box::new(self.subscribe(agent, caller, to).await?))
            }
            Operation::CreatePushConfig(config) => {
                Outcome::PushConfig(self.create_push_config(agent, caller, config).await?)
            }
            Operation::GetPushConfig(of) => {
                Outcome::PushConfig(self.get_push_config(agent, caller, of).await?)
            }
            Operation::ListPushConfigs(of) => {
                Outcome::PushConfigs(self.list_push_configs(agent, caller, of).await?)
            }
            Operation::DeletePushConfig(of) => {
                self.delete_push_config(agent, caller, of).await?;
                Outcome::Deleted
            }
            Operation::ExtendedCard => Outcome::Card(self.extended_card(agent, caller).await?),
        })
    }
}

/// What the room below refuses, in the words of A2A. `task` is how the client named it.
fn refused(task: &str, error: tasks::Error) -> Error {
    let (code, error_text) = (error.code(), error.to_string());
    match error {
        tasks::Error::NotFound => Error::TaskNotFound(task.into()),
        tasks::Error::Ended(state) => Error::UnsupportedOperation(format!(
            "the task is {} and takes no messages",
            super::render::to_model(state).name()
        )),
        tasks::Error::OtherRequest | tasks::Error::OtherMessage => Error::invalid(
            "message.messageId",
            "was used before, for a message that says something else",
        ),
        tasks::Error::Exists => Error::invalid("message.metadata.key", "has had its run already"),
        tasks::Error::Key(why) => Error::invalid("message.metadata.key", why),
        tasks::Error::Violation(why) => Error::invalid("message.parts", why),
        tasks::Error::PageToken => {
            Error::invalid("pageToken", "is none that was given for these filters")
        }
        tasks::Error::Full(why) => Error::Overloaded { message: why, code, retry_after_seconds: 1 },
        tasks::Error::Unavailable(unavailable) => {
            Error::Overloaded { message: unavailable.to_string(), code, retry_after_seconds: 1 }
        }
        tasks::Error::NoSuchAsk => {
            Error::invalid("message.metadata.ask", "is no question of this task")
        }
        tasks::Error::Late(closed) => Error::invalid(
            "message.metadata.ask",
            format!("is a question that was closed before: {}", closed.how.as_str()),
        ),
        tasks::Error::FeedFull => Error::UnsupportedOperation(format!("{error_text} ({code})")),
        tasks::Error::Fault(_) => Error::Internal(error_text),
    }
}
