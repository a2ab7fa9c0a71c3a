//! What the tables of one question read from. Remembers the first fault of the store, since the
//! engine between can only carry a sentence.

use super::super::Live;
use crate::store::Snapshot;
use holdfast_machine::{
    id::{DeploymentId, Partitions},
    kv::Fault,
    time::Timestamp,
};
use holdfast_wire::manifest::{HandlerType, ServiceType};
use std::{
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// What is registered, as the tables show it; whoever asks brings it.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub deployments: Vec<Deployment>,
    /// The latest revision of each.
    pub services: Vec<Service>,
}

#[derive(Debug, Clone)]
pub struct Deployment {
    pub id: DeploymentId,
    pub endpoint: String,
    pub created_at: Timestamp,
    pub min_version: u32,
    pub max_version: u32,
    /// Names.
    pub services: Vec<String>,
    pub sdk_version: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Service {
    pub name: String,
    pub revision: u32,
    pub public: bool,
    pub ty: ServiceType,
    pub deployment: DeploymentId,
    pub handlers: Vec<(String, HandlerType)>,
}

impl Catalog {
    pub(super) fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    pub(super) fn deployment(&self, id: DeploymentId) -> Option<&Deployment> {
        self.deployments.iter().find(|deployment| deployment.id == id)
    }
}

/// What a source is made of.
pub struct Parts {
    pub snapshot: Arc<dyn Snapshot>,
    pub partitions: Partitions,
    pub live: Arc<dyn Live>,
    pub catalog: Catalog,
    /// When the question has to be answered.
    pub deadline: Instant,
    /// Nobody waits for the answer any more.
    pub gone: CancellationToken,
}

/// One moment of everything that can be asked about.
pub struct Source {
    parts: Parts,
    fault: Mutex<Option<Fault>>,
}

impl Deref for Source {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Source {
    pub fn new(parts: Parts) -> Source {
        Source { parts, fault: Mutex::new(None) }
    }

    /// Whether to give up.
    pub fn is_over(&self) -> bool {
        self.gone.is_cancelled() || Instant::now() >= self.deadline
    }

    pub fn remember(&self, fault: Fault) {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(fault);
    }

    /// The first fault of the store, if there was one.
    pub fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
