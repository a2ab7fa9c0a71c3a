//! Messages, tasks and results as JSON: camelCase, nothing that is unset, no member that the model
//! lacks.

use crate::bridge::a2a::model::*;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

/// An object that leaves out what is unset.
#[derive(Default)]
struct Object(Map<String, Value>);

impl Object {
    /// A required member.
    fn set(mut self, name: &str, value: impl Into<Value>) -> Object {
        self.0.insert(name.into(), value.into());
        self
    }

    fn text(self, name: &str, text: &str) -> Object {
        if text.is_empty() { self } else { self.set(name, text) }
    }

    fn texts(self, name: &str, texts: &[String]) -> Object {
        if texts.is_empty() { self } else { self.set(name, texts) }
    }

    fn list<T>(self, name: &str, list: &[T], write: impl Fn(&T) -> Value) -> Object {
        if list.is_empty() { self } else { self.set(name, each(list, write)) }
    }

    fn facts(self, name: &str, facts: &Struct) -> Object {
        if facts.is_empty() { self } else { self.set(name, facts.clone()) }
    }

    fn flag(self, name: &str, flag: bool) -> Object {
        if flag { self.set(name, true) } else { self }
    }

    fn option<T>(self, name: &str, value: Option<&T>, write: impl Fn(&T) -> Value) -> Object {
        match value {
            Some(value) => self.set(name, write(value)),
            None => self,
        }
    }

    fn end(self) -> Value {
        Value::Object(self.0)
    }
}

fn each<T>(list: &[T], write: impl Fn(&T) -> Value) -> Value {
    Value::Array(list.iter().map(write).collect())
}

pub fn part(part: &Part) -> Value {
    let object = Object::default();
    let object = match &part.content {
        Content::Text(text) => object.set("text", text.as_str()),
        Content::Raw(bytes) => object.set("raw", STANDARD.encode(bytes)),
        Content::Url(url) => object.set("url", url.as_str()),
        Content::Data(value) => object.set("data", value.clone()),
    };
    object
        .facts("metadata", &part.metadata)
        .text("filename", &part.filename)
        .text("mediaType", &part.media_type)
        .end()
}

pub fn message(message: &Message) -> Value {
    Object::default()
        .set("messageId", message.message_id.as_str())
        .text("contextId", &message.context_id)
        .text("taskId", &message.task_id)
        .set("role", message.role.name())
        .set("parts", each(&message.parts, part))
        .facts("metadata", &message.metadata)
        .texts("extensions", &message.extensions)
        .texts("referenceTaskIds", &message.reference_task_ids)
        .end()
}

pub fn artifact(artifact: &Artifact) -> Value {
    Object::default()
        .set("artifactId", artifact.artifact_id.as_str())
        .text("name", &artifact.name)
        .text("description", &artifact.description)
        .set("parts", each(&artifact.parts, part))
        .facts("metadata", &artifact.metadata)
        .texts("extensions", &artifact.extensions)
        .end()
}

pub fn status(status: &TaskStatus) -> Value {
    Object::default()
        .set("state", status.state.name())
        .option("message", status.message.as_ref(), message)
        .set("timestamp", status.timestamp.rfc3339())
        .end()
}

pub fn task(task: &Task) -> Value {
    Object::default()
        .set("id", task.id.as_str())
        .text("contextId", &task.context_id)
        .set("status", status(&task.status))
        .list("artifacts", &task.artifacts, artifact)
        .list("history", &task.history, message)
        .facts("metadata", &task.metadata)
        .end()
}

pub fn status_update(update: &StatusUpdate) -> Value {
    Object::default()
        .set("taskId", update.task_id.as_str())
        .set("contextId", update.context_id.as_str())
        .set("status", status(&update.status))
        .facts("metadata", &update.metadata)
        .end()
}

pub fn artifact_update(update: &ArtifactUpdate) -> Value {
    Object::default()
        .set("taskId", update.task_id.as_str())
        .set("contextId", update.context_id.as_str())
        .set("artifact", artifact(&update.artifact))
        .flag("append", update.append)
        .flag("lastChunk", update.last_chunk)
        .facts("metadata", &update.metadata)
        .end()
}

pub fn stream_response(event: &StreamResponse) -> Value {
    match event {
        StreamResponse::Task(it) => json!({ "task": task(it) }),
        StreamResponse::Message(it) => json!({ "message": message(it) }),
        StreamResponse::StatusUpdate(it) => json!({ "statusUpdate": status_update(it) }),
        StreamResponse::ArtifactUpdate(it) => json!({ "artifactUpdate": artifact_update(it) }),
    }
}

pub fn send_response(sent: &SendResponse) -> Value {
    match sent {
        SendResponse::Task(it) => json!({ "task": task(it) }),
        SendResponse::Message(it) => json!({ "message": message(it) }),
    }
}

/// All four members, also where they are empty.
pub fn task_page(page: &TaskPage) -> Value {
    json!({
        "tasks": each(&page.tasks, task),
        "nextPageToken": page.next_page_token,
        "pageSize": page.page_size,
        "totalSize": page.total_size,
    })
}

pub fn push_config(config: &PushConfig) -> Value {
    Object::default()
        .text("id", &config.id)
        .text("taskId", &config.task_id)
        .set("url", config.url.as_str())
        .text("token", &config.token)
        .option("authentication", config.authentication.as_ref(), authentication)
        .end()
}

fn authentication(authentication: &Authentication) -> Value {
    Object::default()
        .set("scheme", authentication.scheme.as_str())
        .text("credentials", &authentication.credentials)
        .end()
}

pub fn push_config_page(page: &PushConfigPage) -> Value {
    Object::default()
        .set("configs", each(&page.configs, push_config))
        .set("nextPageToken", page.next_page_token.as_str())
        .end()
}
