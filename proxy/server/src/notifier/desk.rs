//! Where each notice goes, what is said there, and that it is forgotten when it is over with it.

use super::{Metrics, message};
use crate::delivery::{Failed, Letter, Office, SIGNATURE_HEADER, Secret, Settled};
use crate::http::{Body, full};
use crate::partition::{Router, Unavailable};
use crate::registry::{Registry, Schema};
use holdfast_machine::{
    command::Command, id::PartitionId, tables::notice::Notice, time::Timestamp,
};
use hyper::{
    Request, Uri,
    header::{CONTENT_TYPE, USER_AGENT},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::time::sleep;

const NOTICE_HEADER: &str = "x-holdfast-notice";
const SENDER: &str = concat!("holdfast/", env!("CARGO_PKG_VERSION"));

/// A notice and its row, as the courier carries it.
pub(super) type Told = Letter<Arc<Row>>;

/// One row of the table.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub sequence: u64,
    pub notice: Notice,
}

/// What came of the tries so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Tries that came to nothing.
    pub tries: u32,
    pub last_error: String,
    pub next_try_at: Timestamp,
}

pub(super) struct Desk {
    /// Of the server.
    url: Option<Uri>,
    pub registry: Registry,
    pub router: Router,
    secret: Option<Secret>,
    admin_url: String,
    pub metrics: Metrics,
    /// Of the notices that were tried and are not over: one for each receiver that fails.
    deliveries: Mutex<HashMap<(PartitionId, u64), Delivery>>,
}

impl Desk {
    pub(super) fn new(
        url: Option<Uri>,
        registry: Registry,
        router: Router,
        secret: Option<Secret>,
        admin_url: String,
        metrics: Metrics,
    ) -> Desk {
        let deliveries = Mutex::default();
        Desk { url, registry, router, secret, admin_url, metrics, deliveries }
    }

    /// Whether anybody wants to be told anything.
    pub(super) fn has_receivers(&self) -> bool {
        self.url.is_some() || self.registry.schema().notifies
    }

    /// Where a notice goes: to where its deployment says, else to the server's URL. What was
    /// not pinned belongs to the latest deployment of its service.
    pub(super) fn address(&self, schema: &Schema, notice: &Notice) -> Option<Uri> {
        let latest = || Some(schema.services.get(&notice.target.service)?.deployment);
        let deployment = notice.deployment.or_else(latest);
        let deployment = deployment.and_then(|id| schema.deployments.get(&id));
        deployment.and_then(|deployment| deployment.notify.clone()).or_else(|| self.url.clone())
    }

    pub(super) fn delivery(&self, partition: PartitionId, sequence: u64) -> Option<Delivery> {
        self.deliveries().get(&(partition, sequence)).cloned()
    }

    fn deliveries(&self) -> MutexGuard<'_, HashMap<(PartitionId, u64), Delivery>> {
        self.deliveries.lock().expect("nobody panics while holding the lock")
    }

    /// Notes a try that came to nothing, and gives how many there were.
    fn note(&self, letter: &Told, why: &Failed, next_try_at: Timestamp) -> u32 {
        let mut deliveries = self.deliveries();
        let known = deliveries.get(&key(letter)).map_or(0, |delivery| delivery.tries);
        let tries = known.saturating_add(1);
        let delivery = Delivery { tries, last_error: why.to_string(), next_try_at };
        deliveries.insert(key(letter), delivery);
        tries
    }

    /// Has the row deleted, durably. Where the partition has ended, the row stays, and the next
    /// process tells it again.
    async fn forget(&self, letter: &Told) {
        let partition = &self.router.all()[usize::from(letter.source.0)];
        let sequence = letter.what.sequence;
        while let Err(error) = partition.call(Command::Noticed { sequence }).await {
            let Unavailable::Overloaded { retry_after_ms, .. } = error else {
                return;
            };
            sleep(Duration::from_millis(retry_after_ms)).await;
        }
    }
}

impl Office for Desk {
    type What = Arc<Row>;

    async fn request(&self, letter: &Told, now: Timestamp) -> Option<Request<Body>> {
        let notice = &letter.what.notice;
        let id = id(letter);
        let body = message::body(&id, notice, &self.admin_url);
        // As it is now: the deployment may have moved since the letter was addressed.
        let address = self.address(&self.registry.schema(), notice)?;
        let mut request = Request::post(address)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, SENDER)
            .header(NOTICE_HEADER, id);
        if let Some(secret) = &self.secret {
            request = request.header(SIGNATURE_HEADER, secret.sign(now.0 / 1000, &body));
        }
        Some(request.body(full(body)).expect("an address and visible ASCII make a request"))
    }

    fn failed(&self, letter: &Told, why: &Failed, next_at: Timestamp) {
        self.metrics.failed(why);
        let tries = self.note(letter, why, next_at);
        let (notice, receiver) = (id(letter), receiver(letter));
        if tries == 1 {
            tracing::warn!(
                code = "HF0193",
                notice,
                receiver,
                "a notice was not taken and is tried again: {why}"
            );
        } else {
            tracing::debug!(notice, receiver, tries, "a notice was not taken: {why}");
        }
    }

    async fn settle(&self, letter: &Told, how: Settled) {
        let notice = id(letter);
        let delivery = self.deliveries().remove(&key(letter));
        match how {
            Settled::Taken => tracing::debug!(notice, "a notice was taken"),
            Settled::Nowhere | Settled::Gone => {
                tracing::debug!(notice, "a notice has nowhere to go");
            }
            Settled::GivenUp => tracing::error!(
                code = "HF0192",
                notice,
                invocation = %letter.what.notice.invocation,
                receiver = receiver(letter),
                last_error = delivery.map(|delivery| delivery.last_error),
                "a notice was given up"
            ),
        }
        self.forget(letter).await;
        self.metrics.settled(how);
    }
}

pub(super) fn key(letter: &Told) -> (PartitionId, u64) {
    (letter.source, letter.what.sequence)
}

fn id(letter: &Told) -> String {
    letter.what.notice.id(letter.source, letter.what.sequence).to_string()
}

/// Who did not take it, without what may be secret in its URL.
fn receiver(letter: &Told) -> String {
    let uri: Option<Uri> = letter.to.parse().ok();
    let host = uri.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
    host.unwrap_or_default().to_owned()
}
