//! The keywords of numbers. Whole numbers are compared as such, so that large ones keep their last
//! digits.

use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

pub(super) fn check(keywords: &Map<String, Value>, number: &Number) -> Result<(), String> {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_number);
    let is = |bound: &Number, orders: &[Ordering]| orders.contains(&order(number, bound));
    if let Some(min) = bound("minimum")
        && is(min, &[Ordering::Less])
    {
        return Err(format!("is {number}, below {min}"));
    }
    if let Some(max) = bound("maximum")
        && is(max, &[Ordering::Greater])
    {
        return Err(format!("is {number}, above {max}"));
    }
    if let Some(min) = bound("exclusiveMinimum")
        && is(min, &[Ordering::Less, Ordering::Equal])
    {
        return Err(format!("is {number}, not above {min}"));
    }
    if let Some(max) = bound("exclusiveMaximum")
        && is(max, &[Ordering::Greater, Ordering::Equal])
    {
        return Err(format!("is {number}, not below {max}"));
    }
    match bound("multipleOf") {
        Some(step) if !is_multiple(number, step) => {
            Err(format!("is {number}, no multiple of {step}"))
        }
        _ => Ok(()),
    }
}

pub(super) fn is_whole(number: &Number) -> bool {
    whole(number).is_some() || number.as_f64().is_some_and(|it| it.fract() == 0.0)
}

pub(super) fn same(one: &Number, other: &Number) -> bool {
    order(one, other) == Ordering::Equal
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn order(one: &Number, other: &Number) -> Ordering {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal)
        }
    }
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (whole(number), whole(step)) {
        return step == 0 || number % step == 0;
    }
    let (Some(number), Some(step)) = (number.as_f64(), step.as_f64()) else { return true };
    let times = number / step;
    // 0.3 is three times 0.1 for people, though not for this arithmetic.
    step == 0.0 || !times.is_finite() || (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
}
