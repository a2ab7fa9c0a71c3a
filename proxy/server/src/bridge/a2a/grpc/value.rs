//! JSON values to and from protobuf's `Struct`, `Value` and `Timestamp`. There every number is a
//! double: integers keep their digits up to 2^53, and come back as integers.

use holdfast_machine::time::Timestamp;
use prost_types as pb;
use prost_types::value::Kind;
use serde_json::{Map, Number, Value};

/// Integers up to here are exact as doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A value that JSON does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoJson {
    #[error("it holds a number that is not finite")]
    NotFinite,
    #[error("it is before 1970 or has more than 999999999 nanoseconds")]
    NoTime,
}

pub fn struct_out(members: &Map<String, Value>) -> Option<pb::Struct> {
    if members.is_empty() {
        return None;
    }
    Some(fields_out(members))
}

fn fields_out(members: &Map<String, Value>) -> pb::Struct {
    let fields = members.iter().map(|(name, value)| (name.clone(), value_out(value)));
    pb::Struct { fields: fields.collect() }
}

pub fn value_out(value: &Value) -> pb::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(value) => Kind::BoolValue(*value),
        Value::Number(value) => Kind::NumberValue(value.as_f64().unwrap_or_default()),
        Value::String(value) => Kind::StringValue(value.clone()),
        Value::Array(values) => {
            Kind::ListValue(pb::ListValue { values: values.iter().map(value_out).collect() })
        }
        Value::Object(members) => Kind::StructValue(fields_out(members)),
    };
    pb::Value { kind: Some(kind) }
}

pub fn struct_in(fields: Option<pb::Struct>) -> Result<Map<String, Value>, NoJson> {
    let fields = fields.unwrap_or_default().fields.into_iter();
    fields.map(|(name, value)| Ok((name, value_in(value)?))).collect()
}

pub fn value_in(value: pb::Value) -> Result<Value, NoJson> {
    Ok(match value.kind {
        // Nothing set is a null in protobuf's own JSON, too.
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => Value::Bool(value),
        Some(Kind::NumberValue(value)) => Value::Number(number_in(value)?),
        Some(Kind::StringValue(value)) => Value::String(value),
        Some(Kind::ListValue(list)) => {
            let values = list.values.into_iter().map(value_in);
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Some(Kind::StructValue(fields)) => Value::Object(struct_in(Some(fields))?),
    })
}

fn number_in(value: f64) -> Result<Number, NoJson> {
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is an integer below 2^53")]
        return Ok(Number::from(value as i64));
    }
    Number::from_f64(value).ok_or(NoJson::NotFinite)
}

pub fn timestamp_out(at: Timestamp) -> pb::Timestamp {
    let seconds = i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(at.0 % 1_000 * 1_000_000).unwrap_or_default();
    pb::Timestamp { seconds, nanos }
}

pub fn timestamp_in(at: pb::Timestamp) -> Result<Timestamp, NoJson> {
    let seconds = u64::try_from(at.seconds).map_err(|_| NoJson::NoTime)?;
    let nanos = u64::try_from(at.nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
    let ms = nanos.ok_or(NoJson::NoTime)? / 1_000_000;
    seconds
        .checked_mul(1_000)
        .and_then(|it| it.checked_add(ms))
        .map(Timestamp)
        .ok_or(NoJson::NoTime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_come_back() {
        let value = json!({
            "null": null, "yes": true, "text": "ü", "list": [1, -2, 4.5, [], {}],
            "large": 9_007_199_254_740_992_u64, "object": {"a": {"b": 0}},
        });
        assert_eq!(value_in(value_out(&value)), Ok(value));
        assert_eq!(value_in(pb::Value { kind: None }), Ok(Value::Null));
        let nan = pb::Value { kind: Some(Kind::NumberValue(f64::NAN)) };
        assert_eq!(value_in(nan), Err(NoJson::NotFinite));
        assert_eq!(value_out(&json!(1)).kind, Some(Kind::NumberValue(1.0)));
        assert_eq!(struct_out(&Map::new()), None);
        assert_eq!(struct_in(None), Ok(Map::new()));
    }

    #[test]
    fn times_are_milliseconds() {
        let at = |seconds, nanos| timestamp_in(pb::Timestamp { seconds, nanos });
        assert_eq!(at(1, 2_999_999), Ok(Timestamp(1_002)));
        assert_eq!(at(-1, 0), Err(NoJson::NoTime));
        assert_eq!(at(1, -1), Err(NoJson::NoTime));
        assert_eq!(at(1, 1_000_000_000), Err(NoJson::NoTime));
        assert_eq!(at(i64::MAX, 0), Err(NoJson::NoTime));
    }

    proptest! {
        #[test]
        fn any_time_that_can_be_comes_back(ms in 0..u64::MAX / 2_000) {
            prop_assert_eq!(timestamp_in(timestamp_out(Timestamp(ms))), Ok(Timestamp(ms)));
        }
    }
}
