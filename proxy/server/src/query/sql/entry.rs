//! Entries of a journal in the words and the JSON of existing tools: `Command: Run`, and
//! `{"Command":{"Run":{…}}}`. An entry that cannot be decoded has no JSON; nothing here fails.

mod called;

use super::source::Catalog;
use bytes::Bytes;
use called::{Called, Sent};
use holdfast_machine::{id::InvocationId, model::Entry};
use holdfast_wire::message::{MessageType as T, pb};
use prost::Message;
use serde_json::{Map, Value, json};

/// `Command: …` or `Notification: …`.
pub fn type_name(entry: &Entry) -> String {
    let class = if entry.ty.is_notification() { "Notification" } else { "Command" };
    format!("{class}: {}", entry.ty.kind())
}

/// All commands have their name in the same field.
#[derive(Clone, PartialEq, prost::Message)]
struct Named {
    #[prost(string, tag = "12")]
    name: String,
}

/// The name that the handler gave to a command; empty where it gave none.
pub fn name(entry: &Entry) -> Option<String> {
    if !entry.ty.is_command() {
        return None;
    }
    Some(Named::decode(entry.payload.clone()).ok()?.name)
}

/// The whole entry, payloads as arrays of bytes.
pub fn json(id: InvocationId, entry: &Entry, catalog: &Catalog) -> Option<Value> {
    let payload = entry.payload.clone();
    if entry.ty.is_notification() {
        let it = pb::Notification::decode(payload).ok()?;
        return Some(json!({ "Notification": notification(entry.ty, it) }));
    }
    let command = command(entry.ty, payload, &Called { id, entry: entry.index, catalog }).ok()?;
    Some(json!({ "Command": { entry.ty.kind(): command } }))
}

/// The entry without payloads.
pub fn lite_json(id: InvocationId, entry: &Entry, catalog: &Catalog) -> Option<Value> {
    let payload = entry.payload.clone();
    if entry.ty.is_notification() {
        let it = pb::Notification::decode(payload).ok()?;
        return Some(json!({ "Notification": lite_notification(entry.ty, it) }));
    }
    let called = Called { id, entry: entry.index, catalog };
    let Value::Object(command) = command(entry.ty, payload, &called).ok()? else {
        return None;
    };
    Some(json!({ "Command": { entry.ty.kind(): lite(command) } }))
}

/// Drops what may be large, payloads and headers, and empty names. Of a request its target stays.
fn lite(command: Map<String, Value>) -> Map<String, Value> {
    let mut lite = Map::new();
    for (name, value) in command {
        match (name.as_str(), value) {
            ("payload" | "value" | "headers" | "state_keys", _) => {}
            ("name", Value::String(given)) if given.is_empty() => {}
            ("result", Value::Object(result)) => {
                lite.insert(name, result.keys().next().map_or(Value::Null, |kind| json!(kind)));
            }
            ("request", Value::Object(request)) => {
                let kept = ["invocation_id", "invocation_target"];
                lite.extend(request.into_iter().filter(|(name, _)| kept.contains(&&**name)));
            }
            (_, value) => {
                lite.insert(name, value);
            }
        }
    }
    lite
}

fn bytes(bytes: &[u8]) -> Value {
    json!(bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn content(value: Option<pb::Value>) -> Value {
    bytes(&value.unwrap_or_default().content)
}

fn success(value: pb::Value) -> Value {
    json!({ "Success": bytes(&value.content) })
}

fn failure(failure: &pb::Failure) -> Value {
    let mut shown = json!({ "code": failure.code, "message": failure.message });
    if !failure.metadata.is_empty() {
        let pairs = failure.metadata.iter();
        shown["metadata"] = pairs.map(|it| json!({ "key": it.key, "value": it.value })).collect();
    }
    json!({ "Failure": shown })
}

fn headers(headers: &[pb::Header]) -> Value {
    // What may be a secret is not shown.
    let shown = |header: &pb::Header| {
        let secret = ["authorization", "cookie", "x-api-key"]
            .iter()
            .any(|name| header.key.eq_ignore_ascii_case(name));
        let value = if secret { "(hidden)" } else { &header.value };
        json!({ "name": header.key, "value": value })
    };
    headers.iter().map(shown).collect()
}

fn command(ty: T, payload: Bytes, called: &Called<'_>) -> Result<Value, prost::DecodeError> {
    Ok(match ty {
        T::INPUT => {
            let it = pb::InputCommand::decode(payload)?;
            json!({ "headers": headers(&it.headers), "payload": content(it.value),
                "name": it.name })
        }
        T::OUTPUT => output(pb::OutputCommand::decode(payload)?),
        T::RUN => {
            let it = pb::RunCommand::decode(payload)?;
            json!({ "completion_id": it.result_completion_id, "name": it.name })
        }
        T::SLEEP => {
            let it = pb::SleepCommand::decode(payload)?;
            json!({ "wake_up_time": it.wake_up_time, "completion_id": it.result_completion_id,
                "name": it.name })
        }
        T::CALL => call(pb::CallCommand::decode(payload)?, called),
        T::ONE_WAY_CALL => one_way_call(pb::OneWayCallCommand::decode(payload)?, called),
        T::SEND_SIGNAL => send_signal(pb::SendSignalCommand::decode(payload)?),
        T::ATTACH_INVOCATION => attach(pb::AttachInvocationCommand::decode(payload)?),
        T::GET_INVOCATION_OUTPUT => attach(pb::GetInvocationOutputCommand::decode(payload)?.into()),
        T::COMPLETE_AWAKEABLE => {
            use pb::complete_awakeable_command::Result as R;
            let it = pb::CompleteAwakeableCommand::decode(payload)?;
            let result = it.result.map(|result| match result {
                R::Value(value) => success(value),
                R::Failure(it) => failure(&it),
            });
            json!({ "id": it.awakeable_id, "result": result, "name": it.name })
        }
        T::GET_PROMISE | T::PEEK_PROMISE | T::COMPLETE_PROMISE => promise(ty, payload)?,
        _ => state(ty, payload)?,
    })
}

fn output(it: pb::OutputCommand) -> Value {
    use pb::output_command::Result as R;
    let result = it.result.map(|result| match result {
        R::Value(value) => success(value),
        R::Failure(it) => failure(&it),
    });
    json!({ "result": result, "name": it.name })
}

fn request(it: &pb::CallCommand, called: &Called<'_>) -> Value {
    called.request(
        &it.service_name,
        &it.key,
        &it.handler_name,
        &Sent {
            idempotency_key: it.idempotency_key.as_deref(),
            headers: headers(&it.headers),
            parameter: bytes(&it.parameter),
        },
    )
}

fn call(it: pb::CallCommand, called: &Called<'_>) -> Value {
    json!({
        "request": request(&it, called),
        "invocation_id_completion_id": it.invocation_id_notification_idx,
        "result_completion_id": it.result_completion_id,
        "name": it.name,
    })
}

fn one_way_call(it: pb::OneWayCallCommand, called: &Called<'_>) -> Value {
    let invoke_time = it.invoke_time;
    let it = pb::CallCommand::from(it);
    json!({
        "request": request(&it, called),
        "invoke_time": invoke_time,
        "invocation_id_completion_id": it.invocation_id_notification_idx,
        "name": it.name,
    })
}

fn send_signal(it: pb::SendSignalCommand) -> Value {
    use pb::send_signal_command::{Result as R, SignalId};
    let signal = it.signal_id.map(|signal| match signal {
        SignalId::Idx(index) => json!({ "Index": index }),
        SignalId::Name(name) => json!({ "Name": name }),
    });
    let result = it.result.map(|result| match result {
        R::Void(_) => json!("Void"),
        R::Value(value) => success(value),
        R::Failure(it) => failure(&it),
    });
    json!({ "target_invocation_id": it.target_invocation_id, "signal_id": signal,
        "result": result, "name": it.entry_name })
}

fn attach(it: pb::AttachInvocationCommand) -> Value {
    use pb::attach_invocation_command::Target as Of;
    let target = it.target.map(|target| match target {
        Of::InvocationId(id) => json!({ "InvocationId": id }),
        Of::IdempotentRequestTarget(it) => idempotent(&it),
        Of::WorkflowTarget(it) => workflow(&it),
    });
    json!({ "target": target, "completion_id": it.result_completion_id, "name": it.name })
}

fn idempotent(it: &pb::IdempotentRequestTarget) -> Value {
    json!({ "IdempotentRequest": {
        "service_name": it.service_name,
        "service_key": it.service_key,
        "service_handler": it.handler_name,
        "idempotency_key": it.idempotency_key,
    } })
}

fn workflow(it: &pb::WorkflowTarget) -> Value {
    json!({ "Workflow": { "service_name": it.workflow_name, "key": it.workflow_key } })
}

fn promise(ty: T, payload: Bytes) -> Result<Value, prost::DecodeError> {
    use pb::complete_promise_command::Completion as C;
    let shown = |key: String, completion: u32, name: String| json!({ "key": key, "completion_id": completion, "name": name });
    Ok(match ty {
        T::GET_PROMISE => {
            let it = pb::GetPromiseCommand::decode(payload)?;
            shown(it.key, it.result_completion_id, it.name)
        }
        T::PEEK_PROMISE => {
            let it = pb::PeekPromiseCommand::decode(payload)?;
            shown(it.key, it.result_completion_id, it.name)
        }
        _ => {
            let it = pb::CompletePromiseCommand::decode(payload)?;
            let value = it.completion.map(|completion| match completion {
                C::CompletionValue(value) => success(value),
                C::CompletionFailure(it) => failure(&it),
            });
            json!({ "key": it.key, "value": value, "completion_id": it.result_completion_id,
                "name": it.name })
        }
    })
}

fn state(ty: T, payload: Bytes) -> Result<Value, prost::DecodeError> {
    use pb::get_eager_state_command::Result as R;
    Ok(match ty {
        T::SET_STATE => {
            let it = pb::SetStateCommand::decode(payload)?;
            json!({ "key": text(&it.key), "value": content(it.value), "name": it.name })
        }
        T::CLEAR_STATE => {
            let it = pb::ClearStateCommand::decode(payload)?;
            json!({ "key": text(&it.key), "name": it.name })
        }
        T::GET_LAZY_STATE => {
            let it = pb::GetLazyStateCommand::decode(payload)?;
            json!({ "key": text(&it.key), "completion_id": it.result_completion_id,
                "name": it.name })
        }
        T::GET_LAZY_STATE_KEYS => {
            let it = pb::GetLazyStateKeysCommand::decode(payload)?;
            json!({ "completion_id": it.result_completion_id, "name": it.name })
        }
        T::GET_EAGER_STATE => {
            let it = pb::GetEagerStateCommand::decode(payload)?;
            let result = it.result.map(|result| match result {
                R::Void(_) => json!("Void"),
                R::Value(value) => success(value),
            });
            json!({ "key": text(&it.key), "result": result, "name": it.name })
        }
        T::GET_EAGER_STATE_KEYS => {
            let it = pb::GetEagerStateKeysCommand::decode(payload)?;
            json!({ "state_keys": keys(it.value), "name": it.name })
        }
        _ => json!({ "name": Named::decode(payload)?.name }),
    })
}

fn keys(keys: Option<pb::StateKeys>) -> Vec<String> {
    keys.unwrap_or_default().keys.iter().map(|key| text(key)).collect()
}

fn notification(ty: T, it: pb::Notification) -> Value {
    use pb::notification::{Id, Result as R};
    let result = it.result.map(|result| match result {
        R::Void(_) => json!("Void"),
        R::Value(value) => success(value),
        R::Failure(it) => failure(&it),
        R::InvocationId(id) => json!({ "InvocationId": id }),
        R::StateKeys(it) => json!({ "StateKeys": keys(Some(it)) }),
    });
    match it.id {
        Some(Id::SignalIndex(index)) => {
            json!({ "Signal": { "id": { "Index": index }, "result": result } })
        }
        Some(Id::SignalName(name)) => {
            json!({ "Signal": { "id": { "Name": name }, "result": result } })
        }
        Some(Id::CompletionId(id)) if ty == T::CALL_INVOCATION_ID_COMPLETION => {
            let invocation = result.map(|result| result["InvocationId"].clone());
            json!({ "Completion": { ty.kind(): { "completion_id": id,
                "invocation_id": invocation } } })
        }
        Some(Id::CompletionId(id)) if ty == T::SLEEP_COMPLETION => {
            json!({ "Completion": { ty.kind(): { "completion_id": id } } })
        }
        Some(Id::CompletionId(id)) => {
            json!({ "Completion": { ty.kind(): { "completion_id": id, "result": result } } })
        }
        None => Value::Null,
    }
}

fn lite_notification(ty: T, it: pb::Notification) -> Value {
    use pb::notification::{Id, Result as R};
    let result = it.result.map(|result| match result {
        R::Void(_) => "Void",
        R::Value(_) => "Success",
        R::Failure(_) => "Failure",
        R::InvocationId(_) => "InvocationId",
        R::StateKeys(_) => "StateKeys",
    });
    let (of, id) = match it.id {
        Some(Id::CompletionId(id)) => {
            (json!({ "Completion": ty.kind() }), json!({ "CompletionId": id }))
        }
        Some(Id::SignalIndex(index)) => (json!("Signal"), json!({ "SignalIndex": index })),
        Some(Id::SignalName(name)) => (json!("Signal"), json!({ "SignalName": name })),
        None => (Value::Null, Value::Null),
    };
    json!({ "ty": of, "id": id, "result": result })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use holdfast_machine::{id::PartitionKey, time::Timestamp};

    /// The entry as existing tools read it, whole and without payloads.
    fn check(ty: T, message: &impl Message, expected: Expect) {
        let entry = Entry {
            index: 3,
            ty,
            payload: message.encode_to_vec().into(),
            appended_at: Timestamp(0),
        };
        let id = InvocationId { partition_key: PartitionKey(1), uuid: 2 };
        let catalog = Catalog::default();
        let (whole, lite) = (json(id, &entry, &catalog), lite_json(id, &entry, &catalog));
        expected.assert_eq(&format!("{}\n{}\n", whole.unwrap(), lite.unwrap()));
    }

    #[test]
    fn a_call_has_every_field_that_is_insisted_on() {
        let call = pb::CallCommand {
            service_name: "Obj".into(),
            handler_name: "add".into(),
            key: "k".into(),
            parameter: "1".into(),
            invocation_id_notification_idx: 1,
            result_completion_id: 2,
            ..pb::CallCommand::default()
        };
        check(
            T::CALL,
            &call,
            expect![[r#"
                {"Command":{"Call":{"request":{"invocation_id":"inv_10T5Thwsbi8d72D176nmmtmeXYjHkMEzNm","invocation_target":{"VirtualObject":{"name":"Obj","key":"k","handler":"add","handler_ty":"Exclusive","scope":null}},"span_context":{"span_context":{"trace_id":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"span_id":[0,0,0,0,0,0,0,0],"trace_flags":0,"is_remote":false,"trace_state":""},"cause":null},"parameter":[49],"headers":[],"idempotency_key":null,"completion_retention_duration":{"secs":0,"nanos":0},"journal_retention_duration":{"secs":0,"nanos":0}},"invocation_id_completion_id":1,"result_completion_id":2,"name":""}}}
                {"Command":{"Call":{"invocation_id":"inv_10T5Thwsbi8d72D176nmmtmeXYjHkMEzNm","invocation_target":{"VirtualObject":{"name":"Obj","key":"k","handler":"add","handler_ty":"Exclusive","scope":null}},"invocation_id_completion_id":1,"result_completion_id":2}}}
            "#]],
        );
    }

    #[test]
    fn failures_have_their_metadata() {
        let metadata = pb::FailureMetadata { key: "a".into(), value: "b".into() };
        let failure = pb::Failure { code: 418, message: "no".into(), metadata: vec![metadata] };
        let result = Some(pb::output_command::Result::Failure(failure));
        let output = pb::OutputCommand { result, ..pb::OutputCommand::default() };
        check(
            T::OUTPUT,
            &output,
            expect![[r#"
            {"Command":{"Output":{"result":{"Failure":{"code":418,"message":"no","metadata":[{"key":"a","value":"b"}]}},"name":""}}}
            {"Command":{"Output":{"result":"Failure"}}}
        "#]],
        );
    }

    #[test]
    fn state_keys_are_a_payload() {
        let value = Some(pb::StateKeys { keys: vec!["a".into()] });
        let keys = pb::GetEagerStateKeysCommand { value, ..Default::default() };
        check(
            T::GET_EAGER_STATE_KEYS,
            &keys,
            expect![[r#"
            {"Command":{"GetEagerStateKeys":{"state_keys":["a"],"name":""}}}
            {"Command":{"GetEagerStateKeys":{}}}
        "#]],
        );
    }
}
