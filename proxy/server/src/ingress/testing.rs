//! What the tests of this room share: a small schema, and responses as text.

use crate::http::Body;
use crate::registry::{Declared, Handler, Options, Schema, Service};
use holdfast_machine::{id::DeploymentId, retry::RetryPolicy};
use holdfast_wire::manifest::{HandlerType, Input, Output, ServiceType};
use http::Response;
use http_body_util::BodyExt;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

const HOUR: Duration = Duration::from_secs(3_600);

/// `Greeter` (a service), `Counter` (an object), `Wf` (a workflow), `Private`.
pub(super) fn schema() -> Schema {
    let json =
        Input { required: true, content_type: Some("application/json".into()), json_schema: None };
    let services = [
        service(
            "Greeter",
            ServiceType::Service,
            true,
            vec![
                Handler { input: json.clone(), ..handler("greet", HandlerType::Service) },
                Handler { public: false, ..handler("secret", HandlerType::Service) },
                Handler {
                    output: Output { content_type: Some("text/plain".into()), ..Output::default() },
                    ..handler("text", HandlerType::Service)
                },
            ],
        ),
        service(
            "Counter",
            ServiceType::VirtualObject,
            true,
            vec![handler("add", HandlerType::Exclusive), handler("get", HandlerType::Shared)],
        ),
        service(
            "Wf",
            ServiceType::Workflow,
            true,
            vec![handler("run", HandlerType::Workflow), handler("status", HandlerType::Shared)],
        ),
        service(
            "Private",
            ServiceType::Service,
            false,
            vec![handler("greet", HandlerType::Service)],
        ),
    ];
    Schema {
        services: { services }.into_iter().map(|it| (it.name.clone(), Arc::new(it))).collect(),
        ..Schema::default()
    }
}

fn service(name: &str, ty: ServiceType, public: bool, handlers: Vec<Handler>) -> Service {
    Service {
        name: name.to_owned(),
        ty,
        revision: 1,
        deployment: DeploymentId(1),
        public,
        documentation: None,
        metadata: BTreeMap::new(),
        handlers: handlers.into_iter().map(|it| (it.name.clone(), Arc::new(it))).collect(),
        options: options(),
        cuts: vec![],
    }
}

pub(super) fn handler(name: &str, ty: HandlerType) -> Handler {
    Handler {
        name: name.to_owned(),
        ty,
        public: true,
        documentation: None,
        metadata: BTreeMap::new(),
        input: Input::default(),
        output: Output::default(),
        options: options(),
        declared: Declared::default(),
        cuts: vec![],
    }
}

fn options() -> Options {
    Options {
        inactivity_timeout: HOUR,
        abort_timeout: HOUR,
        journal_retention: HOUR,
        idempotency_retention: 2 * HOUR,
        workflow_completion_retention: 3 * HOUR,
        lazy_state: false,
        retry: RetryPolicy::default(),
    }
}

/// Status, headers in the order of their names, body.
pub(super) async fn show(response: Response<Body>) -> String {
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut headers: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()))
        .collect();
    headers.sort();
    let body = String::from_utf8_lossy(&body);
    format!("{}\n{}\n{body}\n", head.status.as_u16(), headers.concat())
}
