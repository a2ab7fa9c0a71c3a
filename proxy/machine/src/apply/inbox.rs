//! Object keys: one exclusive invocation at a time holds a key, the others wait in the order in
//! which they came, and state patches with them.

use super::Turn;
use super::state::owner;
use crate::command::{Reply, StateMap};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{Status, Target};
use crate::tables::TableId;
use crate::tables::codec::corrupt;
use crate::tables::inbox::{self, Waiting, What};
use crate::tables::invocation::Record;
use crate::tables::lock::{self, Lock};
use crate::tables::state::Owner;

impl Turn<'_, '_> {
    pub(super) fn lock_of(&self, target: &Target) -> Result<Option<Lock>, Fault> {
        match owner(target) {
            Some(owner) => lock::get(self.txn, self.here.partition, owner),
            None => Ok(None),
        }
    }

    /// Takes the key, or a place in its inbox. Does not store the row.
    pub(super) fn lock(&mut self, id: InvocationId, record: &mut Record) -> Result<bool, Fault> {
        let target = record.target.clone();
        let Some(owner) = owner(&target) else {
            return Ok(true);
        };
        let partition = self.here.partition;
        let Some(lock) = lock::get(self.txn, partition, owner)? else {
            lock::put(self.txn, partition, owner, Lock { holder: id, head: 0, tail: 0 });
            return Ok(true);
        };
        let sequence = self.enqueue(owner, lock, What::Invocation(id));
        self.leave(id, record);
        record.status = Status::Inboxed { sequence };
        self.waiting.extend(record.sinks.iter().map(|sink| sink.caller));
        record.times.inboxed = Some(self.now);
        Ok(false)
    }

    fn enqueue(&mut self, owner: Owner<'_>, lock: Lock, what: What) -> u64 {
        let partition = self.here.partition;
        let sequence = lock.tail;
        let waiting = Waiting { what, since: self.now };
        inbox::put(self.txn, partition, owner, sequence, &waiting);
        lock::put(self.txn, partition, owner, Lock { tail: sequence + 1, ..lock });
        sequence
    }

    /// Gives the key to who waits longest. Patches on the way are applied.
    pub(super) fn unlock(&mut self, id: InvocationId, target: &Target) -> Result<(), Fault> {
        let Some(owner) = owner(target) else {
            return Ok(());
        };
        let partition = self.here.partition;
        let mut lock = lock::get(self.txn, partition, owner)?
            .filter(|lock| lock.holder == id)
            .ok_or_else(|| corrupt(TableId::Lock, format!("{id} ended without its key")))?;
        while let Some((sequence, waiting)) =
            inbox::first(self.txn, partition, owner, (lock.head, lock.tail))?
        {
            inbox::delete(self.txn, partition, owner, sequence);
            lock.head = sequence + 1;
            match waiting.what {
                What::Patch { version, state } => {
                    self.apply_patch(owner, version.as_deref(), &state)?;
                }
                What::Invocation(next) => {
                    lock.holder = next;
                    lock::put(self.txn, partition, owner, lock);
                    return self.begin_locked(next);
                }
            }
        }
        lock::delete(self.txn, partition, owner);
        Ok(())
    }

    fn begin_locked(&mut self, id: InvocationId) -> Result<(), Fault> {
        let mut record = self
            .record(id)?
            .filter(|record| matches!(record.status, Status::Inboxed { .. }))
            .ok_or_else(|| corrupt(TableId::Inbox, format!("{id} does not wait for a key")))?;
        self.start_fresh(id, &mut record);
        self.store(id, &mut record);
        Ok(())
    }

    /// Replaces the state of a key at once, or when it is its turn.
    pub(super) fn patch_state(
        &mut self,
        service: &str,
        key: &str,
        version: Option<String>,
        state: StateMap,
    ) -> Result<(), Fault> {
        let owner = Owner { service, key };
        let reply = match lock::get(self.txn, self.here.partition, owner)? {
            Some(lock) => {
                self.enqueue(owner, lock, What::Patch { version, state });
                Reply::Appended
            }
            None => match self.apply_patch(owner, version.as_deref(), &state)? {
                None => Reply::Done,
                Some(current) => Reply::VersionMismatch { current },
            },
        };
        self.reply(reply);
        Ok(())
    }
}
