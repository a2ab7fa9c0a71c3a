//! Promises of a workflow key: completed once, by whoever comes first, before or after somebody
//! waits for them.

use super::Turn;
use super::notify::{failure_in, outcome_out};
use super::state::owner;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::Outcome;
use crate::tables::invocation::Record;
use crate::tables::promise::{self, Promise};
use holdfast_wire::message::pb::complete_promise_command::Completion;
use holdfast_wire::message::pb::notification::Result as Content;
use holdfast_wire::message::{MessageType, pb};

const CONFLICT: u32 = 409;

impl Turn<'_, '_> {
    fn promise(&self, record: &Record, name: &str) -> Result<Promise, Fault> {
        let promise = match owner(&record.target) {
            Some(owner) => promise::get(self.txn, self.here.partition, owner, name)?,
            None => None,
        };
        Ok(promise.unwrap_or(Promise::Open(vec![])))
    }

    fn put_promise(&mut self, record: &Record, name: &str, promise: &Promise) {
        if let Some(owner) = owner(&record.target) {
            promise::put(self.txn, self.here.partition, owner, name, promise);
        }
    }

    pub(super) fn get_promise(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        command: &pb::GetPromiseCommand,
    ) -> Result<(), Fault> {
        let completion = command.result_completion_id;
        match self.promise(record, &command.key)? {
            Promise::Completed(outcome) => {
                let completion = (completion, outcome_out(outcome));
                let ty = MessageType::GET_PROMISE_COMPLETION;
                self.complete_command(id, record, ty, completion).map(drop)
            }
            Promise::Open(mut listeners) => {
                listeners.push((id, completion));
                self.put_promise(record, &command.key, &Promise::Open(listeners));
                Ok(())
            }
        }
    }

    pub(super) fn peek_promise(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        command: &pb::PeekPromiseCommand,
    ) -> Result<(), Fault> {
        let content = match self.promise(record, &command.key)? {
            Promise::Completed(outcome) => outcome_out(outcome),
            Promise::Open(_) => Content::void(),
        };
        let completion = (command.result_completion_id, content);
        self.complete_command(id, record, MessageType::PEEK_PROMISE_COMPLETION, completion)
            .map(drop)
    }

    pub(super) fn complete_promise(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        command: pb::CompletePromiseCommand,
    ) -> Result<(), Fault> {
        let content = match self.promise(record, &command.key)? {
            Promise::Completed(_) => Content::failure(CONFLICT, "promise was already completed"),
            Promise::Open(listeners) => {
                let outcome = match command.completion {
                    Some(Completion::CompletionFailure(failure)) => {
                        Outcome::Failure(failure_in(failure))
                    }
                    Some(Completion::CompletionValue(value)) => Outcome::Success(value.content),
                    None => Outcome::Success(Default::default()),
                };
                let promise = Promise::Completed(outcome.clone());
                self.put_promise(record, &command.key, &promise);
                self.tell_listeners(id, record, listeners, &outcome)?;
                Content::void()
            }
        };
        let completion = (command.result_completion_id, content);
        self.complete_command(id, record, MessageType::COMPLETE_PROMISE_COMPLETION, completion)
            .map(drop)
    }

    /// All listeners are invocations of the promise's own key, so they live in this partition.
    fn tell_listeners(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        listeners: Vec<(InvocationId, u32)>,
        outcome: &Outcome,
    ) -> Result<(), Fault> {
        let ty = MessageType::GET_PROMISE_COMPLETION;
        for (listener, completion) in listeners {
            let completion = (completion, outcome_out(outcome.clone()));
            if listener == id {
                // Its row is in our hands.
                self.complete_command(id, record, ty, completion)?;
            } else {
                self.complete_awaited(listener, ty, completion)?;
            }
        }
        Ok(())
    }
}
