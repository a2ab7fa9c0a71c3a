//! Calls of the services that the sidecar itself has: no service is ever asked, they become rows
//! and messages in the turn in which they are made.

use super::Turn;
use super::call::Call;
use super::notify::outcome_out;
use crate::ask::{Ask, HUMAN, Question};
use crate::id::{AskId, InvocationId};
use crate::kv::Fault;
use crate::tables::invocation::{Record, Sink, SinkKind};
use crate::tables::message::Message;
use crate::task::Told;
use holdfast_wire::message::MessageType;
use holdfast_wire::message::pb::notification::Result as Content;

const BAD_REQUEST: u32 = 400;

impl Turn<'_, '_> {
    /// `completion` is missing where nobody waits for the result.
    pub(super) fn call_ours(
        &mut self,
        (id, record): (InvocationId, &mut Record),
        entry: u32,
        call: Call,
        (callee_id, completion): (u32, Option<u32>),
    ) -> Result<(), Fault> {
        let ask = AskId::new(record.root, id, entry);
        self.tell_callee(id, record, callee_id, ask.invocation())?;
        let sink = completion.map(|completion| self.sink(id, completion));
        let message = match call.service.as_str() {
            HUMAN => self.ask_human(id, record, (ask, sink), &call),
            _ => Told::read(&call.handler, &call.argument, self.now).map(|told| {
                let root = record.root;
                Message::Tell { root, told: Box::new(told), sink }
            }),
        };
        let content = match message {
            // Of the root itself it is told at once: it may end in this very turn.
            Ok(Message::Tell { root, told, .. }) if root == id => {
                Some(outcome_out(self.told(root, *told)?))
            }
            Ok(message) => {
                self.send(message)?;
                None
            }
            Err(why) => {
                let name = format!("{}/{}", call.service, call.handler);
                let message = format!("`{name}` cannot be done: {why} (HF0200)");
                Some(Content::failure(BAD_REQUEST, message))
            }
        };
        match (completion, content) {
            (Some(completion), Some(content)) => {
                let ty = MessageType::CALL_COMPLETION;
                self.complete_command(id, record, ty, (completion, content)).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn sink(&self, caller: InvocationId, completion: u32) -> Sink {
        Sink { caller, completion, kind: SinkKind::Call }
    }

    fn ask_human(
        &self,
        id: InvocationId,
        record: &mut Record,
        (ask, sink): (AskId, Option<Sink>),
        call: &Call,
    ) -> Result<Message, String> {
        let question = Question::read(&call.argument)?;
        record.asked = true;
        let ask = Ask {
            id: ask,
            number: 0,
            root: record.root,
            caller: id,
            asked_by: record.target.clone(),
            kind: question.kind,
            message: question.message,
            form: question.form,
            to: question.to,
            url: question.url,
            opened_at: self.now,
            expires_at: question.expires_after.map(|after| self.now.plus(after)),
            whole_message: question.whole_message,
            sink,
            closed: None,
        };
        Ok(Message::Ask(Box::new(ask)))
    }
}
