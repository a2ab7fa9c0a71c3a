//! Receivers of a task's feed: each event that one of them is to be told is queued in the turn in
//! which it happens, and stays until it was sent or never will be.

use super::Turn;
use crate::command::Reply;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::tables::push::Delivery;
use crate::tables::push_config::{self, PushConfig};
use crate::tables::{queue, task};
use crate::task::{PUSHES_MAX, What};

impl Turn<'_, '_> {
    /// Registers a receiver, or replaces the one of that name.
    pub(super) fn put_push(
        &mut self,
        id: InvocationId,
        name: &str,
        config: PushConfig,
    ) -> Result<Reply, Fault> {
        let partition = self.here.partition;
        let Some(mut task) = task::get(self.txn, partition, id)? else {
            return Ok(Reply::Unknown);
        };
        let known = push_config::get(self.txn, partition, id, name)?;
        let new = known.is_none();
        if new {
            if task.pushes >= PUSHES_MAX {
                return Ok(Reply::TooManyPushes(task.pushes));
            }
            task.pushes += 1;
            task::put(self.txn, partition, id, &task);
        }
        let created_at = known.map_or(self.now, |known| known.created_at);
        push_config::put(self.txn, partition, id, name, &PushConfig { created_at, ..config });
        Ok(Reply::Stored { new })
    }

    /// What is queued for it goes nowhere any more.
    pub(super) fn delete_push(&mut self, id: InvocationId, name: &str) -> Result<Reply, Fault> {
        let partition = self.here.partition;
        let Some(mut task) = task::get(self.txn, partition, id)? else {
            return Ok(Reply::Unknown);
        };
        if push_config::get(self.txn, partition, id, name)?.is_some() {
            push_config::delete(self.txn, partition, id, name);
            task.pushes = task.pushes.saturating_sub(1);
            task::put(self.txn, partition, id, &task);
        }
        Ok(Reply::Done)
    }

    /// One event was sent, or never will be.
    pub(super) fn pushed(&mut self, sequence: u64) {
        queue::delete::<Delivery>(self.txn, self.here.partition, sequence);
        self.reply(Reply::Done);
    }

    /// Queues an event for all receivers of its task. What a client has said itself is news to
    /// nobody.
    pub(super) fn queue_pushes(
        &mut self,
        id: InvocationId,
        event: u64,
        what: &What,
    ) -> Result<(), Fault> {
        if matches!(what, What::Message(_)) {
            return Ok(());
        }
        let partition = self.here.partition;
        let configs = push_config::all(self.txn, partition, id)?;
        let delivery = |(config, _)| Delivery { invocation: id, config, event, at: self.now };
        let deliveries: Vec<Delivery> = configs.into_iter().map(delivery).collect();
        if !deliveries.is_empty() {
            let sequence = queue::push(self.txn, partition, &deliveries)?;
            self.effects.push(Effect::Push { sequence });
        }
        Ok(())
    }
}
