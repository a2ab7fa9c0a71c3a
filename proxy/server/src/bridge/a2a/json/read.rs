//! Messages, tasks and parameters out of JSON. Unknown members are skipped everywhere.

use super::Fields;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::*;
use serde_json::Value;

/// What was asked for, out of the `params` of a call.
pub fn params<T>(
    value: &Value,
    read: impl FnOnce(&Fields<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    read(&Fields::top(value)?)
}

pub fn message(fields: &Fields<'_>) -> Result<Message, Error> {
    Ok(Message {
        message_id: fields.text("messageId")?,
        context_id: fields.text("contextId")?,
        task_id: fields.text("taskId")?,
        role: role(fields)?,
        parts: fields.objects("parts", part)?,
        metadata: fields.facts("metadata")?,
        extensions: fields.texts("extensions")?,
        reference_task_ids: fields.texts("referenceTaskIds")?,
    })
}

fn role(fields: &Fields<'_>) -> Result<Role, Error> {
    let by_name = |name: &str| Role::ALL.into_iter().find(|role| role.name() == name);
    let role = fields.choice("role", "ROLE_UNSPECIFIED", by_name, Role::from_number)?;
    role.ok_or_else(|| fields.wrong("role", "is required"))
}

pub fn part(fields: &Fields<'_>) -> Result<Part, Error> {
    Ok(Part {
        content: content(fields)?,
        metadata: fields.facts("metadata")?,
        filename: fields.text("filename")?,
        media_type: fields.text("mediaType")?,
    })
}

/// Exactly one kind of content. `"data": null` is a value; `null` for another kind is none.
fn content(fields: &Fields<'_>) -> Result<Content, Error> {
    let data = fields.raw("data").map(|value| Content::Data(value.clone()));
    let text = fields.get("text").map(|_| fields.text("text").map(Content::Text)).transpose()?;
    let raw = fields.get("raw").map(|_| fields.bytes("raw").map(Content::Raw)).transpose()?;
    let url = fields.get("url").map(|_| fields.text("url").map(Content::Url)).transpose()?;
    let mut found = [text, raw, url, data].into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(content), None) => Ok(content),
        // Some clients write every kind that they do not use as null.
        (Some(content), Some(Content::Data(Value::Null))) => Ok(content),
        _ => Err(fields.wrong("content", "must be exactly one of text, raw, url and data")),
    }
}

pub fn artifact(fields: &Fields<'_>) -> Result<Artifact, Error> {
    Ok(Artifact {
        artifact_id: fields.text("artifactId")?,
        name: fields.text("name")?,
        description: fields.text("description")?,
        parts: fields.objects("parts", part)?,
        metadata: fields.facts("metadata")?,
        extensions: fields.texts("extensions")?,
    })
}

pub fn send(fields: &Fields<'_>) -> Result<params::Send, Error> {
    Ok(params::Send {
        message: fields.required("message", message)?,
        configuration: fields.object("configuration", configuration)?.unwrap_or_default(),
        metadata: fields.facts("metadata")?,
    })
}

fn configuration(fields: &Fields<'_>) -> Result<params::Configuration, Error> {
    Ok(params::Configuration {
        accepted_output_modes: fields.texts("acceptedOutputModes")?,
        push: fields.object("taskPushNotificationConfig", push_config)?,
        history_length: fields.number("historyLength")?,
        return_immediately: fields.flag("returnImmediately")?,
    })
}

pub fn push_config(fields: &Fields<'_>) -> Result<PushConfig, Error> {
    Ok(PushConfig {
        id: fields.text("id")?,
        task_id: fields.text("taskId")?,
        url: fields.text("url")?,
        token: fields.text("token")?,
        authentication: fields.object("authentication", authentication)?,
    })
}

fn authentication(fields: &Fields<'_>) -> Result<Authentication, Error> {
    Ok(Authentication { scheme: fields.text("scheme")?, credentials: fields.text("credentials")? })
}

pub fn get(fields: &Fields<'_>) -> Result<params::Get, Error> {
    Ok(params::Get { id: fields.text("id")?, history_length: fields.number("historyLength")? })
}

pub fn list(fields: &Fields<'_>) -> Result<params::List, Error> {
    let (by_name, by_number) = (TaskState::from_name, TaskState::from_number);
    Ok(params::List {
        context_id: fields.text("contextId")?,
        status: fields.choice("status", "TASK_STATE_UNSPECIFIED", by_name, by_number)?,
        page_size: fields.number("pageSize")?,
        page_token: fields.text("pageToken")?,
        history_length: fields.number("historyLength")?,
        status_timestamp_after: fields.time("statusTimestampAfter")?,
        include_artifacts: fields.flag("includeArtifacts")?,
    })
}

pub fn cancel(fields: &Fields<'_>) -> Result<params::Cancel, Error> {
    Ok(params::Cancel { id: fields.text("id")?, metadata: fields.facts("metadata")? })
}

pub fn subscribe(fields: &Fields<'_>) -> Result<params::Subscribe, Error> {
    Ok(params::Subscribe { id: fields.text("id")?, after: None })
}

pub fn push_config_of(fields: &Fields<'_>) -> Result<params::PushConfigOf, Error> {
    Ok(params::PushConfigOf { task_id: fields.text("taskId")?, id: fields.text("id")? })
}

pub fn push_configs_of(fields: &Fields<'_>) -> Result<params::PushConfigsOf, Error> {
    Ok(params::PushConfigsOf {
        task_id: fields.text("taskId")?,
        page_size: fields.number("pageSize")?.unwrap_or(0),
        page_token: fields.text("pageToken")?,
    })
}
