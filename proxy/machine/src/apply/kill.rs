//! Killing: an invocation ends now, whatever it is doing, and all that it called with it.

use super::Turn;
use super::cancel::aborted;
use crate::command::{Refusal, Reply};
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{FailedBy, Status};
use crate::tables::message::Message;

impl Turn<'_, '_> {
    pub(super) fn kill(&mut self, id: InvocationId) -> Result<Reply, Fault> {
        let Some(record) = self.record(id)? else {
            return self.withdraw_called(id);
        };
        let killed = aborted("killed");
        match record.status {
            Status::Completed { .. } => return Ok(Reply::Refused(Refusal::AlreadyCompleted)),
            Status::Scheduled { .. } | Status::Inboxed { .. } => {
                self.complete_unstarted(id, record, killed, FailedBy::Kill)?;
                return Ok(Reply::Done);
            }
            Status::Running => {
                let attempt = record.attempt;
                self.effects.push(Effect::Abort { invocation: id, attempt });
            }
            Status::BackingOff { .. } | Status::Suspended { .. } | Status::Paused => {}
        }
        if record.journal.calls > 0 {
            for invocation in self.callees(id)? {
                self.send(Message::Kill { invocation })?;
            }
        }
        // What it called may wait for its key: that must not begin only to be killed.
        self.leaving.extend(record.is_exclusive().then(|| (id, record.target.clone())));
        self.complete_with_key(id, record, killed, FailedBy::Kill)?;
        Ok(Reply::Done)
    }
}
