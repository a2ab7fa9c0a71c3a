//! Reading JSON field by field, with the path of what is wrong. Knows what ProtoJSON allows: two
//! spellings of each name, numbers as text, `null` for unset.

use super::time;
use crate::bridge::a2a::error::{Error, Violation};
use crate::bridge::a2a::model::{Struct, Timestamp};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use serde_json::Value;

/// Standard alphabet, with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// An object, and where it is.
pub struct Fields<'v> {
    object: &'v Struct,
    path: String,
}

impl<'v> Fields<'v> {
    /// The object at the top; its fields have no path before them.
    ///
    /// # Errors
    /// `InvalidParams` where it is no object.
    pub fn top(value: &'v Value) -> Result<Fields<'v>, Error> {
        match value {
            Value::Object(object) => Ok(Fields { object, path: String::new() }),
            other => Err(Error::invalid("params", expected("an object", other))),
        }
    }

    fn at(object: &'v Value, path: String) -> Result<Fields<'v>, Error> {
        match object {
            Value::Object(object) => Ok(Fields { object, path }),
            other => Err(Error::invalid(path, expected("an object", other))),
        }
    }

    /// The path of a field, for complaints.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// A complaint about a field.
    pub fn wrong(&self, name: &str, description: impl Into<String>) -> Error {
        Error::InvalidParams(vec![Violation {
            field: self.path(name),
            description: description.into(),
        }])
    }

    fn is_not(&self, name: &str, wanted: &str, value: &Value) -> Error {
        self.wrong(name, expected(wanted, value))
    }

    /// The value of a field under its camelCase or its snake_case name, `null` included.
    pub fn raw(&self, name: &str) -> Option<&'v Value> {
        self.object.get(name).or_else(|| {
            let snake = snake_case(name);
            if snake == name { None } else { self.object.get(&snake) }
        })
    }

    /// The value of a field that is set.
    pub fn get(&self, name: &str) -> Option<&'v Value> {
        self.raw(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<String, Error> {
        match self.get(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(self.is_not(name, "a string", other)),
        }
    }

    pub fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        let text = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.is_not(name, "strings", other)),
        };
        self.list(name)?.iter().map(text).collect()
    }

    fn list(&self, name: &str) -> Result<&'v [Value], Error> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(list)) => Ok(list),
            Some(other) => Err(self.is_not(name, "an array", other)),
        }
    }

    /// A list of objects, each read by `read`.
    pub fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(&Fields<'v>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let each = self
            .list(name)?
            .iter()
            .enumerate()
            .map(|(at, value)| read(&Fields::at(value, format!("{}[{at}]", self.path(name)))?));
        each.collect()
    }

    /// An object, where it is set.
    pub fn object<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Fields<'v>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        read(&Fields::at(value, self.path(name))?).map(Some)
    }

    /// An object that must be there.
    pub fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Fields<'v>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.object(name, read)?.ok_or_else(|| self.wrong(name, "is required"))
    }

    pub fn facts(&self, name: &str) -> Result<Struct, Error> {
        match self.get(name) {
            None => Ok(Struct::new()),
            Some(Value::Object(facts)) => Ok(facts.clone()),
            Some(other) => Err(self.is_not(name, "an object", other)),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.is_not(name, "true or false", other)),
        }
    }

    /// A whole number of 32 bits, as a number or in decimal.
    pub fn number(&self, name: &str) -> Result<Option<i32>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match number.and_then(|number| i32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.is_not(name, "a whole number of 32 bits", value)),
        }
    }

    pub fn time(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_str().and_then(time::read) {
            Some(at) => Ok(Some(at)),
            None => Err(self.is_not(name, "a time as in 2026-11-29T15:40:23.314Z", value)),
        }
    }

    /// Base64 in either alphabet, padded or not.
    pub fn bytes(&self, name: &str) -> Result<Bytes, Error> {
        let text = self.text(name)?.replace('-', "+").replace('_', "/");
        match LENIENT.decode(text) {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => Err(self.wrong(name, "is not base64")),
        }
    }

    /// A value of an enumeration, by name or number; 0 is the same as unset.
    pub fn choice<T>(
        &self,
        name: &str,
        unspecified: &str,
        by_name: impl Fn(&str) -> Option<T>,
        by_number: impl Fn(i32) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let chosen = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) if text.is_empty() || text == unspecified => return Ok(None),
            Some(Value::String(text)) => by_name(text),
            Some(_) => match self.number(name)? {
                None | Some(0) => return Ok(None),
                Some(number) => by_number(number),
            },
        };
        match chosen {
            Some(chosen) => Ok(Some(chosen)),
            None => Err(self.wrong(name, "is none of the known values")),
        }
    }
}

fn whole(number: f64) -> Option<i64> {
    // Exact for all that fits into 32 bits, which is all that is asked for.
    (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
}

/// What was wanted and what was there, without the value itself.
fn expected(wanted: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("must be {wanted}, not {found}")
}

fn snake_case(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_snake_case() {
        assert_eq!(snake_case("statusTimestampAfter"), "status_timestamp_after");
        assert_eq!(snake_case("id"), "id");
    }
}
