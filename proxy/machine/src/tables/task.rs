//! `k | partition:u16 | task:24` -> `Task`: what is kept of a task beside its invocation, and the
//! end of its feed. `u | partition:u16 | task:24 | message id` -> `TaskMessageTaken`: messages that
//! may come again. Both go with the invocation.

use super::codec::{Bad, KeyReader, KeyWriter, decode, encode};
use super::convert::*;
use super::feed::{progress_in, progress_out, state_in, state_out};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::FailedBy;
use crate::task::{Progress, State};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Task;
const MESSAGES: TableId = TableId::TaskMessage;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub secret: u128,
    pub principal: String,
    pub context: String,
    pub door: String,
    pub meta: Bytes,
    pub digest: Bytes,
    pub state: State,
    /// Sequence of the next row of its feed.
    pub next: u64,
    /// When that was last said which a listing goes by.
    pub updated: Timestamp,
    pub progress: Option<Progress>,
    pub cancel_wanted: bool,
    /// Sequences of the messages that wait for an ask, oldest first.
    pub waiting: Vec<u64>,
    /// What made it fail.
    pub failed_by: Option<FailedBy>,
    /// Of the rows of its feed.
    pub feed_bytes: u64,
    /// Receivers of its feed.
    pub pushes: u32,
}

/// A message that was taken, and may come again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its row in the feed.
    pub sequence: u64,
    pub digest: Bytes,
    /// The ask that it answered when it came.
    pub answered: Option<u32>,
}

pub fn key(partition: PartitionId, id: InvocationId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).done()
}

pub fn get(kv: &dyn Kv, partition: PartitionId, id: InvocationId) -> Result<Option<Task>, Fault> {
    kv.get(&key(partition, id))?.map(read).transpose()
}

/// What `get` gives of a value that stands under a key of this table.
pub fn read(value: Bytes) -> Result<Task, Fault> {
    task_in(decode(TABLE, value)?).map_err(|bad| bad.of(TABLE))
}

pub fn put(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, task: &Task) {
    txn.put(key(partition, id), encode(&task_out(task)));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId) {
    txn.delete(key(partition, id));
}

fn message_key(partition: PartitionId, id: InvocationId, message: &str) -> Vec<u8> {
    KeyWriter::new(MESSAGES, partition).id(id).rest(message.as_bytes()).done()
}

pub fn message(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    message: &str,
) -> Result<Option<Known>, Fault> {
    let Some(value) = kv.get(&message_key(partition, id, message))? else {
        return Ok(None);
    };
    let row: pb::TaskMessageTaken = decode(MESSAGES, value)?;
    let (sequence, digest, answered) = (row.sequence, row.digest, row.answered);
    Ok(Some(Known { sequence, digest, answered }))
}

pub fn put_message(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    message: &str,
    known: &Known,
) {
    let Known { sequence, digest, answered } = known.clone();
    let row = pb::TaskMessageTaken { sequence, digest, answered };
    txn.put(message_key(partition, id, message), encode(&row));
}

/// Forgets messages of a task, at most `max`; true where none is left.
pub fn delete_some_messages(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    max: usize,
) -> Result<bool, Fault> {
    let prefix = KeyWriter::new(MESSAGES, partition).id(id).done();
    super::codec::delete_some(txn, &prefix, max)
}

/// Takes the key of a task apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = reader.id()?;
    reader.end((partition, id))
}

fn task_out(task: &Task) -> pb::Task {
    pb::Task {
        secret: Bytes::copy_from_slice(&task.secret.to_be_bytes()),
        principal: task.principal.clone(),
        context: task.context.clone(),
        door: task.door.clone(),
        meta: task.meta.clone(),
        digest: task.digest.clone(),
        state: state_out(task.state).into(),
        next: task.next,
        updated: task.updated.0,
        progress: task.progress.as_ref().map(progress_out),
        cancel_wanted: task.cancel_wanted,
        waiting: task.waiting.clone(),
        failed_by: task.failed_by.map_or(pb::FailedBy::Unspecified, failed_by_out).into(),
        feed_bytes: task.feed_bytes,
        pushes: task.pushes,
    }
}

fn task_in(row: pb::Task) -> Result<Task, Bad> {
    let secret = <[u8; 16]>::try_from(&*row.secret);
    Ok(Task {
        secret: u128::from_be_bytes(secret.map_err(|_| Bad("a secret does not have 16 bytes"))?),
        state: state_in(row.state())?,
        failed_by: failed_by_in(row.failed_by())?,
        feed_bytes: row.feed_bytes,
        principal: row.principal,
        context: row.context,
        door: row.door,
        meta: row.meta,
        digest: row.digest,
        next: row.next,
        updated: Timestamp(row.updated),
        progress: row.progress.map(progress_in),
        cancel_wanted: row.cancel_wanted,
        pushes: row.pushes,
        waiting: row.waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_round_trip(
            (partition, id) in (arbitrary::partition(), arbitrary::id()),
            task in arbitrary::task(),
            (said, sequence, answered) in any::<(String, u64, Option<u32>)>(),
            digest in arbitrary::bytes(),
        ) {
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, &task);
            let known = Known { sequence, digest, answered };
            put_message(&mut txn, partition, id, &said, &known);
            kv.apply(txn.into_writes());
            prop_assert_eq!(get(&kv, partition, id).unwrap(), Some(task));
            prop_assert_eq!(message(&kv, partition, id, &said).unwrap(), Some(known));
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, id);
            prop_assert!(delete_some_messages(&mut txn, partition, id, 1).unwrap());
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id()),
            b in (arbitrary::partition(), arbitrary::id()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
        }
    }
}
