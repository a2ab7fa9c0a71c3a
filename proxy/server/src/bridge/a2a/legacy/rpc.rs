//! 0.3 over JSON-RPC: methods with a slash, and a `kind` in everything.

use super::words::{
    self, Form, as_object, object, push_config, with_metadata, written_push_config,
};
use crate::bridge::a2a::core::Event;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::{Fields, read};
use crate::bridge::a2a::model::*;
use crate::bridge::a2a::operation::{Operation, Outcome};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

/// How it is written here.
const FORM: Form = Form { kinds: true, parts: "parts", part: written_part, role, state, artifact };

/// The code of an error; two that are now did not exist.
pub fn code(error: &Error) -> i32 {
    match error.rpc_code() {
        -32008 | -32009 => -32603,
        code => code,
    }
}

/// What a method asks for.
pub fn operation(method: &str, params: Option<&Value>) -> Result<Operation, Error> {
    let nothing = Value::Object(Map::new());
    let fields = Fields::top(params.unwrap_or(&nothing))?;
    Ok(match method {
        "message/send" => Operation::Send(Box::new(send(&fields)?)),
        "message/stream" => Operation::SendStreaming(Box::new(send(&fields)?)),
        "tasks/get" => {
            let get = read::get(&fields)?;
            let history_length = get.history_length.filter(|length| *length != 0);
            Operation::Get(params::Get { history_length, ..get })
        }
        "tasks/cancel" => Operation::Cancel(read::cancel(&fields)?),
        "tasks/resubscribe" => Operation::Subscribe(read::subscribe(&fields)?),
        "tasks/pushNotificationConfig/set" => {
            let task_id = fields.text("taskId")?;
            let config = fields.required("pushNotificationConfig", push_config)?;
            Operation::CreatePushConfig(PushConfig { task_id, ..config })
        }
        "tasks/pushNotificationConfig/get" => Operation::GetPushConfig(config_of(&fields)?),
        "tasks/pushNotificationConfig/delete" => Operation::DeletePushConfig(config_of(&fields)?),
        "tasks/pushNotificationConfig/list" => {
            let task_id = fields.text("id")?;
            Operation::ListPushConfigs(params::PushConfigsOf { task_id, ..Default::default() })
        }
        "agent/getAuthenticatedExtendedCard" => Operation::ExtendedCard,
        other => return Err(Error::MethodNotFound(other.chars().take(80).collect())),
    })
}

fn config_of(fields: &Fields<'_>) -> Result<params::PushConfigOf, Error> {
    Ok(params::PushConfigOf {
        task_id: fields.text("id")?,
        id: fields.text("pushNotificationConfigId")?,
    })
}

fn send(fields: &Fields<'_>) -> Result<params::Send, Error> {
    words::send(fields, ("message", "pushNotificationConfig"), message)
}

fn message(fields: &Fields<'_>) -> Result<Message, Error> {
    let role = match fields.text("role")?.as_str() {
        "user" => Role::User,
        "agent" => Role::Agent,
        _ => return Err(fields.wrong("role", "must be user or agent")),
    };
    let message = words::message(fields, role, (FORM.parts, part))?;
    Ok(Message { reference_task_ids: fields.texts("referenceTaskIds")?, ..message })
}

fn part(fields: &Fields<'_>) -> Result<Part, Error> {
    let part = match fields.text("kind")?.as_str() {
        "text" => Part::text(fields.text("text")?),
        "data" => {
            let data = fields.raw("data").cloned();
            Part::of(Content::Data(data.ok_or_else(|| fields.wrong("data", "is required"))?))
        }
        "file" => fields.required("file", file)?,
        _ => return Err(fields.wrong("kind", "must be text, file or data")),
    };
    Ok(Part { metadata: fields.facts("metadata")?, ..part })
}

fn file(fields: &Fields<'_>) -> Result<Part, Error> {
    let content = match (fields.get("bytes"), fields.get("uri")) {
        (Some(_), None) => Content::Raw(fields.bytes("bytes")?),
        (None, Some(_)) => Content::Url(fields.text("uri")?),
        _ => return Err(fields.wrong("bytes", "must be there, or uri")),
    };
    words::file(fields, content)
}

/// The result of a call.
pub fn result(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Sent(SendResponse::Task(task)) | Outcome::Task(task) => FORM.task(task),
        Outcome::Sent(SendResponse::Message(message)) => FORM.message(message),
        Outcome::Page(page) => page.tasks.iter().map(|task| FORM.task(task)).collect(),
        Outcome::PushConfig(config) => of_task(config),
        Outcome::PushConfigs(page) => page.configs.iter().map(of_task).collect(),
        Outcome::Card(card) => card.clone(),
        Outcome::Deleted | Outcome::Events(_) => Value::Null,
    }
}

fn of_task(config: &PushConfig) -> Value {
    json!({ "taskId": config.task_id, "pushNotificationConfig": written_push_config(config) })
}

/// One event of a stream.
pub fn event(event: &Event) -> Value {
    payload(&event.payload, event.last)
}

/// An event, also as the body of a push notification; after the last one the stream ends.
pub fn payload(payload: &StreamResponse, last: bool) -> Value {
    match payload {
        StreamResponse::Task(task) => FORM.task(task),
        StreamResponse::Message(message) => FORM.message(message),
        StreamResponse::StatusUpdate(update) => {
            let mut written = FORM.status_update(update);
            written["final"] = (last || update.status.state.is_terminal()).into();
            written
        }
        StreamResponse::ArtifactUpdate(update) => object(vec![
            ("kind", FORM.kind("artifact-update")),
            ("taskId", update.task_id.as_str().into()),
            ("contextId", update.context_id.as_str().into()),
            ("artifact", artifact(&update.artifact)),
            ("append", update.append.into()),
            ("lastChunk", update.last_chunk.into()),
            ("metadata", Value::Object(update.metadata.clone())),
        ]),
    }
}

fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input-required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth-required",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
    }
}

fn artifact(artifact: &Artifact) -> Value {
    let mut written = object(vec![
        ("artifactId", artifact.artifact_id.as_str().into()),
        ("name", artifact.name.as_str().into()),
        ("description", artifact.description.as_str().into()),
        ("metadata", Value::Object(artifact.metadata.clone())),
        ("extensions", artifact.extensions.clone().into()),
    ]);
    written["parts"] = artifact.parts.iter().map(written_part).collect();
    written
}

fn written_part(part: &Part) -> Value {
    let file = |of: &str, content: String| {
        object(vec![
            (of, content.into()),
            ("name", part.filename.as_str().into()),
            ("mimeType", part.media_type.as_str().into()),
        ])
    };
    let written = match &part.content {
        Content::Text(text) => json!({ "kind": "text", "text": text }),
        Content::Data(data) => json!({ "kind": "data", "data": as_object(data) }),
        Content::Raw(raw) => json!({ "kind": "file", "file": file("bytes", STANDARD.encode(raw)) }),
        Content::Url(url) => json!({ "kind": "file", "file": file("uri", url.clone()) }),
    };
    with_metadata(written, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, params: Value) -> Result<Operation, Error> {
        operation(method, Some(&params))
    }

    #[test]
    fn a_message_of_0_3() {
        let message = json!({"kind": "message", "messageId": "m", "role": "user", "parts": [
            {"kind": "text", "text": "hi"},
            {"kind": "file", "file": {"bytes": "dGNr", "name": "o.txt", "mimeType": "text/plain"}},
            {"kind": "file", "file": {"uri": "https://example.com/o"}},
            {"kind": "data", "data": {"a": 1}, "metadata": {"m": true}}]});
        let configuration = json!({"blocking": false, "historyLength": 0,
            "pushNotificationConfig": {"url": "http://h", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}});
        let params = json!({"message": message, "configuration": configuration});
        let Ok(Operation::Send(send)) = asked("message/send", params) else { panic!("no send") };
        assert!(send.configuration.return_immediately);
        assert_eq!(send.configuration.history_length, None);
        let push = send.configuration.push.as_ref().unwrap();
        assert_eq!(push.authentication.as_ref().unwrap().scheme, "Bearer");
        assert_eq!(send.message.parts[1].content, Content::Raw("tck".into()));
        assert_eq!(FORM.message(&send.message), message, "it is written as it was read");
    }

    #[test]
    fn waiting_is_the_default() {
        let params = json!({"message": {"messageId": "m", "role": "user", "parts": []}});
        let Ok(Operation::SendStreaming(send)) = asked("message/stream", params) else {
            panic!("no stream")
        };
        assert!(!send.configuration.return_immediately);
    }

    #[test]
    fn the_other_methods() {
        let id = || "t".to_owned();
        let of = || params::PushConfigOf { task_id: id(), id: "c".into() };
        let config = json!({"id": "t", "pushNotificationConfigId": "c"});
        for (method, given, expected) in [
            (
                "tasks/get",
                json!({"id": "t", "historyLength": 3}),
                Operation::Get(params::Get { id: id(), history_length: Some(3) }),
            ),
            (
                "tasks/cancel",
                json!({"id": "t"}),
                Operation::Cancel(params::Cancel { id: id(), ..Default::default() }),
            ),
            (
                "tasks/resubscribe",
                json!({"id": "t"}),
                Operation::Subscribe(params::Subscribe { id: id(), after: None }),
            ),
            ("tasks/pushNotificationConfig/get", config.clone(), Operation::GetPushConfig(of())),
            ("tasks/pushNotificationConfig/delete", config, Operation::DeletePushConfig(of())),
            ("agent/getAuthenticatedExtendedCard", json!({}), Operation::ExtendedCard),
        ] {
            assert_eq!(asked(method, given), Ok(expected), "{method}");
        }
        assert_eq!(asked("tasks/list", json!({})), Err(Error::MethodNotFound("tasks/list".into())));
    }

    #[test]
    fn events_say_what_they_are_and_which_is_the_last() {
        let status =
            TaskStatus { state: TaskState::InputRequired, message: None, timestamp: Timestamp(0) };
        let update = StatusUpdate {
            task_id: "t".into(),
            context_id: "c".into(),
            status,
            metadata: Struct::new(),
        };
        let update = StreamResponse::StatusUpdate(Box::new(update));
        let written = json!({"kind": "status-update", "taskId": "t", "contextId": "c",
            "status": {"state": "input-required", "timestamp": "1970-01-01T00:00:00.000Z"},
            "final": false});
        assert_eq!(payload(&update, false), written);
        assert_eq!(payload(&update, true)["final"], true);
    }
}
