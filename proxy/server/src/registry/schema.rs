//! What is registered, as the doors and the hands read it: values that never change once built.
//! Never refers to the store or to the network.

use super::limit::Limit;
use super::options::{Declared, Options};
use crate::http::client::Protocol;
use holdfast_machine::{
    id::DeploymentId,
    model::{AttemptOptions, Callee, Retention},
    time::Timestamp,
};
use holdfast_wire::{
    manifest::{HandlerType, Input, Output, ServiceType},
    version::Version,
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Everything that is registered, at one moment.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// Latest revision of each service, by name.
    pub services: BTreeMap<String, Arc<Service>>,
    pub deployments: HashMap<DeploymentId, Arc<Deployment>>,
    /// Those in force, one for each subject, in order.
    pub limits: Vec<Limit>,
    /// Some deployment says where notices about its invocations are to be sent.
    pub notifies: bool,
}

/// One revision of a service.
#[derive(Debug, Clone)]
pub struct Service {
    pub name: String,
    pub ty: ServiceType,
    pub revision: u32,
    pub deployment: DeploymentId,
    pub public: bool,
    pub documentation: Option<String>,
    pub metadata: BTreeMap<String, String>,
    pub handlers: BTreeMap<String, Arc<Handler>>,
    /// Effective values: what the service (or an operator) set, else the server's defaults.
    pub options: Options,
    /// What is kept for a shorter time than the service (or an operator) asked for, in sentences.
    pub cuts: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Handler {
    pub name: String,
    pub ty: HandlerType,
    pub public: bool,
    pub documentation: Option<String>,
    pub metadata: BTreeMap<String, String>,
    pub input: Input,
    pub output: Output,
    /// Effective values: handler, else service, else the server's defaults.
    pub options: Options,
    /// Only what the handler itself set.
    pub declared: Declared,
    /// Of these, what is kept for a shorter time, in sentences.
    pub cuts: Vec<String>,
}

/// One address of services at one version.
#[derive(Debug, Clone)]
pub struct Deployment {
    pub id: DeploymentId,
    /// With a trailing `/` where there is no path.
    pub uri: http::Uri,
    pub protocol: Protocol,
    /// False: request/response, everything is sent before anything is read.
    pub bidirectional: bool,
    pub min_version: u32,
    pub max_version: u32,
    pub sdk_version: Option<String>,
    pub additional_headers: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
    /// Where notices about its invocations are sent.
    pub notify: Option<http::Uri>,
    pub created_at: Timestamp,
    /// The services as this deployment offers them.
    pub services: BTreeMap<String, Arc<Service>>,
}

impl Schema {
    /// Latest revision of a handler.
    pub fn handler(&self, service: &str, handler: &str) -> Option<(&Arc<Service>, &Arc<Handler>)> {
        let service = self.services.get(service)?;
        Some((service, service.handlers.get(handler)?))
    }

    /// Whether new invocations go to this deployment.
    pub fn is_latest_of_any(&self, id: DeploymentId) -> bool {
        self.services.values().any(|service| service.deployment == id)
    }
}

impl Handler {
    /// How long an invocation of this handler is kept after its end.
    pub fn retention(&self, idempotent: bool) -> Retention {
        let journal = self.options.journal_retention;
        let completion = match self.ty {
            HandlerType::Workflow => self.options.workflow_completion_retention,
            _ if idempotent => self.options.idempotency_retention,
            _ => journal,
        };
        Retention { completion, journal: journal.min(completion) }
    }

    pub fn callee(&self) -> Callee {
        Callee {
            ty: self.ty,
            retention: self.retention(false),
            idempotent_retention: self.retention(true),
            lazy_state: self.options.lazy_state,
        }
    }

    pub fn attempt_options(&self, bounds: &Bounds) -> AttemptOptions {
        AttemptOptions {
            inactivity_timeout: self.options.inactivity_timeout,
            abort_timeout: self.options.abort_timeout,
            retry: self.options.retry,
            message_bytes_max: bounds.message_bytes_max,
            eager_state_bytes_max: bounds.eager_state_bytes_max,
        }
    }
}

/// Bounds of what goes over the wire, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub message_bytes_max: usize,
    pub eager_state_bytes_max: usize,
    /// Highest protocol version that is chosen.
    pub version_cap: Version,
}
