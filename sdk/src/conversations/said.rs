//! Frames in words.

use holdfast_wire::frame::Frame;
use holdfast_wire::message::MessageType;
use holdfast_wire::message::pb::notification::{Id, Result as Outcome};
use holdfast_wire::message::pb::{self, CombinatorType};
use prost::Message;

pub(super) fn phrase(frame: &Frame) -> String {
    let words = words(frame);
    let words = if words.is_empty() { words } else { format!(" {words}") };
    let asks = if frame.requires_ack { ", asks for an ack" } else { "" };
    format!("{}{words}{asks}", frame.ty.name())
}

fn words(frame: &Frame) -> String {
    match frame.ty {
        MessageType::START => format!("{} entries", read::<pb::Start>(frame).known_entries),
        MessageType::INPUT => text(&read::<pb::InputCommand>(frame).value.unwrap().content),
        MessageType::RUN => {
            let run = read::<pb::RunCommand>(frame);
            format!("{} `{}`", run.result_completion_id, run.name)
        }
        MessageType::SLEEP => read::<pb::SleepCommand>(frame).result_completion_id.to_string(),
        MessageType::CALL => {
            let call = read::<pb::CallCommand>(frame);
            let (ids, to) = (call.invocation_id_notification_idx, call.result_completion_id);
            let target = format!("{}/{}", call.service_name, call.handler_name);
            format!("{ids} {to} {target} {}", text(&call.parameter))
        }
        MessageType::PROPOSE_RUN_COMPLETION => propose(&read(frame)),
        MessageType::PROPOSE_RUN_COMPLETION_ACK => {
            read::<pb::ProposeRunCompletionAck>(frame).completion_id.to_string()
        }
        MessageType::OUTPUT => output(&read(frame)),
        MessageType::ERROR => error(&read(frame)),
        MessageType::SUSPENSION => future(&read::<pb::Suspension>(frame).into_future()),
        MessageType::AWAITING_ON => future(&read::<pb::AwaitingOn>(frame).awaiting_on.unwrap()),
        MessageType::SEND_SIGNAL => send_signal(&read(frame)),
        MessageType::GET_EAGER_STATE => eager(&read(frame)),
        MessageType::GET_LAZY_STATE => {
            let get = read::<pb::GetLazyStateCommand>(frame);
            format!("{} {}", get.result_completion_id, text(&get.key))
        }
        MessageType::GET_EAGER_STATE_KEYS => {
            let keys = read::<pb::GetEagerStateKeysCommand>(frame).value.unwrap().keys;
            keys.iter().map(|key| text(key)).collect::<Vec<_>>().join(", ")
        }
        MessageType::SET_STATE => {
            let set = read::<pb::SetStateCommand>(frame);
            format!("{} = {}", text(&set.key), text(&set.value.unwrap().content))
        }
        MessageType::CLEAR_STATE => text(&read::<pb::ClearStateCommand>(frame).key),
        ty if ty.is_notification() => notification(&read(frame)),
        _ => String::new(),
    }
}

fn read<M: Message + Default>(frame: &Frame) -> M {
    M::decode(frame.payload.clone()).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn failure(failure: &pb::Failure) -> String {
    format!("failure {} {}", failure.code, failure.message)
}

fn propose(propose: &pb::ProposeRunCompletion) -> String {
    use pb::propose_run_completion::Result::{Failure, Value};
    let result = match propose.result.as_ref().unwrap() {
        Value(value) => text(value),
        Failure(failed) => failure(failed),
    };
    format!("{} {result}", propose.result_completion_id)
}

fn output(output: &pb::OutputCommand) -> String {
    use pb::output_command::Result::{Failure, Value};
    match output.result.as_ref().unwrap() {
        Value(value) => text(&value.content),
        Failure(failed) => failure(failed),
    }
}

fn eager(get: &pb::GetEagerStateCommand) -> String {
    use pb::get_eager_state_command::Result::{Value, Void};
    let value = match get.result.as_ref().unwrap() {
        Value(value) => text(&value.content),
        Void(_) => "nothing".to_owned(),
    };
    format!("{} is {value}", text(&get.key))
}

fn error(error: &pb::Error) -> String {
    let mut said = format!("{} {}", error.code, error.message);
    if let (Some(index), Some(ty)) = (error.related_command_index, error.related_command_type) {
        let ty = MessageType(u16::try_from(ty).unwrap()).name();
        said.push_str(&format!(" [about command {index}, {ty}]"));
    }
    if let Some(delay) = error.next_retry_delay {
        said.push_str(&format!(" [again after {delay} ms]"));
    }
    if error.behavior != 0 {
        said.push_str(&format!(" [{:?}]", error.behavior()));
    }
    said
}

fn send_signal(send: &pb::SendSignalCommand) -> String {
    use pb::send_signal_command::SignalId;
    match send.signal_id.as_ref().unwrap() {
        SignalId::Idx(index) => format!("{index} to {}", send.target_invocation_id),
        SignalId::Name(name) => format!("`{name}` to {}", send.target_invocation_id),
    }
}

fn notification(notification: &pb::Notification) -> String {
    let id = match notification.id.as_ref().unwrap() {
        Id::CompletionId(id) => id.to_string(),
        Id::SignalIndex(1) => return "cancel".to_owned(),
        Id::SignalIndex(index) => index.to_string(),
        Id::SignalName(name) => format!("`{name}`"),
    };
    let result = match notification.result.as_ref().unwrap() {
        Outcome::Void(_) => "nothing".to_owned(),
        Outcome::Value(value) => text(&value.content),
        Outcome::Failure(failed) => failure(failed),
        Outcome::InvocationId(id) => id.clone(),
        Outcome::StateKeys(keys) => format!("{} keys", keys.keys.len()),
    };
    format!("{id} {result}")
}

/// `first(1, s17, all(2, 3))`: completions by number, signals with an `s`, or by name.
fn future(future: &pb::Future) -> String {
    let name = match future.combinator_type() {
        CombinatorType::Unknown => "unknown",
        CombinatorType::FirstCompleted => "first",
        CombinatorType::AllCompleted => "all",
        CombinatorType::FirstSucceededOrAllFailed => "first_ok",
        CombinatorType::AllSucceededOrFirstFailed => "all_ok",
    };
    let completions = future.waiting_completions.iter().map(u32::to_string);
    let signals = future.waiting_signals.iter().map(|index| format!("s{index}"));
    let named = future.waiting_named_signals.iter().map(|name| format!("`{name}`"));
    let nested = future.nested_futures.iter().map(self::future);
    let all: Vec<String> = completions.chain(signals).chain(named).chain(nested).collect();
    format!("{name}({})", all.join(", "))
}

/// Lines of our own source change too often to be expected: only that there is one is.
pub(super) fn without_lines(what: &str) -> String {
    let mut parts = what.split(".rs:");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        text.push_str(if rest.len() < part.len() { ".rs:LINE" } else { ".rs:" });
        text.push_str(rest);
    }
    text
}
