//! Outcomes of invocations that exist: waiting for them, looking at them, and the wish that they
//! end early.

use super::{Error, Ingress, answer};
use crate::http::Body;
use crate::partition::{Ended, Waited};
use crate::registry::Handler;
use holdfast_machine::{
    apply::Here,
    command::{Command, Refusal, Reply},
    describe,
    id::InvocationId,
};
use http::{Response, StatusCode};
use std::sync::Arc;

impl Ingress {
    /// What an invocation runs, where it and the handler are still there. A read of one row, and
    /// only for who names an invocation by its id.
    pub(super) fn handler_of(&self, id: InvocationId) -> Option<Arc<Handler>> {
        let partitions = self.router.partitions();
        let here = Here::new(partitions.of(id.partition_key), partitions);
        // An outcome without its content type is better than none, so a fault is not told here.
        let record = describe::invocation(&**self.router.store(), here, id).ok()??;
        let schema = self.registry.schema();
        let (_, handler) = schema.handler(&record.target.service, &record.target.handler)?;
        Some(handler.clone())
    }

    /// Waits for the outcome, without limit.
    pub(super) async fn attach(
        &self,
        id: InvocationId,
        handler: Option<Arc<Handler>>,
    ) -> Result<Response<Body>, Error> {
        let handler = handler.or_else(|| self.handler_of(id));
        let command = Command::Attach { invocation: id };
        match self.router.of(id).wait(command, |_| ()).await? {
            Waited::Ended(ended) => Ok(answer::ended(id, ended, handler.as_deref())),
            Waited::Reply(Reply::Unknown) => Ok(answer::not_found(id)),
            Waited::Reply(reply) => Err(Error::Unexpected(format!("{reply:?} to an attach"))),
        }
    }

    /// Tells the outcome if there is one.
    pub(super) async fn output(
        &self,
        id: InvocationId,
        handler: Option<Arc<Handler>>,
    ) -> Result<Response<Body>, Error> {
        let handler = handler.or_else(|| self.handler_of(id));
        match self.router.of(id).call(Command::Output { invocation: id }).await? {
            Reply::Completed { outcome, expires_at } => {
                Ok(answer::ended(id, Ended { outcome, expires_at }, handler.as_deref()))
            }
            Reply::Pending => Err(Error::NotCompleted(id)),
            Reply::Unknown => Err(Error::UnknownInvocation(id)),
            reply => Err(Error::Unexpected(format!("{reply:?} to an output"))),
        }
    }

    pub(super) async fn cancel(&self, id: InvocationId) -> Result<Response<Body>, Error> {
        match self.router.of(id).call(Command::Cancel { invocation: id }).await? {
            Reply::Done => Ok(answer::cancel(id, StatusCode::OK)),
            Reply::Appended => Ok(answer::cancel(id, StatusCode::ACCEPTED)),
            Reply::Refused(Refusal::AlreadyCompleted) => Err(Error::AlreadyCompleted(id)),
            Reply::Unknown => Err(Error::UnknownInvocation(id)),
            reply => Err(Error::Unexpected(format!("{reply:?} to a cancel"))),
        }
    }
}
