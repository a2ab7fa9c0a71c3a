//! Functions of the dialect that SQLite lacks, or has for windows alone. They are pure: what they
//! give depends on their arguments only.

mod cast;
mod ends;
mod numbers;
mod text;
mod time;

use ends::End;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    types::Value,
};

/// What a function gives; `Err` is a sentence for whoever asked.
type Given = Result<Value, String>;

/// A function with a name, the number of its arguments (-1: any), and its values.
type Scalar = (&'static str, i32, fn(&[Value]) -> Given);

/// Makes all of them known to a connection.
pub fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_aggregate_function("first_value", 1, flags, End::First)?;
    connection.create_aggregate_function("last_value", 1, flags, End::Last)?;
    for (name, count, function) in [cast::ALL, numbers::ALL, text::ALL, time::ALL].concat() {
        connection.create_scalar_function(name, count, flags, move |context| {
            let given = function(&arguments(context)?);
            given.map_err(|sentence| rusqlite::Error::UserFunctionError(sentence.into()))
        })?;
    }
    Ok(())
}

fn arguments(context: &Context<'_>) -> rusqlite::Result<Vec<Value>> {
    (0..context.len()).map(|index| context.get(index)).collect()
}

/// As SQLite shows it; `None` for an absent value.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        other => super::answer::text(other),
    }
}

/// As SQLite calculates with it: text counts by the number that it is.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Text(text) => text.trim().parse().ok(),
        Value::Null | Value::Blob(_) => None,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        other => number(other).map(|number| number as i64),
    }
}

fn truth(truth: bool) -> Value {
    Value::Integer(truth.into())
}
