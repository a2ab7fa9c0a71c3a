//! What is wrong with a message, as JSON-RPC and HTTP have it. The one place where codes and
//! statuses are said.

use http::StatusCode;
use serde_json::{Value, json};

/// The extension for tasks.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Error {
    #[error("the body is not JSON: {0}")]
    Parse(String),
    #[error("{0}")]
    Request(String),
    /// A header does not say what the body says.
    #[error("{0}")]
    Header(String),
    #[error("protocol version `{requested}` is not supported")]
    Version { requested: String, supported: &'static [&'static str] },
    #[error("the client must be capable of this to call the tool: {0}")]
    Capability(Value),
    #[error("there is no method `{0}` here")]
    Method(String),
    #[error("{0}")]
    Params(String),
    #[error("there is no such {what}")]
    Absent { what: String, name: String },
    /// As `Params`, of what every request must have.
    #[error("{0}")]
    Meta(String),
    #[error("{0}")]
    Internal(String),
    #[error("{0}")]
    NotNow(String),
    #[error("too many streams are open; try again in a few seconds")]
    Busy,
    #[error("there is no session of that id; initialize again")]
    Session,
    #[error("{0}")]
    MediaType(&'static str),
    #[error("{0}")]
    NotAcceptable(&'static str),
    #[error("the message is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
}

impl Error {
    pub fn task_not_found() -> Error {
        Error::Params("Task not found".to_owned())
    }

    /// The client has to follow tasks.
    pub fn tasks_required() -> Error {
        Error::Capability(json!({ "extensions": { TASKS: {} } }))
    }

    pub fn code(&self) -> i64 {
        match self {
            Error::Parse(_) => -32700,
            Error::Request(_)
            | Error::Session
            | Error::MediaType(_)
            | Error::NotAcceptable(_)
            | Error::TooLarge { .. } => -32600,
            Error::Header(_) => -32020,
            Error::Version { .. } => -32022,
            Error::Capability(_) => -32021,
            Error::Method(_) => -32601,
            Error::Params(_) | Error::Absent { .. } | Error::Meta(_) => -32602,
            Error::Internal(_) | Error::NotNow(_) | Error::Busy => -32603,
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Error::Parse(_)
            | Error::Request(_)
            | Error::Header(_)
            | Error::Version { .. }
            | Error::Capability(_)
            | Error::Meta(_) => StatusCode::BAD_REQUEST,
            Error::Method(_) | Error::Session => StatusCode::NOT_FOUND,
            Error::Params(_) | Error::Absent { .. } | Error::Internal(_) | Error::NotNow(_) => {
                StatusCode::OK
            }
            Error::Busy => StatusCode::TOO_MANY_REQUESTS,
            Error::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Error::NotAcceptable(_) => StatusCode::NOT_ACCEPTABLE,
            Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }

    fn data(&self) -> Option<Value> {
        match self {
            Error::Version { requested, supported } => {
                Some(json!({ "supported": supported, "requested": requested }))
            }
            Error::Absent { what, name } => {
                let field = if what == "resource" { "uri" } else { "name" };
                Some(json!({ field: name }))
            }
            Error::Capability(required) => Some(json!({ "requiredCapabilities": required })),
            _ => None,
        }
    }

    /// The whole message; `id` where it could be read.
    pub fn message(&self, id: Option<&Value>) -> Value {
        let mut error = json!({ "code": self.code(), "message": self.to_string() });
        if let Some(data) = self.data() {
            error["data"] = data;
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
    }
}
