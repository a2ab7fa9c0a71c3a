//! What is refused at the door, as HTTP. Never says more than whoever asks has to know.

use crate::http::{Body, full};
use http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;

/// Why a request does not come in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("this sidecar does not answer to the host `{host}`; list it in `guard.hosts`")]
    Host { host: String },
    #[error("pages of the origin `{origin}` may not ask here; list it in `guard.origins`")]
    Origin { origin: String },
    #[error("a bearer token is needed; send it in the header `authorization`")]
    NoToken { challenge: String },
    #[error("the bearer token is not taken: {reason}")]
    BadToken { reason: &'static str, challenge: String },
    #[error("the bearer token does not allow this; `{scopes}` is needed")]
    Scope { scopes: String, metadata: Option<String> },
    #[error("the keys that tokens are checked with cannot be had at the moment")]
    KeysUnavailable,
}

impl Refusal {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Host { .. } => "HF0220",
            Refusal::Origin { .. } => "HF0221",
            Refusal::NoToken { .. } => "HF0222",
            Refusal::BadToken { .. } => "HF0223",
            Refusal::Scope { .. } => "HF0224",
            Refusal::KeysUnavailable => "HF0225",
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::Host { .. } | Refusal::Origin { .. } | Refusal::Scope { .. } => {
                StatusCode::FORBIDDEN
            }
            Refusal::NoToken { .. } | Refusal::BadToken { .. } => StatusCode::UNAUTHORIZED,
            Refusal::KeysUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// What the client is asked for: the value of `www-authenticate`.
    pub fn challenge(&self) -> Option<HeaderValue> {
        let text = match self {
            Refusal::NoToken { challenge } => challenge.clone(),
            Refusal::BadToken { challenge, .. } => {
                let rest = challenge.strip_prefix("Bearer ").map(|rest| format!(", {rest}"));
                format!("Bearer error=\"invalid_token\"{}", rest.unwrap_or_default())
            }
            Refusal::Scope { scopes, metadata } => {
                let metadata =
                    metadata.as_ref().map(|url| format!(", resource_metadata=\"{url}\""));
                format!(
                    "Bearer error=\"insufficient_scope\", scope=\"{scopes}\"{}",
                    metadata.unwrap_or_default()
                )
            }
            _ => return None,
        };
        HeaderValue::try_from(text).ok()
    }

    /// The whole answer.
    pub fn response(&self) -> Response<Body> {
        let problem = Problem {
            code: self.status().as_u16(),
            message: self.to_string(),
            source: "ingress",
            error_code: self.code(),
        };
        let body = serde_json::to_vec(&problem).expect("texts and numbers are JSON");
        let mut response = Response::new(full(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-holdfast-error", HeaderValue::from_static(self.code()));
        headers.insert("x-restate-error-source", HeaderValue::from_static("ingress"));
        if let Some(challenge) = self.challenge() {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if matches!(self, Refusal::KeysUnavailable) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// As other errors of the ingress listener.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    code: u16,
    message: String,
    source: &'static str,
    error_code: &'static str,
}
