//! Making a task: the invocation, and what is kept beside it, in one commit. Draws the chance that
//! the machine must not draw.

use super::error::unexpected;
use super::{Error, NewMessage, State, Task, TaskId, Tasks};
use crate::chance;
use crate::registry::Handler;
use bytes::Bytes;
use holdfast_machine::{
    command::{Command, Reply},
    id::{InvocationId, PartitionKey},
    model::{NewInvocation, Retention, Source, Target},
    tables::push_config::PushConfig,
    task,
};
use holdfast_wire::manifest::HandlerType;
use std::sync::Arc;
use std::time::Duration;

/// Largest thing that a door may keep with a task, in bytes.
const META_BYTES_MAX: usize = 64 * 1024;
/// Largest context and principal, in bytes.
const NAME_BYTES_MAX: usize = 4 * 1024;
/// How long a task is kept after its end at least: whoever started it has to see how it ended.
const KEPT_MIN: Duration = Duration::from_secs(60);

/// The wish to start a handler and to follow it.
#[derive(Debug, Clone)]
pub struct NewTask {
    pub service: String,
    pub handler: Arc<Handler>,
    /// Of objects and workflows.
    pub key: Option<String>,
    pub body: Bytes,
    pub headers: Vec<(String, String)>,
    pub principal: String,
    /// What it belongs to; one is made up where there is none.
    pub context: Option<String>,
    pub door: String,
    /// The door's own, kept as it is.
    pub meta: Bytes,
    pub idempotency: Option<Idempotency>,
    /// The message that starts it.
    pub message: Option<NewMessage>,
    /// Who is sent its events, from the first one on, by name.
    pub pushes: Vec<(String, PushConfig)>,
}

/// Lets the same request come again without being done twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// What the key is about: a tool, an agent.
    pub scope: String,
    pub key: String,
    /// Of the request.
    pub digest: [u8; 32],
}

#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// As it was accepted, where it is new; else as it is now.
    pub task: Task,
    pub new: bool,
}

impl Tasks {
    /// Starts a handler. It is durable when this returns.
    ///
    /// # Errors
    /// Nothing has happened then.
    pub async fn create(&self, new: NewTask) -> Result<Created, Error> {
        check(&new)?;
        let id = identity(&new);
        let invocation = invocation(&new, id);
        let wished = task::NewTask {
            secret: chance::u128(),
            principal: new.principal.clone(),
            context: new.context.clone().unwrap_or_else(made_up_context),
            door: new.door.clone(),
            meta: new.meta.clone(),
            digest: match &new.idempotency {
                Some(idempotency) => Bytes::copy_from_slice(&idempotency.digest),
                None => Bytes::new(),
            },
            message: new.message.clone().map(NewMessage::into_machine),
            pushes: new.pushes.clone(),
        };
        let accepted = self.accepted(&invocation, &wished);
        let command = Command::StartTask { new: Box::new(invocation), task: Box::new(wished) };
        match self.router.of(id).call(command).await? {
            Reply::Started { new: true, .. } => Ok(Created { task: accepted, new: true }),
            Reply::Started { new: false, secret } => {
                let task = self.get(&new.principal, TaskId::new(id, secret)).await?;
                Ok(Created { task, new: false })
            }
            Reply::OtherRequest if new.idempotency.is_none() => Err(Error::Exists),
            Reply::OtherRequest => Err(Error::OtherRequest),
            Reply::NoTask => Err(Error::Exists),
            reply => Err(unexpected(&reply)),
        }
    }

    fn accepted(&self, new: &NewInvocation, wished: &task::NewTask) -> Task {
        let now = self.clock.now();
        Task {
            id: TaskId::new(new.id, wished.secret),
            invocation: new.id,
            target: new.target.clone(),
            principal: wished.principal.clone(),
            context: wished.context.clone(),
            door: wished.door.clone(),
            meta: wished.meta.clone(),
            state: State::Submitted,
            sequence: 1 + u64::from(wished.message.is_some()),
            created_at: now,
            updated_at: now,
            progress: None,
            asks: vec![],
            ended: None,
            cancel_wanted: false,
            waits: None,
            wakes_at: None,
            expires_at: None,
        }
    }
}

fn check(new: &NewTask) -> Result<(), Error> {
    let name = format!("{}/{}", new.service, new.handler.name);
    match (&new.key, new.handler.ty) {
        (Some(_), HandlerType::Service) => {
            return Err(Error::Key(format!("`{name}` has no key; leave it out")));
        }
        (None, HandlerType::Exclusive | HandlerType::Shared | HandlerType::Workflow) => {
            return Err(Error::Key(format!("`{name}` needs a key; say which")));
        }
        _ => {}
    }
    if new.meta.len() > META_BYTES_MAX {
        return Err(Error::Full(format!("what a door keeps has more than {META_BYTES_MAX} bytes")));
    }
    let context = new.context.as_deref().unwrap_or_default();
    if context.len().max(new.principal.len()) > NAME_BYTES_MAX {
        return Err(Error::Full(format!("the context has more than {NAME_BYTES_MAX} bytes")));
    }
    Ok(())
}

fn identity(new: &NewTask) -> InvocationId {
    let key = new.key.as_deref();
    if new.handler.ty == HandlerType::Workflow {
        return InvocationId::workflow(&new.service, key.unwrap_or_default());
    }
    match &new.idempotency {
        Some(idempotency) => InvocationId::task(
            (&new.service, key, &new.handler.name),
            [&new.principal, &idempotency.scope],
            &idempotency.key,
        ),
        None => InvocationId {
            partition_key: match key {
                Some(key) => PartitionKey::of_key(key),
                None => PartitionKey::of_service(&new.service, chance::u64()),
            },
            uuid: chance::u128(),
        },
    }
}

fn invocation(new: &NewTask, id: InvocationId) -> NewInvocation {
    let Retention { completion, journal } = new.handler.retention(true);
    NewInvocation {
        id,
        target: Target {
            service: new.service.clone(),
            key: new.key.clone(),
            handler: new.handler.name.clone(),
            ty: new.handler.ty,
        },
        argument: new.body.clone(),
        headers: new.headers.clone(),
        idempotency_key: None,
        source: Source::Ingress,
        root: id,
        start_at: None,
        retention: Retention { completion: completion.max(KEPT_MIN), journal },
        lazy_state: new.handler.options.lazy_state,
        random_seed: chance::u64(),
    }
}

fn made_up_context() -> String {
    format!("ctx_{:032x}", chance::u128())
}
