//! When a schedule is due: cron expressions in a time zone, and `@every`. Arithmetic over a time
//! zone database that is compiled in: never reads a clock, a file, or where the machine stands.

mod cron;
mod read;
#[cfg(test)]
mod tests;
mod zone;

use crate::time::Timestamp;
use cron::Cron;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::time::Duration;

/// Longest expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 256;
/// How much of a wrong text an error repeats.
const TEXT_CHARS_SHOWN: usize = 60;

/// The times at which something is due.
#[derive(Debug, Clone, PartialEq)]
pub struct Cadence(Rule);

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    /// `since` is no such time, but the one before the first.
    Every {
        since: Timestamp,
        period: Duration,
    },
    Cron {
        cron: Cron,
        zone: TimeZone,
    },
}

/// Why a text says no times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("`{expression}` is not a cron expression: {reason}")]
    Expression { expression: String, reason: String },
    #[error(
        "`{0}` is not a time zone; write a name of the IANA database, as `Europe/Berlin`, or `UTC`"
    )]
    TimeZone(String),
    #[error("`{0}` is never due: no such day ever comes")]
    Never(String),
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Expression { .. } => "HF0182",
            Error::TimeZone(_) => "HF0183",
            Error::Never(_) => "HF0184",
        }
    }
}

impl Cadence {
    /// Reads an expression: five fields (minute, hour, day of month, month, day of week), six with
    /// the second in front, a nickname such as `@daily`, or `@every 90s`, which counts from `since`.
    ///
    /// # Errors
    /// If it is none, if there is no such time zone, or if it is never due.
    pub fn parse(expression: &str, time_zone: &str, since: Timestamp) -> Result<Cadence, Error> {
        let zone = TimeZoneDatabase::bundled()
            .get(time_zone)
            .map_err(|_| Error::TimeZone(shown(time_zone)))?;
        let wrong = |reason| Error::Expression { expression: shown(expression), reason };
        if expression.len() > EXPRESSION_BYTES_MAX {
            return Err(wrong(format!("it is longer than {EXPRESSION_BYTES_MAX} bytes")));
        }
        if let Some(period) = read::every(expression).map_err(wrong)? {
            return Ok(Cadence(Rule::Every { since, period }));
        }
        let cron = read::cron(expression).map_err(wrong)?;
        if !cron.ever_comes() {
            return Err(Error::Never(shown(expression)));
        }
        Ok(Cadence(Rule::Cron { cron, zone }))
    }

    /// The first time after `after`; `None` beyond the end of the calendar.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Rule::Every { since, period } => every(*since, *period, after),
            Rule::Cron { cron, zone } => {
                let after = jiff::Timestamp::from_millisecond(i64::try_from(after.0).ok()?).ok()?;
                let next = zone::next(cron, zone, after)?;
                Some(Timestamp(u64::try_from(next.as_millisecond()).ok()?))
            }
        }
    }

    /// The last time from `due` up to `now`, where `due` is such a time.
    pub fn latest(&self, due: Timestamp, now: Timestamp) -> Timestamp {
        let next_by_now = |after: u64| self.next(Timestamp(after)).filter(|next| *next <= now);
        let Some(mut latest) = next_by_now(due.0) else {
            return due;
        };
        // The later one begins to look, the later the next one is: the last moment from which one
        // is found up to `now` lies between `found` and `none`.
        let (mut found, mut none) = (due.0, now.0);
        while none - found > 1 {
            let middle = found + (none - found) / 2;
            match next_by_now(middle) {
                Some(next) => (latest, found) = (next, middle),
                None => none = middle,
            }
        }
        latest
    }
}

fn every(since: Timestamp, period: Duration, after: Timestamp) -> Option<Timestamp> {
    let period = u64::try_from(period.as_millis()).ok()?;
    let passed = after.0.saturating_sub(since.0).checked_div(period)?;
    let next = passed.checked_add(1)?.checked_mul(period)?;
    since.0.checked_add(next).map(Timestamp)
}

/// A moment as the clocks of a time zone show it, `2026-03-29T09:00:00+02:00[Europe/Berlin]`;
/// nothing where there is no such zone or moment.
pub fn local(at: Timestamp, time_zone: &str) -> Option<String> {
    let zone = TimeZoneDatabase::bundled().get(time_zone).ok()?;
    let at = jiff::Timestamp::from_millisecond(i64::try_from(at.0).ok()?).ok()?;
    Some(at.to_zoned(zone).to_string())
}

fn shown(text: &str) -> String {
    text.chars().take(TEXT_CHARS_SHOWN).collect()
}
