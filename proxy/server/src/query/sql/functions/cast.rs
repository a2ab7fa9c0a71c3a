//! Casts between the few kinds of values that SQLite has, by the names of the types that questions
//! use. What cannot be converted is an error, not zero.

use super::{
    super::{dialect::literal, types::timestamp_ms},
    Scalar, text,
};
use rusqlite::types::Value;

pub const ALL: &[Scalar] = &[
    ("cast_as", 2, |arguments| cast(arguments).map_err(|wrong| wrong.sentence())),
    ("try_cast_as", 2, |arguments| match cast(arguments) {
        Err(Wrong::Value(_)) => Ok(Value::Null),
        other => other.map_err(|wrong| wrong.sentence()),
    }),
    ("arrow_cast", 2, |arguments| cast(arguments).map_err(|wrong| wrong.sentence())),
];

enum Wrong {
    Value(String),
    Type(String),
}

impl Wrong {
    fn sentence(self) -> String {
        match self {
            Wrong::Value(sentence) | Wrong::Type(sentence) => sentence,
        }
    }
}

fn cast(arguments: &[Value]) -> Result<Value, Wrong> {
    let ty = text(&arguments[1]).unwrap_or_default().to_ascii_lowercase();
    let value = &arguments[0];
    let convert: fn(&Value) -> Option<Value> = match ty.as_str() {
        "interval" => span,
        "boolean" | "bool" => boolean,
        "date" | "date32" | "date64" => date,
        "bytea" | "binary" | "largebinary" | "blob" => bytes,
        _ if ty.starts_with("timestamp") => point,
        _ if ty.contains("int") => integer,
        _ if ty.contains("utf8") || ty.contains("char") => words,
        "text" | "string" => words,
        _ if ["float", "double", "real", "decimal", "numeric"]
            .iter()
            .any(|it| ty.starts_with(it)) =>
        {
            real
        }
        _ => return Err(Wrong::Type(format!("there is no type `{ty}` to cast to"))),
    };
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    convert(value).ok_or_else(|| {
        let value = text(value).unwrap_or_default();
        Wrong::Value(format!("`{value}` cannot be cast to `{ty}`; `try_cast` gives null for it"))
    })
}

fn words(value: &Value) -> Option<Value> {
    text(value).map(Value::Text)
}

/// Points in time count in milliseconds, as columns do.
fn integer(value: &Value) -> Option<Value> {
    Some(Value::Integer(match value {
        Value::Integer(number) => *number,
        Value::Real(number) => *number as i64,
        Value::Text(text) => text.trim().parse().ok().or_else(|| timestamp_ms(text))?,
        Value::Null | Value::Blob(_) => return None,
    }))
}

fn real(value: &Value) -> Option<Value> {
    super::number(value).map(Value::Real)
}

fn boolean(value: &Value) -> Option<Value> {
    let truth = match value {
        Value::Integer(number) => *number != 0,
        Value::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => true,
            "false" | "f" | "no" | "n" | "off" | "0" => false,
            _ => return None,
        },
        Value::Null | Value::Real(_) | Value::Blob(_) => return None,
    };
    Some(super::truth(truth))
}

fn point(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => literal::point(text).map(Value::Text),
        _ => None,
    }
}

fn date(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => {
            let mut point = literal::point(text)?;
            point.truncate("2026-11-30".len());
            Some(Value::Text(point))
        }
        _ => None,
    }
}

fn span(value: &Value) -> Option<Value> {
    match value {
        Value::Integer(ms) => Some(Value::Integer(*ms)),
        Value::Text(text) => literal::span(text, None).ok().map(Value::Integer),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<Value> {
    match value {
        Value::Blob(bytes) => Some(Value::Blob(bytes.clone())),
        other => text(other).map(|text| Value::Blob(text.into_bytes())),
    }
}
