//! Why an attempt cannot even begin. Each is a failed attempt of its invocation, repeated by the
//! retry policy, so that registering what is missing mends it.

use holdfast_machine::{id::DeploymentId, model::AttemptFailure};
use holdfast_wire::version::{self, Version};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("no service `{service}` is registered; register a deployment that has it")]
    UnknownService { service: String },
    #[error("service `{service}` has no handler `{handler}`; register a deployment that has it")]
    UnknownHandler { service: String, handler: String },
    #[error(
        "deployment {0} is gone, and the invocation is pinned to it; register it again, or resume \
         the invocation on another deployment"
    )]
    DeploymentGone(DeploymentId),
    #[error("deployment {deployment} and this server speak no common protocol version: {reason}")]
    NoCommonVersion { deployment: DeploymentId, reason: version::Error },
    #[error(
        "the invocation is pinned to protocol version {pinned}, but deployment {deployment} speaks \
         {min} to {max}; deploy an SDK that still speaks it"
    )]
    VersionGone { deployment: DeploymentId, pinned: Version, min: u32, max: u32 },
    #[error("no request can be made for deployment {deployment}: {reason}")]
    Request { deployment: DeploymentId, reason: String },
    #[error("the sidecar failed while it drove the attempt; its log says more")]
    Bug,
}

const INTERNAL: u32 = 500;
const UNSUPPORTED_VERSION: u32 = 415;

impl Error {
    /// The name of its page.
    pub fn code(&self) -> &'static str {
        match self {
            Error::UnknownService { .. } => "HF0100",
            Error::UnknownHandler { .. } => "HF0101",
            Error::DeploymentGone(_) => "HF0102",
            Error::NoCommonVersion { .. } | Error::VersionGone { .. } => "HF0103",
            Error::Request { .. } => "HF0104",
            Error::Bug => "HF0105",
        }
    }

    /// The failure as it is kept with the invocation.
    pub fn into_failure(self) -> AttemptFailure {
        let code = match &self {
            Error::NoCommonVersion { .. } | Error::VersionGone { .. } => UNSUPPORTED_VERSION,
            _ => INTERNAL,
        };
        AttemptFailure {
            code,
            message: self.to_string(),
            stacktrace: String::new(),
            doc_code: Some(self.code().to_owned()),
            related: None,
        }
    }
}
