//! Where each notice goes, what is said there, and that it is forgotten when it is over with it.

use super::message;
use crate::delivery::{Failed, Letter, Mailroom, Office, Piece, SIGNATURE_HEADER, Secret, Settled};
use crate::http::{Body, full};
use crate::partition::Router;
use crate::registry::{Registry, Schema};
use holdfast_machine::{
    command::Command, id::PartitionId, kv::Fault, tables::notice::Notice, time::Timestamp,
};
use hyper::{
    Request, Uri,
    header::{CONTENT_TYPE, USER_AGENT},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

const NOTICE_HEADER: &str = "x-holdfast-notice";
const SENDER: &str = concat!("holdfast/", env!("CARGO_PKG_VERSION"));

/// A notice, as the courier carries it.
type Told = Letter<Piece<Notice>>;

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
    registry: Registry,
    router: Router,
    secret: Option<Secret>,
    admin_url: String,
    /// What rows are addressed by.
    schema: Mutex<Arc<Schema>>,
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
    ) -> Desk {
        let (schema, deliveries) = (Mutex::new(registry.schema()), Mutex::default());
        Desk { url, registry, router, secret, admin_url, schema, deliveries }
    }

    /// Whether anybody wants to be told anything.
    pub(super) fn has_receivers(&self) -> bool {
        self.url.is_some() || self.registry.schema().notifies
    }

    /// Where a notice goes: to where its deployment says, else to the server's URL. What was
    /// not pinned belongs to the latest deployment of its service.
    fn address(&self, schema: &Schema, notice: &Notice) -> Option<Uri> {
        let latest = || Some(schema.services.get(&notice.target.service)?.deployment);
        let deployment = notice.deployment.or_else(latest);
        let deployment = deployment.and_then(|id| schema.deployments.get(&id));
        deployment.and_then(|deployment| deployment.notify.clone()).or_else(|| self.url.clone())
    }

    pub(super) fn delivery(&self, partition: PartitionId, sequence: u64) -> Option<Delivery> {
        self.deliveries().get(&(partition, sequence)).cloned()
    }

    fn schema(&self) -> MutexGuard<'_, Arc<Schema>> {
        self.schema.lock().expect("nobody panics while holding the lock")
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
        let _ = partition.insist(|| Command::Noticed { sequence }).await;
    }
}

impl Office for Desk {
    type What = Piece<Notice>;

    async fn request(&self, letter: &Told, now: Timestamp) -> Option<Request<Body>> {
        let notice = &letter.what.row;
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
                invocation = %letter.what.row.invocation,
                receiver = receiver(letter),
                last_error = delivery.map(|delivery| delivery.last_error),
                "a notice was given up"
            ),
        }
        self.forget(letter).await;
    }
}

impl Mailroom for Desk {
    type Row = Notice;

    const LETTERS_MAX: u32 = 1;

    fn written_at(notice: &Notice) -> Timestamp {
        notice.at
    }

    fn receiver(&self, notice: &Notice) -> Option<String> {
        let schema = self.schema().clone();
        self.address(&schema, notice).map(|address| address.to_string())
    }

    fn letters(&self, _: PartitionId, _: &Notice) -> Result<u32, Fault> {
        Ok(1)
    }

    /// Deployments may have other receivers than before.
    fn has_moved(&self) -> bool {
        let now = self.registry.schema();
        let mut known = self.schema();
        if Arc::ptr_eq(&now, &known) {
            return false;
        }
        let before = std::mem::replace(&mut *known, now);
        before.notifies || known.notifies
    }

    fn unreadable(&self, partition: PartitionId, fault: &Fault) {
        let (code, partition) = ("HF0194", partition.0);
        tracing::error!(code, partition, %fault, "notices cannot be read");
    }
}

fn key(letter: &Told) -> (PartitionId, u64) {
    (letter.source, letter.what.sequence)
}

fn id(letter: &Told) -> String {
    letter.what.row.id(letter.source, letter.what.sequence).to_string()
}

/// Who did not take it, without what may be secret in its URL.
fn receiver(letter: &Told) -> String {
    let uri: Option<Uri> = letter.to.parse().ok();
    let host = uri.as_ref().and_then(Uri::authority).map(|authority| authority.as_str());
    host.unwrap_or_default().to_owned()
}
