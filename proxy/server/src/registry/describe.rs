//! From manifests to what is registered: services and handlers with their settings resolved, and
//! what is different between two manifests. Pure.

use super::{
    config::Config,
    cut::{OutcomeOf, cuts},
    limit, notices,
    options::{Declared, DeclaredRetry},
    schema::{Deployment, Handler, Schema, Service},
    tables::{Overrides, Record, Tables},
};
use holdfast_machine::{id::DeploymentId, retry::OnMaxAttempts};
use holdfast_wire::manifest::{self, HandlerType, Manifest, ProtocolMode, ServiceType};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

/// Everything that is registered.
pub fn schema(tables: &Tables, config: &Config) -> Schema {
    let deployments = tables.deployments.iter();
    let deployments: HashMap<_, _> =
        deployments.map(|(id, record)| (*id, Arc::new(deployment(*id, record, config)))).collect();
    let latest = tables.services.iter().filter_map(|(name, listing)| {
        let record = tables.deployments.get(&listing.deployment)?;
        let mut offered = record.manifest.services.iter();
        Some((listing, offered.find(|service| service.name == *name)?))
    });
    let limits = limit::in_force(&config.limits, latest.clone().map(|(_, offered)| offered));
    let services = latest.map(|(listing, offered)| {
        let revision = (listing.deployment, listing.revision);
        let service = service(offered, revision, &listing.overrides, config);
        (offered.name.clone(), Arc::new(service))
    });
    let notifies = deployments.values().any(|deployment| deployment.notify.is_some());
    Schema { services: services.collect(), deployments, limits, notifies }
}

fn deployment(id: DeploymentId, record: &Record, config: &Config) -> Deployment {
    let services = record.manifest.services.iter().map(|offered| {
        let revision = record.revisions.get(&offered.name).copied().unwrap_or(0);
        let service = service(offered, (id, revision), &Overrides::default(), config);
        (offered.name.clone(), Arc::new(service))
    });
    Deployment {
        id,
        uri: record.uri.clone(),
        protocol: record.protocol,
        bidirectional: record.manifest.protocol_mode == ProtocolMode::BidiStream,
        min_version: record.manifest.min_protocol_version,
        max_version: record.manifest.max_protocol_version,
        sdk_version: record.sdk_version.clone(),
        additional_headers: record.additional_headers.clone(),
        metadata: record.metadata.clone(),
        // It was checked when it came; what is older than the check is as good as absent.
        notify: notices::url(&record.metadata).ok().flatten(),
        created_at: record.created_at,
        services: services.collect(),
    }
}

fn service(
    offered: &manifest::Service,
    (deployment, revision): (DeploymentId, u32),
    overrides: &Overrides,
    config: &Config,
) -> Service {
    let mut settings = overridden(overrides).or(&declared(&offered.options));
    let public = overrides.public.unwrap_or(!offered.options.ingress_private.unwrap_or(false));
    let handlers = offered.handlers.iter().map(|offered| {
        let handler = handler(offered, &settings, public, config);
        (offered.name.clone(), Arc::new(handler))
    });
    let handlers: BTreeMap<_, _> = handlers.collect();
    // A manifest says it at the run handler only; of the service it is shown all the same.
    if let Some(run) = handlers.values().find(|handler| handler.ty == HandlerType::Workflow) {
        settings.workflow_completion_retention =
            settings.workflow_completion_retention.or(run.declared.workflow_completion_retention);
    }
    let options = settings.resolve(config);
    let outcome = match offered.ty {
        ServiceType::Workflow => OutcomeOf::Run,
        ServiceType::Service | ServiceType::VirtualObject => OutcomeOf::Call,
    };
    Service {
        name: offered.name.clone(),
        ty: offered.ty,
        revision,
        deployment,
        public,
        documentation: offered.options.documentation.clone(),
        metadata: offered.options.metadata.clone(),
        handlers,
        cuts: cuts(&settings, &options, outcome),
        options,
    }
}

fn handler(
    offered: &manifest::Handler,
    service: &Declared,
    service_is_public: bool,
    config: &Config,
) -> Handler {
    let own = Declared {
        workflow_completion_retention: offered.workflow_completion_retention_ms.map(ms),
        ..declared(&offered.options)
    };
    let mut settings = own.or(service);
    // What an operator set counts, since there is no other place to change it.
    settings.workflow_completion_retention =
        service.workflow_completion_retention.or(own.workflow_completion_retention);
    let options = settings.resolve(config);
    let outcome = match offered.ty {
        HandlerType::Workflow => OutcomeOf::Run,
        _ => OutcomeOf::Call,
    };
    Handler {
        name: offered.name.clone(),
        ty: offered.ty,
        public: service_is_public && !offered.options.ingress_private.unwrap_or(false),
        documentation: offered.options.documentation.clone(),
        metadata: offered.options.metadata.clone(),
        input: offered.input.clone(),
        output: offered.output.clone(),
        cuts: cuts(&own, &options, outcome),
        options,
        declared: own,
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn overridden(overrides: &Overrides) -> Declared {
    Declared {
        inactivity_timeout: overrides.inactivity_timeout,
        abort_timeout: overrides.abort_timeout,
        journal_retention: overrides.journal_retention,
        idempotency_retention: overrides.idempotency_retention,
        workflow_completion_retention: overrides.workflow_completion_retention,
        lazy_state: None,
        retry: DeclaredRetry::default(),
    }
}

fn declared(options: &manifest::Options) -> Declared {
    let retry = &options.retry;
    Declared {
        inactivity_timeout: options.inactivity_timeout_ms.map(ms),
        abort_timeout: options.abort_timeout_ms.map(ms),
        journal_retention: options.journal_retention_ms.map(ms),
        idempotency_retention: options.idempotency_retention_ms.map(ms),
        workflow_completion_retention: None,
        lazy_state: options.enable_lazy_state,
        retry: DeclaredRetry {
            initial_interval: retry.initial_interval_ms.map(ms),
            exponentiation_factor: retry.exponentiation_factor,
            max_interval: retry.max_interval_ms.map(ms),
            max_attempts: retry.max_attempts.map(|max| u32::try_from(max).unwrap_or(u32::MAX)),
            on_max_attempts: retry.on_max_attempts.map(|on_max| match on_max {
                manifest::OnMaxAttempts::Pause => OnMaxAttempts::Pause,
                manifest::OnMaxAttempts::Kill => OnMaxAttempts::Kill,
            }),
        },
    }
}

/// What is different between two manifests, in words; the order of services and handlers is not.
pub fn changes(old: &Manifest, new: &Manifest) -> Vec<String> {
    let mut changes = Vec::new();
    let head = |manifest: &Manifest| {
        (manifest.protocol_mode, manifest.min_protocol_version, manifest.max_protocol_version)
    };
    if head(old) != head(new) {
        changes.push("the protocol".into());
    }
    let (old, new) = (by_name(&old.services), by_name(&new.services));
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.push(format!("{name} is gone"));
    }
    for (name, service) in &new {
        match old.get(name) {
            None => changes.push(format!("{name} is new")),
            Some(old) => service_changes(old, service, &mut changes),
        }
    }
    changes
}

fn by_name(services: &[manifest::Service]) -> BTreeMap<&str, &manifest::Service> {
    services.iter().map(|service| (service.name.as_str(), service)).collect()
}

fn service_changes(old: &manifest::Service, new: &manifest::Service, changes: &mut Vec<String>) {
    let name = &new.name;
    if old.ty != new.ty {
        changes.push(format!("{name} is a {} now", new.ty));
    }
    if old.options != new.options {
        changes.push(format!("settings of {name}"));
    }
    let find = |service: &manifest::Service, name: &str| {
        service.handlers.iter().find(|handler| handler.name == name).cloned()
    };
    for handler in old.handlers.iter().filter(|handler| find(new, &handler.name).is_none()) {
        changes.push(format!("{name}/{} is gone", handler.name));
    }
    for handler in &new.handlers {
        match find(old, &handler.name) {
            None => changes.push(format!("{name}/{} is new", handler.name)),
            Some(old) if old != *handler => {
                changes.push(format!("{name}/{} is different", handler.name));
            }
            Some(_) => {}
        }
    }
}
