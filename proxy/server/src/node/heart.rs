//! What the hands and doors of a sidecar stand on, and how each of the hands is made of it.

use super::Error;
use crate::bridge::a2a::push::{self, Pushes};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::http::client::Client;
use crate::http::identity::Signer;
use crate::invoker::{self, Invoker};
use crate::notifier::{self, Notifier};
use crate::partition::{self, Router};
use crate::registry::{self, Bounds, Registry, discovery::Discovery, exposure::Exposure};
use crate::store::Store;
use crate::telemetry;
use holdfast_wire::version::Version;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) struct Heart<'c> {
    config: &'c Config,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<telemetry::Metrics>,
    /// Ends what outlives the doors: connections to services.
    pub shutdown: CancellationToken,
    pub client: Client,
    signer: Option<Signer>,
    pub registry: Registry,
    pub router: Router,
}

impl<'c> Heart<'c> {
    /// The partitions wait for hands.
    pub(super) fn start(
        config: &'c Config,
        store: &Arc<dyn Store>,
    ) -> Result<(Heart<'c>, partition::Waiting), Error> {
        let clock: Arc<dyn Clock> = Arc::new(clock::System::new());
        let metrics = Arc::new(telemetry::Metrics::new());
        let shutdown = CancellationToken::new();
        let (router, waiting) = partition::start(
            config.partition.clone(),
            store.clone(),
            clock.clone(),
            partition::Metrics::new(&metrics),
        )?;
        let signer = config.identity_key_file.as_deref().map(Signer::from_file).transpose()?;
        if let Some(signer) = &signer {
            tracing::info!(key = signer.public_key(), "requests to services are signed");
        }
        let client = Client::new(config.client.clone(), shutdown.clone())?;
        let registry = Registry::open(
            registry::Config { limits: config.limits.clone(), ..config.registry.clone() },
            store.clone(),
            discovery(config, &client, signer.as_ref()),
            clock.clone(),
        )?;
        Ok((Heart { config, clock, metrics, shutdown, client, signer, registry, router }, waiting))
    }

    pub(super) fn invoker(&self) -> Invoker {
        let parts = invoker::Parts {
            client: self.client.clone(),
            registry: self.registry.clone(),
            bounds: bounds(self.config),
            clock: self.clock.clone(),
            signer: self.signer.clone(),
            cluster_name: self.config.registry.cluster_name.clone(),
            metrics: invoker::Metrics::new(&self.metrics),
        };
        let invoker = Invoker::new(self.config.invoker.clone(), parts);
        invoker.plug(self.router.clone());
        invoker
    }

    pub(super) fn notifier(&self, admin_url: String) -> Result<Notifier, Error> {
        let parts = notifier::Parts {
            client: self.client.clone(),
            registry: self.registry.clone(),
            router: self.router.clone(),
            clock: self.clock.clone(),
            admin_url,
            metrics: notifier::metrics(&self.metrics),
        };
        Ok(Notifier::new(self.config.notify.clone(), parts)?)
    }

    pub(super) fn pushes(&self, exposure: &Exposure) -> Result<Pushes, Error> {
        let parts = push::Parts {
            client: self.config.client.clone(),
            router: self.router.clone(),
            exposure: exposure.clone(),
            clock: self.clock.clone(),
            metrics: push::metrics(&self.metrics),
            shutdown: self.shutdown.clone(),
        };
        Ok(Pushes::new(self.config.a2a.push.clone(), parts)?)
    }
}

fn discovery(config: &Config, client: &Client, signer: Option<&Signer>) -> Discovery {
    Discovery {
        client: client.clone(),
        signer: signer.cloned(),
        config: config.registry.discovery.clone(),
        cluster_name: config.registry.cluster_name.clone(),
    }
}

fn bounds(config: &Config) -> Bounds {
    Bounds {
        message_bytes_max: config.protocol.message_bytes_max,
        eager_state_bytes_max: config.partition.eager_state_bytes_max,
        version_cap: Version::from_number(config.protocol.version_max)
            .expect("the settings were checked"),
    }
}
