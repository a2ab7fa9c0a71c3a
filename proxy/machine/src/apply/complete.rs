//! Invocations end: everybody who waits is told, the key goes to the next, and what is to be kept
//! is kept for as long as was asked. An outcome never changes.

use super::Turn;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{FailedBy, Outcome, Status};
use crate::tables::invocation::Record;
use crate::tables::message::Message;
use crate::tables::timer::{Timer, TimerKind};

impl Turn<'_, '_> {
    /// Ends an invocation that has begun, and stores or removes its row. `by` is of a failure.
    pub(super) fn complete(
        &mut self,
        id: InvocationId,
        record: Record,
        outcome: Outcome,
        by: FailedBy,
    ) -> Result<(), Fault> {
        let key = record.is_exclusive().then(|| record.target.clone());
        self.complete_with_key(id, record, outcome, by)?;
        match key {
            Some(target) => self.unlock(id, &target),
            None => Ok(()),
        }
    }

    /// As `complete`; its key, if it holds one, stays with it.
    pub(super) fn complete_with_key(
        &mut self,
        id: InvocationId,
        mut record: Record,
        outcome: Outcome,
        by: FailedBy,
    ) -> Result<(), Fault> {
        self.end(id, &mut record, outcome, by)?;
        if record.retention.completion.is_zero() {
            return self.forget(id, record);
        }
        self.keep(id, &mut record)
    }

    /// Ends an invocation that never began: nothing is left of it, but for a task, whose follower
    /// is to see how it ended.
    pub(super) fn complete_unstarted(
        &mut self,
        id: InvocationId,
        mut record: Record,
        outcome: Outcome,
        by: FailedBy,
    ) -> Result<(), Fault> {
        self.end(id, &mut record, outcome, by)?;
        match record.is_task && !record.retention.completion.is_zero() {
            true => self.keep(id, &mut record),
            false => self.forget(id, record),
        }
    }

    fn end(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        outcome: Outcome,
        by: FailedBy,
    ) -> Result<(), Fault> {
        assert!(!matches!(record.status, Status::Completed { .. }), "an outcome never changes");
        if let Outcome::Failure(failure) = &outcome {
            self.notice_failed(id, record, failure, by)?;
        }
        if record.is_task {
            self.task_ended(id, record, &outcome, by)?;
        }
        self.withdraw_asked(id, record, false)?;
        self.leave(id, record);
        self.stop_sleeping(id, record)?;
        record.pause_wanted = false;
        record.times.completed = Some(self.now);
        for sink in std::mem::take(&mut record.sinks) {
            self.send(Message::Respond { sink, outcome: Some(outcome.clone()) })?;
        }
        record.status = Status::Completed { outcome: outcome.clone() };
        // Who waited until now is not told how long the outcome is kept: it is no repetition.
        self.effects.push(Effect::Ended { invocation: id, outcome, expires_at: None });
        Ok(())
    }

    /// Keeps the row, and the journal if it is wanted, until their time is over.
    fn keep(&mut self, id: InvocationId, record: &mut Record) -> Result<(), Fault> {
        let expires = record.expires_at().expect("it is completed");
        let journal_expires = record.journal_expires_at().expect("it is completed");
        self.set_timer(Timer::new(expires, TimerKind::Forget, id));
        if journal_expires == self.now {
            self.forget_journal(id, record)?;
        } else if journal_expires < expires {
            self.set_timer(Timer::new(journal_expires, TimerKind::ForgetJournal, id));
        }
        self.store(id, record);
        Ok(())
    }
}
