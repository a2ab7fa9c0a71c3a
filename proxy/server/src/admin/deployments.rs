//! Routes of deployments: register, show, change, remove.

use super::{
    ApiVersion, App,
    error::Error,
    json::{self, DeploymentView, ServiceView},
};
use crate::http::client::Protocol;
use crate::registry::{self, Change, Deployment, Registration, Update, Usage};
use axum::{
    Extension, Json,
    extract::{Path, Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use holdfast_machine::id::DeploymentId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Body of a registration. `arn` is there to be refused with a sentence.
#[derive(Debug, Deserialize)]
pub(super) struct Register {
    uri: Option<String>,
    arn: Option<String>,
    additional_headers: Option<BTreeMap<String, String>>,
    metadata: Option<BTreeMap<String, String>>,
    #[serde(default)]
    use_http_11: bool,
    #[serde(default)]
    breaking: bool,
    /// Unset: false, but true under `/v2`.
    force: Option<bool>,
    #[serde(default)]
    dry_run: bool,
    auth: Option<Value>,
}

pub(super) async fn register(
    State(app): State<App>,
    Extension(version): Extension<ApiVersion>,
    Json(wish): Json<Register>,
) -> Result<Response, Error> {
    let (change, deployment) = register_wish(&app, version, wish).await?;
    let status = match (version, change) {
        (ApiVersion::V2, Change::Unchanged) => StatusCode::CONFLICT,
        (ApiVersion::V2, Change::Overwritten) | (_, Change::Created) => StatusCode::CREATED,
        (_, Change::Unchanged | Change::Overwritten) => StatusCode::OK,
    };
    let location = format!("deployments/{}", deployment.id);
    Ok((status, [(header::LOCATION, location)], Json(answer(&deployment))).into_response())
}

async fn register_wish(
    app: &App,
    version: ApiVersion,
    wish: Register,
) -> Result<(Change, std::sync::Arc<Deployment>), Error> {
    if wish.arn.is_some() {
        return Err(registry::Error::Unsupported("AWS Lambda").into());
    }
    if wish.auth.is_some_and(|auth| !auth.is_null()) {
        return Err(registry::Error::Unsupported("`auth` of a deployment").into());
    }
    let Some(uri) = wish.uri else {
        let reason = "it is missing; give the address of the service".into();
        return Err(Error::BadField { field: "uri", reason });
    };
    let registration = Registration {
        uri,
        protocol: protocol(wish.use_http_11),
        additional_headers: wish.additional_headers.unwrap_or_default(),
        metadata: wish.metadata.unwrap_or_default(),
        force: wish.force.unwrap_or(version == ApiVersion::V2),
        breaking: wish.breaking,
        dry_run: wish.dry_run,
    };
    let registered = app.registry.register(registration).await?;
    Ok((registered.change, registered.deployment))
}

fn protocol(http1: bool) -> Protocol {
    match http1 {
        true => Protocol::Http1,
        false => Protocol::Http2,
    }
}

fn answer(deployment: &Deployment) -> Value {
    let services: Vec<_> =
        deployment.services.values().map(|service| ServiceView::new(service)).collect();
    let mut answer = json!({
        "id": deployment.id.to_string(),
        "services": services,
        "min_protocol_version": deployment.min_version,
        "max_protocol_version": deployment.max_version,
    });
    if let Some(sdk_version) = &deployment.sdk_version {
        answer["sdk_version"] = sdk_version.as_str().into();
    }
    let notes = json::notes(deployment);
    if !notes.is_empty() {
        answer["info"] = notes.into();
    }
    answer
}

pub(super) async fn list(State(app): State<App>) -> Json<Value> {
    let schema = app.registry.schema();
    let mut deployments: Vec<_> = schema.deployments.values().collect();
    deployments.sort_by_key(|deployment| (deployment.created_at, deployment.id));
    let views: Vec<_> =
        deployments.into_iter().map(|deployment| DeploymentView::brief(deployment)).collect();
    Json(json!({ "deployments": views }))
}

fn parse_id(text: &str) -> Result<DeploymentId, Error> {
    text.parse().map_err(Error::BadDeploymentId)
}

pub(super) async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<DeploymentView<ServiceView>>, Error> {
    let id = parse_id(&id)?;
    let schema = app.registry.schema();
    match schema.deployments.get(&id) {
        Some(deployment) => Ok(Json(DeploymentView::detailed(deployment))),
        None => Err(registry::Error::UnknownDeployment(id).into()),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct UpdateBody {
    uri: Option<String>,
    additional_headers: Option<BTreeMap<String, String>>,
    use_http_11: Option<bool>,
    #[serde(default)]
    overwrite: bool,
    #[serde(default)]
    dry_run: bool,
}

pub(super) async fn update(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(wish): Json<UpdateBody>,
) -> Result<Json<DeploymentView<ServiceView>>, Error> {
    let id = parse_id(&id)?;
    let update = Update {
        uri: wish.uri,
        protocol: wish.use_http_11.map(protocol),
        additional_headers: wish.additional_headers,
        overwrite: wish.overwrite,
        dry_run: wish.dry_run,
    };
    let deployment = app.registry.update(id, update).await?;
    Ok(Json(DeploymentView::detailed(&deployment)))
}

#[derive(Debug, Deserialize)]
pub(super) struct Remove {
    #[serde(default)]
    force: bool,
}

pub(super) async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(how): Query<Remove>,
) -> Result<StatusCode, Error> {
    let id = parse_id(&id)?;
    let usage = match how.force {
        true => Usage::Forced,
        false => Usage::Pinned(app.query.pinned_to(id).await?),
    };
    app.registry.remove(id, usage).await?;
    Ok(StatusCode::ACCEPTED)
}
