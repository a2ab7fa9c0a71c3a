//! Pausing and resuming. A pause of what runs is a wish: the attempt is asked to suspend, and
//! however it ends, short of completing, the invocation is paused then.

use super::Turn;
use crate::command::{Refusal, Reply};
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::event::EventKind;
use crate::tables::invocation::Record;

impl Turn<'_, '_> {
    pub(super) fn pause(&mut self, id: InvocationId) -> Result<(), Fault> {
        let reply = match self.record(id)? {
            None => Reply::Unknown,
            Some(record) => self.pause_record(id, record)?,
        };
        self.reply(reply);
        Ok(())
    }

    fn pause_record(&mut self, id: InvocationId, mut record: Record) -> Result<Reply, Fault> {
        match record.status {
            Status::Scheduled { .. } | Status::Inboxed { .. } | Status::Completed { .. } => {
                return Ok(Reply::Refused(Refusal::NotRunning));
            }
            Status::Suspended { .. } | Status::Paused => {
                return Ok(Reply::Refused(Refusal::AlreadyPaused));
            }
            Status::Running => {
                record.pause_wanted = true;
                let attempt = record.attempt;
                self.effects.push(Effect::Suspend { invocation: id, attempt });
            }
            Status::BackingOff { .. } => {
                let failure = record.retries.last_failure.clone();
                self.paused(id, &mut record, PausedBy::Operator, failure)?;
            }
        }
        self.store(id, &mut record);
        Ok(Reply::Appended)
    }

    /// It is paused from now on. Does not store the row.
    pub(super) fn paused(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        by: PausedBy,
        failure: Option<AttemptFailure>,
    ) -> Result<(), Fault> {
        self.notice_paused(id, record, by, failure.as_ref())?;
        self.leave(id, record);
        record.status = Status::Paused;
        record.pause_wanted = false;
        self.event(id, record, EventKind::Paused, failure);
        Ok(())
    }

    pub(super) fn resume(&mut self, id: InvocationId, pin: Option<Pin>) -> Result<(), Fault> {
        let reply = match self.record(id)? {
            None => Reply::Unknown,
            Some(record) => self.resume_record(id, record, pin)?,
        };
        self.reply(reply);
        Ok(())
    }

    fn resume_record(
        &mut self,
        id: InvocationId,
        mut record: Record,
        pin: Option<Pin>,
    ) -> Result<Reply, Fault> {
        let waits = matches!(record.status, Status::Suspended { .. } | Status::Paused);
        let ended = matches!(record.status, Status::Completed { .. });
        if !ended && pin.is_some() && !(waits && record.pin.is_some()) {
            return Ok(Reply::Refused(Refusal::NotMovable));
        }
        match record.status {
            Status::Completed { .. } => return Ok(Reply::Refused(Refusal::AlreadyCompleted)),
            Status::Scheduled { .. } | Status::Inboxed { .. } => {
                return Ok(Reply::Refused(Refusal::NotStarted));
            }
            Status::Running => record.pause_wanted = false,
            Status::BackingOff { .. } => self.start(id, &mut record),
            Status::Suspended { .. } | Status::Paused => {
                record.pin = pin.or(record.pin);
                self.start_fresh(id, &mut record);
            }
        }
        self.store(id, &mut record);
        Ok(Reply::Done)
    }
}
