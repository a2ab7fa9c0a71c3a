//! `POST /query`: SQL in, rows out.

use super::{App, error::Error};
use crate::query::sql::{self, Catalog, Format};
use crate::registry::Schema;
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::IntoResponse,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Question {
    query: String,
}

pub(super) async fn query(
    State(app): State<App>,
    headers: HeaderMap,
    Json(question): Json<Question>,
) -> Result<impl IntoResponse, Error> {
    let format = wanted(&headers);
    let catalog = catalog(&app.registry.schema());
    let answer = app.sql.ask(question.query, catalog, format).await?;
    Ok(([(header::CONTENT_TYPE, format.content_type())], answer))
}

/// JSON for exactly this word: existing tools rely on everything else being Arrow.
fn wanted(headers: &HeaderMap) -> Format {
    let accept = headers.get(header::ACCEPT);
    let mut named = [Format::Json, Format::Table].into_iter();
    let named = named.find(|format| accept.is_some_and(|it| it == format.content_type()));
    named.unwrap_or(Format::Arrow)
}

fn catalog(schema: &Schema) -> Catalog {
    let deployments = schema.deployments.values().map(|deployment| sql::Deployment {
        id: deployment.id,
        endpoint: deployment.uri.to_string(),
        created_at: deployment.created_at,
        min_version: deployment.min_version,
        max_version: deployment.max_version,
        services: deployment.services.keys().cloned().collect(),
        sdk_version: deployment.sdk_version.clone(),
    });
    let services = schema.services.values().map(|service| sql::Service {
        name: service.name.clone(),
        revision: service.revision,
        public: service.public,
        ty: service.ty,
        deployment: service.deployment,
        handlers: service.handlers.values().map(|it| (it.name.clone(), it.ty)).collect(),
    });
    let mut deployments: Vec<_> = deployments.collect();
    deployments.sort_by_key(|deployment| deployment.id);
    Catalog { deployments, services: services.collect() }
}
