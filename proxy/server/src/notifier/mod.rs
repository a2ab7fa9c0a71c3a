//! The hands that tell somebody outside what happened to invocations: notices come from the
//! tables, go to the URL of their deployment or of the server, and are forgotten when they were
//! taken there. Told at least once, and under the same id each time. Never decides what is worth
//! telling: the machine does.

mod config;
mod desk;
mod error;
mod message;
mod metrics;
mod rows;
#[cfg(test)]
mod tests;

pub use config::{Calls, Config, Event};
pub use desk::Delivery;
pub use error::Error;
pub use metrics::Metrics;

use crate::clock::Clock;
use crate::delivery::{Secret, Terms};
use crate::http::client::Client;
use crate::partition::{Notices, Router};
use crate::registry::Registry;
use desk::Desk;
use holdfast_machine::{id::PartitionId, model::NoticesWanted};
use rows::Rows;
use std::{path::Path, sync::Arc};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Delivers notices. Cheap to clone.
#[derive(Clone)]
pub struct Notifier {
    shared: Arc<Shared>,
}

/// What the notifier works with.
pub struct Parts {
    pub client: Client,
    pub registry: Registry,
    pub router: Router,
    pub clock: Arc<dyn Clock>,
    /// Where the admin listener is, for links, unless the settings say it.
    pub admin_url: String,
    pub metrics: Metrics,
}

struct Shared {
    config: Config,
    client: Client,
    clock: Arc<dyn Clock>,
    desk: Arc<Desk>,
    /// There may be rows that were not read yet, or room for some that were, or other receivers.
    look: Arc<Notify>,
}

impl Notifier {
    /// # Errors
    /// Where the secret cannot be used.
    pub fn new(config: Config, parts: Parts) -> Result<Notifier, Error> {
        let Parts { client, registry, router, clock, admin_url, metrics } = parts;
        let secret = config.secret_file.as_deref().map(secret).transpose()?;
        let admin_url = config.admin_url.clone().unwrap_or(admin_url);
        let url = config.receiver();
        let desk = Arc::new(Desk::new(url, registry, router, secret, admin_url, metrics));
        let look = Arc::new(Notify::new());
        look.notify_one(); // What the process before has left.
        let (set, changed) = (look.clone(), look.clone());
        clock.when_set(Box::new(move || set.notify_one()));
        desk.registry.when_changed(move |_| changed.notify_one());
        Ok(Notifier { shared: Arc::new(Shared { config, client, clock, desk, look }) })
    }

    /// Delivers until `shutdown`; tries under way then have their time to end. The partitions must
    /// still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        let shared = &self.shared;
        let terms = shared.config.terms();
        let mut rows = Rows::new(shared, terms);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = shared.look.notified() => rows.read().await,
                news = rows.courier.next() => rows.hear(news),
            }
        }
        rows.courier.finish(terms.timeout).await;
    }

    /// What came so far of delivering a notice, if that was tried.
    pub fn delivery(&self, partition: PartitionId, sequence: u64) -> Option<Delivery> {
        self.shared.desk.delivery(partition, sequence)
    }
}

impl Notices for Notifier {
    fn wanted(&self) -> NoticesWanted {
        match self.shared.desk.has_receivers() {
            true => self.shared.config.wanted(),
            false => NoticesWanted::default(),
        }
    }

    fn written(&self, _partition: PartitionId) {
        self.shared.look.notify_one();
    }
}

fn secret(path: &Path) -> Result<Secret, Error> {
    Secret::from_file(path).map_err(|reason| Error::Secret { path: path.to_owned(), reason })
}

impl Config {
    fn terms(&self) -> Terms {
        Terms {
            timeout: config::ms(self.timeout_ms),
            retry: self.retry(),
            give_up_after: config::ms(self.give_up_after_ms),
            concurrent_max: self.concurrent_max,
            held_max: self.held_max,
        }
    }
}
