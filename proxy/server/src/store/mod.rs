//! An ordered map of bytes on disk. Four verbs: `get`, `scan`, `commit`, `snapshot`. Never knows
//! what an invocation is.

mod config;
mod directory;
mod error;
pub mod memory;
mod owners;
pub mod rocks;
mod space;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use error::Error;
pub use space::{Space, Usage};

use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Fault, Kv, Writes},
};
use std::sync::Arc;

/// Keys that begin with this byte are the store's own rows; no table has it.
pub const OWN_TABLE: u8 = 0;

/// Whoever writes what belongs to no partition, the registry, does it as the owner of this one.
pub const REGISTRY: PartitionId = PartitionId(u16::MAX);

/// Says who may write to a partition. An engine on one machine grants every fence; a distributed
/// one compares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    pub partition: PartitionId,
    pub epoch: u64,
}

/// Number of a partition's commit: each is one higher than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Sequence(pub u64);

impl Sequence {
    /// The number of the commit after this one.
    pub fn next(self) -> Sequence {
        Sequence(self.0 + 1)
    }
}

/// The right to write to a partition, and the number of the last commit in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub fence: Fence,
    pub applied: Sequence,
}

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After the log is on the disk (fsync).
    Sync,
    /// After the log is handed to the operating system.
    Async,
}

/// All or nothing.
#[derive(Debug, Clone)]
pub struct Batch {
    pub fence: Fence,
    pub sequence: Sequence,
    /// No key is empty or begins with `OWN_TABLE`.
    pub writes: Writes,
    pub durability: Durability,
}

/// Why a commit did not happen, or may not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Somebody else owns the partition now.
    #[error("partition {} is owned by epoch {current} now", fence.partition.0)]
    Fenced { fence: Fence, current: u64 },
    /// Nobody can say; the owner has to read the applied sequence.
    #[error("the outcome of commit {} is unknown: {reason}", sequence.0)]
    Unknown { sequence: Sequence, reason: String },
    /// The commit is not the one after the last; the owner's picture of its partition is wrong.
    #[error("commit {} does not follow commit {}", sequence.0, applied.0)]
    OutOfOrder { sequence: Sequence, applied: Sequence },
    /// The disk is full or broken. No reader sees the batch, and nothing more can be written until
    /// the process starts again, when the whole batch may be there or nothing of it.
    #[error("cannot write to the data directory: {0}")]
    Failed(String),
}

/// An engine. Reads come with `Kv`; they see every commit that returned.
pub trait Store: Kv + Space + Send + Sync {
    /// How many partitions the data was made with.
    fn partitions(&self) -> Partitions;

    /// Makes the caller the only writer of `partition`: every earlier fence is void from now on.
    fn acquire(&self, partition: PartitionId) -> Result<Lease, CommitError>;

    /// The last commit that happened. Tells what became of an `Unknown` one.
    fn applied(&self, partition: PartitionId) -> Result<Sequence, Fault>;

    /// Writes all of `batch` or nothing. The batch stays with the caller, who may go on reading it.
    fn commit(&self, batch: &Batch) -> Result<(), CommitError>;

    /// A view that later commits do not change.
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, Fault>;
}

/// A fixed view of the map.
pub trait Snapshot: Kv + Send + Sync {}

/// One value of the store, owned.
pub type Row = (Bytes, Bytes);
