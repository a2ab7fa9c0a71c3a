//! What the ingress itself refuses, with status and code. Never the outcome of an invocation: that
//! is the handler's, and `answer` tells it.

use crate::partition::Unavailable;
use holdfast_machine::id::{InvocationId, Malformed};
use http::StatusCode;

/// What existing clients take for "not finished yet".
const NOT_READY: u16 = 470;

/// Why a request has no answer from a handler.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("bad path: {0}")]
    BadPath(&'static str),
    #[error("route `{0}` not found; see /restate/health for what is served")]
    UnknownRoute(String),
    #[error("service `{0}` not found; register its deployment, and check the spelling")]
    UnknownService(String),
    #[error(
        "service `{service}` was found, its handler `{handler}` was not found; \
             register the deployment again if the handler is new"
    )]
    UnknownHandler { service: String, handler: String },
    #[error("`{0}` is not public: only other services can call it")]
    Private(String),
    #[error("method {0} is not allowed here; use {1}")]
    Method(http::Method, &'static str),
    #[error("bad invocation id: {0}")]
    InvocationId(Malformed),
    #[error("bad awakeable id: {0}")]
    AwakeableId(String),
    #[error("the {0} in the path is not UTF-8 after percent-decoding; encode its UTF-8 bytes")]
    KeyEncoding(&'static str),
    #[error("{0}")]
    Input(String),
    #[error("header `{0}` has characters other than visible ASCII; encode its value")]
    HeaderValue(String),
    #[error(
        "a workflow's run takes no idempotency key: it runs once for each workflow key anyway; \
             leave the header `idempotency-key` out"
    )]
    IdempotentRun,
    #[error("a call cannot have a delay; send it, by `/send` at the end of the path")]
    DelayedCall,
    #[error("bad delay: {0}")]
    Delay(crate::duration::Error),
    #[error(
        "{0} is not supported: scopes and limit keys are not part of this server; \
             leave it out"
    )]
    Scope(&'static str),
    #[error("the body is larger than {max} bytes; send less, or raise `ingress.request_bytes_max`")]
    BodyTooLarge { max: usize },
    #[error("the body broke off: {0}")]
    BodyBroken(String),
    #[error("the body does not name an invocation: {0}")]
    Target(String),
    #[error(
        "too many requests at once; the limit is {max}; try again later, or raise \
             `ingress.requests_max`"
    )]
    TooManyRequests { max: usize },
    #[error("invocation `{0}` has not completed yet; attach to wait for it")]
    NotCompleted(InvocationId),
    #[error("invocation `{0}` not found; it never was, or its retention is over")]
    UnknownInvocation(InvocationId),
    #[error("invocation `{0}` has completed; there is nothing to cancel")]
    AlreadyCompleted(InvocationId),
    #[error("{0}")]
    Unavailable(#[from] Unavailable),
    /// The machine said what no door can make sense of.
    #[error("the partition answered {0}, which no request of this kind expects; report this")]
    Unexpected(String),
}

impl Error {
    /// The HTTP status; also the `code` of the body.
    pub fn status(&self) -> StatusCode {
        match self {
            Error::BadPath(_)
            | Error::Private(_)
            | Error::InvocationId(_)
            | Error::AwakeableId(_)
            | Error::KeyEncoding(_)
            | Error::Input(_)
            | Error::HeaderValue(_)
            | Error::IdempotentRun
            | Error::DelayedCall
            | Error::Delay(_)
            | Error::Scope(_)
            | Error::BodyBroken(_)
            | Error::Target(_) => StatusCode::BAD_REQUEST,
            Error::UnknownRoute(_)
            | Error::UnknownService(_)
            | Error::UnknownHandler { .. }
            | Error::UnknownInvocation(_) => StatusCode::NOT_FOUND,
            Error::Method(..) => StatusCode::METHOD_NOT_ALLOWED,
            Error::AlreadyCompleted(_) => StatusCode::CONFLICT,
            Error::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Error::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
            Error::NotCompleted(_) => StatusCode::from_u16(NOT_READY).expect("three digits"),
            Error::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Error::Unexpected(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Names the page in docs/errors.
    pub fn code(&self) -> &'static str {
        match self {
            Error::BadPath(_) => "HF0110",
            Error::UnknownRoute(_) => "HF0111",
            Error::UnknownService(_) => "HF0112",
            Error::UnknownHandler { .. } => "HF0113",
            Error::Private(_) => "HF0114",
            Error::Method(..) => "HF0115",
            Error::InvocationId(_) => "HF0116",
            Error::AwakeableId(_) => "HF0117",
            Error::KeyEncoding(_) => "HF0118",
            Error::Input(_) => "HF0119",
            Error::HeaderValue(_) => "HF0120",
            Error::IdempotentRun => "HF0121",
            Error::DelayedCall => "HF0122",
            Error::Delay(_) => "HF0123",
            Error::Scope(_) => "HF0124",
            Error::BodyTooLarge { .. } => "HF0125",
            Error::BodyBroken(_) => "HF0126",
            Error::Target(_) => "HF0127",
            Error::TooManyRequests { .. } => "HF0128",
            Error::NotCompleted(_) => "HF0129",
            Error::UnknownInvocation(_) => "HF0130",
            Error::AlreadyCompleted(_) => "HF0131",
            Error::Unavailable(unavailable) => unavailable.code(),
            Error::Unexpected(_) => "HF0132",
        }
    }

    /// Whether nothing was even tried.
    pub fn is_overload(&self) -> bool {
        matches!(self, Error::Unavailable(Unavailable::Overloaded { .. }))
    }

    /// After how many seconds the same request may do better.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Error::TooManyRequests { .. } => Some(1),
            Error::Unavailable(Unavailable::Overloaded { retry_after_ms, .. }) => {
                Some(retry_after_ms.div_ceil(1000).max(1))
            }
            Error::Unavailable(Unavailable::Stopped { .. }) => Some(STOPPED_RETRY_AFTER_SECONDS),
            Error::Unavailable(Unavailable::ShuttingDown) => Some(1),
            _ => None,
        }
    }
}

/// A stopped partition needs an operator, so nobody should hurry.
const STOPPED_RETRY_AFTER_SECONDS: u64 = 10;
