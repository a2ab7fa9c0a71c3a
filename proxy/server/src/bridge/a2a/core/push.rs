//! The four operations on receivers of push notifications.

use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{Authentication, PushConfig, PushConfigPage, params};
use crate::bridge::a2a::push;
use crate::bridge::a2a::version::Wire;
use crate::chance;
use crate::tasks::TaskId;
use holdfast_machine::{tables::push_config, time::Timestamp};

/// Receivers on a page, where the client does not say how many.
const PAGE_SIZE: usize = 50;
const PAGE_SIZE_MAX: i32 = 100;

impl Core {
    pub async fn create_push_config(
        &self,
        agent: &Agent,
        caller: &Caller,
        config: PushConfig,
    ) -> Result<PushConfig, Error> {
        agent.check_push()?;
        required("taskId", &config.task_id)?;
        let found = self.find(agent, caller, &config.task_id).await?;
        let config = self.checked(config)?;
        let row = row(&config, caller.wire);
        let put = self.tasks().put_push(caller.principal.as_str(), found.id, &config.id, row).await;
        put.map_err(|error| refused(&config.task_id, error))?;
        Ok(config)
    }

    pub async fn get_push_config(
        &self,
        agent: &Agent,
        caller: &Caller,
        of: params::PushConfigOf,
    ) -> Result<PushConfig, Error> {
        agent.check_push()?;
        required("taskId", &of.task_id)?;
        required("id", &of.id)?;
        let configs = self.configs(agent, caller, &of.task_id).await?;
        let found = configs.into_iter().find(|config| config.id == of.id);
        found.ok_or(Error::TaskNotFound(of.task_id))
    }

    pub async fn list_push_configs(
        &self,
        agent: &Agent,
        caller: &Caller,
        of: params::PushConfigsOf,
    ) -> Result<PushConfigPage, Error> {
        agent.check_push()?;
        required("taskId", &of.task_id)?;
        let size = match of.page_size {
            0 => PAGE_SIZE,
            1..=PAGE_SIZE_MAX => usize::try_from(of.page_size).unwrap_or(PAGE_SIZE),
            _ => return Err(Error::invalid("pageSize", "must be between 1 and 100")),
        };
        let configs = self.configs(agent, caller, &of.task_id).await?;
        let from = match of.page_token.as_str() {
            "" => 0,
            // The name of the last one that was given: others may have come or gone.
            after => configs.partition_point(|config| config.id.as_str() <= after),
        };
        let rest = configs.len() - from;
        let configs: Vec<_> = configs.into_iter().skip(from).take(size).collect();
        let last = configs.last().filter(|_| rest > size);
        let next_page_token = last.map(|config| config.id.clone()).unwrap_or_default();
        Ok(PushConfigPage { configs, next_page_token })
    }

    pub async fn delete_push_config(
        &self,
        agent: &Agent,
        caller: &Caller,
        of: params::PushConfigOf,
    ) -> Result<(), Error> {
        agent.check_push()?;
        required("taskId", &of.task_id)?;
        required("id", &of.id)?;
        let found = self.find(agent, caller, &of.task_id).await?;
        let deleted = self.tasks().delete_push(caller.principal.as_str(), found.id, &of.id).await;
        deleted.map_err(|error| refused(&of.task_id, error))
    }

    /// The receiver that a message brings along, as the room below keeps it.
    pub(super) fn brought(
        &self,
        agent: &Agent,
        caller: &Caller,
        config: Option<&PushConfig>,
    ) -> Result<Option<(String, push_config::PushConfig)>, Error> {
        let Some(config) = config else {
            return Ok(None);
        };
        agent.check_push()?;
        let config = self.checked(config.clone())?;
        let row = row(&config, caller.wire);
        Ok(Some((config.id, row)))
    }

    /// Registers the receiver that a message to a task brings along.
    pub(super) async fn register_brought(
        &self,
        caller: &Caller,
        (task, id): (&str, TaskId),
        brought: Option<(String, push_config::PushConfig)>,
    ) -> Result<(), Error> {
        let Some((name, row)) = brought else {
            return Ok(());
        };
        let put = self.tasks().put_push(caller.principal.as_str(), id, &name, row).await;
        put.map_err(|error| refused(task, error))
    }

    /// With a name.
    fn checked(&self, config: PushConfig) -> Result<PushConfig, Error> {
        push::check(&self.config().push, &config)?;
        match config.id.is_empty() {
            true => Ok(PushConfig { id: format!("push_{:032x}", chance::u128()), ..config }),
            false => Ok(config),
        }
    }

    async fn configs(
        &self,
        agent: &Agent,
        caller: &Caller,
        task: &str,
    ) -> Result<Vec<PushConfig>, Error> {
        let found = self.find(agent, caller, task).await?;
        let rows = self.tasks().pushes(caller.principal.as_str(), found.id).await;
        let rows = rows.map_err(|error| refused(task, error))?.into_iter();
        Ok(rows.map(|(id, row)| told(id, task, row)).collect())
    }
}

fn required(field: &str, value: &str) -> Result<(), Error> {
    if value.is_empty() { Err(Error::invalid(field, "is required")) } else { Ok(()) }
}

/// The form in which a receiver is told: that of the conversation in which it was registered.
fn row(config: &PushConfig, wire: Wire) -> push_config::PushConfig {
    push_config::PushConfig {
        url: config.url.clone(),
        token: config.token.clone(),
        authentication: config.authentication.as_ref().map(|it| push_config::Authentication {
            scheme: it.scheme.clone(),
            credentials: it.credentials.clone(),
        }),
        form: push::form(wire),
        created_at: Timestamp(0),
    }
}

fn told(id: String, task: &str, row: push_config::PushConfig) -> PushConfig {
    PushConfig {
        id,
        task_id: task.to_owned(),
        url: row.url,
        token: row.token,
        authentication: row
            .authentication
            .map(|it| Authentication { scheme: it.scheme, credentials: it.credentials }),
    }
}
