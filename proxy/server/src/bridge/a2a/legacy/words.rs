//! What both bindings of 0.3 have in common.

use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::Fields;
use crate::bridge::a2a::model::*;
use serde_json::{Map, Value, json};

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
pub fn configuration(fields: &Fields<'_>, push: &str) -> Result<params::Configuration, Error> {
    let blocking = fields.get("blocking").is_none() || fields.flag("blocking")?;
    Ok(params::Configuration {
        accepted_output_modes: fields.texts("acceptedOutputModes")?,
        push: fields.object(push, push_config)?,
        history_length: fields.number("historyLength")?.filter(|length| *length != 0),
        return_immediately: !blocking,
    })
}
