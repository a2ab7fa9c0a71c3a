//! Receivers of a task's events: kept with the task, for whoever started it. What they are sent is
//! the business of the door that registers them.

use super::error::unexpected;
use super::{Error, TaskId, Tasks};
use holdfast_machine::{
    command::{Command, Reply},
    tables::push_config::{self, PushConfig},
};

impl Tasks {
    /// Registers a receiver under a name, or replaces the one of that name.
    ///
    /// # Errors
    /// `Full` where the task has as many as may be.
    pub async fn put_push(
        &self,
        principal: &str,
        id: TaskId,
        name: &str,
        config: PushConfig,
    ) -> Result<(), Error> {
        self.get(principal, id).await?;
        let (invocation, name) = (id.invocation(), name.to_owned());
        let command = Command::PutPush { invocation, name, config: Box::new(config) };
        match self.router.of(invocation).call(command).await? {
            Reply::Stored { .. } => Ok(()),
            Reply::Unknown => Err(Error::NotFound),
            Reply::TooManyPushes(most) => {
                Err(Error::Full(format!("the task has {most} receivers already; delete one")))
            }
            reply => Err(unexpected(&reply)),
        }
    }

    /// The receivers of a task, by name.
    ///
    /// # Errors
    /// As `get`.
    pub async fn pushes(
        &self,
        principal: &str,
        id: TaskId,
    ) -> Result<Vec<(String, PushConfig)>, Error> {
        self.get(principal, id).await?;
        let invocation = id.invocation();
        let store = &**self.router.store();
        Ok(push_config::all(store, self.home(invocation), invocation)?)
    }

    /// Forgets a receiver, if it is there; what is queued for it is not sent.
    ///
    /// # Errors
    /// As `get`.
    pub async fn delete_push(&self, principal: &str, id: TaskId, name: &str) -> Result<(), Error> {
        self.get(principal, id).await?;
        let (invocation, name) = (id.invocation(), name.to_owned());
        match self.router.of(invocation).call(Command::DeletePush { invocation, name }).await? {
            Reply::Done => Ok(()),
            Reply::Unknown => Err(Error::NotFound),
            reply => Err(unexpected(&reply)),
        }
    }
}
