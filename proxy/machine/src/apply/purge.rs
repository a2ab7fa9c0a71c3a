//! Forgetting completed invocations: on request, when their retention is over, and when the disk is
//! wanted for newer ones. Nothing of an invocation stays behind; a long journal goes in pieces, and
//! while it does nobody sees it any more.

use super::Turn;
use crate::command::{Refusal, Reply};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::Status;
use crate::tables::invocation::{self, Record, Standing};
use crate::tables::timer::{self, Timer, TimerKind};
use crate::tables::{event, journal, notified, promise, state};
use crate::time::Timestamp;
use holdfast_wire::manifest::HandlerType;
use std::time::Duration;

/// Entries of a journal that one command removes, and as many notifications: no turn is held up
/// by a long one.
pub(super) const PIECE_ROWS: u32 = 1_024;
/// Until the next piece goes.
const NEXT_PIECE: Duration = Duration::from_millis(1);

impl Turn<'_, '_> {
    pub(super) fn purge(&mut self, id: InvocationId) -> Result<(), Fault> {
        let reply = match self.completed(id)? {
            Err(reply) => reply,
            Ok(record) => {
                self.forget(id, record)?;
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

    /// Forgets what completed at that time, if it is still there.
    pub(super) fn forget_completed(
        &mut self,
        id: InvocationId,
        completed: Timestamp,
    ) -> Result<(), Fault> {
        match self.completed(id)? {
            Ok(record) if record.times.completed == Some(completed) => self.forget(id, record),
            _ => Ok(()),
        }
    }

    fn completed(&self, id: InvocationId) -> Result<Result<Record, Reply>, Fault> {
        Ok(match self.record(id)? {
            None => Err(Reply::Unknown),
            Some(record) if matches!(record.status, Status::Completed { .. }) => Ok(record),
            Some(_) => Err(Reply::Refused(Refusal::NotCompleted)),
        })
    }

    /// The retention of a completed invocation or of its journal is over, or a further piece is to
    /// go. A timer may be older than the invocation that has the id by now.
    pub(super) fn expire(&mut self, timer: Timer) -> Result<(), Fault> {
        let id = timer.invocation;
        let Some((mut record, standing)) = invocation::find(self.txn, self.here.partition, id)?
        else {
            return Ok(());
        };
        if standing == Standing::Remains {
            return self.remove(id, record);
        }
        let over = |expires: Option<Timestamp>| expires.is_some_and(|expires| expires <= self.now);
        match timer.kind {
            TimerKind::Forget if over(record.expires_at()) => self.forget(id, record),
            TimerKind::ForgetJournal
                if record.journal.left > 0 || over(record.journal_expires_at()) =>
            {
                self.forget_journal(id, &mut record)?;
                self.store(id, &mut record);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What is there under an id that somebody wants to use. Of remains nothing is left afterwards.
    pub(super) fn existing(&mut self, id: InvocationId) -> Result<Option<Record>, Fault> {
        let partition = self.here.partition;
        Ok(match invocation::find(self.txn, partition, id)? {
            Some((record, Standing::Kept)) => Some(record),
            Some((mut record, Standing::Remains)) => {
                self.remove_journal(id, &mut record, u32::MAX)?;
                self.remove_task(id, &record, u32::MAX)?;
                self.remove_asks(id, &record, u32::MAX)?;
                invocation::delete(self.txn, partition, id);
                None
            }
            None => None,
        })
    }

    /// Forgets a completed invocation; with the run of a workflow goes what belongs to its key.
    pub(super) fn forget(&mut self, id: InvocationId, record: Record) -> Result<(), Fault> {
        let partition = self.here.partition;
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
        self.remove(id, record)
    }

    /// Removes a piece of the journal of what is forgotten, and with the last piece the row.
    fn remove(&mut self, id: InvocationId, mut record: Record) -> Result<(), Fault> {
        let partition = self.here.partition;
        let gone = self.remove_task(id, &record, PIECE_ROWS)?
            && self.remove_asks(id, &record, PIECE_ROWS)?
            && self.remove_journal(id, &mut record, PIECE_ROWS)?;
        if gone {
            invocation::delete(self.txn, partition, id);
        } else {
            invocation::put_remains(self.txn, partition, id, &record);
            self.go_on(id, TimerKind::Forget);
        }
        Ok(())
    }

    /// Forgets the journal. Does not store the row.
    pub(super) fn forget_journal(
        &mut self,
        id: InvocationId,
        record: &mut Record,
    ) -> Result<(), Fault> {
        if let Some(due) = record.journal_expires_at().filter(|due| *due > self.now) {
            let timer = Timer::new(due, TimerKind::ForgetJournal, id);
            timer::delete(self.txn, self.here.partition, &timer);
        }
        if !self.remove_journal(id, record, PIECE_ROWS)? {
            self.go_on(id, TimerKind::ForgetJournal);
        }
        Ok(())
    }

    fn go_on(&mut self, id: InvocationId, kind: TimerKind) {
        self.set_timer(Timer::new(self.now.plus(NEXT_PIECE), kind, id));
    }

    /// Removes at most `max` entries, the last ones first, and as many notifications before; true
    /// where nothing of the journal is left. Does not store the row.
    fn remove_journal(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        max: u32,
    ) -> Result<bool, Fault> {
        let partition = self.here.partition;
        for number in record.events.first..record.events.next {
            event::delete(self.txn, partition, id, number);
        }
        record.events.first = record.events.next;
        let journal = &mut record.journal;
        if !journal.purged {
            journal.purged = true;
            journal.left = journal.length;
        }
        let notified = journal.left > 0 && journal.length > journal.commands;
        if notified && !notified::delete_some(self.txn, partition, id, max as usize)? {
            return Ok(false);
        }
        let rest = journal.left.saturating_sub(max);
        for index in rest..journal.left {
            journal::delete(self.txn, partition, id, index);
        }
        journal.left = rest;
        Ok(rest == 0)
    }
}
