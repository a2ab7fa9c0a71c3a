//! What can go wrong with registrations, for people. A code names the page in `docs/errors`; the
//! code that existing tools know is beside it.

use holdfast_machine::id::DeploymentId;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "cannot reach {uri}: {reason} ({attempts} attempts); is the service running, and can this \
         machine reach that address?"
    )]
    Unreachable { uri: String, reason: String, attempts: u32 },

    #[error(
        "{uri} answers 404; the service listens there, but not under this path: give the address \
         that its SDK serves, without /discover"
    )]
    NotFound { uri: String },

    #[error("{uri} answers {status}: {body}")]
    Status { uri: String, status: u16, body: String },

    #[error(
        "{uri} answers with content type `{content_type}`, but a manifest is \
         `application/vnd.restate.endpointmanifest.vN+json`; is it a service of a supported SDK?"
    )]
    ContentType { uri: String, content_type: String },

    #[error("the manifest of {uri} cannot be used: {reason}")]
    Manifest { uri: String, reason: String },

    #[error("{uri} cannot be spoken to, this server speaks protocol versions {ours}: {reason}")]
    ProtocolRange { uri: String, min: u32, max: u32, ours: String, reason: String },

    #[error(
        "{uri} does not speak HTTP/2, but it answers HTTP/1.1; register it with `--http1` \
         (`\"use_http_11\": true`), or serve HTTP/2 without TLS (h2c)"
    )]
    SpeaksHttp1 { uri: String },

    #[error(
        "{uri} accepts the request and then says nothing for {timeout_ms} ms; its runtime may be \
         too old for its SDK (the TypeScript SDK 1.17 needs Node 22), see the log of the service"
    )]
    Silent { uri: String, timeout_ms: u64 },

    #[error("`{uri}` is not the address of a service: {reason}")]
    Address { uri: String, reason: String },

    #[error(
        "the service name `{name}` is reserved: names that are `openapi` or begin with `restate` \
         or `holdfast.` belong to the server; rename the service"
    )]
    ReservedName { name: String },

    #[error(
        "the service `{name}` would be hidden by the door `/{name}` of the ingress; rename the \
         service, or move the door in the configuration"
    )]
    HiddenByDoor { name: String },

    #[error(
        "the service `{name}` is registered as {registered}, and {offered} is another type; \
         register with `--breaking` (`\"breaking\": true`) if that is meant"
    )]
    TypeChanged { name: String, registered: &'static str, offered: &'static str },

    #[error("no deployment `{0}` is registered")]
    UnknownDeployment(DeploymentId),

    #[error("no service `{0}` is registered; register its deployment first")]
    UnknownService(String),

    #[error("the service `{service}` has no handler `{handler}`")]
    UnknownHandler { service: String, handler: String },

    #[error(
        "an update must keep the protocol versions: registered are {registered}, and {uri} speaks \
         {offered}; register it as a new deployment"
    )]
    NotSimilar { uri: String, registered: String, offered: String },

    #[error(
        "the deployment `{id}` is in use: {reason}; wait, or delete it with `force=true`, which \
         leaves its invocations without a service"
    )]
    InUse { id: DeploymentId, reason: String },

    #[error("the metadata `{field}` of `{of}` is not a limit: {reason}")]
    Limit { of: String, field: String, reason: String },

    #[error("`{field}` cannot be set: {reason}")]
    Setting { field: &'static str, reason: String },

    #[error("`{name}` cannot be sent as a header to services: {reason}")]
    Header { name: String, reason: String },

    #[error(
        "the metadata `holdfast.notify.url` is no address for notices: {reason}; write \
         http://HOST/PATH or https://HOST/PATH, or leave it out"
    )]
    NotifyUrl { reason: &'static str },

    #[error("{0} is not supported; services are reached over HTTP")]
    Unsupported(&'static str),

    #[error("{uri} answers 401; it wants signed requests: {hint}")]
    Unauthorized { uri: String, hint: &'static str },

    #[error("the registration could not be stored: {0}")]
    Store(String),

    #[error(
        "the deployment `{id}` already has the address {uri}; update that one, or delete it first"
    )]
    AddressTaken { id: DeploymentId, uri: String },
}

/// Whose fault it is, which decides the HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request cannot be right.
    Request,
    NotFound,
    /// The request would be right at another time, or with another flag.
    Conflict,
    /// The service does not answer as it should.
    Service,
    /// We cannot store it.
    Ours,
}

impl Error {
    /// Names the page `docs/errors/{code}.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Unreachable { .. } => "HF0040",
            Error::NotFound { .. } => "HF0041",
            Error::Status { .. } => "HF0042",
            Error::ContentType { .. } => "HF0043",
            Error::Manifest { .. } => "HF0044",
            Error::ProtocolRange { .. } => "HF0045",
            Error::SpeaksHttp1 { .. } => "HF0046",
            Error::Silent { .. } => "HF0047",
            Error::Address { .. } => "HF0048",
            Error::ReservedName { .. } => "HF0049",
            Error::TypeChanged { .. } => "HF0050",
            Error::UnknownDeployment(_) => "HF0051",
            Error::UnknownService(_) => "HF0052",
            Error::UnknownHandler { .. } => "HF0053",
            Error::NotSimilar { .. } => "HF0054",
            Error::InUse { .. } => "HF0055",
            Error::Setting { .. } => "HF0056",
            Error::Header { .. } => "HF0057",
            Error::Unsupported(_) => "HF0058",
            Error::Unauthorized { .. } => "HF0059",
            Error::HiddenByDoor { .. } => "HF0060",
            Error::Store(_) => "HF0061",
            Error::AddressTaken { .. } => "HF0062",
            Error::Limit { .. } => "HF0195",
            Error::NotifyUrl { .. } => "HF0190",
        }
    }

    /// The code that existing tools know, where one fits.
    pub fn restate_code(&self) -> Option<&'static str> {
        Some(match self {
            Error::Unreachable { .. }
            | Error::NotFound { .. }
            | Error::Status { .. }
            | Error::Unauthorized { .. }
            | Error::Silent { .. } => "META0003",
            Error::AddressTaken { .. } => "META0004",
            Error::ReservedName { .. } | Error::HiddenByDoor { .. } => "META0005",
            Error::TypeChanged { .. } => "META0006",
            Error::ProtocolRange { .. } => "META0012",
            Error::ContentType { .. } | Error::Manifest { .. } | Error::Limit { .. } => "META0013",
            Error::SpeaksHttp1 { .. } => "META0014",
            Error::NotSimilar { .. } => "META0016",
            _ => return None,
        })
    }

    pub fn fault(&self) -> Fault {
        match self {
            Error::Unreachable { .. }
            | Error::NotFound { .. }
            | Error::Status { .. }
            | Error::ContentType { .. }
            | Error::Manifest { .. }
            | Error::ProtocolRange { .. }
            | Error::SpeaksHttp1 { .. }
            | Error::Silent { .. }
            | Error::Unauthorized { .. } => Fault::Service,
            Error::Address { .. }
            | Error::ReservedName { .. }
            | Error::HiddenByDoor { .. }
            | Error::NotSimilar { .. }
            | Error::Limit { .. }
            | Error::Setting { .. }
            | Error::Header { .. }
            | Error::NotifyUrl { .. }
            | Error::Unsupported(_) => Fault::Request,
            Error::UnknownDeployment(_)
            | Error::UnknownService(_)
            | Error::UnknownHandler { .. } => Fault::NotFound,
            Error::TypeChanged { .. } | Error::InUse { .. } | Error::AddressTaken { .. } => {
                Fault::Conflict
            }
            Error::Store(_) => Fault::Ours,
        }
    }
}
