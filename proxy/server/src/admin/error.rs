//! What can go wrong with admin requests, and the one function that turns it into HTTP.

use crate::partition::Unavailable;
use crate::query;
use crate::query::model::ErrorBody;
use crate::registry;
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use holdfast_machine::{
    cadence,
    id::{DeploymentId, InvocationId},
    schedule::Unfired,
};
use holdfast_wire::manifest::InputRefusal;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("bad invocation_id: {0}")]
    BadInvocationId(holdfast_machine::id::Malformed),

    #[error("there is no invocation `{0}`; it never was, or it is not kept any more")]
    UnknownInvocation(InvocationId),

    #[error("`{id}` {reason}")]
    Refused { id: InvocationId, reason: &'static str },

    #[error("`{0}` has not started yet; wait until it has, or cancel it")]
    NotStarted(InvocationId),

    #[error("the journal of `{0}` is gone, and its input with it; only a new call can be made")]
    JournalGone(InvocationId),

    #[error(
        "`{id}` cannot be restarted from entry {from}: there is no such entry, or a command \
         before it is not completed; choose an earlier one, or 0 for the input alone"
    )]
    BadPrefix { id: InvocationId, from: u32 },

    #[error(
        "`{0}` cannot be restarted: a workflow runs once for each key, and a prefix needs service \
         protocol 6 or later"
    )]
    Unsupported(InvocationId),

    #[error(transparent)]
    Unavailable(#[from] Unavailable),

    #[error("`{0}` is not a deployment: write `keep`, `latest` or the id of a deployment (dp_…)")]
    BadDeployment(String),

    #[error("bad deployment id: {0}")]
    BadDeploymentId(holdfast_machine::id::Malformed),

    #[error("no deployment `{0}` is registered; list them with `GET /deployments`")]
    UnknownDeployment(DeploymentId),

    #[error(
        "the deployment `{deployment}` speaks service protocol {min} to {max}, and `{id}` is bound \
         to {pinned}"
    )]
    OtherProtocol { id: InvocationId, deployment: DeploymentId, min: u32, max: u32, pinned: u32 },

    #[error("`{0}` is a plain service and has no state; give an object or a workflow")]
    NoState(String),

    #[error(
        "the state changed in between: its version is now {current}; read it again and repeat, or \
         leave the version out to replace whatever is there"
    )]
    StateChanged { current: String },

    #[error("{given} invocations in one batch; at most {max} are taken, split it")]
    BatchTooLarge { given: usize, max: usize },

    #[error(transparent)]
    Sql(#[from] query::sql::Error),

    /// Existing tools know it, and this server does not have it.
    #[error("{0}")]
    NotHere(&'static str),

    #[error("`{field}` is wrong: {reason}")]
    BadField { field: &'static str, reason: String },

    #[error("there is no schedule `{0}`; `GET /holdfast/schedules` lists them")]
    UnknownSchedule(String),

    #[error(
        "`{0}` cannot name a schedule: write 1 to {max} letters, digits, `.`, `-` or `_`",
        max = super::schedules::NAME_BYTES_MAX
    )]
    ScheduleName(String),

    #[error("`{service}/{handler}` does not take such an input: {refusal}")]
    Argument { service: String, handler: String, refusal: InputRefusal },

    #[error(transparent)]
    Cadence(#[from] cadence::Error),

    #[error(transparent)]
    Unfired(#[from] Unfired),

    #[error("cannot read the store: {0}")]
    Read(String),

    #[error("the machine answered something unexpected to `{verb}`: {reply}")]
    Unexpected { verb: &'static str, reply: String },

    #[error(transparent)]
    Registry(#[from] registry::Error),
}

impl From<query::Error> for Error {
    fn from(error: query::Error) -> Self {
        Error::Read(error.to_string())
    }
}

impl Error {
    /// Names the page `docs/errors/{code}.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::BadInvocationId(_) => "HF0150",
            Error::UnknownInvocation(_) => "HF0151",
            Error::Refused { .. } => "HF0152",
            Error::NotStarted(_) => "HF0153",
            Error::JournalGone(_) => "HF0154",
            Error::BadPrefix { .. } => "HF0155",
            Error::Unsupported(_) => "HF0156",
            Error::Unavailable(error) => error.code(),
            Error::BadDeployment(_) | Error::UnknownDeployment(_) => "HF0158",
            Error::BadDeploymentId(_) => "HF0167",
            Error::OtherProtocol { .. } => "HF0159",
            Error::NoState(_) => "HF0160",
            Error::StateChanged { .. } => "HF0161",
            Error::BatchTooLarge { .. } => "HF0162",
            Error::Sql(error) => error.code(),
            Error::NotHere(_) => "HF0058",
            Error::BadField { .. } => "HF0164",
            Error::UnknownSchedule(_) => "HF0168",
            Error::ScheduleName(_) => "HF0169",
            Error::Argument { .. } => "HF0172",
            Error::Cadence(error) => error.code(),
            Error::Unfired(error) => error.code(),
            Error::Read(_) => "HF0165",
            Error::Unexpected { .. } => "HF0166",
            Error::Registry(error) => error.code(),
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Error::BadInvocationId(_)
            | Error::BadPrefix { .. }
            | Error::BadDeployment(_)
            | Error::BadDeploymentId(_)
            | Error::UnknownDeployment(_)
            | Error::OtherProtocol { .. }
            | Error::NoState(_)
            | Error::BatchTooLarge { .. }
            | Error::BadField { .. }
            | Error::ScheduleName(_)
            | Error::Argument { .. }
            | Error::Cadence(_) => StatusCode::BAD_REQUEST,
            Error::UnknownInvocation(_) | Error::UnknownSchedule(_) => StatusCode::NOT_FOUND,
            Error::Refused { .. } | Error::StateChanged { .. } => StatusCode::CONFLICT,
            Error::Unfired(unfired) => unfired_status(unfired),
            Error::NotStarted(_) => StatusCode::TOO_EARLY,
            Error::JournalGone(_) => StatusCode::GONE,
            Error::Unsupported(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Error::NotHere(_) => StatusCode::NOT_IMPLEMENTED,
            Error::Sql(error) if error.is_of_the_question() => StatusCode::BAD_REQUEST,
            Error::Sql(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Error::Read(_) | Error::Unexpected { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            Error::Registry(error) => registry_status(error),
        }
    }

    fn restate_code(&self) -> Option<&'static str> {
        match self {
            Error::Registry(error) => error.restate_code(),
            _ => None,
        }
    }
}

fn unfired_status(unfired: &Unfired) -> StatusCode {
    match unfired {
        Unfired::NotRegistered { .. } => StatusCode::NOT_FOUND,
        Unfired::Key { .. } | Unfired::NoCadence(_) => StatusCode::BAD_REQUEST,
        Unfired::StillRunning(_) | Unfired::Changed => StatusCode::CONFLICT,
    }
}

/// A service that does not answer is a 500, because existing tools expect it so.
fn registry_status(error: &registry::Error) -> StatusCode {
    match (error, error.fault()) {
        (registry::Error::Unsupported(_), _) => StatusCode::NOT_IMPLEMENTED,
        (_, registry::Fault::Request) => StatusCode::BAD_REQUEST,
        (_, registry::Fault::NotFound) => StatusCode::NOT_FOUND,
        (_, registry::Fault::Conflict) => StatusCode::CONFLICT,
        (_, registry::Fault::Service | registry::Fault::Ours) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        if let Error::BadDeploymentId(_) = self {
            // Existing tools expect plain text here.
            return (self.status(), format!("{self} ({})", self.code())).into_response();
        }
        let restate_code = self.restate_code().map(String::from);
        let known = restate_code.as_ref().map(|code| format!("[{code}] ")).unwrap_or_default();
        let message = format!("{known}{self} ({})", self.code());
        let mut response =
            (self.status(), Json(ErrorBody { message, restate_code })).into_response();
        if let Error::Unavailable(Unavailable::Overloaded { retry_after_ms, .. }) = self {
            let seconds = retry_after_ms.div_ceil(1_000).max(1);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
