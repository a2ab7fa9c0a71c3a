//! Forgetting completed invocations: on request, and when their retention is over. Nothing of an
//! invocation stays behind.

use super::Turn;
use crate::command::{Refusal, Reply};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::Status;
use crate::tables::invocation::{self, Record, Span};
use crate::tables::timer::{self, Timer, TimerKind};
use crate::tables::{event, journal, notified, promise, state};
use holdfast_wire::manifest::HandlerType;

impl Turn<'_, '_> {
    pub(super) fn purge(&mut self, id: InvocationId) -> Result<(), Fault> {
        let reply = match self.completed(id)? {
            Err(reply) => reply,
            Ok(record) => {
                self.forget(id, &record)?;
                Reply::Done
            }
        };
        self.reply(reply);
        Ok(())
    }

    pub(super) fn purge_journal(&mut self, id: InvocationId) -> Result<(), Fault> {
        let reply = match self.completed(id)? {
            Err(reply) => reply,
            Ok(mut record) => {
                self.forget_journal(id, &mut record)?;
                self.store(id, &mut record);
                Reply::Done
            }
        };
        self.reply(reply);
        Ok(())
    }

    /// The retention of a completed invocation, or of its journal, is over.
    pub(super) fn expire(&mut self, timer: Timer) -> Result<(), Fault> {
        let id = timer.invocation;
        let Ok(mut record) = self.completed(id)? else {
            return Ok(());
        };
        if timer.kind == TimerKind::Forget {
            return self.forget(id, &record);
        }
        self.forget_journal(id, &mut record)?;
        self.store(id, &mut record);
        Ok(())
    }

    fn completed(&self, id: InvocationId) -> Result<Result<Record, Reply>, Fault> {
        Ok(match self.record(id)? {
            None => Err(Reply::Unknown),
            Some(record) if matches!(record.status, Status::Completed { .. }) => Ok(record),
            Some(_) => Err(Reply::Refused(Refusal::NotCompleted)),
        })
    }

    /// Removes every row of a completed invocation; with the run of a workflow goes what belongs
    /// to its key.
    pub(super) fn forget(&mut self, id: InvocationId, record: &Record) -> Result<(), Fault> {
        let partition = self.here.partition;
        self.forget_journal_rows(id, record)?;
        if let (Some(expires), Some(journal)) = (record.expires_at(), record.journal_expires_at()) {
            let timers = [(expires, TimerKind::Forget), (journal, TimerKind::ForgetJournal)];
            for (due, kind) in timers.into_iter().filter(|(due, _)| *due > self.now) {
                timer::delete(self.txn, partition, &Timer::new(due, kind, id));
            }
        }
        if record.target.ty == HandlerType::Workflow
            && let Some(owner) = super::state::owner(&record.target)
        {
            state::delete_all(self.txn, partition, owner)?;
            promise::delete_all(self.txn, partition, owner)?;
        }
        invocation::delete(self.txn, partition, id);
        Ok(())
    }

    /// Removes the journal. Does not store the row.
    pub(super) fn forget_journal(
        &mut self,
        id: InvocationId,
        record: &mut Record,
    ) -> Result<(), Fault> {
        self.forget_journal_rows(id, record)?;
        record.journal.purged = true;
        record.events = Span { first: record.events.next, next: record.events.next };
        if let Some(due) = record.journal_expires_at().filter(|due| *due > self.now) {
            let timer = Timer::new(due, TimerKind::ForgetJournal, id);
            timer::delete(self.txn, self.here.partition, &timer);
        }
        Ok(())
    }

    fn forget_journal_rows(&mut self, id: InvocationId, record: &Record) -> Result<(), Fault> {
        let partition = self.here.partition;
        for number in record.events.first..record.events.next {
            event::delete(self.txn, partition, id, number);
        }
        if record.journal.purged {
            return Ok(());
        }
        for index in 0..record.journal.length {
            journal::delete(self.txn, partition, id, index);
        }
        if record.journal.length > record.journal.commands {
            notified::delete_all(self.txn, partition, id)?;
        }
        Ok(())
    }
}
