//! Push notifications: receivers of a task's events are rows, and so is each event that one of them
//! is to be told, written in the commit that holds the event. They are sent until they are taken,
//! in order for each receiver, and never to an address that is not allowed.

mod body;
mod check;
mod config;
mod desk;

pub use body::form;
pub use check::check;
pub use config::{Config, ContentType};

use crate::clock::Clock;
use crate::delivery::{self, Means, Queue, Secret};
use crate::http::client::{self, Client};
use crate::partition::Router;
use crate::registry::exposure::Exposure;
use crate::telemetry;
use desk::Desk;
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Sends what is queued. Cheap to clone.
#[derive(Clone)]
pub struct Pushes {
    queue: Queue<Desk>,
}

/// What it works with.
pub struct Parts {
    /// Of connections to receivers.
    pub client: client::Config,
    pub router: Router,
    pub exposure: Exposure,
    pub clock: Arc<dyn Clock>,
    pub metrics: delivery::Metrics,
    /// Ends the connections.
    pub shutdown: CancellationToken,
}

/// What is counted of push notifications.
pub fn metrics(telemetry: &telemetry::Metrics) -> delivery::Metrics {
    delivery::Metrics::new(telemetry, "a2a_push", "push notifications")
}

/// Why nothing can be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error(
        "cannot use the secret in `{}` (`a2a.push.secret_file`): {reason}; make one with \
         `openssl rand -hex 32`", path.display()
    )]
    Secret { path: PathBuf, reason: String },
    #[error(transparent)]
    Client(#[from] client::Unusable),
}

impl Unusable {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Unusable::Secret { .. } => "HF0264",
            Unusable::Client(_) => "HF0007",
        }
    }
}

impl Pushes {
    /// # Errors
    /// Where the secret or the settings of connections cannot be used.
    pub fn new(config: Config, parts: Parts) -> Result<Pushes, Unusable> {
        let Parts { client, router, exposure, clock, metrics, shutdown } = parts;
        let secret = config.secret_file.as_deref().map(|path| {
            let unusable = |reason| Unusable::Secret { path: path.to_owned(), reason };
            Secret::from_file(path).map_err(unusable)
        });
        let guarded = config.clone();
        let guard = Arc::new(move |ip| guarded.check_address(ip));
        let client = Client::guarded(client, guard, shutdown)?;
        let secret = secret.transpose()?;
        let (terms, store) = (config.terms(), router.store().clone());
        let desk = Desk::new(config, router, secret, exposure);
        let means = Means { client, clock, metrics };
        Ok(Pushes { queue: Queue::new(desk, terms, store, means) })
    }

    /// A delivery was written.
    pub fn written(&self) {
        self.queue.bell().ring();
    }

    /// Delivers until `shutdown`; tries under way then have their time to end. The partitions must
    /// still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        self.queue.run(shutdown).await;
    }
}
