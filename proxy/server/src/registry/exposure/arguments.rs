//! From arguments by name to what a handler takes, and the schema that says which arguments there
//! are. Handlers of objects and workflows take a key beside their input.

use super::{Exposed, Handler};
use crate::schema;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use serde_json::{Map, Value, json};

/// The argument that is the key of an object or a workflow.
const KEY: &str = "key";
/// The argument that is the input, where that is not an object itself or stands beside a key.
const INPUT: &str = "input";
/// What is sent as JSON.
const JSON: &str = "application/json";

/// How arguments become an input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    key: bool,
    input: Input,
    /// The content type of the input.
    content_type: String,
    /// Whether there must be one.
    required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// There is none.
    Nothing,
    /// All arguments are its fields.
    Fields,
    /// It is the argument `input`.
    Argument,
    /// The same, and it is sent as text, not as JSON.
    Text,
}

/// What a handler is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub key: Option<String>,
    pub body: Bytes,
    /// Of the body, where there is one.
    pub content_type: Option<String>,
}

/// The arguments are not what the handler takes: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

impl Shape {
    /// The shape of a handler's arguments, and their schema.
    pub fn of(handler: &Handler) -> (Shape, Value) {
        let key = !matches!(handler.ty, HandlerType::Service);
        let declared = handler.input.json_schema.as_ref();
        let input = match (handler.input.content_type.as_deref(), declared) {
            (None, _) => Input::Nothing,
            (Some(ty), None) if ty.starts_with("text/") => Input::Text,
            _ if key => Input::Argument,
            (_, Some(schema)) if !is_of_object(schema) => Input::Argument,
            _ => Input::Fields,
        };
        let content_type = match (input, handler.input.content_type.as_deref()) {
            (Input::Text, _) => "text/plain; charset=utf-8".to_owned(),
            (_, Some(ty)) if !ty.contains('*') => ty.to_owned(),
            _ => JSON.to_owned(),
        };
        let required = handler.input.required;
        let shape = Shape { key, input, content_type, required };
        let schema = shape.schema(declared);
        (shape, schema)
    }

    fn schema(&self, declared: Option<&Value>) -> Value {
        if self.input == Input::Fields {
            return declared.cloned().unwrap_or_else(|| json!({ "type": "object" }));
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        if self.key {
            let what = "Which one: the key that the state and the turn of the call belong to.";
            properties.insert(KEY.into(), json!({ "type": "string", "description": what }));
            required.push(KEY);
        }
        if self.input != Input::Nothing {
            let schema = match (self.input, declared) {
                (Input::Text, _) => json!({ "type": "string" }),
                (_, Some(schema)) => below(schema, &format!("#/properties/{INPUT}")),
                (_, None) => json!({}),
            };
            properties.insert(INPUT.into(), schema);
            if self.required {
                required.push(INPUT);
            }
        }
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        if !properties.is_empty() {
            schema.insert("properties".into(), properties.into());
        }
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        schema.insert("additionalProperties".into(), json!(false));
        schema.into()
    }
}

impl Exposed {
    /// What the handler is called with.
    ///
    /// # Errors
    /// Where the arguments are not what it takes.
    pub fn call(&self, arguments: Option<&Map<String, Value>>) -> Result<Call, Refused> {
        let none = Map::new();
        let given = Value::Object(arguments.unwrap_or(&none).clone());
        schema::check(&self.input_schema, &given).map_err(|wrong| Refused(wrong.to_string()))?;
        let key = match given.get(KEY) {
            Some(Value::String(key)) if self.shape.key => Some(key.clone()),
            _ => None,
        };
        let json = |value: &Value| Bytes::from(value.to_string());
        let body = match self.shape.input {
            Input::Nothing => None,
            Input::Fields => match arguments {
                Some(arguments) => Some(Bytes::from(Value::Object(arguments.clone()).to_string())),
                None => (self.shape.required || self.has_schema()).then(|| Bytes::from("{}")),
            },
            Input::Argument => given.get(INPUT).map(json),
            Input::Text => {
                given.get(INPUT).and_then(Value::as_str).map(|it| Bytes::from(it.to_owned()))
            }
        };
        let content_type = body.as_ref().map(|_| self.shape.content_type.clone());
        Ok(Call { key, body: body.unwrap_or_default(), content_type })
    }

    /// What a handler is called with whose input is there as JSON already.
    ///
    /// # Errors
    /// Where it is not what the handler takes, or the key is missing or not wanted.
    pub fn call_with(&self, key: Option<String>, input: Option<&Value>) -> Result<Call, Refused> {
        if self.shape.key != key.is_some() {
            let why = if self.shape.key { "a key is missing" } else { "there are no keys" };
            return Err(Refused(why.to_owned()));
        }
        if let (Some(schema), Some(input)) = (&self.handler.input.json_schema, input) {
            schema::check(schema, input).map_err(|wrong| Refused(wrong.to_string()))?;
        }
        let body = match (self.shape.input, input) {
            (Input::Nothing, _) => None,
            (_, None) if self.shape.required => {
                return Err(Refused("there is no input".to_owned()));
            }
            (_, None) => None,
            (Input::Text, Some(Value::String(text))) => Some(Bytes::from(text.clone())),
            (_, Some(input)) => Some(Bytes::from(input.to_string())),
        };
        let content_type = body.as_ref().map(|_| self.shape.content_type.clone());
        Ok(Call { key, body: body.unwrap_or_default(), content_type })
    }

    fn has_schema(&self) -> bool {
        self.handler.input.json_schema.is_some()
    }
}

/// What a handler gives, where it says so in JSON.
pub(super) fn output_schema(handler: &Handler) -> Option<Value> {
    handler.output.json_schema.clone().filter(Value::is_object)
}

fn is_of_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// A schema that stands somewhere else than at the root: its references into itself lead there.
fn below(schema: &Value, place: &str) -> Value {
    match schema {
        Value::Object(keywords) => {
            let moved = keywords.iter().map(|(keyword, value)| {
                let value = match (keyword.as_str(), value) {
                    ("$ref", Value::String(to)) if *to == "#" || to.starts_with("#/") => {
                        Value::String(format!("{place}{}", &to[1..]))
                    }
                    ("const" | "enum" | "default" | "examples", value) => value.clone(),
                    (_, value) => below(value, place),
                };
                (keyword.clone(), value)
            });
            Value::Object(moved.filter(|(keyword, _)| keyword != "$schema").collect())
        }
        Value::Array(schemas) => schemas.iter().map(|schema| below(schema, place)).collect(),
        other => other.clone(),
    }
}
