//! What an agent refuses, and how each binding says so: the one table of codes, statuses and
//! reasons. Never carries a secret or the text of a payload.

use http::StatusCode;

/// The domain of the reasons of A2A.
pub const DOMAIN: &str = "a2a-protocol.org";

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It never was, it was forgotten, or it is somebody else's: nobody is told which.
    #[error("Task not found")]
    TaskNotFound(String),
    #[error("Task cannot be canceled: it is {state}")]
    TaskNotCancelable { task: String, state: &'static str },
    #[error("Push notifications are not supported by this agent")]
    PushNotSupported,
    #[error("This operation is not supported: {0}")]
    UnsupportedOperation(String),
    #[error("Content type not supported: {0}")]
    ContentTypeNotSupported(String),
    /// The handler gave what is no A2A: an artifact without parts, a message that is none.
    #[error("The agent answered with what is no answer: {0}")]
    InvalidAgentResponse(String),
    #[error("No extended agent card is configured")]
    ExtendedCardNotConfigured,
    #[error("The extension {0} is required; name it in `A2A-Extensions`")]
    ExtensionRequired(String),
    #[error("A2A version {0} is not supported; send `A2A-Version: 1.0`")]
    VersionNotSupported(String),
    #[error("Invalid JSON payload: {0}")]
    Parse(String),
    #[error("Request payload validation error: {0}")]
    InvalidRequest(String),
    #[error("Method not found: {0}")]
    MethodNotFound(String),
    #[error("Invalid parameters{}", Violation::listed(.0))]
    InvalidParams(Vec<Violation>),
    #[error("Internal error: {0}")]
    Internal(String),
    /// The body of an HTTP request has a type that is not read here.
    #[error("A body of type {0} is not read here; send application/json")]
    MediaType(String),
    /// No such agent, or no such path.
    #[error("{0}")]
    NotFound(String),
    /// `allowed` is what the path can be asked with.
    #[error("This path is asked with {allowed}")]
    MethodNotAllowed { allowed: &'static str },
    /// `challenge` is the value of `WWW-Authenticate`.
    #[error("{message}")]
    Unauthenticated { challenge: String, message: String },
    #[error("{0}")]
    Forbidden(String),
    #[error("{message}")]
    Overloaded { message: String, code: &'static str, retry_after_seconds: u64 },
}

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path of JSON names, such as `message.parts`.
    pub field: String,
    pub description: String,
}

impl Violation {
    fn listed(violations: &[Violation]) -> String {
        let each = violations.iter().map(|it| format!("{} {}", it.field, it.description));
        let listed: Vec<String> = each.collect();
        if listed.is_empty() { String::new() } else { format!(": {}", listed.join("; ")) }
    }
}

/// A status of gRPC; `status` of an HTTP error is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grpc {
    InvalidArgument = 3,
    NotFound = 5,
    PermissionDenied = 7,
    FailedPrecondition = 9,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    Unauthenticated = 16,
}

impl Grpc {
    pub const fn number(self) -> i32 {
        self as i32
    }

    pub const fn name(self) -> &'static str {
        match self {
            Grpc::InvalidArgument => "INVALID_ARGUMENT",
            Grpc::NotFound => "NOT_FOUND",
            Grpc::PermissionDenied => "PERMISSION_DENIED",
            Grpc::FailedPrecondition => "FAILED_PRECONDITION",
            Grpc::Unimplemented => "UNIMPLEMENTED",
            Grpc::Internal => "INTERNAL",
            Grpc::Unavailable => "UNAVAILABLE",
            Grpc::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

/// One row of the table: JSON-RPC, gRPC, HTTP, reason, our own code.
struct Row(i32, Grpc, StatusCode, Option<&'static str>, &'static str);

impl Error {
    /// One thing that is wrong with the parameters.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Error {
        let violation = Violation { field: field.into(), description: description.into() };
        Error::InvalidParams(vec![violation])
    }

    fn row(&self) -> Row {
        use Grpc::{FailedPrecondition, Internal, InvalidArgument, NotFound, Unimplemented};
        const BAD: StatusCode = StatusCode::BAD_REQUEST;
        const FAULT: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
        match self {
            Error::TaskNotFound(_) => {
                Row(-32001, NotFound, StatusCode::NOT_FOUND, Some("TASK_NOT_FOUND"), "HF0240")
            }
            Error::TaskNotCancelable { .. } => {
                Row(-32002, FailedPrecondition, BAD, Some("TASK_NOT_CANCELABLE"), "HF0241")
            }
            Error::PushNotSupported => {
                let reason = "PUSH_NOTIFICATION_NOT_SUPPORTED";
                Row(-32003, FailedPrecondition, BAD, Some(reason), "HF0242")
            }
            Error::UnsupportedOperation(_) => {
                Row(-32004, FailedPrecondition, BAD, Some("UNSUPPORTED_OPERATION"), "HF0243")
            }
            Error::ContentTypeNotSupported(_) => {
                Row(-32005, InvalidArgument, BAD, Some("CONTENT_TYPE_NOT_SUPPORTED"), "HF0244")
            }
            Error::MediaType(_) => {
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                Row(-32005, InvalidArgument, status, Some("CONTENT_TYPE_NOT_SUPPORTED"), "HF0244")
            }
            Error::InvalidAgentResponse(_) => {
                Row(-32006, Internal, FAULT, Some("INVALID_AGENT_RESPONSE"), "HF0245")
            }
            Error::ExtendedCardNotConfigured => {
                let reason = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
                Row(-32007, FailedPrecondition, BAD, Some(reason), "HF0246")
            }
            Error::ExtensionRequired(_) => {
                Row(-32008, FailedPrecondition, BAD, Some("EXTENSION_SUPPORT_REQUIRED"), "HF0247")
            }
            Error::VersionNotSupported(_) => {
                Row(-32009, FailedPrecondition, BAD, Some("VERSION_NOT_SUPPORTED"), "HF0248")
            }
            Error::Parse(_) => Row(-32700, InvalidArgument, BAD, None, "HF0249"),
            Error::InvalidRequest(_) => {
                Row(-32600, InvalidArgument, BAD, Some("INVALID_REQUEST"), "HF0250")
            }
            Error::MethodNotFound(_) => {
                let status = StatusCode::NOT_FOUND;
                Row(-32601, Unimplemented, status, Some("METHOD_NOT_FOUND"), "HF0251")
            }
            Error::InvalidParams(_) => {
                Row(-32602, InvalidArgument, BAD, Some("INVALID_PARAMS"), "HF0252")
            }
            Error::Internal(_) => Row(-32603, Internal, FAULT, Some("INTERNAL_ERROR"), "HF0253"),
            Error::NotFound(_) => Row(-32601, NotFound, StatusCode::NOT_FOUND, None, "HF0254"),
            Error::MethodNotAllowed { .. } => {
                Row(-32601, Unimplemented, StatusCode::METHOD_NOT_ALLOWED, None, "HF0255")
            }
            Error::Unauthenticated { .. } => {
                Row(-32600, Grpc::Unauthenticated, StatusCode::UNAUTHORIZED, None, "HF0256")
            }
            Error::Forbidden(_) => {
                Row(-32600, Grpc::PermissionDenied, StatusCode::FORBIDDEN, None, "HF0257")
            }
            Error::Overloaded { code, .. } => {
                Row(-32603, Grpc::Unavailable, StatusCode::SERVICE_UNAVAILABLE, None, code)
            }
        }
    }

    /// The code of JSON-RPC.
    pub fn rpc_code(&self) -> i32 {
        self.row().0
    }

    pub fn grpc(&self) -> Grpc {
        self.row().1
    }

    /// The status of the HTTP+JSON binding.
    pub fn http(&self) -> StatusCode {
        self.row().2
    }

    /// The reason of the `ErrorInfo`, by which clients tell the errors apart.
    pub fn reason(&self) -> Option<&'static str> {
        self.row().3
    }

    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        self.row().4
    }

    /// Facts for the `ErrorInfo`, under camelCase names.
    pub fn metadata(&self) -> Vec<(&'static str, String)> {
        let mut facts = match self {
            Error::TaskNotFound(task) => vec![("taskId", task.clone())],
            Error::TaskNotCancelable { task, state } => {
                vec![("taskId", task.clone()), ("state", (*state).into())]
            }
            Error::ExtensionRequired(uri) => vec![("extension", uri.clone())],
            Error::VersionNotSupported(asked) => {
                vec![("requestedVersion", asked.clone()), ("supportedVersions", "1.0,0.3".into())]
            }
            _ => vec![],
        };
        facts.push(("code", self.code().into()));
        facts
    }

    /// For a `BadRequest`.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Error::InvalidParams(violations) => violations,
            _ => &[],
        }
    }

    /// After how many seconds the same request may do better.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Error::Overloaded { retry_after_seconds, .. } => Some(*retry_after_seconds),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// Every error of the specification, in its order, then ours.
    fn all() -> Vec<Error> {
        let task = || "t".to_owned();
        vec![
            Error::TaskNotFound(task()),
            Error::TaskNotCancelable { task: task(), state: "TASK_STATE_COMPLETED" },
            Error::PushNotSupported,
            Error::UnsupportedOperation("it has ended".into()),
            Error::ContentTypeNotSupported("image/png".into()),
            Error::InvalidAgentResponse("no parts".into()),
            Error::ExtendedCardNotConfigured,
            Error::ExtensionRequired("urn:x".into()),
            Error::VersionNotSupported("99.0".into()),
            Error::Parse("eof".into()),
            Error::InvalidRequest("batch".into()),
            Error::MethodNotFound("Nope".into()),
            Error::invalid("pageSize", "must be between 1 and 100"),
            Error::Internal("oh".into()),
            Error::MediaType("text/plain".into()),
            Error::NotFound("no agent".into()),
            Error::MethodNotAllowed { allowed: "POST" },
            Error::Unauthenticated { challenge: "Bearer".into(), message: "who?".into() },
            Error::Forbidden("no".into()),
            Error::Overloaded { message: "later".into(), code: "HF0030", retry_after_seconds: 1 },
        ]
    }

    #[test]
    fn the_table() {
        let line = |error: &Error| {
            let (grpc, http) = (error.grpc(), error.http().as_u16());
            let (rpc, reason) = (error.rpc_code(), error.reason().unwrap_or("-"));
            format!("{rpc} {} {} {http} {reason} {}\n", grpc.number(), grpc.name(), error.code())
        };
        let table: String = all().iter().map(line).collect();
        expect![[r#"
            -32001 5 NOT_FOUND 404 TASK_NOT_FOUND HF0240
            -32002 9 FAILED_PRECONDITION 400 TASK_NOT_CANCELABLE HF0241
            -32003 9 FAILED_PRECONDITION 400 PUSH_NOTIFICATION_NOT_SUPPORTED HF0242
            -32004 9 FAILED_PRECONDITION 400 UNSUPPORTED_OPERATION HF0243
            -32005 3 INVALID_ARGUMENT 400 CONTENT_TYPE_NOT_SUPPORTED HF0244
            -32006 13 INTERNAL 500 INVALID_AGENT_RESPONSE HF0245
            -32007 9 FAILED_PRECONDITION 400 EXTENDED_AGENT_CARD_NOT_CONFIGURED HF0246
            -32008 9 FAILED_PRECONDITION 400 EXTENSION_SUPPORT_REQUIRED HF0247
            -32009 9 FAILED_PRECONDITION 400 VERSION_NOT_SUPPORTED HF0248
            -32700 3 INVALID_ARGUMENT 400 - HF0249
            -32600 3 INVALID_ARGUMENT 400 INVALID_REQUEST HF0250
            -32601 12 UNIMPLEMENTED 404 METHOD_NOT_FOUND HF0251
            -32602 3 INVALID_ARGUMENT 400 INVALID_PARAMS HF0252
            -32603 13 INTERNAL 500 INTERNAL_ERROR HF0253
            -32005 3 INVALID_ARGUMENT 415 CONTENT_TYPE_NOT_SUPPORTED HF0244
            -32601 5 NOT_FOUND 404 - HF0254
            -32601 12 UNIMPLEMENTED 405 - HF0255
            -32600 16 UNAUTHENTICATED 401 - HF0256
            -32600 7 PERMISSION_DENIED 403 - HF0257
            -32603 14 UNAVAILABLE 503 - HF0030
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn sentences() {
        let told: String = all().iter().map(|error| format!("{error}\n")).collect();
        expect![[r#"
            Task not found
            Task cannot be canceled: it is TASK_STATE_COMPLETED
            Push notifications are not supported by this agent
            This operation is not supported: it has ended
            Content type not supported: image/png
            The agent answered with what is no answer: no parts
            No extended agent card is configured
            The extension urn:x is required; name it in `A2A-Extensions`
            A2A version 99.0 is not supported; send `A2A-Version: 1.0`
            Invalid JSON payload: eof
            Request payload validation error: batch
            Method not found: Nope
            Invalid parameters: pageSize must be between 1 and 100
            Internal error: oh
            A body of type text/plain is not read here; send application/json
            no agent
            This path is asked with POST
            who?
            no
            later
        "#]]
        .assert_eq(&told);
    }
}
