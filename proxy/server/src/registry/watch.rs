//! Keeps the registration of one service up to date: waits until the service is there, registers
//! it, and registers it again when what it offers changes. Never gives up, and says what it waits
//! for once, not each time.

use super::{
    Change, Error, Registered, Registration, Registry, describe,
    discovery::{self, Address, Discovered},
};
use crate::http::client::Protocol;
use holdfast_machine::id::DeploymentId;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Wait before the second question to a service that is not there yet, in ms; then doubled.
const FIRST_WAIT_MS: u64 = 50;

/// Watches one service.
pub struct Watch {
    registry: Registry,
    wish: Registration,
    registered: watch::Sender<Option<DeploymentId>>,
    /// What was said last, so that it is not said again.
    said: Option<String>,
}

impl Watch {
    /// `wish` says how to register; it is always forced.
    pub fn new(registry: Registry, wish: Registration) -> Watch {
        let wish = Registration { force: true, dry_run: false, ..wish };
        Watch { registry, wish, registered: watch::Sender::new(None), said: None }
    }

    /// Tells under which id the service is registered, once it is.
    pub fn registered(&self) -> watch::Receiver<Option<DeploymentId>> {
        self.registered.subscribe()
    }

    /// Works until `shutdown`.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut wait = Duration::from_millis(FIRST_WAIT_MS);
        loop {
            let looked = tokio::select! {
                looked = self.look() => looked,
                () = shutdown.cancelled() => return,
            };
            let interval = self.interval();
            match looked {
                Ok(()) => wait = interval,
                Err(error) => self.say_waiting(&error),
            }
            tokio::select! {
                () = tokio::time::sleep(wait.min(interval)) => wait = (wait * 2).min(interval),
                () = shutdown.cancelled() => return,
            }
        }
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(self.registry.shared.config.watch_interval_ms.max(100))
    }

    /// Asks the service once, and registers what is new.
    async fn look(&mut self) -> Result<(), Error> {
        let address = Address {
            uri: discovery::parse_address(&self.wish.uri)?,
            protocol: self.wish.protocol,
            additional_headers: self.wish.additional_headers.clone(),
        };
        let discovered = self.registry.shared.discovery.ask_now(&address).await?;
        match self.news(&address, &discovered) {
            News::None(id) => self.tell(id, "unchanged"),
            News::First => {
                let registered = self.take(address, discovered).await?;
                self.tell(registered.deployment.id, &offers(&registered));
            }
            News::Changed(changes) => {
                let registered = self.take(address, discovered).await?;
                let (uri, changes) = (&registered.deployment.uri, changes.join(", "));
                info!(%uri, changes, "the service offers something else now; registered again");
                self.tell(registered.deployment.id, "");
            }
        }
        Ok(())
    }

    fn news(&self, address: &Address, discovered: &Discovered) -> News {
        let Some(deployment) = self.registry.at(&address.uri) else {
            return News::First;
        };
        let ledger = self.registry.shared.ledger.lock();
        let Ok(ledger) = ledger else {
            return News::None(deployment.id);
        };
        let Some(record) = ledger.tables().deployments.get(&deployment.id) else {
            return News::First;
        };
        let mut changes = describe::changes(&record.manifest, &discovered.manifest);
        if record.protocol != discovered.protocol {
            changes.push("the HTTP version".into());
        }
        if record.sdk_version != discovered.sdk_version {
            changes.push("the SDK version".into());
        }
        match changes.is_empty() {
            true => News::None(deployment.id),
            false => News::Changed(changes),
        }
    }

    /// Metadata that a person gave it stays.
    async fn take(&self, address: Address, found: Discovered) -> Result<Registered, Error> {
        let mut wish = self.wish.clone();
        if let Some(known) = self.registry.at(&address.uri) {
            wish.metadata.extend(known.metadata.clone());
        }
        self.registry.take(wish, address, found).await
    }

    /// Says that the service is registered, where that was not known or it had been away.
    fn tell(&mut self, id: DeploymentId, offers: &str) {
        let first = self.registered.send_replace(Some(id)) != Some(id);
        if first || self.said.is_some() {
            info!(uri = self.wish.uri, deployment = %id, offers, "the service is registered");
        }
        self.said = None;
    }

    /// Says what it waits for, where that is news. What is seen twice in a row is no accident of a
    /// start: a service that twice speaks HTTP/1.1 only is from then on asked so.
    fn say_waiting(&mut self, error: &Error) {
        let text = error.to_string();
        let again = self.said.as_ref() == Some(&text);
        let (uri, code) = (&self.wish.uri, error.code());
        match error {
            Error::SpeaksHttp1 { .. } if again => {
                info!(uri, "the service speaks HTTP/1.1 only; it is registered so");
                self.wish.protocol = Protocol::Http1;
            }
            _ if again => {}
            Error::Unreachable { reason, .. } => info!(uri, "waiting for the service: {reason}"),
            // Said only when it stays so.
            Error::SpeaksHttp1 { .. } => {}
            _ => warn!(uri, code, "the service cannot be registered: {text}"),
        }
        self.said = Some(text);
    }
}

enum News {
    None(DeploymentId),
    First,
    Changed(Vec<String>),
}

fn offers(registered: &Registered) -> String {
    let names = registered.deployment.services.iter().map(|(name, service)| {
        let handlers: Vec<_> = service.handlers.keys().map(String::as_str).collect();
        format!("{name}/{{{}}}", handlers.join(","))
    });
    let list: Vec<_> = names.collect();
    match registered.change {
        Change::Unchanged => "unchanged".into(),
        Change::Created | Change::Overwritten => list.join(" "),
    }
}
