//! Asks over HTTP, alike on every listener that shows them: a list, one of them, an answer.
//! Translates, and decides nothing.

mod door;

pub use door::{Config, Door};

use super::{Answered, Ask, AskFilter, AskId, AskKind, Error, Tasks};
use crate::http::{Body, full};
use crate::query::LIMIT_MAX;
use crate::query::model::{self, ErrorBody};
use axum::extract::Query;
use bytes::Bytes;
use http::{Method, Response, StatusCode, Uri, header};
use serde::{Deserialize, Serialize};

/// How many asks a list has where it is not said.
const LIMIT_DEFAULT: usize = 100;

/// Where asks are shown and answered. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    tasks: Tasks,
}

/// Who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// Whoever may see all.
    Operator,
    /// Sees the asks of the tasks of that principal.
    Principal(String),
}

/// What is wrong with a request.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Task(#[from] Error),
    #[error("`{field}` is wrong: {reason}")]
    Field { field: &'static str, reason: String },
    #[error(
        "the body is no answer: {0}; write {{\"action\":\"accept\",\"content\":{{…}},\"by\":\"…\"}}"
    )]
    Body(String),
    #[error("the question was closed before: {}", .0.how.as_str())]
    Late(holdfast_machine::ask::Closed),
    #[error("{0} is not done here")]
    Method(Method),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    #[serde(default)]
    closed: bool,
    kind: Option<String>,
    to: Option<String>,
    service: Option<String>,
    invocation: Option<String>,
    limit: Option<usize>,
}

impl Desk {
    pub fn new(tasks: Tasks) -> Desk {
        Desk { tasks }
    }

    /// Answers a request to `rest` below the place where asks are shown.
    pub async fn serve(
        &self,
        viewer: &Viewer,
        (method, uri, rest): (&Method, &Uri, &str),
        body: Bytes,
    ) -> Response<Body> {
        let id = rest.trim_matches('/');
        let answer = match (method, id) {
            (&Method::GET | &Method::HEAD, "") => self.list(viewer, uri).await,
            (&Method::GET | &Method::HEAD, id) => self.one(viewer, id).await,
            (&Method::POST, id) if !id.is_empty() => self.take(viewer, id, &body).await,
            (method, _) => Err(Problem::Method(method.clone())),
        };
        answer.unwrap_or_else(|problem| problem.response())
    }

    async fn list(&self, viewer: &Viewer, uri: &Uri) -> Result<Response<Body>, Problem> {
        let Query(which) = Query::<Which>::try_from_uri(uri)
            .map_err(|error| Problem::Field { field: "query", reason: error.to_string() })?;
        let found = self.tasks.asks(which.filter(viewer)?).await?;
        let asks = found.asks.iter().map(model::Ask::from).collect();
        Ok(json(StatusCode::OK, &model::Asks { asks, more: found.more }))
    }

    async fn one(&self, viewer: &Viewer, id: &str) -> Result<Response<Body>, Problem> {
        let ask = self.visible(viewer, id).await?;
        Ok(json(StatusCode::OK, &model::Ask::from(&ask)))
    }

    async fn take(
        &self,
        viewer: &Viewer,
        id: &str,
        body: &Bytes,
    ) -> Result<Response<Body>, Problem> {
        let answer: model::Answer =
            serde_json::from_slice(body).map_err(|error| Problem::Body(error.to_string()))?;
        let mut answer = holdfast_machine::ask::Answer::from(answer);
        if let (None, Viewer::Principal(principal)) = (&answer.by, viewer) {
            answer.by = Some(principal.clone());
        }
        let ask = self.visible(viewer, id).await?;
        match self.tasks.answer_ask(ask.id, answer).await? {
            Answered::Late(closed) => Err(Problem::Late(closed)),
            Answered::Taken { .. } => {
                // It may have been forgotten with its invocation in the meantime.
                let ask = self.tasks.ask(ask.id).await.unwrap_or(ask);
                Ok(json(StatusCode::OK, &model::Ask::from(&ask)))
            }
        }
    }

    async fn visible(&self, viewer: &Viewer, id: &str) -> Result<Ask, Problem> {
        let id: AskId = id.parse().map_err(|_| Error::NoSuchAsk)?;
        let ask = self.tasks.ask(id).await?;
        match viewer {
            Viewer::Principal(principal) if !self.tasks.is_asked_for(principal, &ask)? => {
                Err(Error::NoSuchAsk.into())
            }
            _ => Ok(ask),
        }
    }
}

impl Which {
    fn filter(self, viewer: &Viewer) -> Result<AskFilter, Problem> {
        let limit = self.limit.unwrap_or(LIMIT_DEFAULT);
        if limit == 0 || limit > LIMIT_MAX {
            let reason = format!("expected 1 to {LIMIT_MAX}");
            return Err(Problem::Field { field: "limit", reason });
        }
        let kind = match self.kind.as_deref() {
            None => None,
            Some("input") => Some(AskKind::Input),
            Some("auth") => Some(AskKind::Auth),
            Some(other) => {
                let reason = format!("`{other}` is neither input nor auth");
                return Err(Problem::Field { field: "kind", reason });
            }
        };
        let invocation = self.invocation.map(|id| id.parse()).transpose().map_err(
            |error: holdfast_machine::id::Malformed| Problem::Field {
                field: "invocation",
                reason: error.to_string(),
            },
        )?;
        let principal = match viewer {
            Viewer::Operator => None,
            Viewer::Principal(principal) => Some(principal.clone()),
        };
        let (closed, to, service) = (self.closed, self.to, self.service);
        Ok(AskFilter { closed, kind, to, service, invocation, principal, limit })
    }
}

impl Problem {
    fn code(&self) -> &'static str {
        match self {
            Problem::Task(error) => error.code(),
            Problem::Late(_) => "HF0202",
            Problem::Field { .. } | Problem::Body(_) | Problem::Method(_) => "HF0212",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Problem::Task(Error::NoSuchAsk) => StatusCode::NOT_FOUND,
            Problem::Task(Error::Violation(_)) => StatusCode::UNPROCESSABLE_ENTITY,
            Problem::Task(Error::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
            Problem::Task(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Problem::Field { .. } | Problem::Body(_) => StatusCode::BAD_REQUEST,
            Problem::Late(_) => StatusCode::CONFLICT,
            Problem::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    fn response(self) -> Response<Body> {
        let (status, message) = (self.status(), format!("{self} ({})", self.code()));
        let mut response = match &self {
            Problem::Late(closed) => {
                let answer = closed.into();
                json(status, &model::Late { message, answer, restate_code: None })
            }
            _ => json(status, &ErrorBody { message, restate_code: None }),
        };
        if let Problem::Method(_) = self {
            let allowed = http::HeaderValue::from_static("GET, HEAD, POST");
            response.headers_mut().insert(header::ALLOW, allowed);
        }
        response
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_vec(value).expect("what is shown is JSON");
    let mut response = Response::new(full(body));
    *response.status_mut() = status;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
