//! Notices: what somebody outside wants to be told is written in the same turn in which it
//! happens, and stays until they were told, or never will be.

use super::Turn;
use super::cancel::ABORTED;
use crate::command::Reply;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::invocation::{Record, SinkKind};
use crate::tables::notice::{FailureSummary, Notice, What};
use crate::tables::notified::{self, NotificationId};
use crate::tables::queue;
use crate::text::cut;
use holdfast_wire::message::CANCEL_SIGNAL_INDEX;

/// Longest message of a failure that is told, in bytes.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;

impl Turn<'_, '_> {
    pub(super) fn notice_paused(
        &mut self,
        id: InvocationId,
        record: &Record,
        by: PausedBy,
        failure: Option<&AttemptFailure>,
    ) -> Result<(), Fault> {
        if !self.here.notices.paused {
            return Ok(());
        }
        let failure = failure.map(|failure| FailureSummary {
            code: failure.code,
            message: cut(&failure.message, MESSAGE_BYTES_MAX).to_owned(),
            doc_code: failure.doc_code.clone(),
        });
        self.notice(id, record, What::Paused(by), failure)
    }

    /// Must be called while the row still knows its sinks.
    pub(super) fn notice_failed(
        &mut self,
        id: InvocationId,
        record: &Record,
        failure: &Failure,
        by: FailedBy,
    ) -> Result<(), Fault> {
        match self.here.notices.failed {
            FailuresWanted::None => return Ok(()),
            FailuresWanted::Roots if is_answered(record) => return Ok(()),
            FailuresWanted::Roots | FailuresWanted::All => {}
        }
        let asked_to_end = by == FailedBy::Handler && self.ended_as_asked(id, failure)?;
        let by = if asked_to_end { FailedBy::Cancel } else { by };
        // The sidecar's own code is of the attempt that became the outcome.
        let attempt = record.retries.last_failure.as_ref();
        let doc_code = match by {
            FailedBy::Retries | FailedBy::Service => attempt.and_then(|it| it.doc_code.clone()),
            _ => None,
        };
        let message = cut(&failure.message, MESSAGE_BYTES_MAX).to_owned();
        let failure = FailureSummary { code: failure.code, message, doc_code };
        self.notice(id, record, What::Failed(by), Some(failure))
    }

    fn notice(
        &mut self,
        id: InvocationId,
        record: &Record,
        what: What,
        failure: Option<FailureSummary>,
    ) -> Result<(), Fault> {
        let notice = Notice {
            what,
            invocation: id,
            target: record.target.clone(),
            deployment: record.pin.map(|pin| pin.deployment),
            at: self.now,
            attempts: record.attempt,
            failure,
        };
        let sequence = queue::push(self.txn, self.here.partition, &[notice])?;
        self.effects.push(Effect::Notice { sequence });
        Ok(())
    }

    /// Whether a handler failed because it was cancelled: it was, and it says so in the way of all
    /// SDKs.
    pub(super) fn ended_as_asked(
        &self,
        id: InvocationId,
        failure: &Failure,
    ) -> Result<bool, Fault> {
        if failure.code != ABORTED {
            return Ok(false);
        }
        let cancel = NotificationId::Signal(SignalName::Index(CANCEL_SIGNAL_INDEX));
        Ok(notified::get(self.txn, self.here.partition, id, &cancel)?.is_some())
    }

    /// Somebody was told, or never will be.
    pub(super) fn noticed(&mut self, sequence: u64) {
        queue::delete::<Notice>(self.txn, self.here.partition, sequence);
        self.reply(Reply::Done);
    }
}

/// Whether a handler called it, and so has its failure as an answer.
fn is_answered(record: &Record) -> bool {
    matches!(record.source, Source::Service { .. })
        && record.sinks.iter().any(|sink| sink.kind == SinkKind::Call)
}
