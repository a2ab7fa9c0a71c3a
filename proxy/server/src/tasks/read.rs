//! A task out of its rows, all of one moment.

use super::{Ended, Error, Task, TaskId, Tasks};
use bytes::Bytes;
use holdfast_machine::{
    id::{InvocationId, PartitionId},
    kv::{Fault, Kv},
    model::Status,
    tables::{
        ask,
        invocation::{self, Record},
        task,
    },
    time::Timestamp,
};

/// The rows that a task was made of, but for its asks, as they are written. As long as both stay the
/// same so does the task, since nothing becomes of its asks without a further row in its feed, which
/// its own row counts. So it need not be the same moment at which each of them is read again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    record: Bytes,
    row: Bytes,
}

impl Trace {
    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        self.record.len() + self.row.len()
    }

    pub(super) fn read(
        kv: &dyn Kv,
        partition: PartitionId,
        id: InvocationId,
    ) -> Result<Option<Trace>, Fault> {
        let Some(record) = kv.get(&invocation::key(partition, id))? else {
            return Ok(None);
        };
        let row = kv.get(&task::key(partition, id))?;
        Ok(row.map(|row| Trace { record, row }))
    }
}

impl Tasks {
    /// A task of that principal.
    ///
    /// # Errors
    /// `NotFound` also where it is somebody else's.
    pub async fn get(&self, principal: &str, id: TaskId) -> Result<Task, Error> {
        self.get_traced(principal, id).await.map(|(task, _)| task)
    }

    /// As `get`, and what the task is made of.
    ///
    /// # Errors
    /// As `get`.
    pub async fn get_traced(&self, principal: &str, id: TaskId) -> Result<(Task, Trace), Error> {
        let snapshot = self.router.store().snapshot()?;
        let found = self.load_traced(&*snapshot, id.invocation())?;
        found
            .filter(|(task, _)| task.id == id && task.principal == principal)
            .ok_or(Error::NotFound)
    }

    /// Whether a task is still what it was when it left that trace. Two reads, and nothing is made
    /// of what they find.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_still(&self, id: TaskId, trace: &Trace) -> Result<bool, Error> {
        let (store, id) = (&**self.router.store(), id.invocation());
        Ok(Trace::read(store, self.home(id), id)?.as_ref() == Some(trace))
    }

    pub(super) fn home(&self, id: InvocationId) -> PartitionId {
        self.router.partitions().of(id.partition_key)
    }

    pub(super) fn load(&self, kv: &dyn Kv, id: InvocationId) -> Result<Option<Task>, Fault> {
        Ok(self.load_traced(kv, id)?.map(|(task, _)| task))
    }

    fn load_traced(&self, kv: &dyn Kv, id: InvocationId) -> Result<Option<(Task, Trace)>, Fault> {
        let partition = self.home(id);
        let Some(stored) = kv.get(&invocation::key(partition, id))? else {
            return Ok(None);
        };
        let record = invocation::read(stored.clone())?.filter(|record| record.is_task);
        let (Some(record), Some(row)) = (record, kv.get(&task::key(partition, id))?) else {
            return Ok(None);
        };
        let trace = Trace { record: stored, row: row.clone() };
        let asks = ask::open(kv, partition, id, record.asks)?;
        Ok(Some((shown(id, record, task::read(row)?, asks), trace)))
    }
}

fn shown(id: InvocationId, record: Record, row: task::Task, asks: Vec<super::Ask>) -> Task {
    let (waits, wakes_at) = waits(&record, &row);
    let expires_at = record.expires_at();
    let ended = match record.status {
        Status::Completed { outcome } => Some(Ended { outcome, by: row.failed_by }),
        _ => None,
    };
    Task {
        id: TaskId::new(id, row.secret),
        invocation: id,
        target: record.target,
        principal: row.principal,
        context: row.context,
        door: row.door,
        meta: row.meta,
        state: row.state,
        sequence: row.next - 1,
        created_at: record.times.created,
        updated_at: row.updated,
        progress: row.progress,
        asks: if ended.is_some() { vec![] } else { asks },
        ended,
        cancel_wanted: row.cancel_wanted,
        waits,
        wakes_at,
        expires_at,
    }
}

/// What keeps it, and until when if that is all.
fn waits(record: &Record, row: &task::Task) -> (Option<String>, Option<Timestamp>) {
    let cancelling = || "it is asked to end".to_owned();
    match &record.status {
        Status::Completed { .. } => (None, None),
        Status::Paused => (Some("paused; a person has to resume it".into()), None),
        Status::Scheduled { start_at } => {
            (Some(format!("begins at {}", start_at.rfc3339())), Some(*start_at))
        }
        Status::Inboxed { .. } => (Some("waits for its key".into()), None),
        Status::BackingOff { until } => {
            let failure = record.retries.last_failure.as_ref();
            let error = failure.map(|failure| format!("; last error: {}", line(&failure.message)));
            let (next, error) = (record.attempt + 1, error.unwrap_or_default());
            (Some(format!("attempt {next} at {}{error}", until.rfc3339())), Some(*until))
        }
        Status::Running | Status::Suspended { .. } => (row.cancel_wanted.then(cancelling), None),
    }
}

/// The first line of a message, and not too much of it.
fn line(message: &str) -> String {
    const CHARS_MAX: usize = 200;
    message.lines().next().unwrap_or_default().chars().take(CHARS_MAX).collect()
}
