//! Points in time and lengths of time as they are written in questions.

use super::super::{error::Error, types::timestamp};
use holdfast_machine::time::Timestamp;
use jiff::{civil, tz};

/// A point in time as columns hold it; without a zone it is UTC, without a time midnight.
pub fn point(text: &str) -> Option<String> {
    let text = text.trim();
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let local = text.parse::<civil::DateTime>().ok()?;
        local.to_zoned(tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })?;
    u64::try_from(at.as_millisecond()).ok().map(|ms| timestamp(Timestamp(ms)))
}

/// `1 hour`, `2 days 3 hours`, `90` with the unit `minutes`: in milliseconds.
///
/// # Errors
/// `Wrong`.
pub fn span(text: &str, unit: Option<&str>) -> Result<i64, Error> {
    let spaced = spaced(text);
    let mut words = spaced.split_whitespace().chain(unit);
    let mut ms = 0.0;
    let mut empty = true;
    while let Some(number) = words.next() {
        let unit = words.next().ok_or_else(|| no_span(text))?;
        let number: f64 = number.parse().map_err(|_| no_span(text))?;
        ms += number * unit_ms(unit).ok_or_else(|| no_span(text))?;
        empty = false;
    }
    if empty { Err(no_span(text)) } else { Ok(ms.round() as i64) }
}

fn no_span(text: &str) -> Error {
    Error::Wrong(format!(
        "`{text}` is not a length of time; write numbers with weeks, days, hours, minutes, seconds \
         or milliseconds (months and years differ in length)"
    ))
}

/// With a blank between numbers and units.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut last = ' ';
    for c in text.chars() {
        if last.is_ascii_digit() && c.is_alphabetic() {
            out.push(' ');
        }
        out.push(c);
        last = c;
    }
    out
}

fn unit_ms(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        "w" | "week" | "weeks" => 604_800_000.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_with_and_without_zone_and_time() {
        let points = ["2026-11-30", "2026-11-30 02:00:00", "2026-11-30T02:00:00.5+01:00", "2026"];
        let read: Vec<_> = points.iter().map(|text| point(text).unwrap_or_default()).collect();
        let expected = [
            "2026-11-30T00:00:00.000Z",
            "2026-11-30T02:00:00.000Z",
            "2026-11-30T01:00:00.500Z",
            "",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn spans_are_sums_of_numbers_with_units() {
        let hour = 3_600_000;
        assert_eq!(span("1 hour", None), Ok(hour));
        assert_eq!(span("1", Some("HOURS")), Ok(hour));
        assert_eq!(span("1 day 2 hours 30 mins", None), Ok(26 * hour + hour / 2));
        assert_eq!(span("1.5h", None), Ok(hour * 3 / 2));
        assert_eq!(span("-250ms", None), Ok(-250));
        assert_eq!(span("2m 3s", None), Ok(123_000));
        for wrong in ["", "x", "1", "1 month", "hour"] {
            assert!(span(wrong, None).is_err(), "{wrong}");
        }
    }
}
