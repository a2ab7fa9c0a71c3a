//! Values of columns, from what rows hold.

use super::super::types::timestamp;
use bytes::Bytes;
use holdfast_machine::time::Timestamp;
use std::time::Duration;

/// A value of a column.
pub enum Value {
    None,
    Number(i64),
    Text(String),
    Bytes(Bytes),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.clone())
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Value::Bytes(bytes)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Number(truth.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(number.into())
    }
}

impl From<u64> for Value {
    /// See `Type::UInt64`.
    fn from(number: u64) -> Self {
        Value::Number(number.cast_signed())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::from(number as u64)
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Self {
        timestamp(at).into()
    }
}

impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Value::Number(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
    }
}
