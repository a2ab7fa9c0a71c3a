//! What existing tools ask for and this server does not have: there are none of them to list, and
//! to make one is refused with a sentence.

use super::{App, error::Error};
use axum::{
    Json, Router,
    routing::{get, post, put},
};
use serde_json::{Value, json};

const KAFKA: &str = "Kafka is not read here; let what reads it call the ingress, with the offset as \
                     idempotency key";
const RULES: &str = "rules cannot be made while the server runs; write `[[limits]]` in the settings, \
                     or metadata of the service";
const QUEUES: &str = "there are no virtual queues; pause and resume invocations";

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/subscriptions", get(|| none("subscriptions")).post(|| refused(KAFKA)))
        .route("/kafka-clusters", get(|| none("clusters")).post(|| refused(KAFKA)))
        .route("/limits/rules", put(|| refused(RULES)))
        .route("/limits/rules/bulk-delete", post(|| refused(RULES)))
        .route("/vqueues/{id}/pause", post(|| refused(QUEUES)))
        .route("/vqueues/{id}/resume", post(|| refused(QUEUES)))
}

async fn none(what: &'static str) -> Json<Value> {
    Json(json!({ what: [] }))
}

async fn refused(sentence: &'static str) -> Error {
    Error::NotHere(sentence)
}
