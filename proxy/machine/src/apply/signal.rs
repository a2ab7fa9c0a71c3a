//! Signals: awakeables, named signals, and number 1, which is the wish to cancel.

use super::Turn;
use super::notify::{failure_in, failure_out, takes_notifications};
use crate::command::{Refusal, Reply};
use crate::id::{AwakeableId, InvocationId};
use crate::kv::Fault;
use crate::model::*;
use crate::tables::message::Message;
use crate::tables::notified::NotificationId;
use holdfast_wire::message::pb::notification::Result as Content;
use holdfast_wire::message::{MessageType, pb};
use prost::Message as _;

impl Turn<'_, '_> {
    /// Appends a signal. `Reply::Appended` if the invocation can still see it; else it is dropped.
    pub(super) fn signal(
        &mut self,
        id: InvocationId,
        signal: SignalName,
        value: SignalValue,
    ) -> Result<Reply, Fault> {
        if signal == super::cancel::SIGNAL {
            return self.cancel(id);
        }
        let Some(mut record) = self.record(id)? else {
            return Ok(Reply::Unknown);
        };
        if !takes_notifications(&record) {
            let ended = matches!(record.status, Status::Completed { .. });
            let refusal = if ended { Refusal::AlreadyCompleted } else { Refusal::NotStarted };
            return Ok(Reply::Refused(refusal));
        }
        self.append_signal(id, &mut record, signal, value)?;
        self.wake(id, &mut record)?;
        self.store(id, &mut record);
        Ok(Reply::Appended)
    }

    /// Does not store the row and wakes nobody.
    pub(super) fn append_signal(
        &mut self,
        id: InvocationId,
        record: &mut crate::tables::invocation::Record,
        signal: SignalName,
        value: SignalValue,
    ) -> Result<(), Fault> {
        let content = match value {
            SignalValue::Void => Content::void(),
            SignalValue::Success(value) => Content::value(value),
            SignalValue::Failure(failure) => Content::Failure(failure_out(failure)),
        };
        let failed = matches!(content, Content::Failure(_));
        let notification = match &signal {
            SignalName::Index(index) => pb::Notification::signal(*index, content),
            SignalName::Name(name) => pb::Notification::named_signal(name, content),
        };
        let entry = (MessageType::SIGNAL, notification.encode_to_vec().into());
        self.notify(id, record, entry, (NotificationId::Signal(signal), failed)).map(drop)
    }

    /// A handler gives a signal.
    pub(super) fn send_signal(&mut self, command: pb::SendSignalCommand) -> Result<(), Fault> {
        use pb::send_signal_command::{Result, SignalId};
        let Ok(invocation) = command.target_invocation_id.parse::<InvocationId>() else {
            return Ok(()); // The attempt refuses such ids.
        };
        let signal = match command.signal_id {
            Some(SignalId::Idx(index)) => SignalName::Index(index),
            Some(SignalId::Name(name)) => SignalName::Name(name),
            None => return Ok(()),
        };
        let value = match command.result {
            Some(Result::Value(value)) => SignalValue::Success(value.content),
            Some(Result::Failure(failure)) => SignalValue::Failure(failure_in(failure)),
            Some(Result::Void(_)) | None => SignalValue::Void,
        };
        self.send(Message::Signal { invocation, signal, value })
    }

    /// A handler completes an awakeable: a signal by another name.
    pub(super) fn complete_awakeable(
        &mut self,
        command: pb::CompleteAwakeableCommand,
    ) -> Result<(), Fault> {
        use pb::complete_awakeable_command::Result;
        let Ok(awakeable) = command.awakeable_id.parse::<AwakeableId>() else {
            return Ok(()); // The attempt refuses such ids.
        };
        let value = match command.result {
            Some(Result::Failure(failure)) => SignalValue::Failure(failure_in(failure)),
            Some(Result::Value(value)) => SignalValue::Success(value.content),
            None => SignalValue::Success(Default::default()),
        };
        let signal = SignalName::Index(awakeable.signal);
        self.send(Message::Signal { invocation: awakeable.invocation, signal, value })
    }
}
