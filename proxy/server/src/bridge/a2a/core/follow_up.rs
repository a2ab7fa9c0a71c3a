//! A message that names a task answers its question, or waits for the next one.

use super::send::Accepted;
use super::start::{digest_of, new_message, said};
use super::{Agent, Caller, Core, input, refused};
use crate::bridge::a2a::config::Idempotency;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::params;
use crate::tasks::{AskId, NewMessage};

impl Core {
    pub(super) async fn follow_up(
        &self,
        agent: &Agent,
        caller: &Caller,
        send: params::Send,
    ) -> Result<Accepted, Error> {
        let message = &send.message;
        let found = self.find(agent, caller, &message.task_id).await?;
        if !message.context_id.is_empty() && message.context_id != found.task.context {
            return Err(Error::invalid("message.contextId", "is not the context of the task"));
        }
        let answers = meant(&send)?;
        let skill = agent.skill_of(&found.task);
        if let Some(skill) = skill {
            input::check_media_types(agent, skill, message)?;
        }
        let is_told_apart = caller.idempotency_key.is_some()
            || agent.settings.idempotency == Idempotency::MessageId;
        let brought = self.brought(agent, caller, send.configuration.push.as_ref())?;
        self.register_brought(caller, (&message.task_id, found.id), brought).await?;
        let digest = is_told_apart.then(|| digest_of(message));
        let new = NewMessage { answers, ..new_message(caller, message, digest) };
        let taken = self.tasks().message(caller.principal.as_str(), found.id, new).await;
        let taken = taken.map_err(|error| refused(&message.task_id, error))?;
        // The row behind that of an answer says that the question is answered.
        let sequence = taken.sequence + u64::from(taken.answered.is_some());
        let task = self.find(agent, caller, &message.task_id).await?.task;
        let may_answer_directly = skill.is_some_and(|skill| skill.may_answer_directly());
        Ok(Accepted { id: found.id, task, sequence, may_answer_directly })
    }
}

/// The question that a message says it answers: an answer to one must not be taken for an answer
/// to the next, where the first was closed meanwhile.
fn meant(send: &params::Send) -> Result<Option<AskId>, Error> {
    let field = "message.metadata.ask";
    let read = |id: &str| id.parse().map_err(|_| Error::invalid(field, "is no id of a question"));
    said(send, "ask").map(read).transpose()
}
