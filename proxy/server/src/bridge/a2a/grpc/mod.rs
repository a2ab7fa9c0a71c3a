//! The gRPC binding: the eleven operations of `lf.a2a.v1.A2AService` over HTTP/2, on the same core
//! as the others. Translates and decides nothing. One port serves all agents, which are told apart
//! by the tenant of a request; an empty one means the only agent.

mod convert;
mod deadline;
mod frame;
mod status;
mod stream;
mod value;

/// As generated, to the byte: included, so that no formatter rewrites it.
#[expect(clippy::enum_variant_names, reason = "generated; the names are the protocol's")]
mod pb {
    include!("generated.rs");
}

use super::core::{Agent, Caller, Core};
use super::door::A2a;
use super::error::Error;
use crate::http::{Body, BodyError, read_body_in_time};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Version, header::CONTENT_TYPE, request::Parts};
use prost::Message;
use status::{GRPC, Status};
use std::time::Duration;
use stream::{said, streamed};
use tokio::time::timeout;

/// The paths of the operations begin so.
pub const SERVICE: &str = "/lf.a2a.v1.A2AService/";

/// How a call was refused.
type Refused<T> = Result<T, Status>;

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        Status::from(&error)
    }
}

/// Answers one call. `agent` is named where the path before the service's names it.
pub async fn answer(a2a: &A2a, agent: Option<&str>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let allowed = match deadline::of(&head.headers) {
        Ok(allowed) => allowed,
        Err(why) => return Status::from(Error::invalid("grpc-timeout", why)).alone(),
    };
    let call = Call { a2a, agent, head: &head, deadline: allowed };
    let answered = match allowed {
        None => call.answer(body).await,
        Some(allowed) => {
            let answered = timeout(allowed, call.answer(body)).await;
            answered.unwrap_or_else(|_| Err(Status::too_late()))
        }
    };
    answered.unwrap_or_else(|status| status.alone())
}

/// A refusal before the call is looked at.
pub fn refused(error: &Error) -> Response<Body> {
    Status::from(error).alone()
}

/// Whether it is a call of gRPC, by its media type.
pub fn is_call(head: &Parts) -> bool {
    let named = head.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    named.is_some_and(|it| it == GRPC || it.starts_with("application/grpc+"))
}

/// One call.
struct Call<'a> {
    a2a: &'a A2a,
    agent: Option<&'a str>,
    head: &'a Parts,
    deadline: Option<Duration>,
}

impl Call<'_> {
    async fn answer(&self, body: Body) -> Refused<Response<Body>> {
        let method = self.method()?;
        self.a2a.admit(self.head, self.agent).await?;
        let bytes = self.message(body).await?;
        let call = Asked { call: self, bytes };
        match method {
            "SendMessage" => call.send().await,
            "SendStreamingMessage" => call.send_streaming().await,
            "GetTask" => call.get().await,
            "ListTasks" => call.list().await,
            "CancelTask" => call.cancel().await,
            "SubscribeToTask" => call.subscribe().await,
            "CreateTaskPushNotificationConfig" => call.create_push_config().await,
            "GetTaskPushNotificationConfig" => call.get_push_config().await,
            "ListTaskPushNotificationConfigs" => call.list_push_configs().await,
            "DeleteTaskPushNotificationConfig" => call.delete_push_config().await,
            "GetExtendedAgentCard" => call.extended_card().await,
            unknown => Err(Status::unimplemented(format!("there is no operation `{unknown}`"))),
        }
    }

    /// The name of the operation, where this can be a call at all.
    fn method(&self) -> Refused<&str> {
        if self.head.version != Version::HTTP_2 {
            return Err(Status::unimplemented("gRPC is spoken over HTTP/2 only"));
        }
        if self.head.method != Method::POST {
            return Err(Status::unimplemented("a call is a POST"));
        }
        let proto = |it: &HeaderValue| it == GRPC || it == "application/grpc+proto";
        if !self.head.headers.get(CONTENT_TYPE).is_some_and(proto) {
            return Err(Status::unimplemented("messages are protobuf (application/grpc+proto)"));
        }
        let path = self.head.uri.path();
        let at = path.find(SERVICE).ok_or_else(|| Status::unimplemented("no such service"))?;
        Ok(&path[at + SERVICE.len()..])
    }

    async fn message(&self, body: Body) -> Refused<Bytes> {
        let bytes_max = self.a2a.core().config().request_bytes_max;
        let read = read_body_in_time(body, bytes_max.saturating_add(frame::PREFIX_BYTES)).await;
        let bytes = read.map_err(|error| match error {
            BodyError::TooLarge { .. } => Status::too_large(bytes_max),
            BodyError::Broken(reason) => Error::InvalidRequest(reason).into(),
        })?;
        frame::only(&bytes).map_err(|malformed| match malformed {
            frame::Malformed::Compressed => Status::unimplemented(malformed.to_string()),
            _ => Error::InvalidRequest(malformed.to_string()).into(),
        })
    }
}

/// A call with its message, not yet understood.
struct Asked<'a> {
    call: &'a Call<'a>,
    bytes: Bytes,
}

/// Who asks whom.
struct Met {
    agent: Agent,
    caller: Caller,
}

impl Asked<'_> {
    fn core(&self) -> &Core {
        self.call.a2a.core()
    }

    fn read<M: Message + Default>(&self) -> Refused<M> {
        let read = M::decode(self.bytes.clone());
        read.map_err(|error| Error::InvalidRequest(error.to_string()).into())
    }

    /// Authentication, version and extensions, in this order, for the agent that is meant.
    async fn meet(&self, tenant: &str) -> Refused<Met> {
        let Call { a2a, agent, head, .. } = self.call;
        let named = agent.or(Some(tenant).filter(|tenant| !tenant.is_empty()));
        let Some(agent) = a2a.named(head, named) else {
            return Err(Error::NotFound(match named {
                None => "there are several agents here; name one as the tenant".to_owned(),
                Some(name) => format!("there is no agent `{name}` here"),
            })
            .into());
        };
        let caller = a2a.caller_of_grpc(head, &agent).await?;
        agent.check_extensions(&caller)?;
        Ok(Met { agent, caller })
    }

    async fn send(&self) -> Refused<Response<Body>> {
        let request: pb::SendMessageRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::send(request)?;
        let sent = self.core().send(&agent, &caller, params).await?;
        Ok(said(&convert::sent(sent)))
    }

    async fn send_streaming(&self) -> Refused<Response<Body>> {
        let request: pb::SendMessageRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::send(request)?;
        let events = self.core().send_streaming(&agent, &caller, params).await?;
        Ok(streamed(events, self.call.deadline))
    }

    async fn get(&self) -> Refused<Response<Body>> {
        let request: pb::GetTaskRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let task = self.core().get(&agent, &caller, convert::get(request)).await?;
        Ok(said(&convert::task(task)))
    }

    async fn list(&self) -> Refused<Response<Body>> {
        let request: pb::ListTasksRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::list(request)?;
        let page = self.core().list(&agent, &caller, params).await?;
        Ok(said(&convert::page(page)))
    }

    async fn cancel(&self) -> Refused<Response<Body>> {
        let request: pb::CancelTaskRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::cancel(request)?;
        let task = self.core().cancel(&agent, &caller, params).await?;
        Ok(said(&convert::task(task)))
    }

    async fn subscribe(&self) -> Refused<Response<Body>> {
        let request: pb::SubscribeToTaskRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::subscribe(request);
        let events = self.core().subscribe(&agent, &caller, params).await?;
        Ok(streamed(events, self.call.deadline))
    }

    async fn create_push_config(&self) -> Refused<Response<Body>> {
        let request: pb::TaskPushNotificationConfig = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let config = convert::push_config_in(request);
        let stored = self.core().create_push_config(&agent, &caller, config).await?;
        Ok(said(&convert::push_config_out(stored)))
    }

    async fn get_push_config(&self) -> Refused<Response<Body>> {
        let request: pb::GetTaskPushNotificationConfigRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::get_push_config(request);
        let config = self.core().get_push_config(&agent, &caller, params).await?;
        Ok(said(&convert::push_config_out(config)))
    }

    async fn list_push_configs(&self) -> Refused<Response<Body>> {
        let request: pb::ListTaskPushNotificationConfigsRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::list_push_configs(request);
        let page = self.core().list_push_configs(&agent, &caller, params).await?;
        Ok(said(&convert::push_configs(page)))
    }

    async fn delete_push_config(&self) -> Refused<Response<Body>> {
        let request: pb::DeleteTaskPushNotificationConfigRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let params = convert::delete_push_config(request);
        self.core().delete_push_config(&agent, &caller, params).await?;
        Ok(said(&()))
    }

    async fn extended_card(&self) -> Refused<Response<Body>> {
        let request: pb::GetExtendedAgentCardRequest = self.read()?;
        let Met { agent, caller } = self.meet(&request.tenant).await?;
        let card = self.core().extended_agent_card(&agent, &caller)?;
        Ok(said(&convert::card(card)))
    }
}
