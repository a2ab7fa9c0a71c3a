//! Deployments, services and handlers as existing tools read them. Fields without a value are
//! absent, durations are friendly, points in time have nine digits of a second.

use crate::duration::Friendly;
use crate::http::client::Protocol;
use crate::registry::{Declared, DeclaredRetry, Deployment, Handler, Options, Service, type_name};
use holdfast_machine::{
    retry::{OnMaxAttempts, RetryPolicy},
    time::Timestamp,
};
use holdfast_wire::manifest::{HandlerType, Input, Output, ServiceType};
use serde::Serialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

#[derive(Serialize)]
pub(super) struct DeploymentView<S> {
    id: String,
    uri: String,
    protocol_type: &'static str,
    http_version: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    additional_headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    created_at: String,
    min_protocol_version: u32,
    max_protocol_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    sdk_version: Option<String>,
    services: Vec<S>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    info: Vec<Value>,
}

#[derive(Serialize)]
pub(super) struct ServiceName {
    name: String,
    revision: u32,
}

#[derive(Serialize)]
pub(super) struct ServiceView {
    name: String,
    ty: &'static str,
    handlers: Vec<HandlerView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    deployment_id: String,
    revision: u32,
    public: bool,
    idempotency_retention: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_completion_retention: Option<String>,
    journal_retention: String,
    inactivity_timeout: String,
    abort_timeout: String,
    enable_lazy_state: bool,
    retry_policy: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    info: Vec<Value>,
}

/// Overrides only: what is absent is as the service has it.
#[derive(Serialize)]
pub(super) struct HandlerView {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ty: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_retention: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_completion_retention: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal_retention: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inactivity_timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    abort_timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_lazy_state: Option<bool>,
    public: bool,
    input_description: String,
    output_description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_json_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_json_schema: Option<Value>,
    retry_policy: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    info: Vec<Value>,
}

impl DeploymentView<ServiceName> {
    pub(super) fn brief(deployment: &Deployment) -> Self {
        let services = deployment.services.values();
        let name = |service: &Service| ServiceName {
            name: service.name.clone(),
            revision: service.revision,
        };
        Self::with(deployment, services.map(|service| name(service)).collect())
    }
}

impl DeploymentView<ServiceView> {
    pub(super) fn detailed(deployment: &Deployment) -> Self {
        let services = deployment.services.values();
        Self::with(deployment, services.map(|service| ServiceView::new(service)).collect())
    }
}

impl<S> DeploymentView<S> {
    fn with(deployment: &Deployment, services: Vec<S>) -> Self {
        DeploymentView {
            id: deployment.id.to_string(),
            uri: deployment.uri.to_string(),
            protocol_type: match deployment.bidirectional {
                true => "BidiStream",
                false => "RequestResponse",
            },
            http_version: match deployment.protocol {
                Protocol::Http1 => "HTTP/1.1",
                Protocol::Http2 => "HTTP/2.0",
            },
            additional_headers: deployment.additional_headers.clone(),
            metadata: deployment.metadata.clone(),
            created_at: rfc3339(deployment.created_at),
            min_protocol_version: deployment.min_version,
            max_protocol_version: deployment.max_version,
            sdk_version: deployment.sdk_version.clone(),
            services,
            info: notes(deployment),
        }
    }
}

/// What the operator should know about a deployment that works.
pub(super) fn notes(deployment: &Deployment) -> Vec<Value> {
    if deployment.bidirectional {
        return vec![];
    }
    vec![json!({
        "code": "RT0021",
        "message": "the service takes a whole request before it answers: it is suspended at every \
                    await, and inactivity timeouts mean nothing",
    })]
}

/// That something is kept for a shorter time than was asked for.
fn cuts(sentences: &[String]) -> Vec<Value> {
    let note = |message| json!({ "code": "RT0022", "message": message });
    sentences.iter().map(note).collect()
}

impl ServiceView {
    pub(super) fn new(service: &Service) -> Self {
        let Options {
            inactivity_timeout,
            abort_timeout,
            journal_retention,
            idempotency_retention,
            workflow_completion_retention,
            lazy_state,
            retry,
        } = &service.options;
        let is_workflow = service.ty == ServiceType::Workflow;
        ServiceView {
            name: service.name.clone(),
            ty: type_name(service.ty),
            handlers: service.handlers.values().map(|handler| HandlerView::new(handler)).collect(),
            documentation: service.documentation.clone(),
            metadata: service.metadata.clone(),
            deployment_id: service.deployment.to_string(),
            revision: service.revision,
            public: service.public,
            idempotency_retention: friendly(*idempotency_retention),
            workflow_completion_retention: is_workflow
                .then(|| friendly(*workflow_completion_retention)),
            journal_retention: friendly(*journal_retention),
            inactivity_timeout: friendly(*inactivity_timeout),
            abort_timeout: friendly(*abort_timeout),
            enable_lazy_state: *lazy_state,
            retry_policy: effective_retry(retry),
            info: cuts(&service.cuts),
        }
    }
}

impl HandlerView {
    pub(super) fn new(handler: &Handler) -> Self {
        let declared: &Declared = &handler.declared;
        HandlerView {
            name: handler.name.clone(),
            ty: match handler.ty {
                HandlerType::Service => None,
                HandlerType::Exclusive => Some("Exclusive"),
                HandlerType::Shared => Some("Shared"),
                HandlerType::Workflow => Some("Workflow"),
            },
            documentation: handler.documentation.clone(),
            metadata: handler.metadata.clone(),
            idempotency_retention: declared.idempotency_retention.map(friendly),
            workflow_completion_retention: declared.workflow_completion_retention.map(friendly),
            journal_retention: declared.journal_retention.map(friendly),
            inactivity_timeout: declared.inactivity_timeout.map(friendly),
            abort_timeout: declared.abort_timeout.map(friendly),
            enable_lazy_state: declared.lazy_state,
            public: handler.public,
            input_description: describe_input(&handler.input),
            output_description: describe_output(&handler.output),
            input_json_schema: handler.input.json_schema.clone(),
            output_json_schema: handler.output.json_schema.clone(),
            retry_policy: declared_retry(&declared.retry),
            info: cuts(&handler.cuts),
        }
    }
}

fn effective_retry(policy: &RetryPolicy) -> Value {
    json!({
        "initial_interval": friendly(policy.initial_interval),
        "exponentiation_factor": policy.exponentiation_factor,
        "max_attempts": policy.max_attempts,
        "max_interval": friendly(policy.max_interval),
        "on_max_attempts": on_max_attempts(policy.on_max_attempts),
    })
}

/// `max_attempts` is there even where it is not set.
fn declared_retry(retry: &DeclaredRetry) -> Value {
    let fields = [
        ("initial_interval", retry.initial_interval.map(|value| friendly(value).into())),
        ("exponentiation_factor", retry.exponentiation_factor.map(Value::from)),
        ("max_attempts", Some(retry.max_attempts.map_or(Value::Null, Value::from))),
        ("max_interval", retry.max_interval.map(|value| friendly(value).into())),
        ("on_max_attempts", retry.on_max_attempts.map(|value| on_max_attempts(value).into())),
    ];
    let set = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(set.collect())
}

fn on_max_attempts(on_max: OnMaxAttempts) -> &'static str {
    match on_max {
        OnMaxAttempts::Pause => "Pause",
        OnMaxAttempts::Kill => "Kill",
    }
}

fn friendly(duration: Duration) -> String {
    Friendly(duration).to_string()
}

fn describe_input(input: &Input) -> String {
    describe(input.content_type.as_deref(), input.json_schema.as_ref())
}

/// Optional is an output whose media type is told even where there is none.
fn describe_output(output: &Output) -> String {
    let described = describe(output.content_type.as_deref(), output.json_schema.as_ref());
    if output.set_content_type_if_empty { format!("optional {described}") } else { described }
}

fn describe(content_type: Option<&str>, schema: Option<&Value>) -> String {
    let Some(content_type) = content_type else {
        return "none".into();
    };
    let text = |name: &str| schema.and_then(|schema| schema.get(name)).and_then(Value::as_str);
    match (text("title"), text("type")) {
        (Some(title), _) => format!("JSON '{title}'"),
        (None, Some(ty)) => format!("JSON {ty}"),
        (None, None) => content_type.into(),
    }
}

/// RFC 3339 in UTC with nine digits of a second.
pub(super) fn rfc3339(at: Timestamp) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(at) => format!("{at:.9}"),
        Err(_) => at.0.to_string(),
    }
}
