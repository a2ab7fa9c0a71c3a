//! Asks: whoever reaches the admin listener sees all of them, and may answer.

use super::App;
use crate::tasks::desk::Viewer;
use axum::{
    body::Body,
    extract::{Path, State},
    http::{Method, Uri},
    response::Response,
};
use bytes::Bytes;

pub(super) async fn all(State(app): State<App>, method: Method, uri: Uri, body: Bytes) -> Response {
    serve(&app, (&method, &uri, ""), body).await
}

pub(super) async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    serve(&app, (&method, &uri, &id), body).await
}

async fn serve(app: &App, request: (&Method, &Uri, &str), body: Bytes) -> Response {
    app.asks.serve(&Viewer::Operator, request, body).await.map(Body::new)
}
