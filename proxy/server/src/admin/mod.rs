//! The admin door: registers deployments, shows and steers invocations, over HTTP/1.1. Translates
//! and decides nothing; every route exists at the root and under `/v2`, `/v3` and `/v4`.

mod about;
mod absent;
mod asks;
mod batch;
mod compress;
mod config;
mod deployments;
mod error;
mod holdfast;
mod invocations;
mod json;
mod openapi;
mod pin;
mod schedules;
mod services;
mod sql;
mod state;
#[cfg(test)]
mod tests;
mod welcome;

pub use config::Config;
pub use error::Error;

use crate::clock::Clock;
use crate::partition::Router;
use crate::query::{Query, sql::Sql};
use crate::registry::Registry;
use crate::tasks::desk::Desk;
use axum::{
    Extension,
    extract::DefaultBodyLimit,
    http::StatusCode,
    routing::{any, delete, get, patch, post},
    serve::ListenerExt,
};
use std::{future::IntoFuture, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The admin listener.
pub struct Admin {
    state: App,
}

/// What the routes share. Cheap to clone.
#[derive(Clone)]
struct App(Arc<Parts>);

/// What the admin door is made of; the house plugs it in.
pub struct Parts {
    pub config: Config,
    pub registry: Registry,
    pub router: Router,
    pub query: Query,
    pub sql: Sql,
    pub asks: Desk,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Writes all metrics as Prometheus text.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

/// The address prefix by which a route was reached; a few answers depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ApiVersion {
    V2,
    /// The root, `/v3` and `/v4`.
    Later,
}

impl std::ops::Deref for App {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Admin {
    pub fn new(parts: Parts) -> Admin {
        Admin { state: App(Arc::new(parts)) }
    }

    /// All routes, for a listener of one's own.
    pub fn routes(&self) -> axum::Router {
        let app = self.state.clone();
        let old = any(|| async { (StatusCode::BAD_REQUEST, "API version v1 is not supported") });
        axum::Router::new()
            .merge(routes(ApiVersion::Later))
            .nest("/v2", routes(ApiVersion::V2))
            .nest("/v3", routes(ApiVersion::Later))
            .nest("/v4", routes(ApiVersion::Later))
            .route("/v1", old.clone())
            .route("/v1/{*rest}", old)
            .route("/", get(welcome::page))
            .route("/ui", get(welcome::page))
            .route("/ui/", get(welcome::page))
            .layer(axum::middleware::from_fn(compress::gzip))
            .layer(DefaultBodyLimit::max(app.config.body_bytes_max))
            .with_state(app)
    }

    /// Serves until `shutdown`; open requests then have `shutdown_ms` to end.
    ///
    /// # Errors
    /// When the listener breaks.
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> std::io::Result<()> {
        let patience = Duration::from_millis(self.state.config.shutdown_ms);
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY");
            }
        });
        let serving = axum::serve(listener, self.routes())
            .with_graceful_shutdown(shutdown.clone().cancelled_owned())
            .into_future();
        tokio::select! {
            served = serving => served,
            () = patience_ends(shutdown, patience) => Ok(()),
        }
    }
}

async fn patience_ends(shutdown: CancellationToken, patience: Duration) {
    shutdown.cancelled().await;
    tokio::time::sleep(patience).await;
}

fn routes(version: ApiVersion) -> axum::Router<App> {
    axum::Router::new()
        .merge(about_routes())
        .merge(registry_routes(version))
        .merge(invocation_routes())
        .merge(holdfast_routes())
        .merge(absent::routes())
        .layer(Extension(version))
}

fn about_routes() -> axum::Router<App> {
    axum::Router::new()
        .route("/health", get(about::health))
        .route("/version", get(about::version))
        .route("/openapi", get(about::openapi))
        .route("/cluster-health", get(about::cluster_health))
        .route("/metrics", get(about::metrics))
        .route("/query", post(sql::query))
}

fn registry_routes(version: ApiVersion) -> axum::Router<App> {
    let one = get(deployments::one).patch(deployments::update).delete(deployments::remove);
    let one = match version {
        ApiVersion::V2 => one.put(deployments::update),
        ApiVersion::Later => one,
    };
    axum::Router::new()
        .route("/deployments", get(deployments::list).post(deployments::register))
        .route("/deployments/{deployment}", one)
        .route("/services", get(services::list))
        .route("/services/{service}", get(services::one).patch(services::modify))
        .route("/services/{service}/openapi", get(services::openapi))
        .route("/services/{service}/handlers", get(services::handlers))
        .route("/services/{service}/handlers/{handler}", get(services::handler))
        .route("/services/{service}/state", post(state::replace))
}

fn invocation_routes() -> axum::Router<App> {
    axum::Router::new()
        .route("/invocations/{id}", delete(invocations::end))
        .route("/invocations/{id}/cancel", patch(invocations::cancel))
        .route("/invocations/{id}/kill", patch(invocations::kill))
        .route("/invocations/{id}/pause", patch(invocations::pause))
        .route("/invocations/{id}/resume", patch(invocations::resume))
        .route("/invocations/{id}/purge", patch(invocations::purge))
        .route("/invocations/{id}/purge-journal", patch(invocations::purge_journal))
        .route("/invocations/{id}/restart-as-new", patch(invocations::restart_as_new))
        .route("/internal/invocations_batch_operations/{verb}", post(batch::run))
}

fn holdfast_routes() -> axum::Router<App> {
    axum::Router::new()
        .route("/holdfast/health", get(holdfast::health))
        .route("/holdfast/invocations", get(holdfast::invocations))
        .route("/holdfast/invocations/{id}", get(holdfast::invocation))
        .route("/holdfast/counts", get(holdfast::counts))
        .route("/holdfast/limits", get(holdfast::limits))
        .route("/holdfast/storage", get(holdfast::storage))
        .route("/holdfast/notices", get(holdfast::notices))
        .route("/holdfast/asks", any(asks::all))
        .route("/holdfast/asks/{id}", any(asks::one))
        .route("/holdfast/state/{service}/{key}", get(holdfast::state))
        .route("/holdfast/schedules", get(schedules::list))
        .route(
            "/holdfast/schedules/{name}",
            get(schedules::one).put(schedules::put).delete(schedules::delete),
        )
        .route("/holdfast/schedules/{name}/pause", post(schedules::pause))
        .route("/holdfast/schedules/{name}/resume", post(schedules::resume))
        .route("/holdfast/schedules/{name}/trigger", post(schedules::trigger))
}
