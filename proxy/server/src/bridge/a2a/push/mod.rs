//! Push notifications: receivers of a task's events are rows, and so is each event that one of them
//! is to be told, written in the commit that holds the event. They are sent until they are taken,
//! in order for each receiver, and never to an address that is not allowed.

mod body;
mod check;
mod config;
mod desk;
mod metrics;
mod rows;

pub use body::form;
pub use check::check;
pub use config::{Config, ContentType};
pub use metrics::Metrics;

use crate::clock::Clock;
use crate::delivery::Secret;
use crate::http::client::{self, Client};
use crate::partition::Router;
use crate::registry::exposure::Exposure;
use desk::Desk;
use rows::Rows;
use std::{path::PathBuf, sync::Arc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Sends what is queued. Cheap to clone.
#[derive(Clone)]
pub struct Pushes {
    shared: Arc<Shared>,
}

/// What it works with.
pub struct Parts {
    /// Of connections to receivers.
    pub client: client::Config,
    pub router: Router,
    pub exposure: Exposure,
    pub clock: Arc<dyn Clock>,
    pub metrics: Metrics,
    /// Ends the connections.
    pub shutdown: CancellationToken,
}

struct Shared {
    config: Config,
    client: Client,
    clock: Arc<dyn Clock>,
    desk: Arc<Desk>,
    /// There may be rows that were not read yet, or room for some that were.
    look: Arc<Notify>,
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
        let desk = Arc::new(Desk::new(config.clone(), router, metrics, secret, exposure));
        let look = Arc::new(Notify::new());
        look.notify_one(); // What the process before has left.
        let set = look.clone();
        clock.when_set(Box::new(move || set.notify_one()));
        Ok(Pushes { shared: Arc::new(Shared { config, client, clock, desk, look }) })
    }

    /// A delivery was written.
    pub fn written(&self) {
        self.shared.look.notify_one();
    }

    /// Delivers until `shutdown`; tries under way then have their time to end. The partitions must
    /// still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        let shared = &self.shared;
        let terms = shared.config.terms();
        let with = (shared.client.clone(), shared.clock.clone());
        let (desk, look) = (shared.desk.clone(), shared.look.clone());
        let mut rows = Rows::new(desk, look, terms, shared.config.held_all_max, with);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = shared.look.notified() => rows.read().await,
                news = rows.courier.next() => rows.hear(news),
            }
        }
        rows.courier.finish(terms.timeout).await;
    }
}
