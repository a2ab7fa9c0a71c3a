//! SendMessage and SendStreamingMessage: what a message does, and what its sender is told.

use super::{Agent, Caller, Core, Events, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{Message, SendResponse, params};
use crate::bridge::a2a::render::{Shown, direct_message};
use crate::tasks::{self, TaskId, What};
use holdfast_machine::model::Outcome;
use std::time::Duration;

/// A message that is durably taken.
pub(super) struct Accepted {
    pub id: TaskId,
    /// As it was when the message was taken, or now where it was taken before.
    pub task: tasks::Task,
    /// What comes of the message comes after this row.
    pub sequence: u64,
    /// The handler may answer with a message instead of a task.
    pub may_answer_directly: bool,
}

impl Core {
    /// SendMessage.
    pub async fn send(
        &self,
        agent: &Agent,
        caller: &Caller,
        send: params::Send,
    ) -> Result<SendResponse, Error> {
        send.check()?;
        let (at_once, history) =
            (send.configuration.return_immediately, send.configuration.history_length);
        let accepted = self.accept(agent, caller, send).await?;
        if accepted.may_answer_directly
            && let Some(message) = self.direct(agent, caller, &accepted).await?
        {
            return Ok(SendResponse::Message(Box::new(message)));
        }
        let task = match at_once {
            true => accepted.task,
            false => self.settled(caller, accepted).await?,
        };
        let told = self.told(agent, caller, &task, Shown::with_history(history)).await?;
        Ok(SendResponse::Task(Box::new(told)))
    }

    /// SendStreamingMessage.
    pub async fn send_streaming(
        &self,
        agent: &Agent,
        caller: &Caller,
        send: params::Send,
    ) -> Result<Events, Error> {
        agent.check_streaming()?;
        send.check()?;
        let history = send.configuration.history_length;
        let accepted = self.accept(agent, caller, send).await?;
        if accepted.may_answer_directly
            && let Some(message) = self.direct(agent, caller, &accepted).await?
        {
            return Ok(Events::one_message(message));
        }
        self.follow_sent(agent, caller, &accepted, history).await
    }

    /// Makes a message durable: as a new task, or as a part of the one that it names.
    async fn accept(
        &self,
        agent: &Agent,
        caller: &Caller,
        send: params::Send,
    ) -> Result<Accepted, Error> {
        if send.configuration.push.is_some() {
            agent.check_push()?;
        }
        match send.message.task_id.is_empty() {
            true => self.start(agent, caller, send).await,
            false => self.follow_up(agent, caller, send).await,
        }
    }

    /// The task when it has come to rest because of the message, or as it is when the wait is over.
    async fn settled(&self, caller: &Caller, accepted: Accepted) -> Result<tasks::Task, Error> {
        let principal = caller.principal.as_str();
        let patience = Duration::from_millis(self.config().wait_ms);
        let settled = self.tasks().settled(principal, accepted.id, accepted.sequence);
        let settled = match tokio::time::timeout(patience, settled).await {
            Ok(settled) => settled,
            Err(_) => self.tasks().get(principal, accepted.id).await,
        };
        settled.map_err(|error| refused(&accepted.id.to_string(), error))
    }

    /// Waits until a handler that may answer with a message has ended or has shown something else,
    /// and gives the message if there is one.
    async fn direct(
        &self,
        agent: &Agent,
        caller: &Caller,
        accepted: &Accepted,
    ) -> Result<Option<Message>, Error> {
        let patience = Duration::from_millis(self.config().wait_ms);
        let shown = self.first_shown(caller, accepted);
        let Ok(shown) = tokio::time::timeout(patience, shown).await else {
            return Ok(None);
        };
        match shown? {
            Some(What::Ended(tasks::Ended { outcome: Outcome::Success(output), .. })) => {
                direct_message(&output, &self.head(agent, &accepted.task))
            }
            _ => Ok(None),
        }
    }

    /// The first row after the message in which its handler does anything.
    async fn first_shown(
        &self,
        caller: &Caller,
        accepted: &Accepted,
    ) -> Result<Option<What>, Error> {
        let told = |error| refused(&accepted.id.to_string(), error);
        let principal = caller.principal.as_str();
        let feed = self.tasks().follow(principal, accepted.id, accepted.sequence).await;
        let mut feed = feed.map_err(told)?;
        while let Some(rows) = feed.next().await.map_err(told)? {
            let shown = rows.into_iter().map(|row| row.what).find(|what| {
                !matches!(what, What::State | What::Message(_) | What::Answered { .. })
            });
            if shown.is_some() {
                return Ok(shown);
            }
        }
        Ok(None)
    }
}
