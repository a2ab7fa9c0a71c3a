//! The whole sidecar put together, from settings to a clean end. Plugs the seams of lower floors;
//! holds no logic that a room could hold.

mod child;
mod doors;
mod error;
mod heart;
mod signals;

pub use error::Error;

use crate::bridge::a2a;
use crate::bridge::a2a::card::Cards;
use crate::bridge::a2a::push::Pushes;
use crate::config::Config;
use crate::guard::Guard;
use crate::http::listen;
use crate::notifier::Notifier;
use crate::partition::{self, retention::Retention};
use crate::registry::exposure::Exposure;
use crate::store::{self, Store};
use crate::tasks::Tasks;
use crate::telemetry;
use child::Child;
use doors::Doors;
use heart::Heart;
use holdfast_machine::{id::PartitionId, model::NoticesWanted};
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
        let (heart, waiting) = Heart::start(config, &ground.store)?;
        let invoker = heart.invoker();
        let guard = Guard::new(config.guard.clone(), heart.client.clone(), heart.clock.clone())?;
        let exposure = Exposure::new(config.exposure.clone(), &heart.registry);
        let tasks = Tasks::new(heart.router.clone(), heart.clock.clone());
        let notifier = heart.notifier(doors::reachable(ground.admin.address()))?;
        let pushes = heart.pushes(&exposure)?;
        let told = Outside { notifier: notifier.clone(), pushes: pushes.clone() };
        let partitions = waiting.telling(Arc::new(told)).run(Arc::new(invoker.clone()))?;
        let (budget, router) = (config.partition.retention.clone(), heart.router.clone());
        let retention = Retention::new(budget, router, &heart.metrics);
        let parts = a2a::core::Parts {
            exposure: exposure.clone(),
            tasks: tasks.clone(),
            cards: Cards::new(config.a2a.card.clone(), heart.clock.clone())?,
            tokens: !guard.is_open(),
        };
        let behind = doors::Behind {
            agents: a2a::Core::new(config.a2a.clone(), parts),
            registry: heart.registry,
            router: heart.router,
            clock: heart.clock,
            metrics: heart.metrics,
            attempts: invoker.clone(),
            notifier: notifier.clone(),
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
            shutdown: heart.shutdown,
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
