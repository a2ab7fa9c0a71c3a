//! CancelTask: the wish is durable before it is answered; the handler may take its time.

use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{Task, params};
use crate::bridge::a2a::render;
use crate::bridge::a2a::render::Shown;
use crate::tasks::{Cancelled, State, TaskId};
use std::time::Duration;

impl Core {
    /// CancelTask.
    pub async fn cancel(
        &self,
        agent: &Agent,
        caller: &Caller,
        cancel: params::Cancel,
    ) -> Result<Task, Error> {
        cancel.check()?;
        let found = self.find(agent, caller, &cancel.id).await?;
        let principal = caller.principal.as_str();
        let cancelled = self.tasks().cancel(principal, found.id).await;
        match cancelled.map_err(|error| refused(&cancel.id, error))? {
            Cancelled::Now | Cancelled::AlreadyEnded(State::Cancelled) => {}
            Cancelled::AlreadyEnded(state) => {
                let state = render::to_model(state).name();
                return Err(Error::TaskNotCancelable { task: cancel.id, state });
            }
            Cancelled::Asked => {
                let patience = Duration::from_millis(self.config().cancel_wait_ms);
                let ended = self.ended(principal, found.id, found.task.sequence);
                // Late: the task is told as it is, and ends when its handler does.
                let _ = tokio::time::timeout(patience, ended).await;
            }
        }
        let found = self.find(agent, caller, &cancel.id).await?;
        self.told(agent, caller, &found.task, Shown::with_history(None)).await
    }

    /// Waits for the last row of a task; also where the task cannot be read any more.
    async fn ended(&self, principal: &str, id: TaskId, after: u64) {
        let Ok(mut feed) = self.tasks().follow(principal, id, after).await else {
            return;
        };
        while let Ok(Some(_)) = feed.next().await {}
    }
}
