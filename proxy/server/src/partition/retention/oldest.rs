//! Which invocations make room: those that completed first, as a snapshot shows them. Only chooses;
//! whether one is forgotten is decided by the machine, which sees it as it is then.

use holdfast_machine::{
    id::{InvocationId, PartitionId, Partitions},
    kv::{Fault, Kv},
    model::{Outcome, Status},
    tables::{
        invocation::{self, Record},
        task,
    },
    time::Timestamp,
};
use std::collections::BinaryHeap;

/// Most invocations that one look through the rows chooses: what it holds in memory is bounded.
pub(super) const CHOSEN_MAX: usize = 131_072;
/// What the rows of an invocation take beside its payloads, about: its own row, and one for each
/// entry with its key; of a task also its row and its place in the listing; of each ask its row and
/// those that lead to it.
const ROW_BYTES: u64 = 300;
const ENTRY_BYTES: u64 = 60;
const TASK_BYTES: u64 = 500;
const ASK_BYTES: u64 = 600;

/// One that could be forgotten. Ordered by when it completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub completed: Timestamp,
    pub id: InvocationId,
    /// Its rows, before compression.
    pub bytes: u64,
    /// Entries of its journal.
    pub entries: u32,
}

/// What one look through all rows found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Bytes of the rows of all invocations, before compression.
    pub bytes: u64,
    /// Those that completed first, in that order; at most as many as asked for.
    pub oldest: Vec<Candidate>,
}

pub(super) fn look(kv: &dyn Kv, partitions: Partitions, max: usize) -> Result<Found, Fault> {
    // The newest of the oldest is on top, to be replaced by one that is older.
    let mut oldest = BinaryHeap::with_capacity(max.min(1024));
    let mut all = 0;
    let mut fault = None;
    for partition in partitions.all() {
        invocation::scan(kv, partition, None, &mut |id, record| {
            let told = told(kv, partition, id, &record).unwrap_or_else(|found| {
                fault = Some(found);
                0
            });
            let bytes = bytes(&record) + told;
            all += bytes;
            if let Some(completed) = record.times.completed {
                let entries = record.journal.length;
                oldest.push(Candidate { completed, id, bytes, entries });
            }
            if oldest.len() > max {
                oldest.pop();
            }
            fault.is_none()
        })?;
    }
    fault.map_or(Ok(Found { bytes: all, oldest: oldest.into_sorted_vec() }), Err)
}

/// What those who follow it were told, of a task; nothing of what is none.
fn told(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    record: &Record,
) -> Result<u64, Fault> {
    if !record.is_task {
        return Ok(0);
    }
    let row = task::get(kv, partition, id)?;
    Ok(row.map_or(0, |row| TASK_BYTES + row.meta.len() as u64 + row.feed_bytes))
}

fn bytes(record: &Record) -> u64 {
    let outcome = match &record.status {
        Status::Completed { outcome: Outcome::Success(value) } => value.len(),
        Status::Completed { outcome: Outcome::Failure(failure) } => failure.message.len(),
        _ => 0,
    };
    let journal = match record.journal.purged {
        true => 0,
        false => record.journal.bytes + u64::from(record.journal.length) * ENTRY_BYTES,
    };
    let asks = u64::from(record.asks.opened - record.asks.left) * ASK_BYTES;
    ROW_BYTES + outcome as u64 + journal + asks
}
