//! The form of an answer: a flat JSON Schema, understood field by field, and how it is written.

use bytes::Bytes;
use regex_automata::meta::Regex;
use serde_json::{Map, Number, Value, json};
use std::sync::{Arc, OnceLock};

/// What an answer has to look like.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub(super) fields: Vec<Field>,
    pub(super) others: Others,
    /// The content is `null`: nothing but yes is wanted.
    pub(super) nothing: bool,
}

/// Fields that are not named.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Others {
    Allowed,
    Refused,
    Like(Box<Kind>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub default: Option<Value>,
    /// Has to be there.
    pub required: bool,
    /// May be `null`.
    pub nullable: bool,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text(Text),
    Number(Bounds),
    Boolean,
    Choice(Vec<Choice>),
    Choices {
        of: Vec<Choice>,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// Whatever it is.
    Any,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text {
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub format: Option<Format>,
    pub pattern: Option<Pattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// A regular expression, compiled when it is needed first: rows are read far more often than
/// answers are checked.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub text: String,
    pub regex: OnceLock<Arc<Regex>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Bounds {
    pub integer: bool,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    pub above: Option<Number>,
    pub below: Option<Number>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub value: String,
    pub title: Option<String>,
}

impl Format {
    pub const ALL: [Format; 4] = [Format::Email, Format::Uri, Format::Date, Format::DateTime];

    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Email => "email",
            Format::Uri => "uri",
            Format::Date => "date",
            Format::DateTime => "date-time",
        }
    }
}

impl Form {
    /// Anything that is a JSON object.
    pub fn open() -> Form {
        Form { fields: vec![], others: Others::Allowed, nothing: false }
    }

    /// As a schema again, without references: type `object`, `properties`, `required`.
    pub fn to_json(&self) -> Value {
        if self.nothing {
            return json!({ "type": "object", "properties": {}, "additionalProperties": false });
        }
        let properties: Map<String, Value> =
            self.fields.iter().map(|field| (field.name.clone(), field.to_json())).collect();
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        schema.insert("properties".into(), Value::Object(properties));
        let required: Vec<_> =
            self.fields.iter().filter(|field| field.required).map(|field| &field.name).collect();
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        match &self.others {
            Others::Allowed => {}
            Others::Refused => {
                schema.insert("additionalProperties".into(), json!(false));
            }
            Others::Like(kind) => {
                let mut like = Map::new();
                kind.write(&mut like);
                schema.insert("additionalProperties".into(), Value::Object(like));
            }
        }
        Value::Object(schema)
    }

    /// Whether it says nothing about the fields of an answer.
    pub fn is_open(&self) -> bool {
        self.fields.is_empty() && self.others == Others::Allowed && !self.nothing
    }

    /// The form of a row: `to_json`, but for what that cannot say.
    pub(crate) fn to_row(&self) -> Value {
        if self.nothing { json!({ "type": "null" }) } else { self.row_of_fields() }
    }

    fn row_of_fields(&self) -> Value {
        let mut schema = self.to_json();
        for field in self.fields.iter().filter(|field| field.nullable) {
            schema["properties"][&field.name]["nullable"] = json!(true);
        }
        schema
    }

    /// What a handler gets of content that fits.
    pub(super) fn content(&self, content: Option<Bytes>) -> Bytes {
        match content {
            _ if self.nothing => Bytes::from_static(b"null"),
            Some(content) if content != b"null".as_slice() => content,
            _ => Bytes::from_static(b"{}"),
        }
    }
}

impl Field {
    fn to_json(&self) -> Value {
        let mut schema = Map::new();
        self.kind.write(&mut schema);
        let texts = [("title", &self.title), ("description", &self.description)];
        for (keyword, text) in texts {
            if let Some(text) = text {
                schema.insert(keyword.into(), json!(text));
            }
        }
        if let Some(default) = &self.default {
            schema.insert("default".into(), default.clone());
        }
        Value::Object(schema)
    }
}

impl Kind {
    fn write(&self, schema: &mut Map<String, Value>) {
        let mut put = |keyword: &str, value: Value| {
            if value != Value::Null {
                schema.insert(keyword.into(), value);
            }
        };
        match self {
            Kind::Text(text) => {
                put("type", json!("string"));
                put("minLength", json!(text.min));
                put("maxLength", json!(text.max));
                put("format", json!(text.format.map(Format::as_str)));
                put("pattern", json!(text.pattern.as_ref().map(|pattern| &pattern.text)));
            }
            Kind::Number(bounds) => {
                put("type", json!(if bounds.integer { "integer" } else { "number" }));
                put("minimum", json!(bounds.minimum));
                put("maximum", json!(bounds.maximum));
                put("exclusiveMinimum", json!(bounds.above));
                put("exclusiveMaximum", json!(bounds.below));
            }
            Kind::Boolean => put("type", json!("boolean")),
            Kind::Choice(choices) => {
                put("type", json!("string"));
                let (keyword, of) = choices_out(choices, "oneOf");
                put(keyword, of);
            }
            Kind::Choices { of, min, max } => {
                let (keyword, of) = choices_out(of, "anyOf");
                put("type", json!("array"));
                put(
                    "items",
                    match keyword {
                        "enum" => json!({ "type": "string", "enum": of }),
                        _ => json!({ keyword: of }),
                    },
                );
                put("minItems", json!(min));
                put("maxItems", json!(max));
            }
            Kind::Any => {}
        }
    }
}

fn choices_out(choices: &[Choice], titled: &'static str) -> (&'static str, Value) {
    if choices.iter().all(|choice| choice.title.is_none()) {
        let values: Vec<_> = choices.iter().map(|choice| &choice.value).collect();
        return ("enum", json!(values));
    }
    let of = |choice: &Choice| json!({ "const": choice.value, "title": choice.title.as_ref().unwrap_or(&choice.value) });
    (titled, choices.iter().map(of).collect())
}
