//! The door for MCP: handlers are tools, calls are tasks. Two generations of the protocol on one
//! path; what a request means is decided in the order that the protocol demands. It decides nothing
//! about a task, never answers for one before that is durable, and keeps no task in memory but
//! the latest answers to polls, up to a bound.

mod answers;
mod call;
mod config;
mod envelope;
mod error;
mod headers;
mod legacy;
mod listen;
mod meta;
mod metrics;
mod modern;
mod remembered;
mod session;
mod sse;
mod task;
mod tool;
mod wait;

pub use config::Config;
pub use metrics::Metrics;

use crate::guard::{self, Caller, Guard, Resource};
use crate::http::{Body, BodyError, door, empty, full, read_body_in_time};
use crate::registry::exposure::Exposure;
use crate::tasks::Tasks;
use envelope::Message;
use error::Error;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use legacy::Calls;
use metrics::Outcome;
use remembered::Remembered;
use serde::Serialize;
use serde_json::Value;
use session::Ended;
use std::{sync::Arc, time::Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Where this door is.
const PATH: &str = "/mcp";
/// How often a refused stream may be asked for again, in seconds.
const STREAMS_RETRY_S: u64 = 5;

/// Under which what names no method is counted.
const NO_METHOD: &str = "none";

/// A response, and the method that it answers.
type Answered = (&'static str, Response<Body>);

/// What the door leads to.
pub struct Behind {
    pub guard: Guard,
    pub exposure: Exposure,
    pub tasks: Tasks,
    pub metrics: Metrics,
    /// Ends the streams.
    pub shutdown: CancellationToken,
    /// Where the tasks of this door are at home.
    pub home: TaskTracker,
}

/// The door for MCP. Share it in an `Arc`.
pub struct Mcp {
    config: Config,
    guard: Guard,
    exposure: Exposure,
    tasks: Tasks,
    metrics: Metrics,
    shutdown: CancellationToken,
    /// What is done for clients that went away.
    after: TaskTracker,
    streams: Arc<Semaphore>,
    ended_sessions: Ended,
    calls: Calls,
    remembered: Remembered,
}

impl Mcp {
    pub fn new(config: Config, behind: Behind) -> Mcp {
        let Behind { guard, exposure, tasks, metrics, shutdown, home } = behind;
        let streams = Arc::new(Semaphore::new(config.streams_max.min(Semaphore::MAX_PERMITS)));
        Mcp {
            config,
            guard,
            exposure,
            tasks,
            metrics,
            shutdown,
            after: home,
            streams,
            ended_sessions: Ended::default(),
            calls: Calls::default(),
            remembered: Remembered::default(),
        }
    }

    async fn respond(self: Arc<Self>, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if let Some(path) = head.uri.path().strip_prefix(guard::WELL_KNOWN) {
            return self.metadata(&head, path);
        }
        let began = Instant::now();
        let (method, response) = match self.guard.place(&head) {
            Err(refusal) => (NO_METHOD, refusal.response()),
            Ok(()) => {
                let (method, mut response) = match head.method {
                    Method::OPTIONS => (NO_METHOD, preflight()),
                    Method::POST | Method::DELETE => self.authenticated(&head, body).await,
                    _ => (NO_METHOD, not_allowed()),
                };
                self.guard.allow_origin(&head.headers, response.headers_mut());
                (method, response)
            }
        };
        self.metrics.answered(method, &response, began.elapsed());
        response
    }

    /// The description of what a token has to be for.
    fn metadata(&self, head: &Parts, path: &str) -> Response<Body> {
        let resource = if path.is_empty() { PATH } else { path };
        let is_ours = door::is_below(resource, PATH) && head.method == Method::GET;
        let document = is_ours.then(|| self.guard.metadata(head, &self.resource(resource)));
        document.flatten().unwrap_or_else(|| {
            let mut response = Response::new(empty());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        })
    }

    fn resource<'r>(&'r self, path: &'r str) -> Resource<'r> {
        Resource { path, scopes: &self.config.scopes }
    }

    async fn authenticated(self: &Arc<Self>, head: &Parts, body: Body) -> Answered {
        let caller = match self.guard.caller(head, &self.resource(head.uri.path())).await {
            Ok(caller) => caller,
            Err(refusal) => return (NO_METHOD, refusal.response()),
        };
        if head.method == Method::DELETE {
            return (NO_METHOD, self.end_session(head));
        }
        match self.message(head, body).await {
            Ok(message) => self.dispatch(head, caller, message).await,
            Err(error) => (NO_METHOD, failure(&error, None)),
        }
    }

    async fn message(&self, head: &Parts, body: Body) -> Result<envelope::Body, Error> {
        headers::accepts(&head.headers)?;
        headers::content_type(&head.headers)?;
        let bytes = read_body_in_time(body, self.config.request_bytes_max).await;
        let bytes = bytes.map_err(|error| match error {
            BodyError::TooLarge { bytes_max } => Error::TooLarge { bytes_max },
            BodyError::Broken(reason) => Error::Parse(reason),
        })?;
        envelope::parse(&bytes)
    }

    async fn dispatch(
        self: &Arc<Self>,
        head: &Parts,
        caller: Caller,
        body: envelope::Body,
    ) -> Answered {
        let message = match body {
            envelope::Body::One(message) => message,
            envelope::Body::Batch(messages) => {
                return (NO_METHOD, self.batch(head, caller, messages).await);
            }
        };
        match Message::read(message) {
            Err(malformed) => (NO_METHOD, failure(&malformed.error, malformed.id.as_ref())),
            Ok(Message::Request(request)) => {
                let method = metrics::counted(&request.method);
                let is_modern = request.method != "initialize"
                    || !request.params.get("protocolVersion").is_some_and(Value::is_string);
                let response = if is_modern && meta::is_modern(&request.params, &head.headers) {
                    self.modern(head, caller, request).await
                } else {
                    self.legacy(head, caller, request).await
                };
                (method, response)
            }
            Ok(Message::Notification { method, params }) => {
                let response = self.notified(head, &caller, &method, &params).await;
                (metrics::counted(&method), response)
            }
            Ok(Message::Response { id, answer }) => {
                (NO_METHOD, self.answered(head, &caller, &id, answer).await)
            }
        }
    }

    /// The service that the path names, below the door.
    fn service<'h>(&self, head: &'h Parts) -> Option<&'h str> {
        let rest = head.uri.path().strip_prefix(PATH)?;
        Some(rest.trim_matches('/')).filter(|name| !name.is_empty())
    }

    fn sight<'h>(&self, head: &'h Parts, caller: &Caller, is_modern: bool) -> tool::Sight<'h> {
        tool::Sight { is_local: caller.is_local, service: self.service(head), is_modern }
    }

    /// A place for a stream, kept for as long as it is open.
    fn stream_place(&self) -> Result<OwnedSemaphorePermit, Error> {
        self.streams.clone().try_acquire_owned().map_err(|_| Error::Busy)
    }
}

impl door::Door for Mcp {
    fn takes(&self, path: &str) -> bool {
        door::is_below(path, PATH)
            || path
                .strip_prefix(guard::WELL_KNOWN)
                .is_some_and(|rest| rest.is_empty() || door::is_below(rest, PATH))
    }

    fn answer(self: Arc<Self>, request: Request<Body>) -> door::Answering {
        Box::pin(self.respond(request))
    }
}

// --- responses

/// A JSON-RPC message as a whole answer.
fn message(status: StatusCode, message: &Value) -> Response<Body> {
    body(status, message)
}

fn body(status: StatusCode, message: &impl Serialize) -> Response<Body> {
    let message = serde_json::to_vec(message).expect("what is answered is JSON");
    let mut response = Response::new(full(message));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn failure(error: &Error, id: Option<&Value>) -> Response<Body> {
    let mut response = message(error.status(), &error.message(id));
    response.extensions_mut().insert(Outcome::of_error(error));
    if *error == Error::Busy {
        response.headers_mut().insert(header::RETRY_AFTER, STREAMS_RETRY_S.into());
    }
    response
}

/// What was understood, and has no answer.
fn taken() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn not_allowed() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// To a page that asks whether it may ask.
fn preflight() -> Response<Body> {
    const HEADERS: HeaderValue = HeaderValue::from_static(
        "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
         mcp-session-id, last-event-id, idempotency-key",
    );
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("POST, DELETE, OPTIONS");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    response
}
