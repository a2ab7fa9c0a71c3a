//! Arithmetic beside the one of SQLite.

use super::{Given, Scalar, number, whole};
use rusqlite::types::Value;
use std::cmp::Ordering;

pub const ALL: &[Scalar] = &[
    ("floor", 1, |it| real(it, f64::floor)),
    ("ceil", 1, |it| real(it, f64::ceil)),
    ("trunc", 1, |it| real(it, f64::trunc)),
    ("sqrt", 1, |it| real(it, f64::sqrt)),
    ("exp", 1, |it| real(it, f64::exp)),
    ("ln", 1, |it| real(it, f64::ln)),
    ("log10", 1, |it| real(it, f64::log10)),
    ("log2", 1, |it| real(it, f64::log2)),
    ("power", 2, power),
    ("pow", 2, power),
    ("greatest", -1, |it| Ok(extreme(it, Ordering::Greater))),
    ("least", -1, |it| Ok(extreme(it, Ordering::Less))),
];

fn real(arguments: &[Value], function: fn(f64) -> f64) -> Given {
    Ok(number(&arguments[0]).map_or(Value::Null, |number| Value::Real(function(number))))
}

fn power(arguments: &[Value]) -> Given {
    let numbers = (number(&arguments[0]), number(&arguments[1]));
    Ok(match numbers {
        (Some(base), Some(exponent)) => Value::Real(base.powf(exponent)),
        _ => Value::Null,
    })
}

/// Absent values do not count.
fn extreme(arguments: &[Value], wanted: Ordering) -> Value {
    let mut found = &Value::Null;
    for value in arguments.iter().filter(|value| **value != Value::Null) {
        if *found == Value::Null || order(value, found) == wanted {
            found = value;
        }
    }
    found.clone()
}

fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Integer(_), Value::Integer(_)) => whole(left).cmp(&whole(right)),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        _ => number(left).partial_cmp(&number(right)).unwrap_or(Ordering::Equal),
    }
}
