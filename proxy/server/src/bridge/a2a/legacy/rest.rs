//! 0.3 over HTTP+JSON, below `/v1/`: the shapes of its protobuf.

use super::words::{self, Form, as_object, object, with_metadata, written_push_config};
use crate::bridge::a2a::core::Event;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::{Fields, write};
use crate::bridge::a2a::model::*;
use crate::bridge::a2a::operation::Outcome;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// How it is written here.
const FORM: Form =
    Form { kinds: false, parts: "content", part: written_part, role: Role::name, state, artifact };

pub fn send(fields: &Fields<'_>) -> Result<params::Send, Error> {
    let named = if fields.get("request").is_some() { "request" } else { "message" };
    words::send(fields, (named, "pushNotification"), message)
}

fn message(fields: &Fields<'_>) -> Result<Message, Error> {
    let by_name = |name: &str| Role::ALL.into_iter().find(|role| role.name() == name);
    let role = fields.choice("role", "ROLE_UNSPECIFIED", by_name, Role::from_number)?;
    let role = role.ok_or_else(|| fields.wrong("role", "is required"))?;
    words::message(fields, role, (FORM.parts, part))
}

fn part(fields: &Fields<'_>) -> Result<Part, Error> {
    let part = if fields.get("text").is_some() {
        Part::text(fields.text("text")?)
    } else if fields.get("file").is_some() {
        fields.required("file", file)?
    } else {
        let data = fields.required("data", |fields| Ok(fields.raw("data").cloned()))?;
        Part::of(Content::Data(data.unwrap_or_default()))
    };
    Ok(Part { metadata: fields.facts("metadata")?, ..part })
}

fn file(fields: &Fields<'_>) -> Result<Part, Error> {
    let content = if fields.get("fileWithBytes").is_some() {
        Content::Raw(fields.bytes("fileWithBytes")?)
    } else {
        Content::Url(fields.text("fileWithUri")?)
    };
    words::file(fields, content)
}

/// The configuration, bare or in the resource that it was.
pub fn push_config(fields: &Fields<'_>) -> Result<PushConfig, Error> {
    for wrapper in ["config", "pushNotificationConfig"] {
        if let Some(config) = fields.object(wrapper, push_config)? {
            return Ok(config);
        }
    }
    words::push_config(fields)
}

/// The body of an answer.
pub fn result(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Sent(SendResponse::Task(it)) => json!({ "task": FORM.task(it) }),
        Outcome::Sent(SendResponse::Message(it)) => json!({ "message": FORM.message(it) }),
        Outcome::Task(it) => FORM.task(it),
        Outcome::Page(page) => json!({
            "tasks": page.tasks.iter().map(|task| FORM.task(task)).collect::<Vec<_>>(),
            "nextPageToken": page.next_page_token,
        }),
        Outcome::PushConfig(config) => resource(config),
        Outcome::PushConfigs(page) => json!({
            "configs": page.configs.iter().map(resource).collect::<Vec<_>>(),
            "nextPageToken": page.next_page_token,
        }),
        Outcome::Card(card) => card.clone(),
        Outcome::Deleted | Outcome::Events(_) => json!({}),
    }
}

fn resource(config: &PushConfig) -> Value {
    let name = format!("tasks/{}/pushNotificationConfigs/{}", config.task_id, config.id);
    json!({ "name": name, "pushNotificationConfig": written_push_config(config) })
}

/// One event of a stream.
pub fn event(event: &Event) -> Value {
    match &event.payload {
        StreamResponse::Task(it) => json!({ "task": FORM.task(it) }),
        StreamResponse::Message(it) => json!({ "message": FORM.message(it) }),
        StreamResponse::StatusUpdate(update) => {
            let is_final = event.last || update.status.state.is_terminal();
            let mut written = FORM.status_update(update);
            if is_final {
                written["final"] = true.into();
            }
            json!({ "statusUpdate": written })
        }
        StreamResponse::ArtifactUpdate(update) => {
            let mut written = write::artifact_update(update);
            written["artifact"] = artifact(&update.artifact);
            json!({ "artifactUpdate": written })
        }
    }
}

/// The one name that has changed.
fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Canceled => "TASK_STATE_CANCELLED",
        state => state.name(),
    }
}

fn artifact(artifact: &Artifact) -> Value {
    let mut written = write::artifact(artifact);
    written["parts"] = artifact.parts.iter().map(written_part).collect();
    written
}

fn written_part(part: &Part) -> Value {
    let file = |of: &str, content: String| {
        object(vec![
            (of, content.into()),
            ("mimeType", part.media_type.as_str().into()),
            ("name", part.filename.as_str().into()),
        ])
    };
    let written = match &part.content {
        Content::Text(text) => json!({ "text": text }),
        Content::Data(data) => json!({ "data": { "data": as_object(data) } }),
        Content::Raw(raw) => json!({ "file": file("fileWithBytes", STANDARD.encode(raw)) }),
        Content::Url(url) => json!({ "file": file("fileWithUri", url.clone()) }),
    };
    with_metadata(written, part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::json::read;

    #[test]
    fn a_message_comes_back_as_it_was_sent() {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "content": [
            {"text": "hi"},
            {"file": {"fileWithBytes": "dGNr", "mimeType": "text/plain", "name": "o.txt"}},
            {"file": {"fileWithUri": "https://example.com/o"}},
            {"data": {"data": {"a": 1}}}]});
        let body = json!({"request": message, "configuration": {"blocking": true}});
        let send = read::params(&body, send).unwrap();
        assert!(!send.configuration.return_immediately);
        assert_eq!(FORM.message(&send.message), message);
    }

    #[test]
    fn a_push_config_in_its_resource() {
        let bare = json!({"id": "c", "url": "http://h", "token": "t"});
        let wrapped = json!({"config": {"name": "tasks/t/pushNotificationConfigs/c",
            "pushNotificationConfig": bare}});
        let of = |value: &Value| read::params(value, push_config).unwrap();
        assert_eq!(of(&bare), of(&wrapped));
        let written = resource(&PushConfig { task_id: "t".into(), ..of(&bare) });
        assert_eq!(written["name"], "tasks/t/pushNotificationConfigs/c");
        assert_eq!(written["pushNotificationConfig"], bare);
    }
}
