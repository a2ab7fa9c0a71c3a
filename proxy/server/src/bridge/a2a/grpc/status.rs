//! How a call ends: `grpc-status`, `grpc-message`, and what is the matter in detail
//! (`grpc-status-details-bin`), as trailers or, where nothing else was said, as headers.

use super::pb as rpc;
use crate::bridge::a2a::error::{Error, Grpc};
use crate::http::{Body, empty};
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use holdfast_machine::text::cut;
use http::{HeaderMap, HeaderValue, Response, header::CONTENT_TYPE};
use prost::Message;
use prost_types::Any;
use std::fmt::Write;

pub const GRPC: &str = "application/grpc";
const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
const DETAILS: &str = "grpc-status-details-bin";
const DOMAIN: &str = "a2a-protocol.org";
/// Longest text of a message, in bytes: peers have bounds for all trailers together.
const MESSAGE_BYTES_MAX: usize = 1_024;
/// The caller's deadline is over.
const DEADLINE_EXCEEDED: i32 = 4;
/// A body was larger than may be.
const RESOURCE_EXHAUSTED: i32 = 8;

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    code: i32,
    message: String,
    details: Vec<Any>,
}

impl Status {
    pub fn ok() -> Status {
        Status { code: 0, message: String::new(), details: vec![] }
    }

    pub fn unimplemented(message: impl Into<String>) -> Status {
        Status { code: Grpc::Unimplemented.number(), message: message.into(), details: vec![] }
    }

    pub fn too_late() -> Status {
        let message = "the deadline is over; what was accepted goes on".to_owned();
        Status { code: DEADLINE_EXCEEDED, message, details: vec![] }
    }

    pub fn too_large(bytes_max: usize) -> Status {
        let message = format!("the request is larger than {bytes_max} bytes");
        Status { code: RESOURCE_EXHAUSTED, message, details: vec![] }
    }

    /// As trailers.
    pub fn trailers(&self) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        trailers.insert(STATUS, HeaderValue::from(self.code));
        if !self.message.is_empty() {
            trailers.insert(MESSAGE, value(&percent(&self.message)));
        }
        if !self.details.is_empty() {
            let status = rpc::Status {
                code: self.code,
                message: self.message.clone(),
                details: self.details.clone(),
            };
            let encoded = STANDARD_NO_PAD.encode(status.encode_to_vec());
            trailers.insert(DETAILS, value(&encoded));
        }
        trailers
    }

    /// A response that says nothing else.
    pub fn alone(&self) -> Response<Body> {
        let mut response = Response::new(empty());
        *response.headers_mut() = self.trailers();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
        response
    }
}

impl From<&Error> for Status {
    fn from(error: &Error) -> Status {
        let mut details = vec![];
        if let Some(reason) = error.reason() {
            let metadata = error.metadata().into_iter();
            let metadata = metadata.map(|(name, value)| (name.to_owned(), value)).collect();
            let info =
                rpc::ErrorInfo { reason: reason.to_owned(), domain: DOMAIN.to_owned(), metadata };
            details.push(any("google.rpc.ErrorInfo", &info));
        }
        let violation = |violation: &crate::bridge::a2a::error::Violation| {
            let (field, description) = (violation.field.clone(), violation.description.clone());
            rpc::bad_request::FieldViolation { field, description }
        };
        let field_violations: Vec<_> = error.violations().iter().map(violation).collect();
        if !field_violations.is_empty() {
            details.push(any("google.rpc.BadRequest", &rpc::BadRequest { field_violations }));
        }
        Status { code: error.grpc().number(), message: error.to_string(), details }
    }
}

fn any(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("visible ASCII can stand in a header")
}

/// Everything but visible ASCII, and the percent sign itself, as `%XX`.
fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in cut(text, MESSAGE_BYTES_MAX).bytes() {
        match byte {
            b'%' | ..b' ' | 0x7f.. => {
                write!(out, "%{byte:02X}").expect("a string takes everything");
            }
            plain => out.push(char::from(plain)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::error::Violation;

    #[test]
    fn a_message_is_visible_ascii() {
        assert_eq!(percent("50 % für\n✓"), "50 %25 f%C3%BCr%0A%E2%9C%93");
        assert_eq!(percent(&"ü".repeat(600)).len(), 512 * 6);
    }

    #[test]
    fn details_say_reason_and_fields() {
        let status = Status::from(&Error::TaskNotFound("t-1".into()));
        let trailers = status.trailers();
        assert_eq!(trailers[STATUS], "5");
        let read = |trailers: &HeaderMap| {
            let bytes = STANDARD_NO_PAD.decode(&trailers[DETAILS]).unwrap();
            rpc::Status::decode(&*bytes).unwrap()
        };
        let details = read(&trailers);
        assert_eq!(details.code, 5);
        assert_eq!(details.details[0].type_url, "type.googleapis.com/google.rpc.ErrorInfo");
        let info = rpc::ErrorInfo::decode(&*details.details[0].value).unwrap();
        assert_eq!((info.reason.as_str(), info.domain.as_str()), ("TASK_NOT_FOUND", DOMAIN));
        assert_eq!(info.metadata["taskId"], "t-1");

        let violation = Violation { field: "pageSize".into(), description: "too large".into() };
        let status = Status::from(&Error::InvalidParams(vec![violation]));
        let details = read(&status.trailers());
        assert_eq!(details.code, 3);
        let last = details.details.last().unwrap();
        assert_eq!(last.type_url, "type.googleapis.com/google.rpc.BadRequest");
        let bad = rpc::BadRequest::decode(&*last.value).unwrap();
        assert_eq!(bad.field_violations[0].field, "pageSize");

        let ok = Status::ok().trailers();
        assert_eq!((ok.len(), &ok[STATUS]), (1, &HeaderValue::from(0)));
        let alone = Status::unimplemented("no").alone();
        assert_eq!(alone.headers()[CONTENT_TYPE], GRPC);
        assert_eq!(alone.headers()[STATUS], "12");
    }
}
