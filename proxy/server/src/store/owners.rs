//! Who may write to which partition, and the number of its last commit: two rows of the store for
//! each partition, the same in every engine. Never looks into what is written.
//!
//! `0 | partition:u16 | 0` -> epoch:u64, `0 | partition:u16 | 1` -> sequence:u64, big-endian.

use super::{Batch, CommitError, Fence, Lease, OWN_TABLE, REGISTRY, Sequence};
use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Fault, Kv, Writes},
};
use std::sync::{Mutex, MutexGuard};

const EPOCH: u8 = 0;
const SEQUENCE: u8 = 1;

/// The rows of all partitions, in memory. A partition's commits are one after the other.
pub(super) struct Owners {
    partitions: Vec<Mutex<Owner>>,
    /// Of `REGISTRY`, which no invocation lives in.
    registry: Mutex<Owner>,
}

/// A row of this file, and its value.
pub(super) type OwnRow = (Vec<u8>, Bytes);

#[derive(Debug, Clone, Copy)]
struct Owner {
    epoch: u64,
    applied: Sequence,
}

impl Owners {
    pub(super) fn read(kv: &dyn Kv, partitions: Partitions) -> Result<Self, Fault> {
        let read = |partition| {
            let epoch = number(kv, partition, EPOCH)?;
            let applied = Sequence(number(kv, partition, SEQUENCE)?);
            Ok(Mutex::new(Owner { epoch, applied }))
        };
        Ok(Owners {
            partitions: partitions.all().map(read).collect::<Result<_, Fault>>()?,
            registry: read(REGISTRY)?,
        })
    }

    pub(super) fn partitions(&self) -> Partitions {
        Partitions(u16::try_from(self.partitions.len()).expect("made from a u16"))
    }

    /// Raises the epoch of `partition` by a durable `write`.
    pub(super) fn acquire(
        &self,
        partition: PartitionId,
        write: impl FnOnce(OwnRow) -> Result<(), CommitError>,
    ) -> Result<Lease, CommitError> {
        let mut owner = self.owner(partition);
        let epoch = owner.epoch + 1;
        write((key(partition, EPOCH), value(epoch)))?;
        owner.epoch = epoch;
        Ok(Lease { fence: Fence { partition, epoch }, applied: owner.applied })
    }

    /// Checks fence and number of `batch`; `write` also gets the row of the number.
    pub(super) fn commit(
        &self,
        batch: &Batch,
        write: impl FnOnce(&Writes, OwnRow) -> Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        let mut owner = self.owner(batch.fence.partition);
        if batch.fence.epoch != owner.epoch {
            return Err(CommitError::Fenced { fence: batch.fence, current: owner.epoch });
        }
        if batch.sequence != owner.applied.next() {
            let (sequence, applied) = (batch.sequence, owner.applied);
            return Err(CommitError::OutOfOrder { sequence, applied });
        }
        let lowest = batch.writes.keys().next();
        assert!(
            lowest.is_none_or(|key| key.first() > Some(&OWN_TABLE)),
            "a row of the store's own"
        );
        write(&batch.writes, (key(batch.fence.partition, SEQUENCE), value(batch.sequence.0)))?;
        owner.applied = batch.sequence;
        Ok(())
    }

    /// Reads again what the last commit of `partition` was, for when nobody could say.
    pub(super) fn applied(&self, kv: &dyn Kv, partition: PartitionId) -> Result<Sequence, Fault> {
        let mut owner = self.owner(partition);
        owner.applied = Sequence(number(kv, partition, SEQUENCE)?);
        Ok(owner.applied)
    }

    fn owner(&self, partition: PartitionId) -> MutexGuard<'_, Owner> {
        let owner = match partition {
            REGISTRY => &self.registry,
            _ => {
                let owner = self.partitions.get(usize::from(partition.0));
                owner.expect("ids are below the count")
            }
        };
        owner.lock().expect("a panic while writing leaves nothing to go on with")
    }
}

fn key(partition: PartitionId, which: u8) -> Vec<u8> {
    let [high, low] = partition.0.to_be_bytes();
    vec![OWN_TABLE, high, low, which]
}

fn value(number: u64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn number(kv: &dyn Kv, partition: PartitionId, which: u8) -> Result<u64, Fault> {
    let Some(row) = kv.get(&key(partition, which))? else {
        return Ok(0);
    };
    let bytes = <[u8; 8]>::try_from(row.as_ref()).map_err(|_| Fault::Corrupt {
        table: "owners",
        what: format!("a number has {} bytes, expected 8", row.len()),
    })?;
    Ok(u64::from_be_bytes(bytes))
}
