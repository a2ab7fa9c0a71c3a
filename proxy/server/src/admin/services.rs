//! Routes of services and handlers: show, and change settings.

use super::{
    App,
    error::Error,
    json::{HandlerView, ServiceView},
    openapi,
};
use crate::duration;
use crate::registry::{self, Overrides, Service};
use axum::{
    Json,
    extract::{Path, State},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

pub(super) async fn list(State(app): State<App>) -> Json<Value> {
    let schema = app.registry.schema();
    let services: Vec<_> =
        schema.services.values().map(|service| ServiceView::new(service)).collect();
    Json(json!({ "services": services }))
}

fn find(app: &App, name: &str) -> Result<Arc<Service>, Error> {
    let found = app.registry.schema().services.get(name).cloned();
    Ok(found.ok_or_else(|| registry::Error::UnknownService(name.into()))?)
}

pub(super) async fn one(
    State(app): State<App>,
    Path(service): Path<String>,
) -> Result<Json<ServiceView>, Error> {
    Ok(Json(ServiceView::new(&*find(&app, &service)?)))
}

pub(super) async fn openapi(
    State(app): State<App>,
    Path(service): Path<String>,
) -> Result<Json<Value>, Error> {
    let service = find(&app, &service)?;
    Ok(Json(openapi::document(&service, app.config.ingress_endpoint.as_deref())))
}

pub(super) async fn handlers(
    State(app): State<App>,
    Path(service): Path<String>,
) -> Result<Json<Value>, Error> {
    let service = find(&app, &service)?;
    let handlers: Vec<_> =
        service.handlers.values().map(|handler| HandlerView::new(handler)).collect();
    Ok(Json(json!({ "handlers": handlers })))
}

pub(super) async fn handler(
    State(app): State<App>,
    Path((service, handler)): Path<(String, String)>,
) -> Result<Json<HandlerView>, Error> {
    let found = find(&app, &service)?;
    match found.handlers.get(&handler) {
        Some(handler) => Ok(Json(HandlerView::new(handler))),
        None => Err(registry::Error::UnknownHandler { service, handler }.into()),
    }
}

/// Absent and null keep what is; anything else in the body is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Settings {
    public: Option<bool>,
    idempotency_retention: Option<String>,
    workflow_completion_retention: Option<String>,
    journal_retention: Option<String>,
    inactivity_timeout: Option<String>,
    abort_timeout: Option<String>,
}

impl Settings {
    fn parse(self) -> Result<Overrides, Error> {
        Ok(Overrides {
            public: self.public,
            idempotency_retention: parse("idempotency_retention", self.idempotency_retention)?,
            workflow_completion_retention: parse(
                "workflow_completion_retention",
                self.workflow_completion_retention,
            )?,
            journal_retention: parse("journal_retention", self.journal_retention)?,
            inactivity_timeout: parse("inactivity_timeout", self.inactivity_timeout)?,
            abort_timeout: parse("abort_timeout", self.abort_timeout)?,
        })
    }
}

fn parse(field: &'static str, text: Option<String>) -> Result<Option<Duration>, Error> {
    let parsed = text.as_deref().map(duration::parse).transpose();
    parsed.map_err(|error| Error::BadField { field, reason: error.to_string() })
}

pub(super) async fn modify(
    State(app): State<App>,
    Path(service): Path<String>,
    Json(settings): Json<Settings>,
) -> Result<Json<ServiceView>, Error> {
    let patched = app.registry.patch(&service, settings.parse()?).await?;
    Ok(Json(ServiceView::new(&patched)))
}
