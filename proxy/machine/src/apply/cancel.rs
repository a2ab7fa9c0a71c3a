//! Cancelling: a wish that the handler sees as a signal. What has not begun ends at once.

use super::Turn;
use crate::command::{Refusal, Reply};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use holdfast_wire::message::CANCEL_SIGNAL_INDEX;

pub(super) const ABORTED: u32 = 409;
/// The wish to cancel.
pub(super) const SIGNAL: SignalName = SignalName::Index(CANCEL_SIGNAL_INDEX);

impl Turn<'_, '_> {
    pub(super) fn cancel(&mut self, id: InvocationId) -> Result<Reply, Fault> {
        let Some(mut record) = self.record(id)? else {
            return self.withdraw_called(id);
        };
        match record.status {
            Status::Completed { .. } => Ok(Reply::Refused(Refusal::AlreadyCompleted)),
            Status::Scheduled { .. } | Status::Inboxed { .. } => {
                self.complete_unstarted(id, record, aborted("canceled"), FailedBy::Cancel)?;
                Ok(Reply::Done)
            }
            Status::Running
            | Status::BackingOff { .. }
            | Status::Suspended { .. }
            | Status::Paused => {
                self.append_signal(id, &mut record, SIGNAL, SignalValue::Void)?;
                if record.is_task {
                    self.task_cancelled(id)?;
                }
                record.pause_wanted = false; // It has to run to see the wish.
                if record.status == Status::Paused {
                    self.start_fresh(id, &mut record);
                }
                self.wake(id, &mut record)?;
                self.store(id, &mut record);
                self.withdraw_on_cancel(id, &record)?;
                Ok(Reply::Appended)
            }
        }
    }
}

pub(super) fn aborted(message: &str) -> Outcome {
    Outcome::Failure(Failure { code: ABORTED, message: message.into(), ..Failure::default() })
}
