//! Read-only views of invocations, journals and state over snapshots of the store, joined with
//! the attempts that are running. Never changes anything and never waits on the network.

mod journal;
pub mod model;
mod read;
mod schedule;
pub mod sql;
mod storage;
#[cfg(test)]
mod tests;
mod text;
mod view;

pub use schedule::upcoming;
pub use view::target;

use crate::store::Store;
use holdfast_machine::{
    id::{DeploymentId, InvocationId, PartitionId},
    kv::Fault,
    model::Pin,
    time::Timestamp,
};
use model::{
    Counts, InvocationDetail, Invocations, Limits, Notices, ObjectState, ScheduleDetail, Schedules,
    Status, Storage,
};
use read::View;
use std::{collections::BTreeSet, sync::Arc};

/// Most invocations or notices of one list.
pub const LIMIT_MAX: usize = 1_000;

/// Answers questions about what is stored. Cheap to clone.
#[derive(Clone)]
pub struct Query {
    store: Arc<dyn Store>,
    live: Arc<dyn Live>,
}

/// Which attempts are talking to services at this moment; the house plugs it in.
pub trait Live: Send + Sync + 'static {
    /// The attempt of `invocation` that is under way in this process.
    fn attempt(&self, invocation: InvocationId) -> Option<Attempt>;

    /// What `invocation` waits for, where it waits for a place among the running attempts.
    fn waits(&self, invocation: InvocationId) -> Option<Waits>;

    /// How many wait for the same as `invocation` and came before it.
    fn ahead(&self, invocation: InvocationId) -> Option<usize>;

    /// How many attempts run and wait, in all and under each limit.
    fn limits(&self) -> Limits;

    /// What came so far of delivering the notice `sequence` of `partition`, if that was tried.
    fn delivery(&self, _partition: PartitionId, _sequence: u64) -> Option<Delivery> {
        None
    }
}

/// What an attempt waits for that may not begin yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// The full limit; `None`: all attempts together are too many.
    pub limit: Option<String>,
    pub running: usize,
    pub concurrency: usize,
}

/// An attempt under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub started_at: Timestamp,
    /// Where it goes, once that is chosen.
    pub deployment: Option<DeploymentId>,
}

/// The delivery of a notice, since the process started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Tries that came to nothing.
    pub tries: u32,
    pub last_error: String,
    pub next_try_at: Timestamp,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("the reader panicked: {0}")]
    Panicked(String),
}

/// Which invocations to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Any of these.
    pub statuses: Vec<Status>,
    pub service: Option<String>,
    pub handler: Option<String>,
    pub key: Option<String>,
    /// Pinned to it.
    pub deployment: Option<DeploymentId>,
    /// Pinned to a deployment that is none of these.
    pub pinned_beside: Option<BTreeSet<DeploymentId>>,
    /// Of objects and workflows.
    pub keyed: bool,
    /// Completed with a failure.
    pub failed: bool,
    pub order: Order,
    /// At most so many; up to `LIMIT_MAX`.
    pub limit: usize,
}

/// Which invocations come first, and are kept where there are too many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Newest,
    Oldest,
}

/// What an invocation is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    pub service: String,
    pub pin: Option<Pin>,
}

impl Query {
    pub fn new(store: Arc<dyn Store>, live: Arc<dyn Live>) -> Query {
        Query { store, live }
    }

    /// Lists invocations, newest first.
    ///
    /// # Errors
    /// When the store cannot be read, as everywhere here.
    pub async fn list(&self, filter: Filter) -> Result<Invocations, Error> {
        self.read(move |view| view.list(&filter)).await
    }

    /// One invocation with its journal and its events.
    ///
    /// # Errors
    /// As `list`.
    pub async fn describe(&self, id: InvocationId) -> Result<Option<InvocationDetail>, Error> {
        self.read(move |view| view.describe(id)).await
    }

    /// What an invocation is bound to; `None` where there is none.
    ///
    /// # Errors
    /// As `list`.
    pub async fn pinned(&self, id: InvocationId) -> Result<Option<Pinned>, Error> {
        self.read(move |view| view.pinned(id)).await
    }

    /// How many invocations that are not completed are bound to a deployment.
    ///
    /// # Errors
    /// As `list`.
    pub async fn pinned_to(&self, deployment: DeploymentId) -> Result<u64, Error> {
        self.read(move |view| view.pinned_to(deployment)).await
    }

    /// Counts all invocations.
    ///
    /// # Errors
    /// As `list`.
    pub async fn counts(&self) -> Result<Counts, Error> {
        self.read(|view| view.counts()).await
    }

    /// The limits, and how many run and wait under each.
    pub fn limits(&self) -> Limits {
        self.live.limits()
    }

    /// The notices that are not delivered yet, oldest first; at most `limit`.
    ///
    /// # Errors
    /// As `list`.
    pub async fn notices(&self, limit: usize) -> Result<Notices, Error> {
        self.read(move |view| view.notices(limit)).await
    }

    /// The state of one object or workflow key; without entries where there is none.
    ///
    /// # Errors
    /// As `list`.
    pub async fn state(&self, service: String, key: String) -> Result<ObjectState, Error> {
        self.read(move |view| view.state(&service, &key)).await
    }

    /// What the data directory takes, table by table; with `count` also how many rows they have,
    /// which reads all of them.
    ///
    /// # Errors
    /// As `list`.
    pub async fn storage(&self, count: bool) -> Result<Storage, Error> {
        let store = self.store.clone();
        let read = move || Ok(storage::storage(&*store, count)?);
        let read = tokio::task::spawn_blocking(read).await;
        read.unwrap_or_else(|panicked| Err(Error::Panicked(panicked.to_string())))
    }

    /// Lists at most `limit` schedules, by name.
    ///
    /// # Errors
    /// As `list`.
    pub async fn schedules(&self, limit: usize) -> Result<Schedules, Error> {
        self.read(move |view| view.schedules(limit)).await
    }

    /// One schedule.
    ///
    /// # Errors
    /// As `list`.
    pub async fn schedule(&self, name: String) -> Result<Option<ScheduleDetail>, Error> {
        self.read(move |view| view.schedule(&name)).await
    }

    /// Reads from one snapshot, on a thread that may block on the disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&View<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Error> {
        let query = self.clone();
        let work = move || {
            let snapshot = query.store.snapshot()?;
            let partitions = query.store.partitions();
            Ok(read(&View { kv: &*snapshot, partitions, live: &*query.live })?)
        };
        let read = tokio::task::spawn_blocking(work).await;
        read.unwrap_or_else(|panicked| Err(Error::Panicked(panicked.to_string())))
    }
}
