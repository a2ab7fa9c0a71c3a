//! Points in time, which are texts as columns hold them, and lengths of time, which are numbers of
//! milliseconds.

use super::{
    super::types::{timestamp, timestamp_ms},
    Given, Scalar, number, text, whole,
};
use holdfast_machine::time::Timestamp;
use jiff::{civil, tz};
use rusqlite::types::Value;

pub const ALL: &[Scalar] = &[
    ("plus", 2, |it| Ok(plus(&it[0], &it[1]))),
    ("minus", 2, |it| Ok(minus(&it[0], &it[1]))),
    ("date_trunc", 2, |it| with_unit(it, |unit, at| truncate(unit, at).map(to_text))),
    ("date_part", 2, date_part),
    ("date_bin", 2, |it| Ok(bin(&it[0], &it[1], 0))),
    ("date_bin", 3, |it| Ok(bin(&it[0], &it[1], point(&it[2]).unwrap_or(0)))),
    ("to_timestamp", 1, |it| Ok(to_timestamp(&it[0], 1_000.0))),
    ("to_timestamp_seconds", 1, |it| Ok(to_timestamp(&it[0], 1_000.0))),
    ("to_timestamp_millis", 1, |it| Ok(to_timestamp(&it[0], 1.0))),
    ("from_unixtime", 1, |it| Ok(to_timestamp(&it[0], 1_000.0))),
    ("to_unixtime", 1, |it| Ok(point(&it[0]).map_or(Value::Null, |ms| (ms / 1_000).into()))),
    ("to_char", 2, to_char),
    ("date_format", 2, to_char),
];

/// Milliseconds of a point in time.
fn point(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) => timestamp_ms(text),
        _ => None,
    }
}

fn to_point(ms: i64) -> Value {
    match u64::try_from(ms) {
        Ok(ms) => timestamp(Timestamp(ms)).into(),
        Err(_) => Value::Null,
    }
}

/// Numbers are added as SQLite does; what is absent makes all of it absent.
fn plus(left: &Value, right: &Value) -> Value {
    match (point(left), point(right)) {
        (Some(at), None) => moved(at, whole(right)),
        (None, Some(at)) => moved(at, whole(left)),
        _ => calculate(left, right, i64::checked_add, |left, right| left + right),
    }
}

fn minus(left: &Value, right: &Value) -> Value {
    match (point(left), point(right)) {
        (Some(left), Some(right)) => (left - right).into(),
        (Some(at), None) => moved(at, whole(right).map(i64::saturating_neg)),
        _ => calculate(left, right, i64::checked_sub, |left, right| left - right),
    }
}

fn moved(at: i64, by: Option<i64>) -> Value {
    by.and_then(|by| at.checked_add(by)).map_or(Value::Null, to_point)
}

fn calculate(
    left: &Value,
    right: &Value,
    whole: fn(i64, i64) -> Option<i64>,
    real: fn(f64, f64) -> f64,
) -> Value {
    if let (Value::Integer(left), Value::Integer(right)) = (left, right)
        && let Some(sum) = whole(*left, *right)
    {
        return sum.into();
    }
    match (number(left), number(right)) {
        (Some(left), Some(right)) => real(left, right).into(),
        _ => Value::Null,
    }
}

fn civil(ms: i64) -> Option<civil::DateTime> {
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(at.to_zoned(tz::TimeZone::UTC).datetime())
}

fn to_text(at: civil::DateTime) -> Value {
    let zoned = at.to_zoned(tz::TimeZone::UTC).ok();
    zoned.map_or(Value::Null, |zoned| to_point(zoned.timestamp().as_millisecond()))
}

/// With a unit and a point in time.
fn with_unit(arguments: &[Value], function: fn(&str, civil::DateTime) -> Option<Value>) -> Given {
    let unit = text(&arguments[0]).unwrap_or_default().to_ascii_lowercase();
    let Some(at) = point(&arguments[1]).and_then(civil) else {
        return Ok(Value::Null);
    };
    function(&unit, at).ok_or_else(|| format!("`{unit}` is not a part of a point in time"))
}

fn truncate(unit: &str, at: civil::DateTime) -> Option<civil::DateTime> {
    let date = at.date();
    let day = match unit {
        "year" => civil::date(date.year(), 1, 1),
        "quarter" => civil::date(date.year(), (date.month() - 1) / 3 * 3 + 1, 1),
        "month" => date.first_of_month(),
        "week" => {
            let behind_monday = date.weekday().to_monday_zero_offset();
            date.checked_sub(jiff::Span::new().days(behind_monday)).ok()?
        }
        _ => date,
    };
    let (hour, minute, second) = (at.hour(), at.minute(), at.second());
    let ms = i32::from(at.millisecond()) * 1_000_000;
    let time = match unit {
        "year" | "quarter" | "month" | "week" | "day" => civil::Time::midnight(),
        "hour" => civil::time(hour, 0, 0, 0),
        "minute" => civil::time(hour, minute, 0, 0),
        "second" => civil::time(hour, minute, second, 0),
        "millisecond" => civil::time(hour, minute, second, ms),
        _ => return None,
    };
    Some(day.to_datetime(time))
}

fn date_part(arguments: &[Value]) -> Given {
    let unit = text(&arguments[0]).unwrap_or_default().to_ascii_lowercase();
    match (&arguments[1], unit.as_str()) {
        // A length of time.
        (Value::Integer(ms), "epoch") => Ok((*ms as f64 / 1_000.0).into()),
        (Value::Integer(_), _) => {
            Err("of a length of time only the part `epoch` is told, in seconds".into())
        }
        (at, "epoch") => Ok(point(at).map_or(Value::Null, |ms| (ms as f64 / 1_000.0).into())),
        _ => with_unit(arguments, |unit, at| part(unit, at).map(Value::Integer)),
    }
}

fn part(unit: &str, at: civil::DateTime) -> Option<i64> {
    let ms = i64::from(at.millisecond());
    Some(match unit {
        "year" => at.year().into(),
        "quarter" => i64::from((at.month() - 1) / 3 + 1),
        "month" => at.month().into(),
        "week" => at.date().iso_week_date().week().into(),
        "day" => at.day().into(),
        "doy" => at.date().day_of_year().into(),
        "dow" => at.date().weekday().to_sunday_zero_offset().into(),
        "hour" => at.hour().into(),
        "minute" => at.minute().into(),
        "second" => at.second().into(),
        "millisecond" | "milliseconds" => i64::from(at.second()) * 1_000 + ms,
        _ => return None,
    })
}

/// The beginning of the stretch of `step` ms, counted from `origin`, that a point in time is in.
fn bin(step: &Value, at: &Value, origin: i64) -> Value {
    match (whole(step), point(at)) {
        (Some(step @ 1..), Some(at)) => to_point(at - (at - origin).rem_euclid(step)),
        _ => Value::Null,
    }
}

/// A text that is one already, or a number of units of so many ms since 1970.
fn to_timestamp(value: &Value, unit_ms: f64) -> Value {
    match value {
        Value::Text(text) => {
            super::super::dialect::literal::point(text).map_or(Value::Null, Value::Text)
        }
        other => number(other).map_or(Value::Null, |number| to_point((number * unit_ms) as i64)),
    }
}

fn to_char(arguments: &[Value]) -> Given {
    let (Some(ms), Some(format)) = (point(&arguments[0]), text(&arguments[1])) else {
        return Ok(Value::Null);
    };
    let at = jiff::Timestamp::from_millisecond(ms).map_err(|error| error.to_string())?;
    let zoned = at.to_zoned(tz::TimeZone::UTC);
    jiff::fmt::strtime::format(&format, &zoned).map(Value::Text).map_err(|error| error.to_string())
}
