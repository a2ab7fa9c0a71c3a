//! Appending to a journal, and what a journal says. Entries are never changed and never removed
//! one by one.

use super::Turn;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{Entry, Outcome};
use crate::tables::codec::corrupt;
use crate::tables::invocation::Record;
use crate::tables::timer::{self, Timer};
use crate::tables::{TableId, journal};
use bytes::Bytes;
use holdfast_wire::message::{MessageType, pb};
use prost::Message;

/// Decodes what was validated before it was stored.
pub(super) fn read<M: Message + Default>(payload: &Bytes) -> Result<M, Fault> {
    M::decode(payload.clone()).map_err(|error| corrupt(TableId::Journal, error.to_string()))
}

impl Turn<'_, '_> {
    /// Appends an entry and counts it. Does not store the row.
    pub(super) fn append(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        ty: MessageType,
        payload: Bytes,
    ) -> Entry {
        let entry = Entry { index: record.journal.length, ty, payload, appended_at: self.now };
        journal::put(self.txn, self.here.partition, id, &entry);
        record.journal.length += 1;
        record.journal.commands += u32::from(ty.is_command());
        record.journal.stored_at = self.now;
        record.journal.bytes += entry.payload.len() as u64;
        entry
    }

    /// What the last output of the journal says.
    pub(super) fn output(
        &self,
        id: InvocationId,
        record: &Record,
    ) -> Result<Option<Outcome>, Fault> {
        let Some(index) = record.journal.output else {
            return Ok(None);
        };
        let entry = journal::get(self.txn, self.here.partition, id, index)?
            .ok_or_else(|| corrupt(TableId::Journal, "the output is missing"))?;
        use pb::output_command::Result;
        Ok(Some(match read::<pb::OutputCommand>(&entry.payload)?.result {
            Some(Result::Value(value)) => Outcome::Success(value.content),
            Some(Result::Failure(failure)) => Outcome::Failure(super::notify::failure_in(failure)),
            None => Outcome::Success(Bytes::new()),
        }))
    }

    /// The ids of everything that the invocation called.
    pub(super) fn callees(&self, id: InvocationId) -> Result<Vec<InvocationId>, Fault> {
        use pb::notification::Result::InvocationId as Called;
        let mut callees = vec![];
        journal::scan(self.txn, self.here.partition, id, 0, &mut |entry| {
            if entry.ty == MessageType::CALL_INVOCATION_ID_COMPLETION
                && let Some(Called(called)) = read::<pb::Notification>(&entry.payload)?.result
            {
                callees.extend(called.parse::<InvocationId>());
            }
            Ok(true)
        })?;
        Ok(callees)
    }

    /// Forgets the timers of sleeps that nobody waits for any more.
    pub(super) fn stop_sleeping(
        &mut self,
        id: InvocationId,
        record: &mut Record,
    ) -> Result<(), Fault> {
        if record.journal.sleeping == 0 {
            return Ok(());
        }
        let mut timers = vec![];
        journal::scan(self.txn, self.here.partition, id, 0, &mut |entry| {
            if entry.ty == MessageType::SLEEP {
                let sleep: pb::SleepCommand = read(&entry.payload)?;
                let due = crate::time::Timestamp(sleep.wake_up_time);
                timers.push(Timer::sleep(due, id, sleep.result_completion_id));
            }
            Ok(true)
        })?;
        for timer in timers {
            timer::delete(self.txn, self.here.partition, &timer);
        }
        record.journal.sleeping = 0;
        Ok(())
    }
}
