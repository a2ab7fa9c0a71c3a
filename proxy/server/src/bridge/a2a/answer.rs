//! Values and errors as HTTP responses of the two JSON bindings. The one place where an error gets
//! its body.

use super::error::{DOMAIN, Error};
use crate::http::{Body, full};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

pub const JSON: &str = "application/json";
pub const A2A_JSON: &str = "application/a2a+json";
const ERROR_CODE: HeaderName = HeaderName::from_static("x-holdfast-error");
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// A value as the body of a response.
pub fn json(status: StatusCode, media_type: &'static str, value: &Value) -> Response<Body> {
    let mut response = Response::new(full(value.to_string()));
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

/// A refusal of the HTTP+JSON binding.
pub fn refusal(error: &Error, media_type: &'static str) -> Response<Body> {
    with_headers(json(error.http(), media_type, &http_error(error)), error)
}

/// A refusal that ends a call before its method is looked at: it has the status of HTTP in both
/// bindings.
pub fn is_of_http(error: &Error) -> bool {
    matches!(error, Error::Unauthenticated { .. } | Error::Forbidden(_) | Error::Overloaded { .. })
}

/// The headers that go with an error.
pub fn with_headers(mut response: Response<Body>, error: &Error) -> Response<Body> {
    let headers = response.headers_mut();
    if let Ok(code) = HeaderValue::from_str(error.code()) {
        headers.insert(ERROR_CODE, code);
    }
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    match error {
        Error::Unauthenticated { challenge, .. } => {
            if let Ok(challenge) = HeaderValue::from_str(challenge) {
                headers.insert(header::WWW_AUTHENTICATE, challenge);
            }
        }
        Error::MethodNotAllowed { allowed } => {
            headers.insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        _ => {}
    }
    response
}

/// `{"error": …}` of HTTP+JSON.
pub fn http_error(error: &Error) -> Value {
    json!({ "error": {
        "code": error.http().as_u16(),
        "status": error.grpc().name(),
        "message": error.to_string(),
        "details": details(error),
    } })
}

/// The `error` member of JSON-RPC.
pub fn rpc_error(error: &Error) -> Value {
    json!({ "code": error.rpc_code(), "message": error.to_string(), "data": details(error) })
}

/// By these clients tell the errors apart.
fn details(error: &Error) -> Vec<Value> {
    let mut details = vec![];
    if let Some(reason) = error.reason() {
        let facts = error.metadata().into_iter().map(|(name, fact)| (name.into(), fact.into()));
        let facts: Map<String, Value> = facts.collect();
        let info =
            json!({"@type": ERROR_INFO, "reason": reason, "domain": DOMAIN, "metadata": facts});
        details.push(info);
    }
    let violations = error.violations().iter();
    let violations: Vec<Value> =
        violations.map(|it| json!({ "field": it.field, "description": it.description })).collect();
    if !violations.is_empty() {
        details.push(json!({ "@type": BAD_REQUEST, "fieldViolations": violations }));
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn bodies_of_errors() {
        let not_found = Error::TaskNotFound("nope".into());
        expect![[r#"{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"nope","code":"HF0240"}}]}"#]]
            .assert_eq(&rpc_error(&not_found).to_string());
        let invalid = Error::invalid("pageSize", "must be between 1 and 100");
        expect![[r#"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Invalid parameters: pageSize must be between 1 and 100","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INVALID_PARAMS","domain":"a2a-protocol.org","metadata":{"code":"HF0252"}},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"pageSize","description":"must be between 1 and 100"}]}]}}"#]]
            .assert_eq(&http_error(&invalid).to_string());
        let unknown = Error::NotFound("no agent `x` here".into());
        expect![[r#"{"error":{"code":404,"status":"NOT_FOUND","message":"no agent `x` here","details":[]}}"#]]
            .assert_eq(&http_error(&unknown).to_string());
    }

    #[test]
    fn headers_of_errors() {
        let headers = |error: Error| refusal(&error, JSON).headers().clone();
        let challenge = "Bearer realm=\"holdfast\"";
        let who = Error::Unauthenticated { challenge: challenge.into(), message: "who?".into() };
        assert_eq!(headers(who)[header::WWW_AUTHENTICATE], challenge);
        let later =
            Error::Overloaded { message: "later".into(), code: "HF0030", retry_after_seconds: 2 };
        assert_eq!(headers(later)[header::RETRY_AFTER], "2");
        let verb = headers(Error::MethodNotAllowed { allowed: "GET" });
        assert_eq!(
            (&verb[header::ALLOW], &verb[ERROR_CODE]),
            (&"GET".parse().unwrap(), &"HF0255".parse().unwrap())
        );
    }
}
