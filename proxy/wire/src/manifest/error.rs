//! Why a manifest is not taken, in sentences for whoever registers the deployment.
//!
//! Each names the service and the handler it is about. None shows more of the manifest than names
//! and the offending value.

use std::fmt;

use super::{HandlerType, ServiceType};

/// Why a manifest is not taken. Asking again does not help: the deployment has to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "discovery answered with content type {seen:?}; expected \
         application/vnd.restate.endpointmanifest.vN+json with N from 1 to 4; check that the \
         address is that of a service"
    )]
    ContentType { seen: String },
    #[error("discovery answered with something that is not JSON: {reason}")]
    Json { reason: String },
    #[error("manifest cannot be read: {0}")]
    Field(FieldProblem),
    #[error(
        "manifest does not say its protocolMode; expected `BIDI_STREAM` or `REQUEST_RESPONSE`; \
         update the SDK of the service"
    )]
    ProtocolModeMissing,
    #[error(
        "manifest says protocol versions {min} to {max}; expected a rising range from 1 to \
         2147483647"
    )]
    ProtocolRange { min: i64, max: i64 },
    #[error("service {position} of the manifest has no name; expected the field `name`")]
    ServiceNameMissing {
        /// Counted from 1.
        position: usize,
    },
    #[error("service `{}`: {problem}", service.escape_debug())]
    Service { service: String, problem: ServiceProblem },
    #[error("handler `{service}/{}`: {problem}", handler.escape_debug())]
    Handler { service: String, handler: String, problem: HandlerProblem },
}

/// What is wrong with a service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceProblem {
    #[error(
        "name is not allowed; expected a letter, then letters, digits, `_`, `.` and `-`; rename \
         the service"
    )]
    NameMalformed,
    #[error("names that begin with `{prefix}` are reserved; rename the service")]
    NameReserved { prefix: &'static str },
    #[error(
        "it could not be called, since `/{door}` is an address of the sidecar itself; rename the \
         service"
    )]
    HiddenByDoor { door: &'static str },
    #[error("name appears twice in the manifest; names must differ")]
    NameTwice,
    #[error("handler {position} has no name; expected the field `name`")]
    HandlerNameMissing {
        /// Counted from 1.
        position: usize,
    },
    #[error("{0}")]
    Field(FieldProblem),
}

/// What is wrong with a handler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandlerProblem {
    #[error(
        "name is not allowed; expected a letter, then letters, digits and `_`; rename the handler"
    )]
    NameMalformed,
    #[error("name appears twice in the service; names must differ")]
    NameTwice,
    #[error("type `{handler}` does not go with a {service}; expected {expected}")]
    Type { handler: HandlerType, service: ServiceType, expected: &'static str },
    #[error(
        "idempotencyRetention means nothing for the run of a workflow; use \
         workflowCompletionRetention"
    )]
    IdempotencyRetentionOfRun,
    #[error("workflowCompletionRetention is only for the run of a workflow; leave it out")]
    CompletionRetentionOfOther,
    #[error(
        "ingressPrivate is false but the service is private; a handler cannot be more public than \
         its service"
    )]
    PublicInPrivateService,
    #[error(
        "input content type `{seen}` cannot be read; expected `type/subtype`, `type/*` or `*/*`"
    )]
    InputContentType { seen: String },
    #[error("output content type {seen:?} cannot stand in a header; expected `type/subtype`")]
    OutputContentType { seen: String },
    #[error("JSON schema of the {side} is neither an object nor a boolean")]
    NotASchema { side: &'static str },
    #[error(
        "JSON schema of the {side} refers to `{reference}`, which is outside of it; nothing is \
         fetched, so put the definition inside"
    )]
    ExternalReference { side: &'static str, reference: String },
    #[error("{0}")]
    Field(FieldProblem),
}

/// A value that is missing or not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FieldProblem {
    /// The field it is in; none if a field is missing or all of it is no object.
    pub field: Option<String>,
    pub reason: String,
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "field `{}`: {}", field.escape_debug(), self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
