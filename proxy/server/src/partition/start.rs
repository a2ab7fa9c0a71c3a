//! Making the partitions, running their threads, and ending them.

use super::{
    Config, Handle, Hands, Nobody, Notices, Router, Unavailable,
    live::Live,
    metrics::Metrics,
    queue::Queue,
    release::Release,
    timers::Timers,
    turn::{self, Partition},
    waiters::Waiters,
    watches::Watches,
    writer::{self, Writer},
};
use crate::clock::Clock;
use crate::store::{CommitError, Lease, Store};
use holdfast_machine::{apply::Here, id::PartitionId};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Why the partitions cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot take partition {}: {error}", partition.0)]
    Lease { partition: PartitionId, error: CommitError },
    #[error("cannot start the thread of partition {}: {error}", partition.0)]
    Thread { partition: PartitionId, error: std::io::Error },
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Lease { .. } => "HF0028",
            Error::Thread { .. } => "HF0035",
        }
    }
}

/// What a partition's thread and its handles share.
pub(super) struct Shared {
    pub id: PartitionId,
    pub queue: Queue,
    pub watches: Arc<Watches>,
    /// Absent before the thread has recovered, and after the end.
    pub writer: Writer,
    pub clock: Arc<dyn Clock>,
    ready: AtomicBool,
    waiters: AtomicU64,
}

impl Shared {
    pub(super) fn handle(self: &Arc<Self>) -> Handle {
        Handle { shared: self.clone() }
    }

    pub(super) fn set_ready(&self) {
        self.ready.store(true, Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.load(Relaxed) && self.queue.closed().is_none()
    }

    pub(super) fn new_waiter(&self) -> u64 {
        self.waiters.fetch_add(1, Relaxed)
    }
}

/// Partitions that take commands already but do not work on them yet: they need hands first, and
/// hands need a `Router`.
pub struct Partitions {
    config: Config,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    router: Router,
    leases: Vec<Lease>,
    notices: Arc<dyn Notices>,
}

/// Takes all partitions of `store` for this process.
pub fn start(
    config: Config,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
) -> Result<(Router, Partitions), Error> {
    let partitions = store.partitions();
    let lease =
        |partition| store.acquire(partition).map_err(|error| Error::Lease { partition, error });
    let leases = partitions.all().map(lease).collect::<Result<Vec<_>, _>>()?;
    let handle = |id| {
        let queue = Queue::new(id, &config);
        let (ready, waiters) = (AtomicBool::new(false), AtomicU64::new(0));
        let (watches, writer, clock) = (Arc::default(), Writer::default(), clock.clone());
        Handle { shared: Arc::new(Shared { id, queue, watches, writer, clock, ready, waiters }) }
    };
    let handles = partitions.all().map(handle).collect();
    let router = Router { partitions, handles, store: store.clone() };
    let notices = Arc::new(Nobody);
    let of = router.clone();
    Ok((of, Partitions { config, store, clock, metrics, router, leases, notices }))
}

impl Partitions {
    /// Says who is told of notices; without it nobody is, and none is written.
    #[must_use]
    pub fn telling(self, notices: Arc<dyn Notices>) -> Partitions {
        Partitions { notices, ..self }
    }

    /// Starts the threads. Each first recovers: what was running when the last process ended is
    /// given to `hands` again.
    pub fn run(self, hands: Arc<dyn Hands>) -> Result<Running, Error> {
        let mut running = Running { router: self.router.clone(), threads: Vec::new() };
        for (handle, lease) in self.router.all().iter().zip(&self.leases) {
            let shared = handle.shared.clone();
            self.wake_when_set(&shared);
            let partition = self.partition(shared, *lease, hands.clone());
            let id = handle.id();
            let thread = std::thread::Builder::new()
                .name(format!("partition-{}", id.0))
                .spawn(move || writer::run(partition));
            match thread {
                Ok(thread) => running.threads.push(thread),
                Err(error) => {
                    running.stop();
                    return Err(Error::Thread { partition: id, error });
                }
            }
        }
        Ok(running)
    }

    fn wake_when_set(&self, shared: &Arc<Shared>) {
        let shared = Arc::downgrade(shared);
        self.clock.when_set(Box::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.queue.look();
            }
        }));
    }

    fn partition(&self, shared: Arc<Shared>, lease: Lease, hands: Arc<dyn Hands>) -> Partition {
        let id = shared.id;
        let release = Release {
            here: Here::new(id, self.router.partitions),
            eager_state_bytes_max: self.config.eager_state_bytes_max,
            shared: shared.clone(),
            router: self.router.clone(),
            hands,
            notices: self.notices.clone(),
            live: Live::new(self.config.news_max),
            waiters: Waiters::default(),
            timers: Timers::new(id, self.config.batch_timers_max),
        };
        Partition {
            store: self.store.clone(),
            fence: lease.fence,
            applied: lease.applied,
            clock: self.clock.clone(),
            shared,
            release,
            work: Vec::new(),
            recent: turn::nothing_recent(),
            committed_in: Duration::ZERO,
            inline_turns: self.config.inline_turns,
            metrics: self.metrics.clone(),
            gauges: self.metrics.gauges(id),
            forget_rows_max: self.config.batch_forget_rows_max.max(1),
        }
    }
}

/// The running threads. Dropped, it lets them end without waiting for it.
pub struct Running {
    router: Router,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Refuses new commands, works on those that wait, and returns after the last commit. Blocks.
    pub fn stop(mut self) {
        self.close();
        for thread in std::mem::take(&mut self.threads) {
            thread.join().expect("the loop of a partition catches what panics in it");
        }
    }

    fn close(&self) {
        for handle in self.router.all() {
            handle.shared.queue.close(Unavailable::ShuttingDown);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.close();
    }
}
