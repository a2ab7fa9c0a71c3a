//! What is asked of a sidecar from outside, and what its answers mean.

use super::IngressError;
use crate::attempt::Target;
use crate::error::Terminal;
use crate::payload::{self, Encoded};
use crate::request::Request;
use bytes::Bytes;
use holdfast_wire::percent::escaped;
use http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What is asked, so that it can be asked again.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: Bytes,
    /// Asking twice is asking once.
    pub(super) repeatable: bool,
}

/// One answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) by_handler: bool,
    pub(super) body: Bytes,
}

impl Ask {
    pub(super) fn get(path: String) -> Ask {
        Ask {
            method: Method::GET,
            path,
            headers: vec![],
            content_type: None,
            body: Bytes::new(),
            repeatable: true,
        }
    }

    /// One that may be sent again.
    pub(super) fn post(path: String, value: Encoded) -> Ask {
        let Encoded { bytes, content_type } = value;
        Ask { method: Method::POST, content_type, body: bytes, ..Ask::get(path) }
    }
}

impl Answer {
    /// Whether asking again may help.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self.status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        )
    }
}

/// What an answer that is no success means.
pub(super) fn refused(answer: &Answer) -> IngressError {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = body["message"].as_str().map(str::to_owned);
    let message = message.unwrap_or_else(|| String::from_utf8_lossy(&answer.body).into_owned());
    let by_handler = answer.by_handler || body["source"] == "invocation";
    if !by_handler {
        return IngressError::Refused { status: answer.status.as_u16(), message };
    }
    let failure = Terminal::new(message).code(answer.status.as_u16());
    let metadata = body["metadata"].as_object().into_iter().flatten();
    IngressError::Failed(metadata.fold(failure, |failure, (key, value)| {
        failure.with(key, value.as_str().unwrap_or_default())
    }))
}

/// A request to a handler; `tail` is put behind its path.
pub(super) fn of_request<T>(request: Request<T>, tail: &str) -> Result<Ask, IngressError> {
    let content_type = request.content_type;
    let target = sound(request)?;
    let Target { service, key, handler, parameter, mut headers, idempotency_key } = target;
    let repeatable = idempotency_key.is_some();
    headers.extend(idempotency_key.map(|key| ("idempotency-key".to_owned(), key)));
    let key = if key.is_empty() { key } else { format!("{}/", escaped(&key)) };
    let path = format!("/{service}/{key}{handler}{tail}");
    let method = Method::POST;
    Ok(Ask { method, path, headers, content_type, body: parameter, repeatable })
}

/// A question about what was begun with a request.
pub(super) fn about_request<T>(request: Request<T>, path: &str) -> Result<Ask, IngressError> {
    let Target { service, key, handler, idempotency_key, .. } = sound(request)?;
    let about = match (idempotency_key, key.is_empty()) {
        (Some(idempotency_key), keyless) => json!({
            "target": "idempotentInvocation",
            "service": service,
            "key": (!keyless).then_some(key),
            "handler": handler,
            "idempotencyKey": idempotency_key,
        }),
        (None, false) => {
            json!({ "target": "workflow", "workflowName": service, "workflowKey": key })
        }
        (None, true) => {
            let message = format!(
                "nothing tells which invocation of `{service}/{handler}` is meant; give the request \
                 the idempotency key that it was made with, or attach by the id of the invocation"
            );
            return Err(IngressError::Payload(message));
        }
    };
    Ok(Ask::post(path.to_owned(), encode(&about)?))
}

fn sound<T>(request: Request<T>) -> Result<Target, IngressError> {
    match request.into_parts() {
        (target, None) => Ok(target),
        (_, Some(error)) => Err(IngressError::Payload(error.to_string())),
    }
}

pub(super) fn encode<V: Serialize + ?Sized>(value: &V) -> Result<Encoded, IngressError> {
    payload::encode(value).map_err(|error| IngressError::Payload(error.to_string()))
}

pub(super) fn read<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, IngressError> {
    payload::decode(bytes).map_err(|error| IngressError::Payload(error.to_string()))
}
