//! The messages of gRPC, to and from the model. Shapes only: what may stand where is the core's to
//! check, once for all bindings. What has no meaning is refused with the name of its field.

mod card;
mod request;
mod response;
#[cfg(test)]
mod tests;

pub use request::*;
pub use response::*;

use super::pb;
use super::value::{
    NoJson, struct_in, struct_out, timestamp_in, timestamp_out, value_in, value_out,
};
use crate::bridge::a2a::error::{Error, Violation};
use crate::bridge::a2a::model::*;

/// Why a message has no meaning, with the field.
fn bad(field: &str, why: impl ToString) -> Error {
    Error::InvalidParams(vec![Violation { field: field.to_owned(), description: why.to_string() }])
}

fn metadata_in(field: &str, metadata: Option<prost_types::Struct>) -> Result<Struct, Error> {
    struct_in(metadata).map_err(|why| bad(field, why))
}

fn role_in(role: i32) -> Result<Role, Error> {
    match pb::Role::try_from(role) {
        Ok(pb::Role::User) => Ok(Role::User),
        Ok(pb::Role::Agent) => Ok(Role::Agent),
        Ok(pb::Role::Unspecified) => Err(bad("message.role", "it is required")),
        Err(_) => Err(bad("message.role", format!("there is no role {role}"))),
    }
}

fn role_out(role: Role) -> i32 {
    i32::from(match role {
        Role::User => pb::Role::User,
        Role::Agent => pb::Role::Agent,
    })
}

fn state_out(state: TaskState) -> i32 {
    i32::from(match state {
        TaskState::Submitted => pb::TaskState::Submitted,
        TaskState::Working => pb::TaskState::Working,
        TaskState::Completed => pb::TaskState::Completed,
        TaskState::Failed => pb::TaskState::Failed,
        TaskState::Canceled => pb::TaskState::Canceled,
        TaskState::InputRequired => pb::TaskState::InputRequired,
        TaskState::Rejected => pb::TaskState::Rejected,
        TaskState::AuthRequired => pb::TaskState::AuthRequired,
    })
}

/// `None`: no filter.
fn state_in(state: i32) -> Result<Option<TaskState>, Error> {
    Ok(Some(match pb::TaskState::try_from(state) {
        Ok(pb::TaskState::Unspecified) => return Ok(None),
        Ok(pb::TaskState::Submitted) => TaskState::Submitted,
        Ok(pb::TaskState::Working) => TaskState::Working,
        Ok(pb::TaskState::Completed) => TaskState::Completed,
        Ok(pb::TaskState::Failed) => TaskState::Failed,
        Ok(pb::TaskState::Canceled) => TaskState::Canceled,
        Ok(pb::TaskState::InputRequired) => TaskState::InputRequired,
        Ok(pb::TaskState::Rejected) => TaskState::Rejected,
        Ok(pb::TaskState::AuthRequired) => TaskState::AuthRequired,
        Err(_) => return Err(bad("status", format!("there is no state {state}"))),
    }))
}

fn part_in(part: pb::Part) -> Result<Part, Error> {
    use pb::part::Content as In;
    let field = "message.parts";
    let content = match part.content {
        Some(In::Text(text)) => Content::Text(text),
        Some(In::Raw(raw)) => Content::Raw(raw),
        Some(In::Url(url)) => Content::Url(url),
        Some(In::Data(data)) => Content::Data(value_in(data).map_err(|why| bad(field, why))?),
        None => return Err(bad(field, "a part has one of text, raw, url and data")),
    };
    Ok(Part {
        content,
        metadata: metadata_in(field, part.metadata)?,
        filename: part.filename,
        media_type: part.media_type,
    })
}

fn part_out(part: Part) -> pb::Part {
    use pb::part::Content as Out;
    let content = match part.content {
        Content::Text(text) => Out::Text(text),
        Content::Raw(raw) => Out::Raw(raw),
        Content::Url(url) => Out::Url(url),
        Content::Data(data) => Out::Data(value_out(&data)),
    };
    pb::Part {
        content: Some(content),
        metadata: struct_out(&part.metadata),
        filename: part.filename,
        media_type: part.media_type,
    }
}

fn message_in(message: pb::Message) -> Result<Message, Error> {
    Ok(Message {
        message_id: message.message_id,
        context_id: message.context_id,
        task_id: message.task_id,
        role: role_in(message.role)?,
        parts: message.parts.into_iter().map(part_in).collect::<Result<_, _>>()?,
        metadata: metadata_in("message.metadata", message.metadata)?,
        extensions: message.extensions,
        reference_task_ids: message.reference_task_ids,
    })
}

fn message_out(message: Message) -> pb::Message {
    pb::Message {
        message_id: message.message_id,
        context_id: message.context_id,
        task_id: message.task_id,
        role: role_out(message.role),
        parts: message.parts.into_iter().map(part_out).collect(),
        metadata: struct_out(&message.metadata),
        extensions: message.extensions,
        reference_task_ids: message.reference_task_ids,
    }
}

pub fn push_config_in(config: pb::TaskPushNotificationConfig) -> PushConfig {
    PushConfig {
        id: config.id,
        task_id: config.task_id,
        url: config.url,
        token: config.token,
        authentication: config.authentication.map(|authentication| Authentication {
            scheme: authentication.scheme,
            credentials: authentication.credentials,
        }),
    }
}

pub fn push_config_out(config: PushConfig) -> pb::TaskPushNotificationConfig {
    pb::TaskPushNotificationConfig {
        tenant: String::new(),
        id: config.id,
        task_id: config.task_id,
        url: config.url,
        token: config.token,
        authentication: config.authentication.map(|authentication| pb::AuthenticationInfo {
            scheme: authentication.scheme,
            credentials: authentication.credentials,
        }),
    }
}

fn instant_in(field: &str, at: prost_types::Timestamp) -> Result<Timestamp, Error> {
    timestamp_in(at).map_err(|why: NoJson| bad(field, why))
}

fn instant_out(at: Timestamp) -> prost_types::Timestamp {
    timestamp_out(at)
}
