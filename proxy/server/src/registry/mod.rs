//! Which services, handlers and deployments there are. Immutable snapshots, replaced whole and
//! stored before they are seen. Never calls a handler.

pub mod config;
mod cut;
mod describe;
pub mod discovery;
mod error;
pub mod exposure;
pub mod limit;
mod notices;
mod options;
mod rows;
mod schema;
mod store;
mod tables;
#[cfg(test)]
mod tests;
pub mod watch;

pub use config::Config;
pub use discovery::Discovery;
pub use error::{Error, Fault};
pub use limit::{Limit, Subject};
pub use notices::NOTIFY_URL;
pub use options::{Declared, DeclaredRetry, Options};
pub use schema::{Bounds, Deployment, Handler, Schema, Service};
pub use tables::{Overrides, type_name};

use crate::chance;
use crate::clock::Clock;
use crate::http::client::Protocol;
use discovery::{Address, Discovered};
use holdfast_machine::{id::DeploymentId, model::Callee, time::Timestamp};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, RwLock},
};
use store::Ledger;
use tables::{Record, Tables};

/// The registry. Cheap to clone; reads never wait.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    discovery: Discovery,
    clock: Arc<dyn Clock>,
    current: RwLock<Arc<Schema>>,
    /// Held over one commit, never over an `.await`.
    ledger: Mutex<Ledger>,
    /// Told after each change, in the order of the changes.
    told: Mutex<Vec<Told>>,
}

type Told = Box<dyn Fn(&Schema) + Send + Sync>;

/// The wish to register a deployment.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Absolute, `http` or `https`.
    pub uri: String,
    /// `Http1` has to be asked for.
    pub protocol: Protocol,
    pub additional_headers: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
    /// Asks the service again where the address is registered already.
    pub force: bool,
    /// Lets a service change its type.
    pub breaking: bool,
    /// Does everything but store it.
    pub dry_run: bool,
}

/// The wish to change how a deployment is reached. `None` keeps what is.
#[derive(Debug, Clone, Default)]
pub struct Update {
    pub uri: Option<String>,
    pub protocol: Option<Protocol>,
    pub additional_headers: Option<BTreeMap<String, String>>,
    /// Takes over the services that are offered now.
    pub overwrite: bool,
    pub dry_run: bool,
}

/// What became of a registration.
#[derive(Debug, Clone)]
pub struct Registered {
    pub deployment: Arc<Deployment>,
    pub change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Created,
    /// The same id, with what the service offers now.
    Overwritten,
    /// The address was registered already, and nobody was asked.
    Unchanged,
}

impl Registration {
    pub fn new(uri: impl Into<String>) -> Registration {
        Registration {
            uri: uri.into(),
            protocol: Protocol::Http2,
            additional_headers: BTreeMap::new(),
            metadata: BTreeMap::new(),
            force: false,
            breaking: false,
            dry_run: false,
        }
    }
}

impl Registry {
    /// Reads what is stored, and becomes its only writer.
    ///
    /// # Errors
    /// `Store` where the rows cannot be read.
    pub fn open(
        config: Config,
        store: Arc<dyn crate::store::Store>,
        discovery: Discovery,
        clock: Arc<dyn Clock>,
    ) -> Result<Registry, Error> {
        let ledger = Ledger::open(store)?;
        let current = RwLock::new(Arc::new(describe::schema(ledger.tables(), &config)));
        let ledger = Mutex::new(ledger);
        let told = Mutex::default();
        let shared = Arc::new(Shared { config, discovery, clock, current, ledger, told });
        Ok(Registry { shared })
    }

    /// What services are told as the name of this cluster.
    pub fn cluster_name(&self) -> &str {
        &self.shared.config.cluster_name
    }

    /// What is registered now.
    pub fn schema(&self) -> Arc<Schema> {
        self.shared.current.read().expect("no writer panics while it holds the lock").clone()
    }

    /// Tells what is registered: now, and after each change before whoever made it has the answer.
    /// `tell` must not block.
    pub fn when_changed(&self, tell: impl Fn(&Schema) + Send + Sync + 'static) {
        // No change comes between the two.
        let _unchanged = self.shared.ledger.lock();
        tell(&self.schema());
        self.shared.told().push(Box::new(tell));
    }

    /// What a call of a handler needs to know, as it is registered now.
    pub fn callee(&self, service: &str, handler: &str) -> Option<Callee> {
        self.schema().handler(service, handler).map(|(_, handler)| handler.callee())
    }

    /// Registers a deployment.
    ///
    /// # Errors
    /// Whatever keeps it from being registered; nothing has changed then.
    pub async fn register(&self, wish: Registration) -> Result<Registered, Error> {
        let uri = discovery::parse_address(&wish.uri)?;
        discovery::header_map(&wish.additional_headers)?;
        notices::url(&wish.metadata)?;
        if let Some(deployment) = self.at(&uri).filter(|_| !wish.force) {
            return Ok(Registered { deployment, change: Change::Unchanged });
        }
        let address = Address {
            uri,
            protocol: wish.protocol,
            additional_headers: wish.additional_headers.clone(),
        };
        let discovered = self.shared.discovery.ask(&address).await?;
        let dry_run = wish.dry_run;
        let registered = self.take(wish, address, discovered).await?;
        if !dry_run {
            let Registered { deployment, change } = &registered;
            let services: Vec<_> = deployment.services.keys().map(String::as_str).collect();
            let (uri, id, services) = (&deployment.uri, deployment.id, services.join(" "));
            tracing::info!(%uri, deployment = %id, services, ?change, "a deployment is registered");
        }
        Ok(registered)
    }

    /// Registers what a service answered.
    async fn take(
        &self,
        wish: Registration,
        address: Address,
        discovered: Discovered,
    ) -> Result<Registered, Error> {
        let now = self.shared.clock.now();
        let fresh = DeploymentId::new(now.0, chance::u128());
        let breaking = wish.breaking || wish.force;
        let doors = self.shared.config.doors.clone();
        let record = record(address, discovered, wish.metadata, now);
        self.write(wish.dry_run, move |tables| {
            let existing = tables.at(&record.uri);
            let id = existing.unwrap_or(fresh);
            tables.register(id, record, breaking, &doors)?;
            let change = if existing.is_some() { Change::Overwritten } else { Change::Created };
            Ok((id, change))
        })
        .await
        .map(|(schema, (id, change))| Registered { deployment: deployment(&schema, id), change })
    }

    /// Changes how a deployment is reached; its service is asked first.
    ///
    /// # Errors
    /// Whatever keeps it from being changed; nothing has changed then.
    pub async fn update(&self, id: DeploymentId, wish: Update) -> Result<Arc<Deployment>, Error> {
        let schema = self.schema();
        let current = schema.deployments.get(&id).ok_or(Error::UnknownDeployment(id))?;
        if wish.uri.is_none() && wish.protocol.is_none() && wish.additional_headers.is_none() {
            return Ok(current.clone());
        }
        let uri = wish.uri.as_deref().map(discovery::parse_address).transpose()?;
        let headers = wish.additional_headers.unwrap_or(current.additional_headers.clone());
        discovery::header_map(&headers)?;
        let address = Address {
            uri: uri.unwrap_or(current.uri.clone()),
            protocol: wish.protocol.unwrap_or(current.protocol),
            additional_headers: headers,
        };
        let discovered = self.shared.discovery.ask(&address).await?;
        let record = record(address, discovered, current.metadata.clone(), self.shared.clock.now());
        let doors = self.shared.config.doors.clone();
        let change = move |tables: &mut Tables| tables.update(id, record, wish.overwrite, &doors);
        let (schema, ()) = self.write(wish.dry_run, change).await?;
        Ok(deployment(&schema, id))
    }

    /// Forgets a deployment. Unless its usage does not matter, no invocation may be pinned to it,
    /// and no service may have its latest revision there.
    ///
    /// # Errors
    /// `UnknownDeployment`, `InUse`, `Store`.
    pub async fn remove(&self, id: DeploymentId, usage: Usage) -> Result<(), Error> {
        let change = move |tables: &mut Tables| {
            if let Usage::Pinned(pinned) = usage {
                check_drained(tables, id, pinned)?;
            }
            tables.remove(id)
        };
        self.write(false, change).await?;
        tracing::info!(deployment = %id, ?usage, "a deployment is removed");
        Ok(())
    }

    /// Changes settings of the latest revision of a service; its next registration resets them.
    ///
    /// # Errors
    /// `UnknownService`, `Setting`, `Store`.
    pub async fn patch(&self, service: &str, changes: Overrides) -> Result<Arc<Service>, Error> {
        let name = service.to_owned();
        let (schema, ()) = self.write(false, move |tables| tables.patch(&name, changes)).await?;
        let patched = schema.services.get(service).cloned();
        patched.ok_or_else(|| Error::UnknownService(service.into()))
    }

    fn at(&self, uri: &http::Uri) -> Option<Arc<Deployment>> {
        self.schema().deployments.values().find(|deployment| deployment.uri == *uri).cloned()
    }

    /// Changes the tables, stores them, and only then shows them.
    async fn write<T: Send + 'static>(
        &self,
        dry_run: bool,
        change: impl FnOnce(&mut Tables) -> Result<T, Error> + Send + 'static,
    ) -> Result<(Arc<Schema>, T), Error> {
        let registry = self.clone();
        let work = move || registry.shared.write(dry_run, change);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|panicked| Err(Error::Store(panicked.to_string())))
    }
}

impl Shared {
    fn write<T>(
        &self,
        dry_run: bool,
        change: impl FnOnce(&mut Tables) -> Result<T, Error>,
    ) -> Result<(Arc<Schema>, T), Error> {
        let poisoned = |_| Error::Store("an earlier write panicked; start again".into());
        let mut ledger = self.ledger.lock().map_err(poisoned)?;
        let mut tables = ledger.tables().clone();
        let told = change(&mut tables)?;
        let schema = Arc::new(describe::schema(&tables, &self.config));
        if !dry_run {
            ledger.replace(tables)?;
            *self.current.write().expect("readers do not panic") = schema.clone();
            self.told().iter().for_each(|tell| tell(&schema));
        }
        Ok((schema, told))
    }

    fn told(&self) -> MutexGuard<'_, Vec<Told>> {
        self.told.lock().expect("who is told does not panic")
    }
}

/// What is known about invocations on a deployment that is to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// So many that are not completed are pinned to it.
    Pinned(u64),
    /// It does not matter.
    Forced,
}

fn check_drained(tables: &Tables, id: DeploymentId, pinned: u64) -> Result<(), Error> {
    if !tables.deployments.contains_key(&id) {
        return Err(Error::UnknownDeployment(id));
    }
    let latest = tables.services.iter().find(|(_, listing)| listing.deployment == id);
    let reason = match latest {
        Some((name, _)) => format!("it is the latest deployment of `{name}`"),
        None if pinned > 0 => format!("{pinned} invocations are not completed"),
        None => return Ok(()),
    };
    Err(Error::InUse { id, reason })
}

fn record(
    address: Address,
    discovered: Discovered,
    metadata: BTreeMap<String, String>,
    now: Timestamp,
) -> Record {
    Record {
        uri: address.uri,
        protocol: discovered.protocol,
        sdk_version: discovered.sdk_version,
        additional_headers: address.additional_headers,
        metadata,
        created_at: now,
        manifest: discovered.manifest.into(),
        revisions: BTreeMap::new(),
    }
}

fn deployment(schema: &Schema, id: DeploymentId) -> Arc<Deployment> {
    schema.deployments.get(&id).expect("it was put there by this very change").clone()
}
