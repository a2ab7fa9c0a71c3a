//! Notifications: results and signals that are appended to a journal, told to a live attempt, and
//! wake a suspended one. A completion is notified once: what is recorded never changes.

use super::Turn;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::invocation::{Record, Sink, SinkKind};
use crate::tables::notified::{self, NotificationId, Notified};
use bytes::Bytes;
use holdfast_wire::message::pb::notification::{Id, Result as Content};
use holdfast_wire::message::{MessageType, pb};
use prost::Message as _;

impl Turn<'_, '_> {
    /// A completion of a command that this attempt has just sent, or that was awaited for long.
    /// Does not store the row and wakes nobody.
    pub(super) fn complete_command(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        ty: MessageType,
        (completion, content): (u32, Content),
    ) -> Result<bool, Fault> {
        assert!(ty.may_carry(&content), "{ty} cannot carry such a result");
        let failed = matches!(content, Content::Failure(_));
        let payload = pb::Notification::completion(completion, content).encode_to_vec().into();
        let about = NotificationId::Completion(completion);
        self.notify(id, record, (ty, payload), (about, failed))
    }

    /// Appends a notification and tells the live attempt. False: the completion was there already.
    pub(super) fn notify(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        (ty, payload): (MessageType, Bytes),
        (about, failed): (NotificationId, bool),
    ) -> Result<bool, Fault> {
        let partition = self.here.partition;
        if let NotificationId::Completion(_) = about
            && notified::get(self.txn, partition, id, &about)?.is_some()
        {
            return Ok(false);
        }
        let entry = self.append(id, record, ty, payload);
        notified::put(self.txn, partition, id, &about, Notified { entry: entry.index, failed });
        if record.status == Status::Running {
            let attempt = record.attempt;
            self.effects.push(Effect::Notify { invocation: id, attempt, entry });
        }
        Ok(true)
    }

    /// A completion comes from outside, for an invocation in any status.
    pub(super) fn complete_awaited(
        &mut self,
        id: InvocationId,
        ty: MessageType,
        completion: (u32, Content),
    ) -> Result<(), Fault> {
        let Some(mut record) = self.record(id)?.filter(takes_notifications) else {
            return Ok(());
        };
        if !self.complete_command(id, &mut record, ty, completion)? {
            return Ok(());
        }
        if ty == MessageType::SLEEP_COMPLETION {
            record.journal.sleeping = record.journal.sleeping.saturating_sub(1);
        }
        self.wake(id, &mut record)?;
        self.store(id, &mut record);
        Ok(())
    }

    /// An invocation that was asked for its outcome answers.
    pub(super) fn respond(&mut self, sink: Sink, outcome: Option<Outcome>) -> Result<(), Fault> {
        let ty = match sink.kind {
            SinkKind::Call => MessageType::CALL_COMPLETION,
            SinkKind::Attach => MessageType::ATTACH_INVOCATION_COMPLETION,
            SinkKind::Output => MessageType::GET_INVOCATION_OUTPUT_COMPLETION,
            SinkKind::Schedule => return self.schedule_run_ended(sink, outcome),
        };
        let content = outcome.map_or_else(Content::void, outcome_out);
        self.complete_awaited(sink.caller, ty, (sink.completion, content))
    }
}

/// Whether there is a journal to append to, and somebody who may read it.
pub(super) fn takes_notifications(record: &Record) -> bool {
    match record.status {
        Status::Running | Status::BackingOff { .. } | Status::Suspended { .. } | Status::Paused => {
            true
        }
        Status::Scheduled { .. } | Status::Inboxed { .. } | Status::Completed { .. } => false,
    }
}

/// What a stored notification is about, and whether its result is a failure.
pub(super) fn about(notification: &pb::Notification) -> Option<(NotificationId, bool)> {
    let id = match notification.id.clone()? {
        Id::CompletionId(completion) => NotificationId::Completion(completion),
        Id::SignalIndex(index) => NotificationId::Signal(SignalName::Index(index)),
        Id::SignalName(name) => NotificationId::Signal(SignalName::Name(name)),
    };
    Some((id, matches!(notification.result, Some(Content::Failure(_)))))
}

pub(super) fn outcome_out(outcome: Outcome) -> Content {
    match outcome {
        Outcome::Success(value) => Content::value(value),
        Outcome::Failure(failure) => Content::Failure(failure_out(failure)),
    }
}

pub(super) fn failure_out(failure: Failure) -> pb::Failure {
    let metadata = failure.metadata.into_iter();
    pb::Failure {
        code: failure.code,
        message: failure.message,
        metadata: metadata.map(|(key, value)| pb::FailureMetadata { key, value }).collect(),
    }
}

pub(super) fn failure_in(failure: pb::Failure) -> Failure {
    let metadata = failure.metadata.into_iter();
    Failure {
        code: failure.code,
        message: failure.message,
        metadata: metadata.map(|pair| (pair.key, pair.value)).collect(),
        stacktrace: String::new(),
    }
}
