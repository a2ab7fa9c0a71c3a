//! What both bindings of 0.3 have in common: what they read and write alike, and in which words
//! each of them does it.

use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::Fields;
use crate::bridge::a2a::model::*;
use serde_json::{Map, Value, json};

/// How a binding writes what both have.
pub struct Form {
    /// Whether every object says what it is.
    pub kinds: bool,
    /// The member of a message that has its parts.
    pub parts: &'static str,
    pub part: fn(&Part) -> Value,
    pub role: fn(Role) -> &'static str,
    pub state: fn(TaskState) -> &'static str,
    pub artifact: fn(&Artifact) -> Value,
}

impl Form {
    pub fn kind(&self, kind: &str) -> Value {
        if self.kinds { kind.into() } else { Value::Null }
    }

    pub fn task(&self, task: &Task) -> Value {
        object(vec![
            ("kind", self.kind("task")),
            ("id", task.id.as_str().into()),
            ("contextId", task.context_id.as_str().into()),
            ("status", self.status(&task.status)),
            ("artifacts", task.artifacts.iter().map(self.artifact).collect()),
            ("history", task.history.iter().map(|message| self.message(message)).collect()),
            ("metadata", Value::Object(task.metadata.clone())),
        ])
    }

    /// A change of a task, without whether it is the last one.
    pub fn status_update(&self, update: &StatusUpdate) -> Value {
        object(vec![
            ("kind", self.kind("status-update")),
            ("taskId", update.task_id.as_str().into()),
            ("contextId", update.context_id.as_str().into()),
            ("status", self.status(&update.status)),
            ("metadata", Value::Object(update.metadata.clone())),
        ])
    }

    fn status(&self, status: &TaskStatus) -> Value {
        let message = status.message.as_ref().map(|message| self.message(message));
        object(vec![
            ("state", (self.state)(status.state).into()),
            ("message", message.unwrap_or_default()),
            ("timestamp", status.timestamp.rfc3339().into()),
        ])
    }

    pub fn message(&self, message: &Message) -> Value {
        // The protobuf had no tasks that a message refers to.
        let tasks = message.reference_task_ids.iter().filter(|_| self.kinds);
        let mut written = object(vec![
            ("kind", self.kind("message")),
            ("messageId", message.message_id.as_str().into()),
            ("contextId", message.context_id.as_str().into()),
            ("taskId", message.task_id.as_str().into()),
            ("role", (self.role)(message.role).into()),
            ("metadata", Value::Object(message.metadata.clone())),
            ("extensions", message.extensions.clone().into()),
            ("referenceTaskIds", tasks.map(String::as_str).collect()),
        ]);
        written[self.parts] = message.parts.iter().map(self.part).collect();
        written
    }
}

/// What is written of a part beside its content.
pub fn with_metadata(mut written: Value, part: &Part) -> Value {
    if !part.metadata.is_empty() {
        written["metadata"] = Value::Object(part.metadata.clone());
    }
    written
}

/// Data was an object always; another value is put into one.
pub fn as_object(data: &Value) -> Value {
    match data {
        Value::Object(_) => data.clone(),
        other => json!({ "value": other }),
    }
}

/// An object without what is unset.
pub fn object(members: Vec<(&str, Value)>) -> Value {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let set = members.into_iter().filter(|(_, value)| is_set(value));
    Value::Object(set.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

type Reader<T> = fn(&Fields<'_>) -> Result<T, Error>;

/// What is sent: a message under one of its names, and under one of its names a receiver.
pub fn send(
    fields: &Fields<'_>,
    (named, push): (&str, &str),
    message: Reader<Message>,
) -> Result<params::Send, Error> {
    let configured = |fields: &Fields<'_>| configuration(fields, push);
    Ok(params::Send {
        message: fields.required(named, message)?,
        configuration: fields.object("configuration", configured)?.unwrap_or_default(),
        metadata: fields.facts("metadata")?,
    })
}

/// A message whose parts have one of their names.
pub fn message(
    fields: &Fields<'_>,
    role: Role,
    (named, part): (&str, Reader<Part>),
) -> Result<Message, Error> {
    Ok(Message {
        message_id: fields.text("messageId")?,
        context_id: fields.text("contextId")?,
        task_id: fields.text("taskId")?,
        role,
        parts: fields.objects(named, part)?,
        metadata: fields.facts("metadata")?,
        extensions: fields.texts("extensions")?,
        reference_task_ids: vec![],
    })
}

/// A file with its content.
pub fn file(fields: &Fields<'_>, content: Content) -> Result<Part, Error> {
    let (filename, media_type) = (fields.text("name")?, fields.text("mimeType")?);
    Ok(Part { filename, media_type, ..Part::of(content) })
}

pub fn push_config(fields: &Fields<'_>) -> Result<PushConfig, Error> {
    let authentication = fields.object("authentication", |fields| {
        let scheme = fields.texts("schemes")?.into_iter().next().unwrap_or_default();
        Ok(Authentication { scheme, credentials: fields.text("credentials")? })
    })?;
    Ok(PushConfig {
        id: fields.text("id")?,
        task_id: String::new(),
        url: fields.text("url")?,
        token: fields.text("token")?,
        authentication,
    })
}

pub fn written_push_config(config: &PushConfig) -> Value {
    let authentication = config.authentication.as_ref().map_or(Value::Null, |it| {
        let credentials = it.credentials.as_str();
        object(vec![("schemes", json!([it.scheme])), ("credentials", credentials.into())])
    });
    object(vec![
        ("id", config.id.as_str().into()),
        ("url", config.url.as_str().into()),
        ("token", config.token.as_str().into()),
        ("authentication", authentication),
    ])
}

/// Waiting was what a client had to ask for by name, and 0 messages of history were all.
fn configuration(fields: &Fields<'_>, push: &str) -> Result<params::Configuration, Error> {
    let blocking = fields.get("blocking").is_none() || fields.flag("blocking")?;
    Ok(params::Configuration {
        accepted_output_modes: fields.texts("acceptedOutputModes")?,
        push: fields.object(push, push_config)?,
        history_length: fields.number("historyLength")?.filter(|length| *length != 0),
        return_immediately: !blocking,
    })
}
