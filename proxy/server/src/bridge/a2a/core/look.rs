//! Looking at tasks: one with everything in it, as of now or as of a row.

use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{self, params};
use crate::bridge::a2a::render::{Fold, Head, Shown};
use crate::tasks::{self, TaskId};

/// Rows that are read at once.
const ROWS_MAX: usize = 500;

/// A task of the caller and of the agent.
pub(super) struct Found {
    pub id: TaskId,
    pub task: tasks::Task,
}

/// Until where a task is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// As it is.
    Now,
    Row(u64),
}

impl Core {
    /// GetTask.
    pub async fn get(
        &self,
        agent: &Agent,
        caller: &Caller,
        get: params::Get,
    ) -> Result<model::Task, Error> {
        get.check()?;
        let found = self.find(agent, caller, &get.id).await?;
        self.told(agent, caller, &found.task, Shown::with_history(get.history_length)).await
    }

    /// The task of that name. What is somebody else's is told like what is not there.
    pub(super) async fn find(
        &self,
        agent: &Agent,
        caller: &Caller,
        name: &str,
    ) -> Result<Found, Error> {
        let unknown = || Error::TaskNotFound(name.to_owned());
        let id: TaskId = name.parse().map_err(|_| unknown())?;
        let task = self.tasks().get(caller.principal.as_str(), id).await;
        let task = task.map_err(|error| refused(name, error))?;
        if agent.owns(&task) { Ok(Found { id, task }) } else { Err(unknown()) }
    }

    /// A task as it is, with so much of it as is wanted.
    pub(super) async fn told(
        &self,
        agent: &Agent,
        caller: &Caller,
        task: &tasks::Task,
        shown: Shown,
    ) -> Result<model::Task, Error> {
        let fold = Fold::new(self.head(agent, task), task.created_at).only(shown);
        let fold = self.folded(fold, caller, task, task.sequence).await?;
        let mut told = fold.task();
        told.metadata.extend(facts(task));
        cut(&mut told.history, shown.history);
        Ok(told)
    }

    /// All rows of a task up to one.
    pub(super) async fn fold(
        &self,
        agent: &Agent,
        caller: &Caller,
        task: &tasks::Task,
        until: Until,
    ) -> Result<Fold, Error> {
        let fold = Fold::new(self.head(agent, task), task.created_at);
        let until = match until {
            Until::Now => task.sequence,
            Until::Row(row) => row.min(task.sequence),
        };
        self.folded(fold, caller, task, until).await
    }

    async fn folded(
        &self,
        mut fold: Fold,
        caller: &Caller,
        task: &tasks::Task,
        until: u64,
    ) -> Result<Fold, Error> {
        while fold.sequence() < until {
            let (principal, after) = (caller.principal.as_str(), fold.sequence());
            let rows = self.tasks().events(principal, task.id, after, ROWS_MAX).await;
            let rows = rows.map_err(|error| refused(&task.id.to_string(), error))?;
            if rows.is_empty() {
                break;
            }
            rows.iter().take_while(|row| row.sequence <= until).for_each(|row| {
                fold.take(row);
            });
        }
        Ok(fold)
    }

    /// What every event of a task says of it.
    pub(super) fn head(&self, agent: &Agent, task: &tasks::Task) -> Head {
        let exposed = agent.skill_of(task).map(|skill| &*skill.exposed);
        Head::of(task.id.to_string(), task.context.clone(), &task.meta, exposed)
    }
}

/// What A2A has no field for.
fn facts(task: &tasks::Task) -> model::Struct {
    use crate::bridge::a2a::render::TASK;
    let mut facts = serde_json::json!({ "invocation": task.invocation.to_string() });
    if let Some(key) = &task.target.key {
        facts["key"] = key.as_str().into();
    }
    // While nobody is asked; then the question says what the task waits for.
    if let Some(waits) = task.waits.as_ref().filter(|_| task.state == tasks::State::Working) {
        facts["waits"] = waits.as_str().into();
    }
    model::Struct::from_iter([(TASK.to_owned(), facts)])
}

/// Leaves the last so many.
pub(super) fn cut(history: &mut Vec<model::Message>, length: Option<i32>) {
    let kept = length.and_then(|length| usize::try_from(length).ok());
    if let Some(kept) = kept {
        history.drain(..history.len().saturating_sub(kept));
    }
}
