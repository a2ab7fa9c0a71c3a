//! Routes about the server itself.

use super::App;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};
use serde_json::{Value, json};

/// The version that existing tools choose their questions by.
const COMPATIBLE_VERSION: &str = "1.7.12";
const OLDEST_API: u32 = 2;
const NEWEST_API: u32 = 4;

/// Switches that existing tools look for; all that we have is always on.
const FEATURES: [(&str, bool); 13] = [
    ("vqueues", false),
    ("vqueues_async_refill", false),
    ("vqueues_migration_skip_completed", false),
    ("vqueue_obsolete_cleanup", false),
    ("invoker_yield", false),
    ("protocol_v7", true),
    ("unique_random_seeds", true),
    ("kafka_scope", false),
    ("scoped_virtual_objects", false),
    ("scoped_state_table_migration", false),
    ("scoped_promise_table_migration", false),
    ("preflight_invocation_termination_retention", false),
    ("holdfast", true),
];

pub(super) async fn health() -> StatusCode {
    StatusCode::OK
}

pub(super) async fn version(State(app): State<App>) -> Json<Value> {
    let features: serde_json::Map<_, _> =
        FEATURES.into_iter().map(|(name, on)| (name.into(), Value::Bool(on))).collect();
    Json(json!({
        "version": COMPATIBLE_VERSION,
        "min_admin_api_version": OLDEST_API,
        "max_admin_api_version": NEWEST_API,
        "ingress_endpoint": app.config.ingress_endpoint,
        "features": features,
        "holdfast": { "version": env!("CARGO_PKG_VERSION") },
    }))
}

/// Names the routes; their bodies are in `docs/holdfast-api.md`.
pub(super) async fn openapi() -> Json<Value> {
    let get = |summary: &str| json!({ "get": { "summary": summary } });
    let patch = |summary: &str| json!({ "patch": { "summary": summary } });
    Json(json!({
        "openapi": "3.1.0",
        "info": { "title": "Admin API", "version": COMPATIBLE_VERSION },
        "paths": {
            "/health": get("Liveness"),
            "/version": get("Version and features"),
            "/deployments": {
                "get": { "summary": "List deployments" },
                "post": { "summary": "Register a deployment" },
            },
            "/deployments/{deployment}": {
                "get": { "summary": "One deployment" },
                "patch": { "summary": "Change how a deployment is reached" },
                "delete": { "summary": "Remove a deployment" },
            },
            "/services": get("List services"),
            "/services/{service}": {
                "get": { "summary": "One service" },
                "patch": { "summary": "Change settings of a service" },
            },
            "/services/{service}/handlers": get("Handlers of a service"),
            "/services/{service}/handlers/{handler}": get("One handler"),
            "/services/{service}/state": { "post": { "summary": "Replace the state of a key" } },
            "/invocations/{invocation_id}/cancel": patch("Cancel"),
            "/invocations/{invocation_id}/kill": patch("Kill"),
            "/invocations/{invocation_id}/pause": patch("Pause"),
            "/invocations/{invocation_id}/resume": patch("Resume"),
            "/invocations/{invocation_id}/purge": patch("Purge a completed invocation"),
            "/invocations/{invocation_id}/purge-journal": patch("Purge its journal"),
            "/invocations/{invocation_id}/restart-as-new": patch("Run it again as a new one"),
            "/query": { "post": { "summary": "Ask in SQL" } },
            "/holdfast/health": get("Readiness of each partition"),
            "/holdfast/invocations": get("List invocations"),
            "/holdfast/invocations/{invocation_id}": get("One invocation with its journal"),
            "/holdfast/counts": get("Counts by status, service and deployment"),
            "/holdfast/notices": get("Notices that are not delivered yet"),
            "/holdfast/state/{service}/{key}": get("State of a key"),
        },
    }))
}

/// One process is the whole cluster.
pub(super) async fn cluster_health(State(app): State<App>) -> Json<Value> {
    let name = app.registry.cluster_name();
    Json(json!({ "cluster_name": name, "metadata_cluster_health": null }))
}

pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let text = (app.metrics)();
    ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
}
