//! The one place where outcomes, replies and errors become HTTP responses. Every error response
//! says whose it is: the handler's (`invocation`) or ours (`ingress`).

use super::{Error, headers, metrics::Status};
use crate::http::{Body, empty, full};
use crate::partition::Ended;
use crate::registry::Handler;
use holdfast_machine::{
    id::InvocationId,
    model::{Failure, Outcome},
    time::Timestamp,
};
use http::{HeaderValue, Response, StatusCode, header};
use serde::{Serialize, Serializer};

const JSON: &str = "application/json";
const SOURCE_INGRESS: &str = "ingress";
const SOURCE_INVOCATION: &str = "invocation";

// --- outcomes

/// How an invocation ended, as its caller sees it. `handler` is what ran, where that is known.
pub(super) fn ended(id: InvocationId, ended: Ended, handler: Option<&Handler>) -> Response<Body> {
    let mut response = match ended.outcome {
        Outcome::Success(output) => {
            let content_type = content_type(handler, output.is_empty());
            let mut response = Response::new(full(output));
            if let Some(content_type) = content_type {
                response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            }
            response
        }
        Outcome::Failure(failure) => failed(&failure),
    };
    put_id(&mut response, id);
    if let Some(expires_at) = ended.expires_at {
        let text = format!("{:.3}", instant(expires_at).display_with_offset(jiff::tz::Offset::UTC));
        response.headers_mut().insert(headers::IDEMPOTENCY_EXPIRES, ascii(text));
    }
    response
}

/// The rule of the handler; JSON where nobody knows the handler.
fn content_type(handler: Option<&Handler>, is_empty: bool) -> Option<HeaderValue> {
    let text = match handler {
        Some(handler) => handler.output.content_type_for(is_empty)?,
        None if is_empty => return None,
        None => JSON,
    };
    match text {
        JSON => Some(HeaderValue::from_static(JSON)),
        text => HeaderValue::from_str(text).ok(),
    }
}

fn failed(failure: &Failure) -> Response<Body> {
    // Below 400 a code would turn a failure into something else for the client.
    let status = u16::try_from(failure.code).ok().filter(|code| *code >= 400);
    let status = status.and_then(|code| StatusCode::from_u16(code).ok());
    let problem = Problem {
        code: failure.code,
        message: &failure.message,
        stacktrace: &failure.stacktrace,
        metadata: &failure.metadata,
        source: SOURCE_INVOCATION,
        error_code: None,
    };
    problem.response(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
}

/// The run of this workflow key exists already.
pub(super) fn already_run(id: InvocationId) -> Response<Body> {
    from_invocation(id, StatusCode::CONFLICT, "the workflow method was already invoked")
}

/// There is nothing to attach to.
pub(super) fn not_found(id: InvocationId) -> Response<Body> {
    from_invocation(id, StatusCode::NOT_FOUND, &Error::UnknownInvocation(id).to_string())
}

fn from_invocation(id: InvocationId, status: StatusCode, message: &str) -> Response<Body> {
    let problem = Problem { message, ..Problem::of(status, SOURCE_INVOCATION) };
    let mut response = problem.response(status);
    put_id(&mut response, id);
    response
}

// --- replies

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Accepted {
    #[serde(serialize_with = "as_text")]
    invocation_id: InvocationId,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_time: Option<String>,
    status: &'static str,
}

/// A send was accepted, now or before.
pub(super) fn accepted(id: InvocationId, new: bool, start_at: Option<Timestamp>) -> Response<Body> {
    let body = Accepted {
        invocation_id: id,
        execution_time: start_at.map(|at| format!("{:.9}", instant(at))),
        status: if new { "Accepted" } else { "PreviouslyAccepted" },
    };
    let mut response = json(StatusCode::ACCEPTED, &body);
    put_id(&mut response, id);
    response
}

/// `OK`: it has ended; `ACCEPTED`: its handler will see the wish.
pub(super) fn cancel(id: InvocationId, status: StatusCode) -> Response<Body> {
    let mut response = self::id(id);
    *response.status_mut() = status;
    put_id(&mut response, id);
    response
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Id {
    #[serde(serialize_with = "as_text")]
    invocation_id: InvocationId,
}

pub(super) fn id(invocation_id: InvocationId) -> Response<Body> {
    json(StatusCode::OK, &Id { invocation_id })
}

pub(super) fn signalled() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

#[derive(Serialize)]
struct Health<'s> {
    services: Vec<&'s String>,
}

pub(super) fn health<'s>(services: impl Iterator<Item = &'s String>) -> Response<Body> {
    json(StatusCode::OK, &Health { services: services.collect() })
}

// --- refusals

/// An error of the ingress; `invocation` where it is about one.
pub(super) fn refusal(error: &Error, invocation: Option<InvocationId>) -> Response<Body> {
    let message = error.to_string();
    let mut response = Problem {
        message: &message,
        error_code: Some(error.code()),
        ..Problem::of(error.status(), SOURCE_INGRESS)
    }
    .response(error.status());
    response.headers_mut().insert(headers::ERROR_CODE, HeaderValue::from_static(error.code()));
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(id) = invocation {
        put_id(&mut response, id);
    }
    response
}

/// The declared length is too large: refused before anything is looked at, as plain text.
pub(super) fn too_large_at_once() -> Response<Body> {
    let mut response = Response::new(full("length limit exceeded"));
    *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response.headers_mut().insert(headers::ERROR_CODE, HeaderValue::from_static("HF0125"));
    response
}

/// The body of an error.
#[derive(Serialize)]
struct Problem<'p> {
    code: u32,
    message: &'p str,
    #[serde(skip_serializing_if = "str::is_empty")]
    stacktrace: &'p str,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_map")]
    metadata: &'p [(String, String)],
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
}

impl Problem<'_> {
    fn of(status: StatusCode, source: &'static str) -> Problem<'static> {
        Problem {
            code: u32::from(status.as_u16()),
            message: "",
            stacktrace: "",
            metadata: &[],
            source,
            error_code: None,
        }
    }

    fn response(&self, status: StatusCode) -> Response<Body> {
        let mut response = json(status, self);
        let source = HeaderValue::from_static(self.source);
        response.headers_mut().insert(headers::ERROR_SOURCE, source);
        response
    }
}

// --- parts

/// What the metrics make of a response.
pub(super) fn status(response: &Response<Body>) -> Status {
    let source = response.headers().get(headers::ERROR_SOURCE);
    match source.map(HeaderValue::as_bytes) {
        None => Status::Completed,
        Some(b"invocation") => Status::InvocationError,
        Some(_) if response.status().is_server_error() => Status::IngressError,
        Some(_) => Status::RequestError,
    }
}

fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let bytes = serde_json::to_vec(body).expect("texts, numbers and maps of texts are JSON");
    let mut response = Response::new(full(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn put_id(response: &mut Response<Body>, id: InvocationId) {
    response.headers_mut().insert(headers::ID, ascii(id.to_string()));
}

fn ascii(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("ids and times are ASCII")
}

/// The end of time where `at` is after it.
fn instant(at: Timestamp) -> jiff::Timestamp {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX)
}

fn as_text<S: Serializer>(id: &InvocationId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn as_map<S: Serializer>(pairs: &&[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[cfg(test)]
mod tests;
