//! What we add: invocations with the reason why they wait, journals, counts, limits, state,
//! readiness.
//! The JSON is described in `docs/holdfast-api.md`.

use super::{App, error::Error, invocations::parse_id};
use crate::partition::Handle;
use crate::query::model::{
    Counts, Health, InvocationDetail, Invocations, Limits, Notices, ObjectState, PartitionHealth,
    Status, Storage,
};
use crate::query::{Filter, LIMIT_MAX, Order};
use crate::registry::Schema;
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;

/// How many invocations or notices a list has where it is not said.
const LIMIT_DEFAULT: usize = 100;

pub(super) async fn health(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let partitions: Vec<_> = app.router.all().iter().map(partition_health).collect();
    let ready = partitions.iter().all(|partition| partition.ready);
    let schema = app.registry.schema();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let health = Health {
        ready,
        version: env!("CARGO_PKG_VERSION").into(),
        partitions,
        services: schema.services.len() as u64,
        deployments: schema.deployments.len() as u64,
    };
    (status, Json(health))
}

fn partition_health(partition: &Handle) -> PartitionHealth {
    let closed = partition.closed().map(|closed| closed.to_string());
    let ready = closed.is_none() && partition.is_ready();
    let reason = closed.or_else(|| (!ready).then(|| "it is recovering".into()));
    PartitionHealth { partition: partition.id().0, ready, reason }
}

#[derive(Debug, Deserialize)]
pub(super) struct Which {
    status: Option<String>,
    service: Option<String>,
    handler: Option<String>,
    key: Option<String>,
    deployment: Option<String>,
    /// `newest` or `oldest`.
    order: Option<String>,
    /// Of objects and workflows.
    #[serde(default)]
    keyed: bool,
    /// Completed with a failure.
    #[serde(default)]
    failed: bool,
    /// Pinned to a deployment that was removed.
    #[serde(default)]
    zombie: bool,
    limit: Option<usize>,
}

impl Which {
    fn parse(self, schema: &Schema) -> Result<Filter, Error> {
        let deployment =
            self.deployment.map(|text| text.parse().map_err(|_| Error::BadDeployment(text)));
        let limit = limit(self.limit)?;
        Ok(Filter {
            statuses: statuses(self.status.as_deref())?,
            service: self.service,
            handler: self.handler,
            key: self.key,
            deployment: deployment.transpose()?,
            pinned_beside: self.zombie.then(|| schema.deployments.keys().copied().collect()),
            keyed: self.keyed,
            failed: self.failed,
            order: order(self.order.as_deref())?,
            limit,
        })
    }
}

fn order(text: Option<&str>) -> Result<Order, Error> {
    match text {
        None | Some("newest") => Ok(Order::Newest),
        Some("oldest") => Ok(Order::Oldest),
        Some(other) => {
            let reason = format!("`{other}` is neither newest nor oldest");
            Err(Error::BadField { field: "order", reason })
        }
    }
}

fn limit(wanted: Option<usize>) -> Result<usize, Error> {
    let limit = wanted.unwrap_or(LIMIT_DEFAULT);
    if limit == 0 || limit > LIMIT_MAX {
        let reason = format!("expected 1 to {LIMIT_MAX}");
        return Err(Error::BadField { field: "limit", reason });
    }
    Ok(limit)
}

fn statuses(text: Option<&str>) -> Result<Vec<Status>, Error> {
    match text {
        None => Ok(Status::UNDER_WAY.into()),
        Some("all") => Ok(Status::ALL.into()),
        Some(names) => names.split(',').map(|name| status(name.trim())).collect(),
    }
}

fn status(name: &str) -> Result<Status, Error> {
    Status::parse(name).ok_or_else(|| {
        let known: Vec<_> = Status::ALL.into_iter().map(Status::as_str).collect();
        let reason = format!("`{name}` is none of {}", known.join(", "));
        Error::BadField { field: "status", reason }
    })
}

pub(super) async fn invocations(
    State(app): State<App>,
    Query(which): Query<Which>,
) -> Result<Json<Invocations>, Error> {
    Ok(Json(app.query.list(which.parse(&app.registry.schema())?).await?))
}

pub(super) async fn invocation(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<InvocationDetail>, Error> {
    let id = parse_id(&id)?;
    let found = app.query.describe(id).await?;
    found.map(Json).ok_or(Error::UnknownInvocation(id))
}

pub(super) async fn counts(State(app): State<App>) -> Result<Json<Counts>, Error> {
    Ok(Json(app.query.counts().await?))
}

pub(super) async fn limits(State(app): State<App>) -> Json<Limits> {
    Json(app.query.limits())
}

#[derive(Debug, Deserialize)]
pub(super) struct Measure {
    #[serde(default)]
    count: bool,
}

pub(super) async fn storage(
    State(app): State<App>,
    Query(measure): Query<Measure>,
) -> Result<Json<Storage>, Error> {
    Ok(Json(app.query.storage(measure.count).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct HowMany {
    limit: Option<usize>,
}

pub(super) async fn notices(
    State(app): State<App>,
    Query(how_many): Query<HowMany>,
) -> Result<Json<Notices>, Error> {
    Ok(Json(app.query.notices(limit(how_many.limit)?).await?))
}

pub(super) async fn state(
    State(app): State<App>,
    Path((service, key)): Path<(String, String)>,
) -> Result<Json<ObjectState>, Error> {
    Ok(Json(app.query.state(service, key).await?))
}
