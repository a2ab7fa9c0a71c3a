//! The hands that tell somebody outside what happened to invocations: notices come from the
//! tables, go to the URL of their deployment or of the server, and are forgotten when they were
//! taken there. Told at least once, and under the same id each time. Never decides what is worth
//! telling: the machine does.

mod config;
mod desk;
mod error;
mod message;
#[cfg(test)]
mod tests;

pub use config::{Calls, Config, Event};
pub use desk::Delivery;
pub use error::Error;

use crate::clock::Clock;
use crate::delivery::{self, Means, Queue, Secret};
use crate::http::client::Client;
use crate::partition::{Notices, Router};
use crate::registry::Registry;
use crate::telemetry;
use desk::Desk;
use holdfast_machine::{id::PartitionId, model::NoticesWanted};
use std::{path::Path, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Delivers notices. Cheap to clone.
#[derive(Clone)]
pub struct Notifier {
    wanted: NoticesWanted,
    queue: Queue<Desk>,
}

/// What the notifier works with.
pub struct Parts {
    pub client: Client,
    pub registry: Registry,
    pub router: Router,
    pub clock: Arc<dyn Clock>,
    /// Where the admin listener is, for links, unless the settings say it.
    pub admin_url: String,
    pub metrics: delivery::Metrics,
}

/// What is counted of notices.
pub fn metrics(telemetry: &telemetry::Metrics) -> delivery::Metrics {
    delivery::Metrics::new(telemetry, "notifier", "notices")
}

impl Notifier {
    /// # Errors
    /// Where the secret cannot be used.
    pub fn new(config: Config, parts: Parts) -> Result<Notifier, Error> {
        let Parts { client, registry, router, clock, admin_url, metrics } = parts;
        let secret = config.secret_file.as_deref().map(secret).transpose()?;
        let admin_url = config.admin_url.clone().unwrap_or(admin_url);
        let url = config.receiver();
        let store = router.store().clone();
        let desk = Desk::new(url, registry.clone(), router, secret, admin_url);
        let queue = Queue::new(desk, config.terms(), store, Means { client, clock, metrics });
        let bell = queue.bell().clone();
        registry.when_changed(move |_| bell.ring());
        Ok(Notifier { wanted: config.wanted(), queue })
    }

    /// Delivers until `shutdown`; tries under way then have their time to end. The partitions must
    /// still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        self.queue.run(shutdown).await;
    }

    /// What came so far of delivering a notice, if that was tried.
    pub fn delivery(&self, partition: PartitionId, sequence: u64) -> Option<Delivery> {
        self.queue.mailroom().delivery(partition, sequence)
    }
}

impl Notices for Notifier {
    fn wanted(&self) -> NoticesWanted {
        match self.queue.mailroom().has_receivers() {
            true => self.wanted,
            false => NoticesWanted::default(),
        }
    }

    fn written(&self, _partition: PartitionId) {
        self.queue.bell().ring();
    }
}

fn secret(path: &Path) -> Result<Secret, Error> {
    Secret::from_file(path).map_err(|reason| Error::Secret { path: path.to_owned(), reason })
}
