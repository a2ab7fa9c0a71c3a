//! Reads cron expressions. What is wrong is told as the second half of a sentence.

use super::cron::{Cron, Days, Numbers};
use jiff::{Span, SpanRelativeTo};
use std::time::Duration;

/// Shortest period of `@every`.
const PERIOD_MIN: Duration = Duration::from_secs(1);

/// One of the fields: what it is called, its numbers, and their names, from the lowest on.
struct Field {
    called: &'static str,
    min: i8,
    max: i8,
    names: &'static [&'static str],
}

const SECOND: Field = Field { called: "second", min: 0, max: 59, names: &[] };
const MINUTE: Field = Field { called: "minute", min: 0, max: 59, names: &[] };
const HOUR: Field = Field { called: "hour", min: 0, max: 23, names: &[] };
const DAY: Field = Field { called: "day of month", min: 1, max: 31, names: &[] };
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const MONTH: Field = Field { called: "month", min: 1, max: 12, names: &MONTHS };
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// 7 is Sunday as well.
const WEEKDAY: Field = Field { called: "day of week", min: 0, max: 7, names: &WEEKDAYS };

const NICKNAMES: [(&str, &str); 7] = [
    ("@YEARLY", "0 0 1 1 *"),
    ("@ANNUALLY", "0 0 1 1 *"),
    ("@MONTHLY", "0 0 1 * *"),
    ("@WEEKLY", "0 0 * * 0"),
    ("@DAILY", "0 0 * * *"),
    ("@MIDNIGHT", "0 0 * * *"),
    ("@HOURLY", "0 * * * *"),
];

/// The period of an `@every`; `None` for another expression.
pub fn every(text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim();
    let Some((_, period)) = text
        .split_once(char::is_whitespace)
        .filter(|(word, _)| word.eq_ignore_ascii_case("@every"))
    else {
        return Ok(None);
    };
    let period = period.trim();
    let span = period.parse::<Span>().ok();
    let period = span
        .and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok())
        .and_then(|signed| Duration::try_from(signed).ok())
        .ok_or_else(|| format!("`{period}` is not a duration such as `90s` or `1h 30m`"))?;
    if period < PERIOD_MIN {
        return Err("the shortest period is `1s`".into());
    }
    Ok(Some(period))
}

pub fn cron(text: &str) -> Result<Cron, String> {
    let mut text = text.trim().to_ascii_uppercase();
    if text.starts_with('@') {
        let known = NICKNAMES.iter().find(|(name, _)| *name == text);
        let (_, meant) = known.ok_or_else(|| {
            let names: Vec<_> = NICKNAMES.iter().map(|(name, _)| name.to_lowercase()).collect();
            format!("such words are {} and `@every DURATION`", names.join(", "))
        })?;
        text = (*meant).to_owned();
    }
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() == 5 {
        fields.insert(0, "0");
    }
    let [second, minute, hour, day, month, weekday] = fields[..] else {
        let found = fields.len();
        return Err(format!(
            "expected the 5 fields minute, hour, day of month, month and day of week, or 6 with \
             the second in front, and found {found}"
        ));
    };
    Ok(Cron {
        seconds: SECOND.read(second)?,
        minutes: MINUTE.read(minute)?,
        hours: HOUR.read(hour)?,
        months: MONTH.read(month)?,
        days: days(day, weekday)?,
    })
}

/// Both fields count where one of them begins with a star; else a day of either is enough.
fn days(day: &str, weekday: &str) -> Result<Days, String> {
    let (day, weekday) = (open(day), open(weekday));
    let either = !day.starts_with('*') && !weekday.starts_with('*');
    let mut days = Days { either, ..Days::default() };
    for item in day.split(',') {
        match item {
            "L" => days.last = true,
            _ => days.of_month.0 |= DAY.item(item)?.0,
        }
    }
    for item in weekday.split(',') {
        if let Some((named, number)) = item.split_once('#') {
            let nth = number.parse().ok().filter(|nth| (1..=5).contains(nth));
            let nth: i8 = nth.ok_or_else(|| format!("`{item}`: behind `#` goes 1 to 5"))?;
            days.nth_weekdays.add(7 * (nth - 1) + WEEKDAY.value(named)? % 7);
        } else if let Some(named) = item.strip_suffix('L') {
            days.last_weekdays.add(WEEKDAY.value(named)? % 7);
        } else {
            let named = WEEKDAY.item(item)?;
            days.weekdays.0 |= named.0;
        }
    }
    if days.weekdays.has(7) {
        days.weekdays.add(0);
    }
    Ok(days)
}

/// `?` says of a day that the other field has it.
fn open(text: &str) -> &str {
    if text == "?" { "*" } else { text }
}

impl Field {
    /// A list of items.
    fn read(&self, text: &str) -> Result<Numbers, String> {
        let mut numbers = Numbers::default();
        for item in text.split(',') {
            numbers.0 |= self.item(item)?.0;
        }
        Ok(numbers)
    }

    /// `*`, `a`, `a-b`, each perhaps with `/step`; `a/step` goes on to the end.
    fn item(&self, item: &str) -> Result<Numbers, String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (item, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.min, self.last()),
            Some((first, last)) => (self.value(first)?, self.end(self.value(last)?)),
            None => {
                let first = self.value(range)?;
                (first, if step.is_some() { self.last() } else { first })
            }
        };
        if last < first {
            return Err(format!("the {} `{range}` runs backwards", self.called));
        }
        let mut numbers = Numbers::default();
        let step = usize::from(step.unwrap_or(1));
        (first..=last).step_by(step).for_each(|number| numbers.add(number));
        Ok(numbers)
    }

    /// The last number where none is said; Sunday is 0 then.
    fn last(&self) -> i8 {
        if self.names == WEEKDAYS { 6 } else { self.max }
    }

    /// Sunday at the end of a range comes after Saturday.
    fn end(&self, last: i8) -> i8 {
        if self.names == WEEKDAYS && last == 0 { 7 } else { last }
    }

    fn step(&self, text: &str) -> Result<u8, String> {
        let step = text.parse().ok().filter(|step| (1..=self.max as u8).contains(step));
        step.ok_or_else(|| {
            format!("the step `{text}` of the {} is not 1 to {}", self.called, self.max)
        })
    }

    fn value(&self, text: &str) -> Result<i8, String> {
        if let Some(at) = self.names.iter().position(|name| *name == text) {
            return Ok(self.min + at as i8);
        }
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        number.filter(|number| (self.min..=self.max).contains(number)).ok_or_else(|| {
            let names = match self.names {
                [first, .., last] => format!(" or {first} to {last}"),
                _ => String::new(),
            };
            format!("the {} `{text}` is not {} to {}{names}", self.called, self.min, self.max)
        })
    }
}
