//! What a handler can do: each act is at most one command of the journal.
//!
//! An act takes effect at once, before anything is awaited, so that the order of commands is the
//! order of the handler's calls and of nothing else. After the attempt is over an act does nothing.

use super::ending::{Failed, Related};
use super::state::Known;
use super::{At, Attempt, Child, Leaf, RetryPolicy};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use holdfast_wire::message::pb;
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::{CANCEL_SIGNAL_INDEX, MessageType};
use holdfast_wire::version::Feature;
use std::time::Duration;

/// What is called, and with what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Target {
    pub(crate) service: String,
    /// Empty if the service has no keys.
    pub(crate) key: String,
    pub(crate) handler: String,
    pub(crate) parameter: Bytes,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) idempotency_key: Option<String>,
}

/// A step that was given to the journal.
#[derive(Clone, Debug)]
pub(crate) struct StepId {
    pub(crate) completion: u32,
    index: u32,
    pub(crate) name: String,
}

/// The value of a key of the state.
pub(crate) enum Got {
    Now(Option<Bytes>),
    Later(Leaf),
}

/// All keys of the state.
pub(crate) enum GotKeys {
    Now(Vec<Bytes>),
    Later(Leaf),
}

impl Attempt {
    pub(crate) fn sleep(&mut self, wake_up_time_ms: u64, name: &str, at: At) -> Leaf {
        let id = self.next_completion();
        let name = name.to_owned();
        self.record(
            pb::SleepCommand { wake_up_time: wake_up_time_ms, result_completion_id: id, name },
            at,
        );
        Leaf::Completion(id)
    }

    /// Calls, and gives where the id of the invocation and its result will come.
    pub(crate) fn call(&mut self, target: Target, at: At) -> (Leaf, Leaf) {
        let (invocation, result) = (self.next_completion(), self.next_completion());
        let given = self.record(
            pb::CallCommand {
                service_name: target.service,
                handler_name: target.handler,
                parameter: target.parameter,
                headers: headers(target.headers),
                key: target.key,
                idempotency_key: target.idempotency_key,
                invocation_id_notification_idx: invocation,
                result_completion_id: result,
                ..pb::CallCommand::default()
            },
            at,
        );
        if given.is_some() {
            self.children.push(Child { invocation, result });
        }
        (Leaf::Completion(invocation), Leaf::Completion(result))
    }

    /// Calls without waiting for a result, at that time or, if it is 0, now.
    pub(crate) fn send(&mut self, target: Target, invoke_time_ms: u64, at: At) -> Leaf {
        let invocation = self.next_completion();
        self.record(
            pb::OneWayCallCommand {
                service_name: target.service,
                handler_name: target.handler,
                parameter: target.parameter,
                invoke_time: invoke_time_ms,
                headers: headers(target.headers),
                key: target.key,
                idempotency_key: target.idempotency_key,
                invocation_id_notification_idx: invocation,
                ..pb::OneWayCallCommand::default()
            },
            at,
        );
        Leaf::Completion(invocation)
    }

    pub(crate) fn run(&mut self, name: &str, at: At) -> StepId {
        let completion = self.next_completion();
        let index = self.replay.index;
        let name = name.to_owned();
        self.record(pb::RunCommand { result_completion_id: completion, name: name.clone() }, at);
        StepId { completion, index, name }
    }

    /// The step came to a result, good or bad, that is to be recorded.
    pub(crate) fn propose(&mut self, step: &StepId, result: Result<Bytes, pb::Failure>) {
        use pb::propose_run_completion::Result as Proposed;
        if self.is_closed() {
            return;
        }
        let proposed = match result {
            Ok(value) => Proposed::Value(value),
            Err(failure) => Proposed::Failure(self.sendable(failure)),
        };
        let acknowledged = self.version.supports(Feature::RunAck);
        if acknowledged {
            let outcome = match &proposed {
                Proposed::Value(value) => Outcome::value(value.clone()),
                Proposed::Failure(failure) => Outcome::Failure(failure.clone()),
            };
            self.news.proposed(step.completion, outcome);
        }
        let message = pb::ProposeRunCompletion {
            result_completion_id: step.completion,
            result: Some(proposed),
        };
        self.write_asking_for_ack(&message, acknowledged);
    }

    /// The step failed after being executed for so long: it is tried again, or fails for good.
    pub(crate) fn step_failed(
        &mut self,
        step: &StepId,
        policy: Option<RetryPolicy>,
        failed: Failed,
        spent: Duration,
    ) {
        let (failed_before, failing_for) = match self.replay.gave_new {
            // What failed before was something else.
            true => (0, Duration::ZERO),
            false => (self.failed_before.0, Duration::from_millis(self.failed_before.1)),
        };
        let mut delay = failed.next_retry_delay;
        if let Some(policy) = policy {
            match policy.next_delay(failed_before.saturating_add(1), failing_for + spent) {
                Some(by_policy) => delay = delay.or(Some(by_policy)),
                None => {
                    let failure = pb::Failure::new(failed.code, failed.message);
                    return self.propose(step, Err(failure));
                }
            }
        }
        let related = Related { index: step.index, ty: MessageType::RUN, name: step.name.clone() };
        self.fail(Failed { next_retry_delay: delay, related: Some(related), ..failed });
    }

    pub(crate) fn get_state(&mut self, key: Bytes, at: At) -> Got {
        use pb::get_eager_state_command::Result as Read;
        let known = match self.replay.left.front().map(|held| held.ty) {
            Some(MessageType::GET_LAZY_STATE) => Known::No,
            // What the journal holds counts, not this.
            Some(_) => Known::Missing,
            None => self.state.get(&key),
        };
        let read = match known {
            Known::Value(content) => Read::Value(pb::Value { content }),
            Known::Missing => Read::Void(pb::Void {}),
            Known::No => return Got::Later(self.get_state_lazily(key, at)),
        };
        let command = pb::GetEagerStateCommand { key, name: String::new(), result: Some(read) };
        match self.record(command, at).and_then(|held| held.result) {
            Some(Read::Value(value)) => Got::Now(Some(value.content)),
            Some(Read::Void(_)) | None => Got::Now(None),
        }
    }

    fn get_state_lazily(&mut self, key: Bytes, at: At) -> Leaf {
        let result_completion_id = self.next_completion();
        self.record(pb::GetLazyStateCommand { key, result_completion_id, name: String::new() }, at);
        Leaf::Completion(result_completion_id)
    }

    pub(crate) fn state_keys(&mut self, at: At) -> GotKeys {
        let known = match self.replay.left.front().map(|held| held.ty) {
            Some(MessageType::GET_LAZY_STATE_KEYS) => None,
            Some(_) => Some(vec![]),
            None => self.state.keys(),
        };
        let Some(keys) = known else {
            let result_completion_id = self.next_completion();
            let command = pb::GetLazyStateKeysCommand { result_completion_id, name: String::new() };
            self.record(command, at);
            return GotKeys::Later(Leaf::Completion(result_completion_id));
        };
        let command = pb::GetEagerStateKeysCommand {
            name: String::new(),
            value: Some(pb::StateKeys { keys }),
        };
        let held = self.record(command, at).and_then(|held| held.value);
        GotKeys::Now(held.map(|keys| keys.keys).unwrap_or_default())
    }

    pub(crate) fn set_state(&mut self, key: Bytes, content: Bytes, at: At) {
        let command = pb::SetStateCommand {
            key: key.clone(),
            value: Some(pb::Value { content }),
            name: String::new(),
        };
        if let Some(held) = self.record(command, at) {
            self.state.set(key, held.value.map(|value| value.content).unwrap_or_default());
        }
    }

    pub(crate) fn clear_state(&mut self, key: Bytes, at: At) {
        self.state.clear(key.clone());
        self.record(pb::ClearStateCommand { key, name: String::new() }, at);
    }

    pub(crate) fn clear_all_state(&mut self, at: At) {
        self.state.clear_all();
        self.record(pb::ClearAllStateCommand { name: String::new() }, at);
    }

    /// A new awakeable: the id by which others complete it, for an invocation of that id.
    pub(crate) fn awakeable(&mut self, invocation: &[u8]) -> (String, Leaf) {
        let index = self.next_signal;
        self.next_signal += 1;
        let raw = [invocation, &index.to_be_bytes()].concat();
        (format!("sign_1{}", URL_SAFE_NO_PAD.encode(raw)), Leaf::Signal(index))
    }

    pub(crate) fn complete_awakeable(
        &mut self,
        id: &str,
        result: Result<Bytes, pb::Failure>,
        at: At,
    ) {
        use pb::complete_awakeable_command::Result as Completed;
        let result = match result {
            Ok(content) => Completed::Value(pb::Value { content }),
            Err(failure) => Completed::Failure(self.sendable(failure)),
        };
        let awakeable_id = id.to_owned();
        let name = String::new();
        self.record(pb::CompleteAwakeableCommand { awakeable_id, name, result: Some(result) }, at);
    }

    pub(crate) fn send_signal(
        &mut self,
        invocation: &str,
        name: &str,
        result: Result<Bytes, pb::Failure>,
        at: At,
    ) {
        use pb::send_signal_command::{Result as Sent, SignalId};
        let result = match result {
            Ok(content) => Sent::Value(pb::Value { content }),
            Err(failure) => Sent::Failure(self.sendable(failure)),
        };
        self.signal_to(invocation, SignalId::Name(name.to_owned()), result, at);
    }

    pub(crate) fn cancel(&mut self, invocation: &str, at: At) {
        use pb::send_signal_command::{Result as Sent, SignalId};
        self.signal_to(invocation, SignalId::Idx(CANCEL_SIGNAL_INDEX), Sent::Void(pb::Void {}), at);
    }

    fn signal_to(
        &mut self,
        invocation: &str,
        signal: pb::send_signal_command::SignalId,
        result: pb::send_signal_command::Result,
        at: At,
    ) {
        self.record(
            pb::SendSignalCommand {
                target_invocation_id: invocation.to_owned(),
                entry_name: String::new(),
                signal_id: Some(signal),
                result: Some(result),
            },
            at,
        );
    }

    pub(crate) fn get_promise(&mut self, key: &str, at: At) -> Leaf {
        let id = self.next_completion();
        let (key, name) = (key.to_owned(), String::new());
        self.record(pb::GetPromiseCommand { key, result_completion_id: id, name }, at);
        Leaf::Completion(id)
    }

    pub(crate) fn peek_promise(&mut self, key: &str, at: At) -> Leaf {
        let id = self.next_completion();
        let (key, name) = (key.to_owned(), String::new());
        self.record(pb::PeekPromiseCommand { key, result_completion_id: id, name }, at);
        Leaf::Completion(id)
    }

    pub(crate) fn complete_promise(
        &mut self,
        key: &str,
        result: Result<Bytes, pb::Failure>,
        at: At,
    ) -> Leaf {
        use pb::complete_promise_command::Completion;
        let completion = match result {
            Ok(content) => Completion::CompletionValue(pb::Value { content }),
            Err(failure) => Completion::CompletionFailure(self.sendable(failure)),
        };
        let id = self.next_completion();
        self.record(
            pb::CompletePromiseCommand {
                key: key.to_owned(),
                result_completion_id: id,
                name: String::new(),
                completion: Some(completion),
            },
            at,
        );
        Leaf::Completion(id)
    }

    pub(crate) fn attach(&mut self, target: pb::attach_invocation_command::Target, at: At) -> Leaf {
        let id = self.next_completion();
        self.record(
            pb::AttachInvocationCommand {
                result_completion_id: id,
                name: String::new(),
                target: Some(target),
            },
            at,
        );
        Leaf::Completion(id)
    }

    pub(crate) fn output_of(
        &mut self,
        target: pb::get_invocation_output_command::Target,
        at: At,
    ) -> Leaf {
        let id = self.next_completion();
        self.record(
            pb::GetInvocationOutputCommand {
                result_completion_id: id,
                name: String::new(),
                target: Some(target),
            },
            at,
        );
        Leaf::Completion(id)
    }

    /// Marks something that every attempt does again.
    pub(crate) fn unrecorded(&mut self) -> Leaf {
        self.next_unrecorded += 1;
        Leaf::Unrecorded(self.next_unrecorded)
    }

    fn next_completion(&mut self) -> u32 {
        self.next_completion += 1;
        self.next_completion - 1
    }
}

fn headers(headers: Vec<(String, String)>) -> Vec<pb::Header> {
    headers.into_iter().map(|(key, value)| pb::Header { key, value }).collect()
}
