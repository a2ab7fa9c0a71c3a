//! The rules of registration, over plain maps: what a new, repeated, changed or removed deployment
//! does to services and revisions. Pure; never stores, asks or logs.

use super::error::Error;
use super::limit;
use crate::http::client::Protocol;
use holdfast_machine::{id::DeploymentId, time::Timestamp};
use holdfast_wire::manifest::{Manifest, ServiceType};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Everything that is stored about deployments and services.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    pub deployments: BTreeMap<DeploymentId, Record>,
    /// Where new invocations of a service go.
    pub services: BTreeMap<String, Listing>,
}

/// A deployment as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub uri: http::Uri,
    pub protocol: Protocol,
    pub sdk_version: Option<String>,
    pub additional_headers: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
    pub created_at: Timestamp,
    pub manifest: Arc<Manifest>,
    /// Revision of each service of the manifest.
    pub revisions: BTreeMap<String, u32>,
}

/// The latest revision of a service as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub deployment: DeploymentId,
    pub revision: u32,
    /// Of this revision; the next one begins without any.
    pub overrides: Overrides,
}

/// What an operator changed about a service; `None` is as the service declares it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    pub public: Option<bool>,
    pub idempotency_retention: Option<Duration>,
    pub workflow_completion_retention: Option<Duration>,
    pub journal_retention: Option<Duration>,
    pub inactivity_timeout: Option<Duration>,
    pub abort_timeout: Option<Duration>,
}

impl Overrides {
    /// These changes, with those of `earlier` where there is none.
    fn over(self, earlier: &Overrides) -> Overrides {
        Overrides {
            public: self.public.or(earlier.public),
            idempotency_retention: self.idempotency_retention.or(earlier.idempotency_retention),
            workflow_completion_retention: self
                .workflow_completion_retention
                .or(earlier.workflow_completion_retention),
            journal_retention: self.journal_retention.or(earlier.journal_retention),
            inactivity_timeout: self.inactivity_timeout.or(earlier.inactivity_timeout),
            abort_timeout: self.abort_timeout.or(earlier.abort_timeout),
        }
    }
}

impl Tables {
    /// The deployment at this address.
    pub fn at(&self, uri: &http::Uri) -> Option<DeploymentId> {
        self.deployments.iter().find(|(_, record)| record.uri == *uri).map(|(id, _)| *id)
    }

    /// Puts `record` in place as deployment `id` and makes its services the latest ones. Services
    /// that an earlier manifest of the same deployment offered, and this one does not, are gone.
    ///
    /// # Errors
    /// `TypeChanged` unless `breaking`; the names that are ours; `Limit`.
    pub fn register(
        &mut self,
        id: DeploymentId,
        mut record: Record,
        breaking: bool,
        doors: &[String],
    ) -> Result<(), Error> {
        for service in &record.manifest.services {
            check_name(&service.name, doors)?;
            limit::declared(service)?;
            if !breaking {
                self.check_type(&service.name, service.ty)?;
            }
        }
        let names = record.manifest.services.iter().map(|service| service.name.clone());
        record.revisions =
            names.map(|name| (name.clone(), self.last_revision(&name) + 1)).collect();
        self.services.retain(|name, listing| {
            listing.deployment != id || record.revisions.contains_key(name)
        });
        for (name, revision) in &record.revisions {
            let overrides = Overrides::default();
            let listing = Listing { deployment: id, revision: *revision, overrides };
            self.services.insert(name.clone(), listing);
        }
        self.deployments.insert(id, record);
        Ok(())
    }

    /// Changes how a deployment is reached, and nothing about its services unless `overwrite`.
    ///
    /// # Errors
    /// `UnknownDeployment`; `NotSimilar` when the protocol range is another one; `AddressTaken` by
    /// another deployment; as `register` where `overwrite`.
    pub fn update(
        &mut self,
        id: DeploymentId,
        record: Record,
        overwrite: bool,
        doors: &[String],
    ) -> Result<(), Error> {
        let current = self.deployments.get(&id).ok_or(Error::UnknownDeployment(id))?;
        let range = |manifest: &Manifest| {
            format!("{} to {}", manifest.min_protocol_version, manifest.max_protocol_version)
        };
        let (registered, offered) = (range(&current.manifest), range(&record.manifest));
        if registered != offered {
            return Err(Error::NotSimilar { uri: record.uri.to_string(), registered, offered });
        }
        if let Some(other) = self.at(&record.uri).filter(|other| *other != id) {
            return Err(Error::AddressTaken { id: other, uri: record.uri.to_string() });
        }
        if overwrite {
            return self.register(id, record, true, doors);
        }
        let record = Record {
            manifest: current.manifest.clone(),
            revisions: current.revisions.clone(),
            created_at: current.created_at,
            metadata: current.metadata.clone(),
            ..record
        };
        self.deployments.insert(id, record);
        Ok(())
    }

    /// Forgets a deployment, and the services whose latest revision it has.
    ///
    /// # Errors
    /// `UnknownDeployment`.
    pub fn remove(&mut self, id: DeploymentId) -> Result<(), Error> {
        self.deployments.remove(&id).ok_or(Error::UnknownDeployment(id))?;
        self.services.retain(|_, listing| listing.deployment != id);
        Ok(())
    }

    /// Changes settings of the latest revision of a service.
    ///
    /// # Errors
    /// `UnknownService`; `Setting` where the type of the service has no such setting.
    pub fn patch(&mut self, name: &str, changes: Overrides) -> Result<(), Error> {
        let unknown = || Error::UnknownService(name.into());
        let ty = self.service_type(name).ok_or_else(unknown)?;
        if changes.workflow_completion_retention.is_some() && ty != ServiceType::Workflow {
            let reason = format!("`{name}` is not a workflow");
            return Err(Error::Setting { field: "workflow_completion_retention", reason });
        }
        let listing = self.services.get_mut(name).ok_or_else(unknown)?;
        listing.overrides = changes.over(&listing.overrides);
        Ok(())
    }

    /// Highest revision that any deployment has; 0 where there is none.
    fn last_revision(&self, name: &str) -> u32 {
        let revisions = self.deployments.values().filter_map(|record| record.revisions.get(name));
        revisions.copied().max().unwrap_or(0)
    }

    fn service_type(&self, name: &str) -> Option<ServiceType> {
        let deployment = self.deployments.get(&self.services.get(name)?.deployment)?;
        let service = deployment.manifest.services.iter().find(|service| service.name == name)?;
        Some(service.ty)
    }

    fn check_type(&self, name: &str, offered: ServiceType) -> Result<(), Error> {
        match self.service_type(name) {
            Some(registered) if registered != offered => Err(Error::TypeChanged {
                name: name.into(),
                registered: type_name(registered),
                offered: type_name(offered),
            }),
            _ => Ok(()),
        }
    }
}

/// As people and the admin API write it.
pub fn type_name(ty: ServiceType) -> &'static str {
    match ty {
        ServiceType::Service => "Service",
        ServiceType::VirtualObject => "VirtualObject",
        ServiceType::Workflow => "Workflow",
    }
}

fn check_name(name: &str, doors: &[String]) -> Result<(), Error> {
    let lower = name.to_ascii_lowercase();
    if doors.iter().any(|door| door.trim_matches('/').eq_ignore_ascii_case(name)) {
        return Err(Error::HiddenByDoor { name: name.into() });
    }
    if lower.starts_with("restate") || lower == "openapi" || lower.starts_with("holdfast.") {
        return Err(Error::ReservedName { name: name.into() });
    }
    Ok(())
}
