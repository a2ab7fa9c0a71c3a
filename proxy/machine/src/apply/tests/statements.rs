//! What attempts say in scripts, as the messages of the protocol. The names of commands are short:
//! `run 1` asks for completion 1, `call 1 2 Greeter/greet hi` for the id as 1 and the result as 2.

use super::script::Names;
use super::words::*;
use crate::awaiting::tests::tree_of;
use crate::command::*;
use crate::id::AwakeableId;
use crate::model::*;
use crate::retry::{OnMaxAttempts, RetryPolicy};
use bytes::Bytes;
use holdfast_wire::message::pb;
use holdfast_wire::message::{MessageType, pb::notification::Result as Content};
use prost::Message;
use std::time::Duration;

/// Adds one statement to what an attempt says.
pub fn add(statement: &str, said: &mut AttemptSaid, names: &mut Names) {
    let (word, rest) = statement.split_once(' ').unwrap_or((statement, ""));
    let words = Words::new(rest);
    match word {
        "end" => said.end = Some(AttemptEnd::Completed),
        "unstarted" => said.end = Some(AttemptEnd::Unstarted),
        "suspend" => said.end = Some(AttemptEnd::Suspended(tree_of(rest))),
        "fail" => said.end = Some(AttemptEnd::Failed(Box::new(failed(words)))),
        "ran" | "ran!" => said.said.push(run_completion(word, words)),
        _ => said.said.push(command(word, words, names)),
    }
}

fn command(word: &str, words: Words<'_>, names: &mut Names) -> Said {
    match word {
        "call" | "send" => call(word, words),
        "get" | "got" | "keys" | "got-keys" | "set" | "clear" | "clear-all" => state(word, words),
        "promise" | "peek" | "resolve" | "reject" => promise(word, words),
        "signal" | "signal!" | "awake" | "awake!" => signal(word, words, names),
        "attach" | "attach-workflow" | "attach-idem" => attach(word, words, names),
        "output-of" | "output-of-idem" => output_of(word, words, names),
        "output" | "output!" => output(word, words),
        "run" | "sleep" => wait(word, words),
        _ => panic!("`{word}` is no statement"),
    }
}

fn said(ty: MessageType, message: impl Message) -> Said {
    Said::Command { ty, payload: message.encode_to_vec().into(), callee: None }
}

fn value(content: Bytes) -> pb::Value {
    pb::Value { content }
}

fn output(word: &str, mut words: Words<'_>) -> Said {
    use pb::output_command::Result;
    let result = Some(match word {
        "output!" => Result::Failure(pb::Failure::new(words.number(), words.next())),
        _ => Result::Value(value(words.bytes())),
    });
    said(MessageType::OUTPUT, pb::OutputCommand { result, ..Default::default() })
}

fn wait(word: &str, mut words: Words<'_>) -> Said {
    let result_completion_id = words.number();
    if word == "run" {
        let command = pb::RunCommand { result_completion_id, ..Default::default() };
        return said(MessageType::RUN, command);
    }
    let wake_up_time = words.number().into();
    let command = pb::SleepCommand { wake_up_time, result_completion_id, ..Default::default() };
    said(MessageType::SLEEP, command)
}

fn call(word: &str, mut words: Words<'_>) -> Said {
    let invocation_id_notification_idx = words.number();
    let result_completion_id = if word == "call" { words.number() } else { 0 };
    let target = target(words.next());
    let callee = Some(callee_of(&target, &words));
    let (service_name, handler_name) = (target.service, target.handler);
    let (key, parameter) = (target.key.unwrap_or_default(), words.bytes());
    let idempotency_key = words.text("idem");
    let (ty, payload) = match word {
        "call" => {
            let command = pb::CallCommand {
                service_name,
                handler_name,
                parameter,
                key,
                idempotency_key,
                invocation_id_notification_idx,
                result_completion_id,
                ..Default::default()
            };
            (MessageType::CALL, command.encode_to_vec())
        }
        _ => {
            let command = pb::OneWayCallCommand {
                service_name,
                handler_name,
                parameter,
                key,
                idempotency_key,
                invocation_id_notification_idx,
                invoke_time: words.ms("at").unwrap_or(0),
                ..Default::default()
            };
            (MessageType::ONE_WAY_CALL, command.encode_to_vec())
        }
    };
    Said::Command { ty, payload: payload.into(), callee }
}

fn state(word: &str, mut words: Words<'_>) -> Said {
    let keyless = matches!(word, "keys" | "got-keys" | "clear-all");
    let key = if keyless { Bytes::new() } else { words.bytes() };
    match word {
        "get" => {
            let result_completion_id = words.number();
            let command =
                pb::GetLazyStateCommand { key, result_completion_id, ..Default::default() };
            said(MessageType::GET_LAZY_STATE, command)
        }
        "keys" => {
            let result_completion_id = words.number();
            let command =
                pb::GetLazyStateKeysCommand { result_completion_id, ..Default::default() };
            said(MessageType::GET_LAZY_STATE_KEYS, command)
        }
        "got-keys" => {
            let command = pb::GetEagerStateKeysCommand::default();
            said(MessageType::GET_EAGER_STATE_KEYS, command)
        }
        "got" => {
            let command = pb::GetEagerStateCommand { key, ..Default::default() };
            said(MessageType::GET_EAGER_STATE, command)
        }
        "set" => {
            let value = Some(value(words.bytes()));
            let command = pb::SetStateCommand { key, value, ..Default::default() };
            said(MessageType::SET_STATE, command)
        }
        "clear" => {
            let command = pb::ClearStateCommand { key, ..Default::default() };
            said(MessageType::CLEAR_STATE, command)
        }
        _ => said(MessageType::CLEAR_ALL_STATE, pb::ClearAllStateCommand::default()),
    }
}

fn promise(word: &str, mut words: Words<'_>) -> Said {
    use pb::complete_promise_command::Completion;
    let (key, result_completion_id) = (words.next().to_owned(), words.number());
    let completion = match word {
        "promise" => {
            let command = pb::GetPromiseCommand { key, result_completion_id, ..Default::default() };
            return said(MessageType::GET_PROMISE, command);
        }
        "peek" => {
            let command =
                pb::PeekPromiseCommand { key, result_completion_id, ..Default::default() };
            return said(MessageType::PEEK_PROMISE, command);
        }
        "resolve" => Completion::CompletionValue(value(words.bytes())),
        _ => Completion::CompletionFailure(pb::Failure::new(500, words.next())),
    };
    let command = pb::CompletePromiseCommand {
        key,
        result_completion_id,
        completion: Some(completion),
        ..Default::default()
    };
    said(MessageType::COMPLETE_PROMISE, command)
}

/// With an exclamation mark: a failure.
fn signal(word: &str, mut words: Words<'_>, names: &mut Names) -> Said {
    let invocation = names.known(words.next());
    if word.starts_with("awake") {
        use pb::complete_awakeable_command::Result;
        let awakeable = AwakeableId { invocation, signal: words.number() };
        let result = match word {
            "awake" => Result::Value(value(words.bytes())),
            _ => Result::Failure(pb::Failure::new(500, words.next())),
        };
        let command = pb::CompleteAwakeableCommand {
            awakeable_id: awakeable.to_string(),
            result: Some(result),
            ..Default::default()
        };
        return said(MessageType::COMPLETE_AWAKEABLE, command);
    }
    use pb::send_signal_command::{Result, SignalId};
    let signal_id = match signal_name(words.next()) {
        SignalName::Index(index) => SignalId::Idx(index),
        SignalName::Name(name) => SignalId::Name(name),
    };
    let command = pb::SendSignalCommand {
        target_invocation_id: invocation.to_string(),
        signal_id: Some(signal_id),
        result: Some(match word {
            "signal" => Result::Value(value(words.bytes())),
            _ => Result::Failure(pb::Failure::new(500, words.next())),
        }),
        ..Default::default()
    };
    said(MessageType::SEND_SIGNAL, command)
}

fn attach(word: &str, mut words: Words<'_>, names: &mut Names) -> Said {
    use pb::attach_invocation_command::Target;
    let target = match word {
        "attach" => Target::InvocationId(names.known(words.next()).to_string()),
        "attach-idem" => {
            let target = target(words.next());
            Target::IdempotentRequestTarget(pb::IdempotentRequestTarget {
                service_name: target.service,
                service_key: target.key,
                handler_name: target.handler,
                idempotency_key: words.text("idem").unwrap(),
                scope: None,
            })
        }
        _ => {
            let (service, key) = words.next().split_once('/').unwrap();
            Target::WorkflowTarget(pb::WorkflowTarget {
                workflow_name: service.into(),
                workflow_key: key.into(),
                scope: None,
            })
        }
    };
    let command = pb::AttachInvocationCommand {
        target: Some(target),
        result_completion_id: words.number(),
        ..Default::default()
    };
    said(MessageType::ATTACH_INVOCATION, command)
}

fn output_of(word: &str, mut words: Words<'_>, names: &mut Names) -> Said {
    use pb::get_invocation_output_command::Target;
    let target = match word {
        "output-of" => Target::InvocationId(names.known(words.next()).to_string()),
        _ => {
            let target = target(words.next());
            Target::IdempotentRequestTarget(pb::IdempotentRequestTarget {
                service_name: target.service,
                service_key: target.key,
                handler_name: target.handler,
                idempotency_key: words.text("idem").unwrap(),
                scope: None,
            })
        }
    };
    let command = pb::GetInvocationOutputCommand {
        target: Some(target),
        result_completion_id: words.number(),
        ..Default::default()
    };
    said(MessageType::GET_INVOCATION_OUTPUT, command)
}

/// `fail <message> [code=N] [doc=HF…] [after=MS | pause | fail] [attempts=N] [kill] [uncounted]`
pub fn failed(mut words: Words<'_>) -> Failed {
    let reaction = match words.ms("after") {
        Some(delay) => Reaction::RetryAfter(Duration::from_millis(delay)),
        None if words.has("pause") => Reaction::Pause,
        None if words.has("fail") => Reaction::Fail,
        None => Reaction::Retry,
    };
    let on_max_attempts =
        if words.has("kill") { OnMaxAttempts::Kill } else { OnMaxAttempts::Pause };
    let counts_for_entry = !words.has("uncounted");
    let max_attempts = words.ms("attempts").map(|attempts| u32::try_from(attempts).unwrap());
    Failed {
        failure: AttemptFailure {
            code: words.ms("code").map_or(500, |code| u32::try_from(code).unwrap()),
            message: words.next().into(),
            stacktrace: "at line 1".into(),
            doc_code: words.text("doc"),
            ..AttemptFailure::default()
        },
        reaction,
        policy: RetryPolicy {
            initial_interval: Duration::from_millis(10),
            max_attempts,
            on_max_attempts,
            ..RetryPolicy::default()
        },
        jitter: 0,
        counts_for_entry,
    }
}

pub fn run_completion(word: &str, mut words: Words<'_>) -> Said {
    let completion = words.number();
    let content = match word {
        "ran!" => Content::failure(500, words.next()),
        _ => Content::value(words.bytes()),
    };
    let payload = pb::Notification::completion(completion, content).encode_to_vec().into();
    Said::RunCompletion { completion, payload }
}
