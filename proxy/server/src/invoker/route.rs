//! Where an attempt goes: the deployment, the protocol version, the settings, and the request
//! head. Never sends anything.

use super::error::Error;
use crate::http::{below, identity::Signer};
use crate::registry::{Bounds, Deployment, Handler, Registry, Schema, Service};
use holdfast_machine::{
    attempt::{Callees, Head, Start, Terms},
    model::{AttemptOptions, Callee, Pin, Target},
};
use holdfast_wire::{manifest::ServiceType, version::Version};
use hyper::{
    HeaderMap, Method, Request,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
};
use std::{sync::Arc, time::SystemTime};

const CLUSTER_NAME: HeaderName = HeaderName::from_static("x-restate-cluster-name");
/// What every request has beside what the attempt and the operator add.
const OWN_HEADERS: usize = 3;

/// Where one attempt goes.
pub(super) struct Route {
    pub deployment: Arc<Deployment>,
    pub version: Version,
    options: AttemptOptions,
    service: ServiceType,
}

impl Route {
    /// A pinned invocation goes where it is pinned to; another goes to the latest deployment of
    /// its service.
    pub(super) fn of(start: &Start, schema: &Schema, bounds: &Bounds) -> Result<Route, Error> {
        let deployment = deployment(start, schema)?;
        let (service, handler) = handler(&start.target, &deployment, schema)?;
        Ok(Route {
            version: version(start, &deployment, bounds)?,
            options: handler.attempt_options(bounds),
            service: service.ty,
            deployment,
        })
    }

    pub(super) fn pin(&self) -> Pin {
        Pin { deployment: self.deployment.id, version: self.version }
    }

    /// `jitter` is 64 bits of chance.
    pub(super) fn terms(&self, registry: &Registry, jitter: u64) -> Terms {
        Terms {
            options: self.options.clone(),
            version: self.version,
            service: self.service,
            bidirectional: self.deployment.bidirectional,
            jitter,
            callees: Box::new(Registered(registry.clone())),
        }
    }

    /// The request that carries the attempt, without its body.
    pub(super) fn request(
        &self,
        head: &Head,
        target: &Target,
        cluster_name: &Result<HeaderValue, String>,
        signer: Option<&Signer>,
    ) -> Result<Request<()>, Error> {
        let fail = |reason: String| Error::Request { deployment: self.deployment.id, reason };
        let more = self.deployment.additional_headers.len() + usize::from(signer.is_some()) * 2;
        let mut headers = HeaderMap::with_capacity(head.headers.len() + OWN_HEADERS + more);
        for (name, value) in &self.deployment.additional_headers {
            put(&mut headers, name, value).map_err(fail)?;
        }
        // What the protocol needs wins over what the operator adds.
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(head.content_type));
        headers.insert(ACCEPT, HeaderValue::from_static(head.content_type));
        for (name, value) in &head.headers {
            let name = HeaderName::from_static(name);
            // It is another with each request: who compresses headers should not remember it.
            let mut value = header_value(name.as_str(), value).map_err(fail)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(CLUSTER_NAME, cluster_name.clone().map_err(fail)?);
        if let Some(signer) = signer {
            signer.sign(&mut headers, &head.path, target.key.as_deref(), SystemTime::now());
        }
        let uri = below(&self.deployment.uri, &head.path).map_err(fail)?;
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

fn deployment(start: &Start, schema: &Schema) -> Result<Arc<Deployment>, Error> {
    let id = match start.pin {
        Some(pin) => pin.deployment,
        None => {
            let service = &start.target.service;
            let unknown = || Error::UnknownService { service: service.clone() };
            schema.services.get(service).ok_or_else(unknown)?.deployment
        }
    };
    schema.deployments.get(&id).cloned().ok_or(Error::DeploymentGone(id))
}

/// The latest revision where it is the one of this deployment, because operators may have changed
/// its settings; else what the deployment itself offered.
fn handler<'a>(
    target: &Target,
    deployment: &'a Deployment,
    schema: &'a Schema,
) -> Result<(&'a Service, &'a Handler), Error> {
    let latest = schema.services.get(&target.service);
    let service = latest
        .filter(|service| service.deployment == deployment.id)
        .or_else(|| deployment.services.get(&target.service))
        .ok_or_else(|| Error::UnknownService { service: target.service.clone() })?;
    let handler = service.handlers.get(&target.handler).ok_or_else(|| Error::UnknownHandler {
        service: target.service.clone(),
        handler: target.handler.clone(),
    })?;
    Ok((service, handler))
}

fn version(start: &Start, deployment: &Deployment, bounds: &Bounds) -> Result<Version, Error> {
    let (id, min, max) = (deployment.id, deployment.min_version, deployment.max_version);
    match start.pin {
        Some(Pin { version: pinned, .. }) if (min..=max).contains(&pinned.number()) => Ok(pinned),
        Some(Pin { version: pinned, .. }) => {
            Err(Error::VersionGone { deployment: id, pinned, min, max })
        }
        None => Version::negotiate(min, max, bounds.version_cap)
            .map_err(|reason| Error::NoCommonVersion { deployment: id, reason }),
    }
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes());
    let parsed = parsed.map_err(|_| format!("header `{name}` cannot be sent"))?;
    headers.insert(parsed, header_value(name, value)?);
    Ok(())
}

/// What services are told the cluster is called, or why it cannot be told.
pub(super) fn cluster_name(name: &str) -> Result<HeaderValue, String> {
    header_value(CLUSTER_NAME.as_str(), name)
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(value).map_err(|_| format!("header `{name}` cannot be sent"))
}

/// Answers from what is registered at the moment of the question.
struct Registered(Registry);

impl Callees for Registered {
    fn resolve(&self, service: &str, handler: &str) -> Option<Callee> {
        self.0.callee(service, handler)
    }
}
