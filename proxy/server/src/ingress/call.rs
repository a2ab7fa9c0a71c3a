//! Calls and sends: the checks before one is accepted, the invocation that is made of it, and what
//! becomes of it. Draws the chance that the machine must not draw.

use super::{Error, Ingress, answer, errand::Errand, headers, route::Called};
use crate::chance;
use crate::duration;
use crate::http::{Body, percent};
use crate::partition::{Unavailable, Waited};
use crate::registry::Handler;
use bytes::Bytes;
use holdfast_machine::{
    command::{Command, Reply},
    id::{InvocationId, ulid},
    model::{NewInvocation, Source, Target},
    time::Timestamp,
};
use holdfast_wire::manifest::{HandlerType, ServiceType};
use http::{HeaderMap, Method, Response, header, request::Parts};
use std::sync::Arc;
use tokio::sync::oneshot;

/// What a call of a workflow's run comes to when the run exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    Refuse,
    /// Wait for the run that exists: `Prefer: holdfast-attach` or `?attach=true`.
    Attach,
}

const PREFER_ATTACH: &str = "holdfast-attach";

impl Called<'_> {
    /// What can be said before the body is read.
    ///
    /// # Errors
    /// Where the handler is private, the method or the idempotency key is none that it takes.
    pub fn check(&self, head: &Parts) -> Result<(), Error> {
        if !self.service.public {
            return Err(Error::Private(self.service.name.clone()));
        }
        if !self.handler.public {
            return Err(Error::Private(format!("{}/{}", self.service.name, self.handler.name)));
        }
        if self.is_run() && head.headers.contains_key(&headers::IDEMPOTENCY_KEY) {
            return Err(Error::IdempotentRun);
        }
        headers::text(&head.headers, &headers::IDEMPOTENCY_KEY)?;
        match head.method {
            Method::GET | Method::POST => Ok(()),
            _ => Err(Error::Method(head.method.clone(), "GET or POST")),
        }
    }

    fn is_run(&self) -> bool {
        self.handler.ty == HandlerType::Workflow
    }

    /// The content rules of the handler's input.
    fn check_input(&self, request: &HeaderMap, body: &Bytes) -> Result<(), Error> {
        let content_type = headers::text(request, &header::CONTENT_TYPE)?;
        self.handler.input.accepts(content_type, body.is_empty()).map_err(|refused| {
            let (service, handler) = (&self.service.name, &self.handler.name);
            Error::Input(format!(
                "Content-type or body not accepted by {service}/{handler}: {refused}"
            ))
        })
    }
}

impl Ingress {
    pub(super) fn plan_call(
        &self,
        head: &Parts,
        body: Bytes,
        called: &Called<'_>,
    ) -> Result<Errand, Error> {
        called.check_input(&head.headers, &body)?;
        if percent::query_value(head.uri.query(), "delay").is_some() {
            return Err(Error::DelayedCall);
        }
        let invocation = self.invocation(head, body, called, None)?;
        Ok(Errand::Call { invocation, handler: called.handler.clone(), again: again(head) })
    }

    pub(super) fn plan_send(
        &self,
        head: &Parts,
        body: Bytes,
        called: &Called<'_>,
    ) -> Result<Errand, Error> {
        called.check_input(&head.headers, &body)?;
        let delay = percent::query_value(head.uri.query(), "delay");
        let delay = delay.map(|text| duration::parse(&text)).transpose().map_err(Error::Delay)?;
        let start_at = delay.map(|delay| self.clock.now().plus(delay));
        Ok(Errand::Send { invocation: self.invocation(head, body, called, start_at)? })
    }

    fn invocation(
        &self,
        head: &Parts,
        argument: Bytes,
        called: &Called<'_>,
        start_at: Option<Timestamp>,
    ) -> Result<Box<NewInvocation>, Error> {
        refuse_limit_key(head)?;
        let headers = headers::for_handler(&head.uri, &head.headers)?;
        let given = headers::text(&head.headers, &headers::IDEMPOTENCY_KEY)?;
        let identity = Identity::of(called, given, self.clock.now(), &Chance::draw());
        Ok(Box::new(NewInvocation {
            id: identity.id,
            target: Target {
                service: called.service.name.clone(),
                key: called.key.as_deref().map(str::to_owned),
                handler: called.handler.name.clone(),
                ty: called.handler.ty,
            },
            argument,
            headers,
            retention: called.handler.retention(identity.idempotency_key.is_some()),
            idempotency_key: identity.idempotency_key,
            source: Source::Ingress,
            root: identity.id,
            start_at,
            lazy_state: called.handler.options.lazy_state,
            random_seed: identity.random_seed,
        }))
    }

    pub(super) async fn call(
        &self,
        invocation: Box<NewInvocation>,
        handler: Arc<Handler>,
        again: Again,
    ) -> Result<Response<Body>, Error> {
        let (id, ty) = (invocation.id, invocation.target.ty);
        let waited = match (ty, again) {
            (HandlerType::Workflow, Again::Refuse) => self.first_run(invocation).await?,
            _ => self.router.of(id).wait(Command::Invoke(invocation), |_| ()).await?,
        };
        match waited {
            Waited::Ended(ended) => Ok(answer::ended(id, ended, Some(&handler))),
            Waited::Reply(reply) if exists_already(&reply) => match again {
                Again::Refuse => Ok(answer::already_run(id)),
                Again::Attach => self.attach(id, Some(handler)).await,
            },
            Waited::Reply(reply) => Err(Error::Unexpected(format!("{reply:?} to a call"))),
        }
    }

    /// Waits for the run of a workflow, but not for one that somebody else started.
    async fn first_run(&self, invocation: Box<NewInvocation>) -> Result<Waited, Unavailable> {
        let partition = self.router.of(invocation.id);
        let (tell, mut told) = oneshot::channel();
        let waiting = partition.wait(Command::Invoke(invocation), move |reply| {
            if exists_already(reply) {
                // Nobody listens only where the client went away.
                let _ = tell.send(reply.clone());
            }
        });
        let waited = tokio::select! {
            biased;
            Ok(reply) = &mut told => return Ok(Waited::Reply(reply)),
            waited = waiting => waited,
        };
        // A run that has ended already may have been told of and waited for in one go.
        told.try_recv().map_or(waited, |reply| Ok(Waited::Reply(reply)))
    }

    pub(super) async fn send(
        &self,
        invocation: Box<NewInvocation>,
    ) -> Result<Response<Body>, Error> {
        let id = invocation.id;
        match self.router.of(id).call(Command::Invoke(invocation)).await? {
            Reply::Accepted { new, start_at, .. } => Ok(answer::accepted(id, new, start_at)),
            Reply::Refused(_) => Ok(answer::accepted(id, false, None)),
            reply => Err(Error::Unexpected(format!("{reply:?} to a send"))),
        }
    }
}

fn exists_already(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(_) | Reply::Accepted { new: false, .. })
}

/// Limits are of scopes, and there are none.
fn refuse_limit_key(head: &Parts) -> Result<(), Error> {
    let in_query = percent::query_value(head.uri.query(), "limit-key").is_some();
    match in_query || head.headers.contains_key(&headers::LIMIT_KEY) {
        true => Err(Error::Scope("a limit key")),
        false => Ok(()),
    }
}

fn again(head: &Parts) -> Again {
    let asked = percent::query_value(head.uri.query(), "attach").is_some_and(|it| it == "true");
    let prefers = head.headers.get_all(&headers::PREFER).iter().any(|value| {
        let preferences = value.to_str().unwrap_or("").split(',');
        { preferences }.any(|it| it.trim().eq_ignore_ascii_case(PREFER_ATTACH))
    });
    if asked || prefers { Again::Attach } else { Again::Refuse }
}

/// Chance for one invocation.
struct Chance {
    id: u128,
    seed: u64,
}

impl Chance {
    fn draw() -> Chance {
        Chance { id: chance::u128(), seed: chance::u64() }
    }
}

/// What makes an invocation itself.
struct Identity {
    id: InvocationId,
    idempotency_key: Option<String>,
    random_seed: u64,
}

impl Identity {
    /// A call of a service or an object always gets an idempotency key, a random one if need be:
    /// thus its outcome is retained and can be attached to.
    fn of(called: &Called<'_>, given: Option<&str>, now: Timestamp, chance: &Chance) -> Identity {
        let service = called.service.name.as_str();
        let handler = called.handler.name.as_str();
        let key = called.key.as_deref();
        let is_workflow = called.service.ty == ServiceType::Workflow;
        let idempotency_key = match given {
            Some(given) => Some(given.to_owned()),
            None if is_workflow => None,
            None => Some(ulid::text(now, chance.id)),
        };
        let id = match &idempotency_key {
            Some(idempotency_key) => {
                InvocationId::idempotent(service, key, handler, idempotency_key)
            }
            None if called.is_run() => InvocationId::workflow(service, key.unwrap_or_default()),
            None => InvocationId::random(service, key, now.0, chance.id),
        };
        Identity { id, idempotency_key, random_seed: chance.seed }
    }
}

#[cfg(test)]
mod tests;
