//! What each push notification says and where it goes, read from the tables when it goes out, and
//! that its row is forgotten when it is over with it.

use super::{Config, body};
use crate::delivery::{Failed, Letter, Mailroom, Office, Piece, SIGNATURE_HEADER, Secret, Settled};
use crate::http::{Body, full};
use crate::partition::Router;
use crate::registry::exposure::Exposure;
use bytes::Bytes;
use holdfast_machine::{
    command::Command,
    id::PartitionId,
    kv::Fault,
    tables::{
        push::Delivery,
        push_config::{self, PushConfig},
    },
    time::Timestamp,
};
use http::{
    HeaderValue, Request, StatusCode, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

const TOKEN_HEADER: &str = "x-a2a-notification-token";
const VERSION_HEADER: &str = "a2a-version";
const SENDER: &str = concat!("holdfast/", env!("CARGO_PKG_VERSION"));

/// One request of a delivery: an event of the feed can be several events of the protocol.
type Told = Letter<Piece<Delivery>>;

pub(super) struct Desk {
    config: Config,
    router: Router,
    secret: Option<Secret>,
    exposure: Exposure,
    /// Of receivers that did not take the last notification: the answer they gave.
    refusals: Mutex<HashMap<String, StatusCode>>,
}

impl Desk {
    pub(super) fn new(
        config: Config,
        router: Router,
        secret: Option<Secret>,
        exposure: Exposure,
    ) -> Desk {
        Desk { config, router, secret, exposure, refusals: Mutex::default() }
    }

    fn registered(
        &self,
        partition: PartitionId,
        delivery: &Delivery,
    ) -> Result<Option<PushConfig>, Fault> {
        let store = &**self.router.store();
        push_config::get(store, partition, delivery.invocation, &delivery.config)
    }

    /// Where a notification goes and what it says; `None`: nowhere any more.
    fn read(&self, letter: &Told) -> Result<Option<(PushConfig, Bytes)>, Fault> {
        let (partition, what) = (letter.source, &letter.what);
        let Some(config) = self.registered(partition, &what.row)? else {
            return Ok(None);
        };
        let bodies = self.bodies(partition, &what.row, &config)?;
        let body = bodies.into_iter().nth(what.part as usize);
        Ok(body.map(|body| (config, body)))
    }

    fn bodies(
        &self,
        partition: PartitionId,
        delivery: &Delivery,
        config: &PushConfig,
    ) -> Result<Vec<Bytes>, Fault> {
        let (store, catalogue) = (self.router.store(), self.exposure.catalogue());
        body::all(&**store, &catalogue, partition, delivery, config)
    }

    fn made(&self, config: &PushConfig, body: Bytes, now: Timestamp) -> Option<Request<Body>> {
        let uri: Uri = config.url.parse().ok()?;
        let mut request = Request::post(uri)
            .header(CONTENT_TYPE, self.config.content_type.as_str())
            .header(USER_AGENT, SENDER)
            .header(VERSION_HEADER, body::version(config));
        if !config.token.is_empty() {
            request = request.header(TOKEN_HEADER, secret(&config.token)?);
        }
        if let Some(it) = config.authentication.as_ref().filter(|it| !it.credentials.is_empty()) {
            let value = format!("{} {}", it.scheme, it.credentials);
            request = request.header(AUTHORIZATION, secret(&value)?);
        }
        if let Some(secret) = &self.secret {
            request = request.header(SIGNATURE_HEADER, secret.sign(now.0 / 1000, &body));
        }
        request.body(full(body)).ok()
    }

    /// Has the row deleted, durably. Where the partition has ended, the row stays, and the next
    /// process tells it again.
    async fn order(&self, letter: &Told, command: impl Fn() -> Command) {
        let partition = &self.router.all()[usize::from(letter.source.0)];
        let _ = partition.insist(command).await;
    }

    fn refusals(&self) -> MutexGuard<'_, HashMap<String, StatusCode>> {
        self.refusals.lock().expect("nobody panics while holding the lock")
    }

    /// A receiver that is not there any more gets no further notifications.
    async fn drop_receiver(&self, letter: &Told) {
        let (invocation, name) = (letter.what.row.invocation, &letter.what.row.config);
        let command = || Command::DeletePush { invocation, name: name.clone() };
        self.order(letter, command).await;
    }
}

impl Office for Desk {
    type What = Piece<Delivery>;

    async fn request(&self, letter: &Told, now: Timestamp) -> Option<Request<Body>> {
        let read = match self.read(letter) {
            Ok(read) => read?,
            Err(fault) => {
                let code = "HF0263";
                tracing::error!(code, %fault, "a push notification cannot be read");
                return None;
            }
        };
        self.made(&read.0, read.1, now)
    }

    /// It says so itself; it is told nothing more.
    fn is_gone(&self, status: StatusCode) -> bool {
        status == StatusCode::GONE
    }

    fn failed(&self, letter: &Told, why: &Failed, next_at: Timestamp) {
        let known = match why {
            Failed::Refused(status) => self.refusals().insert(letter.to.clone(), *status),
            _ => self.refusals().insert(letter.to.clone(), StatusCode::GATEWAY_TIMEOUT),
        };
        let task = letter.what.row.invocation;
        let (config, in_ms) = (&letter.what.row.config, next_at.0);
        if known.is_none() {
            let code = "HF0262";
            tracing::warn!(code, %task, config, "a push notification was not taken: {why}");
        } else {
            tracing::debug!(%task, config, in_ms, "a push notification was not taken: {why}");
        }
    }

    async fn settle(&self, letter: &Told, how: Settled) {
        let refusal = self.refusals().remove(&letter.to);
        let (task, config) = (letter.what.row.invocation, &letter.what.row.config);
        match how {
            Settled::Taken => tracing::debug!(%task, config, "a push notification was taken"),
            Settled::Nowhere => tracing::debug!(%task, config, "there is nobody to be told"),
            Settled::Gone => {
                tracing::info!(%task, config, "a receiver of push notifications says it is gone");
                self.drop_receiver(letter).await;
            }
            Settled::GivenUp => {
                let code = "HF0261";
                tracing::error!(code, %task, config, "a push notification was given up");
                if refusal == Some(StatusCode::NOT_FOUND) {
                    self.drop_receiver(letter).await;
                }
            }
        }
        if letter.what.last {
            let sequence = letter.what.sequence;
            self.order(letter, || Command::Pushed { sequence }).await;
        }
    }
}

impl Mailroom for Desk {
    type Row = Delivery;

    const LETTERS_MAX: u32 = 64;

    fn written_at(delivery: &Delivery) -> Timestamp {
        delivery.at
    }

    /// A receiver of one task: its notifications go one after another.
    fn receiver(&self, delivery: &Delivery) -> Option<String> {
        Some(format!("{}/{}", delivery.invocation, delivery.config))
    }

    fn letters(&self, partition: PartitionId, delivery: &Delivery) -> Result<u32, Fault> {
        let bodies = match self.registered(partition, delivery)? {
            Some(config) => self.bodies(partition, delivery, &config)?,
            None => vec![],
        };
        Ok(u32::try_from(bodies.len()).unwrap_or(u32::MAX))
    }

    fn unreadable(&self, partition: PartitionId, fault: &Fault) {
        let (code, partition) = ("HF0263", partition.0);
        tracing::error!(code, partition, %fault, "push notifications cannot be read");
    }
}

/// Not to be shown in logs, nor kept in tables of compressed headers.
fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
