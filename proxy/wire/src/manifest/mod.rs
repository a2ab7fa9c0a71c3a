//! The discovery manifest: what a deployment says about itself.
//!
//! A [`Manifest`] that came out of [`Manifest::parse`] obeys all rules, and writing it with serde
//! gives a manifest again. Reading it back with serde alone checks no rule: that is for what was
//! parsed before. Unknown fields are skipped. No schema is ever applied to a payload here.

mod error;
mod name;
mod options;
mod read;
mod rules;
mod schema;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

pub use error::{Error, FieldProblem, HandlerProblem, ServiceProblem};
pub use options::{OnMaxAttempts, Options, RetryPolicy};
pub use rules::{Input, InputRefusal, Output};

/// What to send as `accept` when asking for a manifest.
pub const ACCEPT: &str = "application/vnd.restate.endpointmanifest.v1+json, \
                          application/vnd.restate.endpointmanifest.v2+json, \
                          application/vnd.restate.endpointmanifest.v3+json, \
                          application/vnd.restate.endpointmanifest.v4+json";

/// The form in which a manifest is written. Newer ones have more fields, none has other fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManifestVersion {
    V1,
    V2,
    V3,
    V4,
}

impl ManifestVersion {
    /// Every version we read, oldest first.
    pub const ALL: [ManifestVersion; 4] =
        [ManifestVersion::V1, ManifestVersion::V2, ManifestVersion::V3, ManifestVersion::V4];

    /// The media type of a manifest in this form.
    pub const fn content_type(self) -> &'static str {
        match self {
            ManifestVersion::V1 => "application/vnd.restate.endpointmanifest.v1+json",
            ManifestVersion::V2 => "application/vnd.restate.endpointmanifest.v2+json",
            ManifestVersion::V3 => "application/vnd.restate.endpointmanifest.v3+json",
            ManifestVersion::V4 => "application/vnd.restate.endpointmanifest.v4+json",
        }
    }

    /// The version a media type stands for. It has to be written exactly, without parameters.
    pub fn from_content_type(content_type: &str) -> Option<ManifestVersion> {
        ManifestVersion::ALL.into_iter().find(|version| version.content_type() == content_type)
    }
}

/// What a deployment says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub protocol_mode: ProtocolMode,
    /// The oldest version of the service protocol that the deployment speaks.
    pub min_protocol_version: u32,
    /// The newest one; never below the oldest.
    pub max_protocol_version: u32,
    /// Means nothing for a deployment that is reached by HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_compression: Option<String>,
    /// No two of the same name.
    pub services: Vec<Service>,
}

/// Whether an attempt hears news while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProtocolMode {
    /// The request stays open and notifications stream in.
    BidiStream,
    /// The request ends after the replay.
    RequestResponse,
}

/// One service of a deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    pub name: String,
    pub ty: ServiceType,
    /// No two of the same name.
    pub handlers: Vec<Handler>,
    #[serde(flatten)]
    pub options: Options,
}

/// Whether a service has keys, and what a key is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ServiceType {
    Service,
    VirtualObject,
    Workflow,
}

impl ServiceType {
    /// Whether a target needs a key.
    pub const fn is_keyed(self) -> bool {
        !matches!(self, ServiceType::Service)
    }
}

impl fmt::Display for ServiceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServiceType::Service => "service",
            ServiceType::VirtualObject => "virtual object",
            ServiceType::Workflow => "workflow",
        })
    }
}

/// One handler of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handler {
    pub name: String,
    /// Fits the type of the service.
    #[serde(
        default = "HandlerType::unstated",
        deserialize_with = "HandlerType::stated",
        skip_serializing_if = "HandlerType::is_service"
    )]
    pub ty: HandlerType,
    #[serde(default, deserialize_with = "or_default")]
    pub input: Input,
    #[serde(default, deserialize_with = "or_default")]
    pub output: Output,
    /// How long the result of a workflow's run is kept, in milliseconds.
    #[serde(
        rename = "workflowCompletionRetention",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub workflow_completion_retention_ms: Option<u64>,
    #[serde(flatten)]
    pub options: Options,
}

/// How the calls of a handler go together with others of the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HandlerType {
    /// A handler of a plain service; the manifest leaves its type out.
    Service,
    /// One at a time for each key of an object; reads and writes state.
    Exclusive,
    /// Beside the others of its key; only reads state.
    Shared,
    /// The run of a workflow: once for each key.
    Workflow,
}

impl HandlerType {
    /// Until the type of the service is known, a type left out reads as that of a plain service.
    fn unstated() -> HandlerType {
        HandlerType::Service
    }

    fn is_service(&self) -> bool {
        *self == HandlerType::Service
    }

    fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HandlerType, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        enum Stated {
            Workflow,
            Exclusive,
            Shared,
        }
        Ok(match Option::<Stated>::deserialize(deserializer)? {
            None => HandlerType::unstated(),
            Some(Stated::Workflow) => HandlerType::Workflow,
            Some(Stated::Exclusive) => HandlerType::Exclusive,
            Some(Stated::Shared) => HandlerType::Shared,
        })
    }
}

impl fmt::Display for HandlerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HandlerType::Service => "service",
            HandlerType::Exclusive => "exclusive",
            HandlerType::Shared => "shared",
            HandlerType::Workflow => "workflow",
        })
    }
}

/// Reads `null` like a field that is left out.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
