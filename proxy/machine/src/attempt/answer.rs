//! What the head of a response means: go on, or which failure. Never looks at a body.

use super::error::Error;
use crate::{model::Target, time::Timestamp};
use std::time::Duration;

/// Longest delay that a service can ask for with `Retry-After`.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Most characters of a strange content type that are shown.
const SHOWN_CHARS_MAX: usize = 80;

/// The parts of a response head that matter here.
pub(super) struct Head<'a> {
    pub status: u16,
    pub content_type: Option<&'a str>,
    pub retry_after: Option<&'a str>,
}

/// `Ok` where messages of the type `expected` follow.
pub(super) fn judge(
    now: Timestamp,
    head: &Head<'_>,
    expected: &'static str,
    target: &Target,
) -> Result<(), Error> {
    let status = head.status;
    Err(match status {
        200..=299 if head.content_type == Some(expected) => return Ok(()),
        200..=299 => Error::ContentType { seen: shown(head.content_type), expected },
        401 => Error::Unauthorized,
        404 => Error::NotFound { handler: format!("{}/{}", target.service, target.handler) },
        413 => Error::PayloadTooLarge,
        415 => Error::VersionUnsupported { content_type: expected },
        429 | 503 => {
            let retry_after = head.retry_after.and_then(|value| delay(now, value));
            Error::NotNow { status, retry_after }
        }
        502 | 504 => Error::Gateway { status },
        _ => Error::Status { status },
    })
}

fn shown(content_type: Option<&str>) -> String {
    match content_type {
        Some(value) => format!("`{}`", value.chars().take(SHOWN_CHARS_MAX).collect::<String>()),
        None => "(none)".to_owned(),
    }
}

/// Reads `Retry-After`: seconds, or a date. `None` where it is neither.
fn delay(now: Timestamp, value: &str) -> Option<Duration> {
    let delay = match value.trim().parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => date(value)?.since(now),
    };
    Some(delay.min(RETRY_AFTER_MAX))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT` (the date of HTTP), and that of mail, which may lack the
/// weekday and have an offset for a zone.
fn date(text: &str) -> Option<Timestamp> {
    let text = text.split_once(',').map_or(text, |(_weekday, rest)| rest);
    let mut words = text.split_whitespace();
    let day = number(words.next()?, 1..=31)?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
    let year = number(words.next()?, 1970..=9999)?;
    let seconds = time_of_day(words.next()?)?;
    let east = zone(words.next()?)?;
    if words.next().is_some() {
        return None;
    }
    let local = days(year, month as i64, day) * 86_400 + seconds;
    Some(Timestamp(u64::try_from(local - east).ok()? * 1000))
}

fn number(text: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|value| digits && range.contains(value))
}

/// Seconds since midnight of `08:49:37` or `08:49`.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 0..=23)?;
    let minute = number(parts.next()?, 0..=59)?;
    let second = parts.next().map_or(Some(0), |second| number(second, 0..=60))?;
    parts.next().is_none().then_some((hour * 60 + minute) * 60 + second)
}

/// Seconds that a zone is ahead of UTC.
fn zone(text: &str) -> Option<i64> {
    if matches!(text, "GMT" | "UTC" | "UT" | "Z") {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    Some(sign * (number(hours, 0..=23)? * 60 + number(minutes, 0..=59)?) * 60)
}

/// Days from 1 January 1970 to the `day` of the `month` (0 is January) of the `year`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    const BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let leap_year = leaps(year) > leaps(year - 1);
    let leap_day = i64::from(leap_year && month >= 2);
    let before_year = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    before_year + BEFORE_MONTH[month as usize] + leap_day + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(values: &[&str], expected: Expect) {
        let now = Timestamp(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT
        let lines = values.iter().map(|value| format!("{value:40} {:?}\n", delay(now, value)));
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check(
            &[
                "0",
                "120",
                " 7 ",
                "99999999999",
                "Sun, 06 Nov 1994 08:49:37 GMT",
                "Sun, 06 Nov 1994 08:50:07 GMT",
                "Sun, 06 Nov 1994 08:00:00 GMT",
                "6 Nov 1994 08:51 UTC",
                "Sun, 6 Nov 1994 10:49:47 +0200",
                "Sun, 6 Nov 1994 03:19:47 -0530",
                "Tue, 29 Feb 2028 00:00:00 GMT",
            ],
            expect![[r#"
                0                                        Some(0ns)
                120                                      Some(120s)
                 7                                       Some(7s)
                99999999999                              Some(86400s)
                Sun, 06 Nov 1994 08:49:37 GMT            Some(0ns)
                Sun, 06 Nov 1994 08:50:07 GMT            Some(30s)
                Sun, 06 Nov 1994 08:00:00 GMT            Some(0ns)
                6 Nov 1994 08:51 UTC                     Some(83s)
                Sun, 6 Nov 1994 10:49:47 +0200           Some(10s)
                Sun, 6 Nov 1994 03:19:47 -0530           Some(10s)
                Tue, 29 Feb 2028 00:00:00 GMT            Some(86400s)
            "#]],
        );
    }

    #[test]
    fn other_values_of_retry_after_are_not_understood() {
        check(
            &[
                "",
                "-1",
                "1.5",
                "soon",
                "Sunday, 06-Nov-94 08:49:37 GMT",
                "Sun Nov  6 08:49:37 1994",
                "Sun, 06 Nov 1994 08:49:37",
                "Sun, 06 Nov 1994 08:49:37 CET",
                "Sun, 06 Nov 1994 08:49:37 GMT now",
                "Sun, 32 Nov 1994 08:49:37 GMT",
                "Sun, 06 Nov 1994 24:00:00 GMT",
                "Sun, 06 Nov 1969 08:49:37 GMT",
                "Sun, 06 Nov 1994 +8:49:37 GMT",
            ],
            expect![[r#"
                                                         None
                -1                                       None
                1.5                                      None
                soon                                     None
                Sunday, 06-Nov-94 08:49:37 GMT           None
                Sun Nov  6 08:49:37 1994                 None
                Sun, 06 Nov 1994 08:49:37                None
                Sun, 06 Nov 1994 08:49:37 CET            None
                Sun, 06 Nov 1994 08:49:37 GMT now        None
                Sun, 32 Nov 1994 08:49:37 GMT            None
                Sun, 06 Nov 1994 24:00:00 GMT            None
                Sun, 06 Nov 1969 08:49:37 GMT            None
                Sun, 06 Nov 1994 +8:49:37 GMT            None
            "#]],
        );
    }

    #[test]
    fn days_of_the_calendar() {
        let date = |y: i64, m: i64, d: i64| days(y, m - 1, d);
        assert_eq!(date(1970, 1, 1), 0);
        assert_eq!(date(1972, 2, 29) + 1, date(1972, 3, 1));
        assert_eq!(date(2000, 2, 29) + 1, date(2000, 3, 1));
        assert_eq!(date(2100, 2, 28) + 1, date(2100, 3, 1));
        assert_eq!(date(2026, 11, 29), 20_786);
    }
}
