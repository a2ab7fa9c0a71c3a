//! What a handler gives back: its result as parts, and results that are messages.

use super::Head;
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::read;
use crate::bridge::a2a::model::{Content, Message, Part, Role};
use bytes::Bytes;
use serde_json::Value;

/// The parts of a result; none where there is nothing.
pub fn parts(output: &Bytes, head: &Head) -> Vec<Part> {
    if output.is_empty() {
        return vec![];
    }
    let ty = head.output_type.as_deref().unwrap_or("application/json");
    let is_json = ty.contains("json") || ty == "*/*";
    let part = match serde_json::from_slice(output) {
        Ok(Value::Null) if is_json => return vec![],
        Ok(Value::String(text)) if is_json => Part::text(text),
        Ok(value) if is_json && head.text_only => Part::text(value.to_string()),
        Ok(value) if is_json => Part::data(value),
        _ => plain(output, ty),
    };
    vec![part]
}

/// What is no JSON: text where it can be read as text.
fn plain(output: &Bytes, ty: &str) -> Part {
    let is_text = ty.starts_with("text/") || ty.contains("json") || ty == "*/*";
    let part = match std::str::from_utf8(output) {
        Ok(text) if is_text => Part::text(text),
        _ => Part::of(Content::Raw(output.clone())),
    };
    let media_type = if ty.contains('*') || ty.contains("json") { "" } else { ty };
    Part { media_type: media_type.into(), ..part }
}

/// The last words that a result is, instead of an artifact: `{"status": "…"}`, or with parts, of a
/// handler that says how what it returns is to be shown.
pub fn last_status(output: &Bytes, head: &Head) -> Option<Vec<Part>> {
    if !head.says_how {
        return None;
    }
    let output: Value = serde_json::from_slice(output).ok()?;
    let output = output.as_object().filter(|output| output.len() == 1)?;
    match output.get("status")? {
        Value::String(text) => Some(vec![Part::text(text.as_str())]),
        status => {
            let parts = read::params(status, |fields| fields.objects("parts", read::part)).ok()?;
            (!parts.is_empty()).then_some(parts)
        }
    }
}

/// The message that a result is: `{"message": {…}}` of a handler that answers with messages. Its
/// id, its context and its role may be left out. `None`: the result is an ordinary one.
///
/// # Errors
/// `InvalidAgentResponse` where it is meant to be a message and is none.
pub fn direct_message(output: &Bytes, head: &Head) -> Result<Option<Message>, Error> {
    let Ok(Value::Object(mut output)) = serde_json::from_slice(output) else {
        return Ok(None);
    };
    let (1, Some(Value::Object(mut message))) = (output.len(), output.remove("message")) else {
        return Ok(None);
    };
    message.entry("role").or_insert(Role::Agent.name().into());
    message.entry("messageId").or_insert(format!("{}-answer", head.id).into());
    let read = read::params(&Value::Object(message), read::message);
    let message = read.map_err(|error| Error::InvalidAgentResponse(error.to_string()))?;
    if message.parts.is_empty() {
        return Err(Error::InvalidAgentResponse("its message has no parts".into()));
    }
    let (role, context_id) = (Role::Agent, head.context_id.clone());
    Ok(Some(Message { role, context_id, task_id: String::new(), ..message }))
}
