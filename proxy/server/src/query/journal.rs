//! Entries of a journal as people read them. An entry that cannot be decoded is shown by its type;
//! showing never fails.

use super::{
    model::{EntryClass, Failure, JournalEntry},
    text::{preview, rfc3339},
};
use bytes::Bytes;
use holdfast_machine::{model::Entry, time::Timestamp};
use holdfast_wire::message::{CANCEL_SIGNAL_INDEX, MessageType, pb};
use prost::Message;
use std::collections::{BTreeMap, HashSet};

/// What an entry says beside its type.
#[derive(Default)]
struct Said {
    name: String,
    /// Notifications that complete it, or that it is.
    completions: Vec<u32>,
    details: BTreeMap<String, String>,
    value: Option<Bytes>,
    failure: Option<Failure>,
}

/// Shows a whole journal: a command knows whether a later notification completed it.
pub(super) fn show(entries: &[Entry]) -> Vec<JournalEntry> {
    let said: Vec<Said> = entries.iter().map(said).collect();
    let notified: HashSet<u32> = entries
        .iter()
        .zip(&said)
        .filter(|(entry, _)| entry.ty.is_notification())
        .flat_map(|(_, said)| said.completions.iter().copied())
        .collect();
    entries.iter().zip(said).map(|(entry, said)| shown(entry, said, &notified)).collect()
}

fn shown(entry: &Entry, said: Said, notified: &HashSet<u32>) -> JournalEntry {
    let class = match entry.ty.is_notification() {
        true => EntryClass::Notification,
        false => EntryClass::Command,
    };
    let completable = class == EntryClass::Command && !said.completions.is_empty();
    JournalEntry {
        index: entry.index,
        class,
        kind: entry.ty.kind().into(),
        name: Some(said.name).filter(|name| !name.is_empty()),
        completed: completable.then(|| said.completions.iter().all(|id| notified.contains(id))),
        completions: said.completions,
        details: said.details,
        value: said.value.map(|value| preview(&value)),
        failure: said.failure,
        appended_at: rfc3339(entry.appended_at),
    }
}

/// What is waited for under a completion id, in a few words.
pub(super) fn awaited(entries: &[Entry], completion: u32) -> Option<String> {
    let command = entries.iter().filter(|entry| entry.ty.is_command());
    let mut found = command.map(|entry| (entry, said(entry)));
    let (entry, said) = found.find(|(_, said)| said.completions.contains(&completion))?;
    let kind = entry.ty.kind();
    let about = ["until", "target", "invocation", "promise", "key"];
    let detail = about.iter().find_map(|name| Some(format!("{name} {}", said.details.get(*name)?)));
    let words = [Some(kind.to_owned()), Some(said.name).filter(|name| !name.is_empty()), detail];
    Some(words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn said(entry: &Entry) -> Said {
    let payload = entry.payload.clone();
    let decoded = if entry.ty.is_notification() {
        pb::Notification::decode(payload).map(notification)
    } else {
        command(entry.ty, payload)
    };
    decoded.unwrap_or_else(|error| {
        let mut said = Said::default();
        said.detail("undecodable", error.to_string());
        said
    })
}

fn command(ty: MessageType, payload: Bytes) -> Result<Said, prost::DecodeError> {
    use MessageType as T;
    Ok(match ty {
        T::INPUT => input(pb::InputCommand::decode(payload)?),
        T::OUTPUT => output(pb::OutputCommand::decode(payload)?),
        T::RUN => {
            let it = pb::RunCommand::decode(payload)?;
            Said::new(it.name).completes(it.result_completion_id)
        }
        T::SLEEP => sleep(pb::SleepCommand::decode(payload)?),
        T::CALL => call(pb::CallCommand::decode(payload)?),
        T::ONE_WAY_CALL => one_way_call(pb::OneWayCallCommand::decode(payload)?),
        T::SEND_SIGNAL => send_signal(pb::SendSignalCommand::decode(payload)?),
        T::ATTACH_INVOCATION => attach(pb::AttachInvocationCommand::decode(payload)?),
        T::GET_INVOCATION_OUTPUT => attach(pb::GetInvocationOutputCommand::decode(payload)?.into()),
        T::COMPLETE_AWAKEABLE => awakeable(pb::CompleteAwakeableCommand::decode(payload)?),
        T::GET_PROMISE | T::PEEK_PROMISE | T::COMPLETE_PROMISE => promise(ty, payload)?,
        _ => state(ty, payload)?,
    })
}

impl Said {
    fn new(name: String) -> Said {
        Said { name, ..Said::default() }
    }

    fn completes(mut self, completion: u32) -> Said {
        self.completions.push(completion);
        self
    }

    fn detail(&mut self, name: &str, value: impl Into<String>) {
        self.details.insert(name.into(), value.into());
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Said {
        self.detail(name, value);
        self
    }

    fn value(mut self, value: Option<pb::Value>) -> Said {
        self.value = value.map(|value| value.content);
        self
    }

    fn fail(mut self, failure: pb::Failure) -> Said {
        self.failure =
            Some(Failure { code: failure.code, message: failure.message, ..Failure::default() });
        self
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn input(it: pb::InputCommand) -> Said {
    let said = Said::new(it.name).value(it.value);
    it.headers.into_iter().fold(said, |said, header| {
        let name = format!("header {}", header.key);
        // What may be a secret is not shown.
        let secret = ["authorization", "cookie", "x-api-key"].contains(&header.key.as_str());
        said.with(&name, if secret { "(hidden)".into() } else { header.value })
    })
}

fn output(it: pb::OutputCommand) -> Said {
    use pb::output_command::Result as R;
    let said = Said::new(it.name);
    match it.result {
        Some(R::Value(value)) => said.value(Some(value)),
        Some(R::Failure(failure)) => said.fail(failure),
        None => said,
    }
}

fn sleep(it: pb::SleepCommand) -> Said {
    let until = rfc3339(Timestamp(it.wake_up_time));
    Said::new(it.name).completes(it.result_completion_id).with("until", until)
}

fn target(service: &str, key: &str, handler: &str) -> String {
    match key {
        "" => format!("{service}/{handler}"),
        key => format!("{service}/{key}/{handler}"),
    }
}

fn call(it: pb::CallCommand) -> Said {
    let mut said = Said::new(it.name)
        .completes(it.invocation_id_notification_idx)
        .completes(it.result_completion_id)
        .with("target", target(&it.service_name, &it.key, &it.handler_name));
    if let Some(key) = it.idempotency_key {
        said.detail("idempotency key", key);
    }
    said.value = Some(it.parameter);
    said
}

fn one_way_call(it: pb::OneWayCallCommand) -> Said {
    let mut said = Said::new(it.name)
        .completes(it.invocation_id_notification_idx)
        .with("target", target(&it.service_name, &it.key, &it.handler_name));
    if it.invoke_time > 0 {
        said.detail("starts at", rfc3339(Timestamp(it.invoke_time)));
    }
    if let Some(key) = it.idempotency_key {
        said.detail("idempotency key", key);
    }
    said.value = Some(it.parameter);
    said
}

fn signal_name(index: u32) -> String {
    match index {
        CANCEL_SIGNAL_INDEX => "cancel".into(),
        index => index.to_string(),
    }
}

fn send_signal(it: pb::SendSignalCommand) -> Said {
    use pb::send_signal_command::{Result as R, SignalId};
    let signal = match it.signal_id {
        Some(SignalId::Idx(index)) => signal_name(index),
        Some(SignalId::Name(name)) => name,
        None => String::new(),
    };
    let said =
        Said::new(it.entry_name).with("invocation", it.target_invocation_id).with("signal", signal);
    match it.result {
        Some(R::Value(value)) => said.value(Some(value)),
        Some(R::Failure(failure)) => said.fail(failure),
        Some(R::Void(_)) | None => said,
    }
}

fn attach(it: pb::AttachInvocationCommand) -> Said {
    use pb::attach_invocation_command::Target as T;
    let said = Said::new(it.name).completes(it.result_completion_id);
    match it.target {
        Some(T::InvocationId(id)) => said.with("invocation", id),
        Some(T::IdempotentRequestTarget(it)) => idempotent(said, &it),
        Some(T::WorkflowTarget(it)) => workflow(said, &it),
        None => said,
    }
}

fn idempotent(said: Said, it: &pb::IdempotentRequestTarget) -> Said {
    let key = it.service_key.as_deref().unwrap_or_default();
    said.with("target", target(&it.service_name, key, &it.handler_name))
        .with("idempotency key", it.idempotency_key.as_str())
}

fn workflow(said: Said, it: &pb::WorkflowTarget) -> Said {
    said.with("target", format!("{}/{}", it.workflow_name, it.workflow_key))
}

fn awakeable(it: pb::CompleteAwakeableCommand) -> Said {
    use pb::complete_awakeable_command::Result as R;
    let said = Said::new(it.name).with("awakeable", it.awakeable_id);
    match it.result {
        Some(R::Value(value)) => said.value(Some(value)),
        Some(R::Failure(failure)) => said.fail(failure),
        None => said,
    }
}

fn promise(ty: MessageType, payload: Bytes) -> Result<Said, prost::DecodeError> {
    use pb::complete_promise_command::Completion as C;
    let said =
        |name, completion, key: String| Said::new(name).completes(completion).with("promise", key);
    Ok(match ty {
        MessageType::GET_PROMISE => {
            let it = pb::GetPromiseCommand::decode(payload)?;
            said(it.name, it.result_completion_id, it.key)
        }
        MessageType::PEEK_PROMISE => {
            let it = pb::PeekPromiseCommand::decode(payload)?;
            said(it.name, it.result_completion_id, it.key)
        }
        _ => {
            let it = pb::CompletePromiseCommand::decode(payload)?;
            let said = said(it.name, it.result_completion_id, it.key);
            match it.completion {
                Some(C::CompletionValue(value)) => said.value(Some(value)),
                Some(C::CompletionFailure(failure)) => said.fail(failure),
                None => said,
            }
        }
    })
}

fn state(ty: MessageType, payload: Bytes) -> Result<Said, prost::DecodeError> {
    use MessageType as T;
    use pb::get_eager_state_command::Result as R;
    Ok(match ty {
        T::SET_STATE => {
            let it = pb::SetStateCommand::decode(payload)?;
            Said::new(it.name).with("key", lossy(&it.key)).value(it.value)
        }
        T::CLEAR_STATE => {
            let it = pb::ClearStateCommand::decode(payload)?;
            Said::new(it.name).with("key", lossy(&it.key))
        }
        T::GET_LAZY_STATE => {
            let it = pb::GetLazyStateCommand::decode(payload)?;
            Said::new(it.name).completes(it.result_completion_id).with("key", lossy(&it.key))
        }
        T::GET_LAZY_STATE_KEYS => {
            let it = pb::GetLazyStateKeysCommand::decode(payload)?;
            Said::new(it.name).completes(it.result_completion_id)
        }
        T::GET_EAGER_STATE => {
            let it = pb::GetEagerStateCommand::decode(payload)?;
            let said = Said::new(it.name).with("key", lossy(&it.key));
            match it.result {
                Some(R::Value(value)) => said.value(Some(value)),
                Some(R::Void(_)) | None => said.with("result", "no value"),
            }
        }
        T::GET_EAGER_STATE_KEYS => {
            let it = pb::GetEagerStateKeysCommand::decode(payload)?;
            Said::new(it.name).with("keys", keys(it.value.as_ref()))
        }
        T::CLEAR_ALL_STATE => Said::new(pb::ClearAllStateCommand::decode(payload)?.name),
        _ => Said::default(),
    })
}

fn keys(keys: Option<&pb::StateKeys>) -> String {
    let keys = keys.map(|keys| keys.keys.iter().map(|key| lossy(key)).collect::<Vec<_>>());
    keys.unwrap_or_default().join(", ")
}

fn notification(it: pb::Notification) -> Said {
    use pb::notification::{Id, Result as R};
    let said = Said::default();
    let said = match it.id {
        Some(Id::CompletionId(id)) => said.completes(id),
        Some(Id::SignalIndex(index)) => said.with("signal", signal_name(index)),
        Some(Id::SignalName(name)) => said.with("signal", name),
        None => said,
    };
    match it.result {
        Some(R::Value(value)) => said.value(Some(value)),
        Some(R::Failure(failure)) => said.fail(failure),
        Some(R::InvocationId(id)) => said.with("invocation", id),
        Some(R::StateKeys(all)) => said.with("keys", keys(Some(&all))),
        Some(R::Void(_)) | None => said,
    }
}
