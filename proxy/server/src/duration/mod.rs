//! Durations as people write them: `1h 30m`, `1.5s`, `5 hours`, `PT3H`. Reads and writes them, the
//! same on every surface. Never knows what a duration is for, and never accepts a bare number: its
//! unit would be a guess.

use jiff::{Span, SpanRelativeTo};
use std::{fmt, str::FromStr, time::Duration};

/// A duration in its friendly text form: largest unit first, separated by blanks, `1d 2h`, `500ms`.
/// A day has 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Friendly(pub Duration);

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a duration; write one like `1h 30m`, `500ms`, `1.5s` or `PT3H`")]
pub struct Error {
    text: String,
}

/// How much of a wrong text an error repeats.
const TEXT_CHARS_SHOWN: usize = 40;

/// Reads a friendly or an ISO 8601 duration. Months and years are refused: they have no length.
pub fn parse(text: &str) -> Result<Duration, Error> {
    let span = Span::from_str(text.trim()).ok();
    span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok())
        .and_then(|signed| Duration::try_from(signed).ok())
        .ok_or_else(|| Error { text: text.chars().take(TEXT_CHARS_SHOWN).collect() })
}

const SECONDS_PER_DAY: u64 = 86_400;
const SECONDS_PER_HOUR: u64 = 3_600;

impl fmt::Display for Friendly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = (self.0.as_secs(), self.0.subsec_nanos());
        let units = [
            (seconds / SECONDS_PER_DAY, "d"),
            (seconds % SECONDS_PER_DAY / SECONDS_PER_HOUR, "h"),
            (seconds % SECONDS_PER_HOUR / 60, "m"),
            (seconds % 60, "s"),
            (u64::from(nanos / 1_000_000), "ms"),
            (u64::from(nanos / 1_000 % 1_000), "us"),
            (u64::from(nanos % 1_000), "ns"),
        ];
        let mut separator = "";
        for (count, unit) in units.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{count}{unit}")?;
            separator = " ";
        }
        if separator.is_empty() { f.write_str("0s") } else { Ok(()) }
    }
}

impl FromStr for Friendly {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map(Friendly)
    }
}

impl From<Duration> for Friendly {
    fn from(duration: Duration) -> Self {
        Friendly(duration)
    }
}

impl serde::Serialize for Friendly {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Friendly {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(texts: &str, expected: Expect) {
        let lines = texts.split('|').map(|text| match text.parse::<Friendly>() {
            Ok(friendly) => format!("{text:?} = {friendly}\n"),
            Err(_) => format!("{text:?} ! no duration\n"),
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn friendly_forms() {
        check(
            "10s|5 hours|10seconds|1day|1h30m|1h 30m|1h, 30m|1.5s|250ms|7us|7µs|9ns|2 weeks\
             |1m 5s|65s|1500ms|0s|  3h  |1 hr 2 mins 3 secs",
            expect![[r#"
                "10s" = 10s
                "5 hours" = 5h
                "10seconds" = 10s
                "1day" = 1d
                "1h30m" = 1h 30m
                "1h 30m" = 1h 30m
                "1h, 30m" = 1h 30m
                "1.5s" = 1s 500ms
                "250ms" = 250ms
                "7us" = 7us
                "7µs" = 7us
                "9ns" = 9ns
                "2 weeks" = 14d
                "1m 5s" = 1m 5s
                "65s" = 1m 5s
                "1500ms" = 1s 500ms
                "0s" = 0s
                "  3h  " = 3h
                "1 hr 2 mins 3 secs" = 1h 2m 3s
            "#]],
        );
    }

    #[test]
    fn iso_forms() {
        check(
            "PT3H|P1D|P1DT12H|PT1M5S|PT0.5S|PT0,5S|pt10s|P2W|PT1.5H",
            expect![[r#"
                "PT3H" = 3h
                "P1D" = 1d
                "P1DT12H" = 1d 12h
                "PT1M5S" = 1m 5s
                "PT0.5S" = 500ms
                "PT0,5S" = 500ms
                "pt10s" = 10s
                "P2W" = 14d
                "PT1.5H" = 1h 30m
            "#]],
        );
    }

    #[test]
    fn what_is_no_duration() {
        check(
            "|  |10|0|-5s|- 5s|-PT1S|soon|s|5 fortnights|1 month|2 years|1s 1m|1s1s|1.5|1..5s\
             |99999999999999999999d|5s ago|1h30|NaN s|1e3s|½s|P|PT|P1Y|P1M|PT1S1H|P1H",
            expect![[r#"
                "" ! no duration
                "  " ! no duration
                "10" ! no duration
                "0" ! no duration
                "-5s" ! no duration
                "- 5s" ! no duration
                "-PT1S" ! no duration
                "soon" ! no duration
                "s" ! no duration
                "5 fortnights" ! no duration
                "1 month" ! no duration
                "2 years" ! no duration
                "1s 1m" ! no duration
                "1s1s" ! no duration
                "1.5" ! no duration
                "1..5s" ! no duration
                "99999999999999999999d" ! no duration
                "5s ago" ! no duration
                "1h30" ! no duration
                "NaN s" ! no duration
                "1e3s" ! no duration
                "½s" ! no duration
                "P" ! no duration
                "PT" ! no duration
                "P1Y" ! no duration
                "P1M" ! no duration
                "PT1S1H" ! no duration
                "P1H" ! no duration
            "#]],
        );
    }

    #[test]
    fn an_error_says_what_to_write_and_repeats_little() {
        expect!["`xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is not a duration; write one like `1h 30m`, `500ms`, `1.5s` or `PT3H`"].assert_eq(&parse(&"x".repeat(100)).unwrap_err().to_string());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(seconds in 0..100_000_000_000u64, nanos in 0..1_000_000_000u32) {
            let friendly = Friendly(Duration::new(seconds, nanos));
            prop_assert_eq!(friendly.to_string().parse::<Friendly>(), Ok(friendly));
        }

        #[test]
        fn no_text_panics(text in "[-+PT0-9.,dhmsu µ]{0,20}") {
            let _ = parse(&text);
        }
    }
}
