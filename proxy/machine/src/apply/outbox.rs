//! Messages between invocations. Within the partition they are taken in the same command; to
//! another they go through the outbox, and are taken there exactly once and in order.

use super::Turn;
use crate::effect::Effect;
use crate::id::PartitionId;
use crate::kv::Fault;
use crate::tables::codec::corrupt;
use crate::tables::message::Message;
use crate::tables::{TableId, dedup, outbox};
use bytes::Bytes;

impl Turn<'_, '_> {
    pub(super) fn send(&mut self, message: Message) -> Result<(), Fault> {
        let to = self.here.partitions.of(message.to());
        if to == self.here.partition {
            self.local.push_back(message);
            return Ok(());
        }
        let message = message.encode();
        let sequence = outbox::push(self.txn, self.here.partition, to, message.clone())?;
        self.effects.push(Effect::Send { to, sequence, message });
        Ok(())
    }

    /// A message of another partition. One that was taken before is ignored; one that comes before
    /// its time means that some were lost on the way, which must not happen.
    pub(super) fn deliver(
        &mut self,
        from: PartitionId,
        sequence: u64,
        message: Bytes,
    ) -> Result<(), Fault> {
        let last = dedup::last(self.txn, self.here.partition, from)?;
        if sequence <= last {
            return Ok(());
        }
        if sequence != last + 1 {
            let what = format!(
                "message {sequence} of partition {} came where {} was expected",
                from.0,
                last + 1
            );
            return Err(corrupt(TableId::Dedup, what));
        }
        dedup::put(self.txn, self.here.partition, from, sequence);
        self.receive(Message::decode(message)?)
    }

    /// Another partition has made our messages durable.
    pub(super) fn delivered(&mut self, to: PartitionId, sequence: u64) -> Result<(), Fault> {
        outbox::remove_up_to(self.txn, self.here.partition, to, sequence)
    }
}
