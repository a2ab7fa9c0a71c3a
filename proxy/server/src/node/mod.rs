//! The whole sidecar put together, from settings to a clean end. Plugs the seams of lower floors;
//! holds no logic that a room could hold.

mod child;
mod doors;
mod error;
mod signals;

pub use error::Error;

use crate::bridge::a2a;
use crate::bridge::a2a::card::Cards;
use crate::bridge::a2a::push::{self, Pushes};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::guard::Guard;
use crate::http::client::Client;
use crate::http::identity::Signer;
use crate::http::listen;
use crate::invoker::{self, Invoker};
use crate::notifier::{self, Notifier};
use crate::partition::{self, retention::Retention};
use crate::registry::{self, Limits, Registry, discovery::Discovery, exposure::Exposure};
use crate::store::{self, Store};
use crate::tasks::Tasks;
use crate::telemetry;
use child::Child;
use doors::Doors;
use holdfast_machine::{id::PartitionId, model::NoticesWanted};
use holdfast_wire::version::Version;
use signals::Signals;
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long the runtime waits for threads that block after everything was asked to end.
const RUNTIME_END_WAIT: Duration = Duration::from_secs(1);

/// Runs a sidecar, and `command` as its service, until a signal comes or `command` ends.
pub fn run(config: Config, command: Option<Vec<String>>) -> Result<ExitCode, Error> {
    telemetry::init(&config.telemetry)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(worker_threads(config.worker_threads))
        .thread_name("holdfast")
        .build()
        .map_err(|error| Error::Runtime(error.to_string()))?;
    let ended = runtime.block_on(serve(config, command));
    runtime.shutdown_timeout(RUNTIME_END_WAIT);
    ended
}

fn worker_threads(configured: usize) -> usize {
    match configured {
        0 => std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1)),
        threads => threads,
    }
}

async fn serve(mut config: Config, command: Option<Vec<String>>) -> Result<ExitCode, Error> {
    let mut signals = Signals::listen().map_err(|error| Error::Runtime(error.to_string()))?;
    let ground = Ground::prepare(&config)?;
    let mut child = command.map(|command| Child::start(command, &mut config)).transpose()?;
    let node = Node::start(&config, ground)?;
    let ended = tokio::select! {
        signal = signals.next() => {
            tracing::info!(signal, "shutting down");
            ExitCode::SUCCESS
        }
        status = child::ended(&mut child) => {
            tracing::error!(status, "the service ended, so the sidecar ends too; start both again");
            ExitCode::FAILURE
        }
        () = node.doors.broken() => {
            tracing::error!("a door is broken; shutting down");
            ExitCode::FAILURE
        }
    };
    node.stop().await;
    if let Some(child) = child {
        child.stop().await;
    }
    Ok(ended)
}

/// What a start can fail on, and should before a service is started: ports and the data directory.
struct Ground {
    ingress: listen::Listener,
    admin: listen::Listener,
    store: Arc<dyn Store>,
}

impl Ground {
    fn prepare(config: &Config) -> Result<Ground, Error> {
        let ingress = listen::bind(config.listen.ingress)?;
        let admin = listen::bind(config.listen.admin)?;
        let partitions = holdfast_machine::id::Partitions(config.partition.partitions);
        let store = Arc::new(store::rocks::Rocks::open(&config.store, partitions)?);
        Ok(Ground { ingress, admin, store })
    }
}

/// A sidecar at work.
struct Node {
    doors: Doors,
    /// Asked to end, it lets the attempts end.
    attempts: AtWork,
    /// Asked to end, it lets the tries under way end.
    notices: AtWork,
    /// Asked to end, it lets the tries under way end.
    pushes: AtWork,
    partitions: partition::Running,
    /// Looks after the data directory.
    retention: AtWork,
    store: Arc<dyn Store>,
    /// Ends what outlives the doors: connections to services.
    shutdown: CancellationToken,
    patience: Duration,
}

/// A task that ends when it is asked to.
struct AtWork {
    task: JoinHandle<()>,
    ending: CancellationToken,
}

impl AtWork {
    fn begin<F>(work: impl FnOnce(CancellationToken) -> F) -> AtWork
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let ending = CancellationToken::new();
        let task = tokio::spawn(work(ending.clone()));
        AtWork { task, ending }
    }

    async fn end(self, who: &'static str) {
        self.ending.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, who, "ended badly");
        }
    }
}

impl Node {
    fn start(config: &Config, ground: Ground) -> Result<Node, Error> {
        let clock: Arc<dyn Clock> = Arc::new(clock::System::new());
        let metrics = Arc::new(telemetry::Metrics::new());
        let shutdown = CancellationToken::new();
        let (router, waiting) = partition::start(
            config.partition.clone(),
            ground.store.clone(),
            clock.clone(),
            partition::Metrics::new(&metrics),
        )?;
        let signer = config.identity_key_file.as_deref().map(Signer::from_file).transpose()?;
        if let Some(signer) = &signer {
            tracing::info!(key = signer.public_key(), "requests to services are signed");
        }
        let client = Client::new(config.client.clone(), shutdown.clone())?;
        let discovery = discovery(config, &client, signer.as_ref());
        let registry = Registry::open(
            registry::Config { limits: config.limits.clone(), ..config.registry.clone() },
            ground.store.clone(),
            discovery,
            clock.clone(),
        )?;
        let invoker = Invoker::new(
            config.invoker.clone(),
            invoker::Parts {
                client: client.clone(),
                registry: registry.clone(),
                limits: limits(config),
                clock: clock.clone(),
                signer,
                cluster_name: config.registry.cluster_name.clone(),
                metrics: invoker::Metrics::new(&metrics),
            },
        );
        invoker.plug(router.clone());
        let guard = Guard::new(config.guard.clone(), client.clone(), clock.clone())?;
        let exposure = Exposure::new(config.exposure.clone(), &registry);
        let tasks = Tasks::new(router.clone(), clock.clone());
        let notifier = Notifier::new(
            config.notify.clone(),
            notifier::Parts {
                client,
                registry: registry.clone(),
                router: router.clone(),
                clock: clock.clone(),
                admin_url: doors::reachable(ground.admin.address()),
                metrics: notifier::metrics(&metrics),
            },
        )?;
        let pushes = Pushes::new(
            config.a2a.push.clone(),
            push::Parts {
                client: config.client.clone(),
                router: router.clone(),
                exposure: exposure.clone(),
                clock: clock.clone(),
                metrics: push::metrics(&metrics),
                shutdown: shutdown.clone(),
            },
        )?;
        let told = Outside { notifier: notifier.clone(), pushes: pushes.clone() };
        let waiting = waiting.telling(Arc::new(told));
        let partitions = waiting.run(Arc::new(invoker.clone()))?;
        let retention =
            Retention::new(config.partition.retention.clone(), router.clone(), &metrics);
        let (attempts, of_notices) = (invoker.clone(), notifier.clone());
        let parts = a2a::core::Parts {
            exposure: exposure.clone(),
            tasks: tasks.clone(),
            cards: Cards::new(config.a2a.card.clone(), clock.clone())?,
            tokens: !guard.is_open(),
        };
        let behind = doors::Behind {
            agents: a2a::Core::new(config.a2a.clone(), parts),
            registry,
            router,
            clock,
            metrics,
            attempts,
            notifier: of_notices,
            tasks,
            guard,
            exposure,
        };
        Ok(Node {
            doors: Doors::open(config, ground.ingress, ground.admin, behind),
            attempts: AtWork::begin(|ending| invoker.run(ending)),
            notices: AtWork::begin(|ending| notifier.run(ending)),
            pushes: AtWork::begin(|ending| pushes.run(ending)),
            retention: AtWork::begin(|ending| retention.run(ending)),
            partitions,
            store: ground.store,
            shutdown,
            patience: Duration::from_millis(config.shutdown_ms),
        })
    }

    /// Doors first, so that nothing new comes in; then attempts are asked to suspend; then the
    /// notices under way are delivered; then the partitions commit what is left, and the store is
    /// put in order.
    async fn stop(self) {
        self.doors.close(self.patience).await;
        self.attempts.end("the invoker").await;
        self.retention.end("the retention").await;
        self.notices.end("the notifier").await;
        self.pushes.end("push notifications").await;
        self.shutdown.cancel();
        let (partitions, store) = (self.partitions, self.store);
        let rest = move || {
            partitions.stop();
            store.rest()
        };
        match tokio::task::spawn_blocking(rest).await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => tracing::warn!(%fault, "the log is left to the next start"),
            Err(error) => tracing::error!(%error, "a partition ended badly"),
        }
        tracing::info!("all partitions are at rest");
    }
}

/// Everybody outside who is told something.
struct Outside {
    notifier: Notifier,
    pushes: Pushes,
}

impl partition::Notices for Outside {
    fn wanted(&self) -> NoticesWanted {
        self.notifier.wanted()
    }

    fn written(&self, partition: PartitionId) {
        self.notifier.written(partition);
    }

    fn queued(&self, _partition: PartitionId) {
        self.pushes.written();
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

fn limits(config: &Config) -> Limits {
    Limits {
        message_bytes_max: config.protocol.message_bytes_max,
        eager_state_bytes_max: config.partition.eager_state_bytes_max,
        version_cap: Version::from_number(config.protocol.version_max)
            .expect("the settings were checked"),
    }
}
