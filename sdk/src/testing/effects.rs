//! What commands do in a double.

use super::invocation::{Invocation, Status};
use super::world::{Due, Promise, World, read, told};
use crate::attempt::Target;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use holdfast_wire::frame::Frame;
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::{CANCEL_SIGNAL_INDEX, MessageType, pb, pb::Notification};

impl World {
    pub(super) fn effect(&mut self, number: usize, frame: Frame) {
        match frame.ty {
            MessageType::OUTPUT => self.output(number, read(frame)),
            MessageType::SLEEP => {
                let sleep: pb::SleepCommand = read(frame);
                let completion = sleep.result_completion_id;
                let due = Due::Sleep { invocation: number, completion };
                self.set_timer(sleep.wake_up_time, due);
            }
            MessageType::CALL => self.call(number, read(frame)),
            MessageType::ONE_WAY_CALL => self.one_way_call(number, read(frame)),
            MessageType::SEND_SIGNAL => self.send_signal(read(frame)),
            MessageType::COMPLETE_AWAKEABLE => self.complete_awakeable(read(frame)),
            MessageType::ATTACH_INVOCATION => self.attach(number, read(frame)),
            MessageType::GET_INVOCATION_OUTPUT => self.output_of(number, read(frame)),
            ty => match ty {
                MessageType::GET_PROMISE
                | MessageType::PEEK_PROMISE
                | MessageType::COMPLETE_PROMISE => self.promise(number, frame),
                _ => self.state(number, frame),
            },
        }
    }

    fn output(&mut self, number: usize, output: pb::OutputCommand) {
        use pb::output_command::Result::{Failure, Value};
        self.invocations[number].output = output.result.map(|result| match result {
            Value(value) => Ok(value.content),
            Failure(failure) => Err(failure),
        });
    }

    fn set_timer(&mut self, time: u64, due: Due) {
        let order = u32::try_from(self.timers.len()).unwrap_or(u32::MAX);
        self.timers.insert((time, order, due));
    }

    fn state(&mut self, number: usize, frame: Frame) {
        let (service, key) = self.invocations[number].owner();
        let named = |name: Bytes| (service.clone(), key.clone(), name);
        match frame.ty {
            MessageType::SET_STATE => {
                let set: pb::SetStateCommand = read(frame);
                let value = set.value.map(|value| value.content).unwrap_or_default();
                self.state.insert(named(set.key), value);
            }
            MessageType::CLEAR_STATE => {
                let clear: pb::ClearStateCommand = read(frame);
                self.state.remove(&named(clear.key));
            }
            MessageType::CLEAR_ALL_STATE => {
                self.state.retain(|(s, k, _), _| *s != service || *k != key);
            }
            MessageType::GET_LAZY_STATE => {
                let get: pb::GetLazyStateCommand = read(frame);
                let value = self.state.get(&named(get.key)).cloned();
                let outcome = value.map_or_else(Outcome::void, Outcome::value);
                let ty = MessageType::GET_LAZY_STATE_COMPLETION;
                self.complete(number, ty, get.result_completion_id, outcome);
            }
            MessageType::GET_LAZY_STATE_KEYS => {
                let get: pb::GetLazyStateKeysCommand = read(frame);
                let keys = self.state.keys().filter(|(s, k, _)| (s, k) == (&service, &key));
                let keys = Outcome::state_keys(keys.map(|(_, _, name)| name.clone()));
                let ty = MessageType::GET_LAZY_STATE_KEYS_COMPLETION;
                self.complete(number, ty, get.result_completion_id, keys);
            }
            _ => {}
        }
    }

    fn call(&mut self, number: usize, call: pb::CallCommand) {
        let (id, result) = (call.invocation_id_notification_idx, call.result_completion_id);
        let target = target(call);
        if let Some(outcome) = self.answered(&target) {
            self.begun(number, id, "inv_answered");
            let ty = MessageType::CALL_COMPLETION;
            return self.complete(number, ty, result, outcome);
        }
        if let Some(callee) = self.callee(target) {
            self.invocations[callee].sinks.push((number, result, MessageType::CALL_COMPLETION));
            self.begun(number, id, &Invocation::name(callee));
            self.begin(callee);
        }
    }

    fn one_way_call(&mut self, number: usize, call: pb::OneWayCallCommand) {
        let (id, invoke_time) = (call.invocation_id_notification_idx, call.invoke_time);
        let target = target(call.into());
        if self.answered(&target).is_some() {
            return self.begun(number, id, "inv_answered");
        }
        if let Some(callee) = self.callee(target) {
            self.begun(number, id, &Invocation::name(callee));
            match invoke_time {
                0 => self.begin(callee),
                time => self.set_timer(time, Due::Begin { invocation: callee }),
            }
        }
    }

    fn begun(&mut self, number: usize, completion: u32, invocation: &str) {
        let outcome = Outcome::InvocationId(invocation.to_owned());
        let ty = MessageType::CALL_INVOCATION_ID_COMPLETION;
        self.complete(number, ty, completion, outcome);
    }

    /// What the test said that this handler answers.
    fn answered(&self, target: &Target) -> Option<Outcome> {
        let by_name = (target.service.clone(), target.handler.clone());
        let answer = self.script.answers.get(&by_name)?;
        let input = serde_json::from_slice(&target.parameter).unwrap_or_default();
        Some(match answer(input) {
            Ok(value) => Outcome::value(value.to_string()),
            Err(failure) => Outcome::Failure(failure.into_failure()),
        })
    }

    fn callee(&mut self, target: Target) -> Option<usize> {
        match self.invocation(target) {
            Ok(callee) => Some(callee),
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }

    fn named(&self, invocation: &str) -> Option<usize> {
        let number = invocation.strip_prefix("inv_double_")?.parse().ok()?;
        (number < self.invocations.len()).then_some(number)
    }

    fn send_signal(&mut self, send: pb::SendSignalCommand) {
        use pb::send_signal_command::{Result as Sent, SignalId};
        let Some(number) = self.named(&send.target_invocation_id) else {
            return;
        };
        let outcome = match send.result {
            Some(Sent::Value(value)) => Outcome::Value(value),
            Some(Sent::Failure(failure)) => Outcome::Failure(failure),
            Some(Sent::Void(_)) | None => Outcome::void(),
        };
        let signal = match send.signal_id {
            Some(SignalId::Idx(CANCEL_SIGNAL_INDEX)) | None => Notification::cancel(),
            Some(SignalId::Idx(index)) => Notification::signal(index, outcome),
            Some(SignalId::Name(name)) => Notification::named_signal(name, outcome),
        };
        self.notify(number, MessageType::SIGNAL, signal);
    }

    fn complete_awakeable(&mut self, complete: pb::CompleteAwakeableCommand) {
        use pb::complete_awakeable_command::Result::{Failure, Value};
        let raw = complete.awakeable_id.strip_prefix("sign_1");
        let raw = raw.and_then(|raw| URL_SAFE_NO_PAD.decode(raw).ok()).unwrap_or_default();
        let Some((id, index)) = raw.split_last_chunk::<4>() else {
            return;
        };
        let outcome = match complete.result {
            Some(Value(value)) => Outcome::Value(value),
            Some(Failure(failure)) => Outcome::Failure(failure),
            None => Outcome::void(),
        };
        if let Some(number) = self.invocations.iter().position(|it| it.id == id) {
            let signal = Notification::signal(u32::from_be_bytes(*index), outcome);
            self.notify(number, MessageType::SIGNAL, signal);
        }
    }

    fn attach(&mut self, number: usize, attach: pb::AttachInvocationCommand) {
        use pb::attach_invocation_command::Target::InvocationId;
        let completion = attach.result_completion_id;
        let ty = MessageType::ATTACH_INVOCATION_COMPLETION;
        let target = match &attach.target {
            Some(InvocationId(id)) => self.named(id),
            _ => None,
        };
        match target {
            None => self.complete(number, ty, completion, Outcome::failure(404, "not found")),
            Some(target) => match &self.invocations[target].status {
                Status::Done(outcome) => {
                    let outcome = told(outcome);
                    self.complete(number, ty, completion, outcome);
                }
                _ => self.invocations[target].sinks.push((number, completion, ty)),
            },
        }
    }

    fn output_of(&mut self, number: usize, get: pb::GetInvocationOutputCommand) {
        use pb::get_invocation_output_command::Target::InvocationId;
        let target = match &get.target {
            Some(InvocationId(id)) => self.named(id),
            _ => None,
        };
        let outcome = match target.map(|target| &self.invocations[target].status) {
            None => Outcome::failure(404, "not found"),
            Some(Status::Done(outcome)) => told(outcome),
            Some(_) => Outcome::void(),
        };
        let ty = MessageType::GET_INVOCATION_OUTPUT_COMPLETION;
        self.complete(number, ty, get.result_completion_id, outcome);
    }

    fn promise(&mut self, number: usize, frame: Frame) {
        match frame.ty {
            MessageType::GET_PROMISE => {
                let get: pb::GetPromiseCommand = read(frame);
                let promise = self.promise_named(number, get.key);
                match promise.result.clone() {
                    None => promise.waiting.push((number, get.result_completion_id)),
                    Some(result) => {
                        let ty = MessageType::GET_PROMISE_COMPLETION;
                        self.complete(number, ty, get.result_completion_id, result);
                    }
                }
            }
            MessageType::PEEK_PROMISE => {
                let peek: pb::PeekPromiseCommand = read(frame);
                let promise = self.promise_named(number, peek.key);
                let result = promise.result.clone().unwrap_or_else(Outcome::void);
                let ty = MessageType::PEEK_PROMISE_COMPLETION;
                self.complete(number, ty, peek.result_completion_id, result);
            }
            _ => self.complete_promise(number, read(frame)),
        }
    }

    fn promise_named(&mut self, number: usize, name: String) -> &mut Promise {
        let (service, key) = self.invocations[number].owner();
        self.promises.entry((service, key, name)).or_default()
    }

    fn complete_promise(&mut self, number: usize, complete: pb::CompletePromiseCommand) {
        use pb::complete_promise_command::Completion::{CompletionFailure, CompletionValue};
        let result = match complete.completion {
            Some(CompletionValue(value)) => Outcome::Value(value),
            Some(CompletionFailure(failure)) => Outcome::Failure(failure),
            None => Outcome::void(),
        };
        let promise = self.promise_named(number, complete.key);
        let ty = MessageType::COMPLETE_PROMISE_COMPLETION;
        let completion = complete.result_completion_id;
        if promise.result.is_some() {
            let late = Outcome::failure(409, "promise was already completed");
            return self.complete(number, ty, completion, late);
        }
        promise.result = Some(result.clone());
        for (waiting, completion) in std::mem::take(&mut promise.waiting) {
            let ty = MessageType::GET_PROMISE_COMPLETION;
            self.complete(waiting, ty, completion, result.clone());
        }
        self.complete(number, ty, completion, Outcome::void());
    }
}

/// Who is called.
fn target(call: pb::CallCommand) -> Target {
    let pair = |header: pb::Header| (header.key, header.value);
    Target {
        service: call.service_name,
        key: call.key,
        handler: call.handler_name,
        parameter: call.parameter,
        headers: call.headers.into_iter().map(pair).collect(),
        idempotency_key: call.idempotency_key,
    }
}
