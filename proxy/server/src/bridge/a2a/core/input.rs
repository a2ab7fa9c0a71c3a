//! What a message holds for a handler: JSON out of a part, text, bytes, or the message itself.

use super::{Agent, Skill};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::json::write;
use crate::bridge::a2a::model::{Content, Message};
use crate::schema;
use bytes::Bytes;
use serde_json::{Map, Value};

const JSON: &str = "application/json";

/// The body that a handler is called with, and its type.
///
/// # Errors
/// `InvalidParams`, where there is nothing in the message that the handler takes.
pub fn body(
    skill: &Skill,
    message: &Message,
    context: &str,
) -> Result<(Bytes, Option<String>), Error> {
    if skill.takes_messages() {
        let message = Message { context_id: context.to_owned(), ..message.clone() };
        return Ok((write::message(&message).to_string().into(), Some(JSON.into())));
    }
    let input = &skill.exposed.handler.input;
    match input.content_type.as_deref() {
        None => Ok((Bytes::new(), None)),
        Some("*/*" | JSON) => {
            let value = value(message, input.json_schema.as_ref())?;
            check(input.json_schema.as_ref(), &value)?;
            Ok((value.to_string().into(), Some(JSON.into())))
        }
        Some(other) => plain(message, other),
    }
}

/// The JSON of a message: a data part as it is; else the text, read as JSON where the handler does
/// not want a text.
fn value(message: &Message, schema: Option<&Value>) -> Result<Value, Error> {
    if let Some(data) = data(message) {
        return Ok(whole(data.clone()));
    }
    let Some(text) = text(message) else {
        return Err(nothing("a data part or a text part"));
    };
    let wants_text = schema.is_some_and(|schema| schema.get("type") == Some(&"string".into()));
    if wants_text {
        return Ok(Value::String(text));
    }
    Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn check(schema: Option<&Value>, value: &Value) -> Result<(), Error> {
    let Some(schema) = schema else {
        return Ok(());
    };
    schema::check(schema, value).map_err(|violation| {
        Error::invalid("message.parts", format!("do not hold what the skill takes: {violation}"))
    })
}

/// For a handler that takes something else than JSON.
fn plain(message: &Message, wanted: &str) -> Result<(Bytes, Option<String>), Error> {
    let raw = message.parts.iter().find_map(|part| match &part.content {
        Content::Raw(raw) => Some((raw.clone(), part.media_type.clone())),
        _ => None,
    });
    let (body, named) = match (raw, text(message)) {
        (Some((raw, ty)), _) => (raw, ty),
        (None, Some(text)) => (text.into(), String::new()),
        (None, None) => return Err(nothing(&format!("a text part or a raw part of {wanted}"))),
    };
    let ty = match (named.is_empty(), wanted) {
        (false, _) => named,
        (true, "text/*") => "text/plain".into(),
        (true, wanted) => wanted.into(),
    };
    Ok((body, Some(ty)))
}

fn nothing(wanted: &str) -> Error {
    Error::invalid("message.parts", format!("must hold {wanted}"))
}

/// Largest whole number up to which all whole numbers are doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The same value with `7` for `7.0`: clients whose numbers are all doubles write whole ones so, and
/// handlers that count take no such thing.
fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() <= EXACT_MAX => {
                Value::from(double as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(list) => list.into_iter().map(whole).collect(),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(name, value)| (name, whole(value))).collect())
        }
        other => other,
    }
}

/// The first data part.
pub fn data(message: &Message) -> Option<&Value> {
    message.parts.iter().find_map(|part| match &part.content {
        Content::Data(data) => Some(data),
        _ => None,
    })
}

/// The text parts, one under the other.
pub fn text(message: &Message) -> Option<String> {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// An object of JSON that answers a question: in a data part, or as text.
pub fn object(message: &Message) -> Option<Value> {
    match data(message) {
        Some(data) => data.is_object().then(|| whole(data.clone())),
        None => {
            let object: Map<String, Value> = serde_json::from_str(&text(message)?).ok()?;
            Some(Value::Object(object))
        }
    }
}

/// Where the agent is strict, parts of types that the skill does not name are refused.
pub fn check_media_types(agent: &Agent, skill: &Skill, message: &Message) -> Result<(), Error> {
    let modes = skill.input_modes();
    if !agent.settings.strict_media_types || modes.is_empty() {
        return Ok(());
    }
    let wrong = message.parts.iter().find(|part| {
        let ty = part.media_type.as_str();
        !ty.is_empty() && !modes.iter().any(|mode| takes(mode, ty))
    });
    match wrong {
        Some(part) => Err(Error::ContentTypeNotSupported(part.media_type.clone())),
        None => Ok(()),
    }
}

/// Whether a pattern such as `text/*` takes a media type, parameters aside.
fn takes(pattern: &str, ty: &str) -> bool {
    let essence = ty.split(';').next().unwrap_or_default().trim();
    match pattern.strip_suffix("/*") {
        Some("*") => true,
        Some(kind) => essence.split('/').next().is_some_and(|it| it.eq_ignore_ascii_case(kind)),
        None => pattern.eq_ignore_ascii_case(essence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::model::{Part, Role, Struct};
    use serde_json::json;

    fn message(parts: Vec<Part>) -> Message {
        Message {
            message_id: "m".into(),
            context_id: String::new(),
            task_id: String::new(),
            role: Role::User,
            parts,
            metadata: Struct::new(),
            extensions: vec![],
            reference_task_ids: vec![],
        }
    }

    #[test]
    fn json_out_of_data_or_text() {
        let of = |parts, schema: Option<Value>| value(&message(parts), schema.as_ref()).ok();
        let order = json!({"orderId": "o-1"});
        assert_eq!(
            of(vec![Part::text("look"), Part::data(order.clone())], None),
            Some(order.clone())
        );
        assert_eq!(of(vec![Part::text(order.to_string())], None), Some(order));
        assert_eq!(of(vec![Part::text("hello")], None), Some(json!("hello")));
        let text = Some(json!({"type": "string"}));
        assert_eq!(of(vec![Part::text("42")], text), Some(json!("42")));
        assert_eq!(of(vec![Part::of(Content::Url("http://x".into()))], None), None);
    }

    #[test]
    fn answers_are_objects() {
        let of = |parts| object(&message(parts));
        let yes = json!({"approved": true});
        assert_eq!(of(vec![Part::data(yes.clone())]), Some(yes.clone()));
        assert_eq!(of(vec![Part::text(yes.to_string())]), Some(yes));
        assert_eq!(of(vec![Part::text("yes")]), None);
        assert_eq!(of(vec![Part::data(json!([1]))]), None);
    }

    #[test]
    fn whole_numbers_are_written_as_such() {
        let doubles: Value =
            serde_json::from_str(r#"{"a":[7.0,-2.0,0.5,1e300,3],"b":"7.0"}"#).unwrap();
        assert_eq!(whole(doubles).to_string(), r#"{"a":[7,-2,0.5,1e+300,3],"b":"7.0"}"#);
    }

    #[test]
    fn types_and_patterns() {
        assert!(takes("application/json", "application/JSON; charset=utf-8"));
        assert!(takes("text/*", "text/markdown") && takes("*/*", "image/png"));
        assert!(!takes("text/*", "image/png") && !takes("application/json", "text/plain"));
    }
}
