//! Expressions and the times they say, as text.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond().cast_unsigned())
}

/// The first times of each expression after a moment, as a time zone shows them.
fn check(zone: &str, after: &str, expressions: &str, expected: Expect) {
    let lines = expressions.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.map(|line| match Cadence::parse(line, zone, at(after)) {
        Ok(cadence) => {
            let mut time = at(after);
            let times = (0..4).map_while(|_| {
                time = cadence.next(time)?;
                let local = local(time, zone).unwrap();
                let (local, _) = local.split_once('[').unwrap();
                Some(format!("    {local}\n"))
            });
            format!("{line}\n{}", times.collect::<String>())
        }
        Err(error) => format!("{line}\n    {} {error}\n", error.code()),
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn fields_have_numbers_names_ranges_steps_and_lists() {
    check(
        "UTC",
        "2026-11-30T02:15:00Z",
        "
        * * * * *
        */20 * * * * *
        0 9 * * MON-FRI
        0,30 8-18/5 * jan,Jul *
        5/25 22 * * sat-sun
        0 0 1,15 * 5
        0 0 */10 * 5
        0 0 ? * 7
        0 0 1 */3 ?
        ",
        expect![[r#"
            * * * * *
                2026-11-30T02:16:00+00:00
                2026-11-30T02:17:00+00:00
                2026-11-30T02:18:00+00:00
                2026-11-30T02:19:00+00:00
            */20 * * * * *
                2026-11-30T02:15:20+00:00
                2026-11-30T02:15:40+00:00
                2026-11-30T02:16:00+00:00
                2026-11-30T02:16:20+00:00
            0 9 * * MON-FRI
                2026-11-30T09:00:00+00:00
                2026-12-01T09:00:00+00:00
                2026-12-02T09:00:00+00:00
                2026-12-03T09:00:00+00:00
            0,30 8-18/5 * jan,Jul *
                2027-01-01T08:00:00+00:00
                2027-01-01T08:30:00+00:00
                2027-01-01T13:00:00+00:00
                2027-01-01T13:30:00+00:00
            5/25 22 * * sat-sun
                2026-12-05T22:05:00+00:00
                2026-12-05T22:30:00+00:00
                2026-12-05T22:55:00+00:00
                2026-12-06T22:05:00+00:00
            0 0 1,15 * 5
                2026-12-01T00:00:00+00:00
                2026-12-04T00:00:00+00:00
                2026-12-11T00:00:00+00:00
                2026-12-15T00:00:00+00:00
            0 0 */10 * 5
                2026-12-11T00:00:00+00:00
                2027-01-01T00:00:00+00:00
                2027-05-21T00:00:00+00:00
                2027-06-11T00:00:00+00:00
            0 0 ? * 7
                2026-12-06T00:00:00+00:00
                2026-12-13T00:00:00+00:00
                2026-12-20T00:00:00+00:00
                2026-12-27T00:00:00+00:00
            0 0 1 */3 ?
                2027-01-01T00:00:00+00:00
                2027-04-01T00:00:00+00:00
                2027-07-01T00:00:00+00:00
                2027-10-01T00:00:00+00:00
        "#]],
    );
}

#[test]
fn days_are_counted_from_the_end_and_by_week() {
    check(
        "UTC",
        "2026-11-30T02:15:00Z",
        "
        0 0 L * *
        0 0 1,L * *
        0 12 * * FRI#1
        0 12 * * 5L,MON#5
        0 12 * * 0L
        0 0 29 2 *
        0 0 29 2 MON
        0 0 29 FEB *
        ",
        expect![[r#"
            0 0 L * *
                2026-12-31T00:00:00+00:00
                2027-01-31T00:00:00+00:00
                2027-02-28T00:00:00+00:00
                2027-03-31T00:00:00+00:00
            0 0 1,L * *
                2026-12-01T00:00:00+00:00
                2026-12-31T00:00:00+00:00
                2027-01-01T00:00:00+00:00
                2027-01-31T00:00:00+00:00
            0 12 * * FRI#1
                2026-12-04T12:00:00+00:00
                2027-01-01T12:00:00+00:00
                2027-02-05T12:00:00+00:00
                2027-03-05T12:00:00+00:00
            0 12 * * 5L,MON#5
                2026-11-30T12:00:00+00:00
                2026-12-25T12:00:00+00:00
                2027-01-29T12:00:00+00:00
                2027-02-26T12:00:00+00:00
            0 12 * * 0L
                2026-12-27T12:00:00+00:00
                2027-01-31T12:00:00+00:00
                2027-02-28T12:00:00+00:00
                2027-03-28T12:00:00+00:00
            0 0 29 2 *
                2028-02-29T00:00:00+00:00
                2032-02-29T00:00:00+00:00
                2036-02-29T00:00:00+00:00
                2040-02-29T00:00:00+00:00
            0 0 29 2 MON
                2027-02-01T00:00:00+00:00
                2027-02-08T00:00:00+00:00
                2027-02-15T00:00:00+00:00
                2027-02-22T00:00:00+00:00
            0 0 29 FEB *
                2028-02-29T00:00:00+00:00
                2032-02-29T00:00:00+00:00
                2036-02-29T00:00:00+00:00
                2040-02-29T00:00:00+00:00
        "#]],
    );
}

#[test]
fn nicknames_and_periods() {
    check(
        "Europe/Berlin",
        "2026-11-30T02:15:00.250Z",
        "
        @hourly
        @Daily
        @midnight
        @weekly
        @monthly
        @yearly
        @every 90s
        @every 1h 30m
        @every PT36H
        ",
        expect![[r#"
            @hourly
                2026-11-30T04:00:00+01:00
                2026-11-30T05:00:00+01:00
                2026-11-30T06:00:00+01:00
                2026-11-30T07:00:00+01:00
            @Daily
                2026-12-01T00:00:00+01:00
                2026-12-02T00:00:00+01:00
                2026-12-03T00:00:00+01:00
                2026-12-04T00:00:00+01:00
            @midnight
                2026-12-01T00:00:00+01:00
                2026-12-02T00:00:00+01:00
                2026-12-03T00:00:00+01:00
                2026-12-04T00:00:00+01:00
            @weekly
                2026-12-06T00:00:00+01:00
                2026-12-13T00:00:00+01:00
                2026-12-20T00:00:00+01:00
                2026-12-27T00:00:00+01:00
            @monthly
                2026-12-01T00:00:00+01:00
                2027-01-01T00:00:00+01:00
                2027-02-01T00:00:00+01:00
                2027-03-01T00:00:00+01:00
            @yearly
                2027-01-01T00:00:00+01:00
                2028-01-01T00:00:00+01:00
                2029-01-01T00:00:00+01:00
                2030-01-01T00:00:00+01:00
            @every 90s
                2026-11-30T03:16:30.25+01:00
                2026-11-30T03:18:00.25+01:00
                2026-11-30T03:19:30.25+01:00
                2026-11-30T03:21:00.25+01:00
            @every 1h 30m
                2026-11-30T04:45:00.25+01:00
                2026-11-30T06:15:00.25+01:00
                2026-11-30T07:45:00.25+01:00
                2026-11-30T09:15:00.25+01:00
            @every PT36H
                2026-12-01T15:15:00.25+01:00
                2026-12-03T03:15:00.25+01:00
                2026-12-04T15:15:00.25+01:00
                2026-12-06T03:15:00.25+01:00
        "#]],
    );
}

#[test]
fn what_says_no_times_is_told_why() {
    let long = "1,".repeat(200);
    check(
        "UTC",
        "2026-11-30T02:15:00Z",
        &format!(
            "
        * * * *
        60 * * * *
        * 24 * * *
        * * 0 * *
        * * 31 4,6,9,11 *
        * * 30 2 *
        * * 30 FEB ?
        * * * 13 *
        * * * FOO *
        * * * * FUN
        * * * * 8
        * * * * FRI#6
        * * * * L
        * * 15W * *
        */0 * * * *
        */61 * * * *
        30-10 * * * *
        , * * * *
        1- * * * *
        -1 * * * *
        +1 * * * *
        @reboot
        @every
        @every soon
        @every 10ms
        @every 1 month
        {long}
        "
        ),
        expect![[r#"
            * * * *
                HF0182 `* * * *` is not a cron expression: expected the 5 fields minute, hour, day of month, month and day of week, or 6 with the second in front, and found 4
            60 * * * *
                HF0182 `60 * * * *` is not a cron expression: the minute `60` is not 0 to 59
            * 24 * * *
                HF0182 `* 24 * * *` is not a cron expression: the hour `24` is not 0 to 23
            * * 0 * *
                HF0182 `* * 0 * *` is not a cron expression: the day of month `0` is not 1 to 31
            * * 31 4,6,9,11 *
                HF0184 `* * 31 4,6,9,11 *` is never due: no such day ever comes
            * * 30 2 *
                HF0184 `* * 30 2 *` is never due: no such day ever comes
            * * 30 FEB ?
                HF0184 `* * 30 FEB ?` is never due: no such day ever comes
            * * * 13 *
                HF0182 `* * * 13 *` is not a cron expression: the month `13` is not 1 to 12 or JAN to DEC
            * * * FOO *
                HF0182 `* * * FOO *` is not a cron expression: the month `FOO` is not 1 to 12 or JAN to DEC
            * * * * FUN
                HF0182 `* * * * FUN` is not a cron expression: the day of week `FUN` is not 0 to 7 or SUN to SAT
            * * * * 8
                HF0182 `* * * * 8` is not a cron expression: the day of week `8` is not 0 to 7 or SUN to SAT
            * * * * FRI#6
                HF0182 `* * * * FRI#6` is not a cron expression: `FRI#6`: behind `#` goes 1 to 5
            * * * * L
                HF0182 `* * * * L` is not a cron expression: the day of week `` is not 0 to 7 or SUN to SAT
            * * 15W * *
                HF0182 `* * 15W * *` is not a cron expression: the day of month `15W` is not 1 to 31
            */0 * * * *
                HF0182 `*/0 * * * *` is not a cron expression: the step `0` of the minute is not 1 to 59
            */61 * * * *
                HF0182 `*/61 * * * *` is not a cron expression: the step `61` of the minute is not 1 to 59
            30-10 * * * *
                HF0182 `30-10 * * * *` is not a cron expression: the minute `30-10` runs backwards
            , * * * *
                HF0182 `, * * * *` is not a cron expression: the minute `` is not 0 to 59
            1- * * * *
                HF0182 `1- * * * *` is not a cron expression: the minute `` is not 0 to 59
            -1 * * * *
                HF0182 `-1 * * * *` is not a cron expression: the minute `` is not 0 to 59
            +1 * * * *
                HF0182 `+1 * * * *` is not a cron expression: the minute `+1` is not 0 to 59
            @reboot
                HF0182 `@reboot` is not a cron expression: such words are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and `@every DURATION`
            @every
                HF0182 `@every` is not a cron expression: such words are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and `@every DURATION`
            @every soon
                HF0182 `@every soon` is not a cron expression: `soon` is not a duration such as `90s` or `1h 30m`
            @every 10ms
                HF0182 `@every 10ms` is not a cron expression: the shortest period is `1s`
            @every 1 month
                HF0182 `@every 1 month` is not a cron expression: `1 month` is not a duration such as `90s` or `1h 30m`
            1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
                HF0182 `1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,` is not a cron expression: it is longer than 256 bytes
        "#]],
    );
    let zone = |zone| Cadence::parse("@daily", zone, Timestamp(0)).unwrap_err().to_string();
    expect!["`Mars/Olympus` is not a time zone; write a name of the IANA database, as `Europe/Berlin`, or `UTC`"].assert_eq(&zone("Mars/Olympus"));
    for wrong in ["", "../../etc/passwd", "+02:00"] {
        assert!(zone(wrong).contains("is not a time zone"), "{wrong}");
    }
}

#[test]
fn a_time_that_a_clock_skips_comes_at_the_change() {
    check(
        "Europe/Berlin",
        "2026-03-28T20:00:00Z",
        "
        30 2 * * *
        0,30 2 * * *
        30 2,14 * * *
        0 3 * * *
        ",
        expect![[r#"
            30 2 * * *
                2026-03-29T03:00:00+02:00
                2026-03-30T02:30:00+02:00
                2026-03-31T02:30:00+02:00
                2026-04-01T02:30:00+02:00
            0,30 2 * * *
                2026-03-29T03:00:00+02:00
                2026-03-30T02:00:00+02:00
                2026-03-30T02:30:00+02:00
                2026-03-31T02:00:00+02:00
            30 2,14 * * *
                2026-03-29T03:00:00+02:00
                2026-03-29T14:30:00+02:00
                2026-03-30T02:30:00+02:00
                2026-03-30T14:30:00+02:00
            0 3 * * *
                2026-03-29T03:00:00+02:00
                2026-03-30T03:00:00+02:00
                2026-03-31T03:00:00+02:00
                2026-04-01T03:00:00+02:00
        "#]],
    );
}

#[test]
fn a_time_that_a_clock_shows_twice_comes_once() {
    check(
        "Europe/Berlin",
        "2026-10-24T20:00:00Z",
        "
        30 2 * * *
        0,30 2 * * *
        30 2,14 * * *
        0 3 * * *
        ",
        expect![[r#"
            30 2 * * *
                2026-10-25T02:30:00+02:00
                2026-10-26T02:30:00+01:00
                2026-10-27T02:30:00+01:00
                2026-10-28T02:30:00+01:00
            0,30 2 * * *
                2026-10-25T02:00:00+02:00
                2026-10-25T02:30:00+02:00
                2026-10-26T02:00:00+01:00
                2026-10-26T02:30:00+01:00
            30 2,14 * * *
                2026-10-25T02:30:00+02:00
                2026-10-25T14:30:00+01:00
                2026-10-26T02:30:00+01:00
                2026-10-26T14:30:00+01:00
            0 3 * * *
                2026-10-25T03:00:00+01:00
                2026-10-26T03:00:00+01:00
                2026-10-27T03:00:00+01:00
                2026-10-28T03:00:00+01:00
        "#]],
    );
    check(
        "Europe/Berlin",
        "2026-10-25T01:15:00Z",
        "
        30 2 * * *
        * * 2 * * *
        ",
        expect![[r#"
            30 2 * * *
                2026-10-26T02:30:00+01:00
                2026-10-27T02:30:00+01:00
                2026-10-28T02:30:00+01:00
                2026-10-29T02:30:00+01:00
            * * 2 * * *
                2026-10-26T02:00:00+01:00
                2026-10-26T02:00:01+01:00
                2026-10-26T02:00:02+01:00
                2026-10-26T02:00:03+01:00
        "#]],
    );
}

#[test]
fn what_is_said_for_every_hour_follows_time() {
    let expressions = "0 * * * *\n*/45 * * * *";
    check(
        "Europe/Berlin",
        "2026-03-28T23:30:00Z",
        expressions,
        expect![[r#"
        0 * * * *
            2026-03-29T01:00:00+01:00
            2026-03-29T03:00:00+02:00
            2026-03-29T04:00:00+02:00
            2026-03-29T05:00:00+02:00
        */45 * * * *
            2026-03-29T00:45:00+01:00
            2026-03-29T01:00:00+01:00
            2026-03-29T01:45:00+01:00
            2026-03-29T03:00:00+02:00
    "#]],
    );
    check(
        "Europe/Berlin",
        "2026-10-24T23:30:00Z",
        expressions,
        expect![[r#"
        0 * * * *
            2026-10-25T02:00:00+02:00
            2026-10-25T02:00:00+01:00
            2026-10-25T03:00:00+01:00
            2026-10-25T04:00:00+01:00
        */45 * * * *
            2026-10-25T01:45:00+02:00
            2026-10-25T02:00:00+02:00
            2026-10-25T02:45:00+02:00
            2026-10-25T02:00:00+01:00
    "#]],
    );
}

#[test]
fn a_whole_day_may_be_skipped() {
    check(
        "Pacific/Apia",
        "2011-12-29T00:00:00Z",
        "0 9 * * *\n0 9 30 12 *",
        expect![[r#"
        0 9 * * *
            2011-12-29T09:00:00-10:00
            2011-12-31T00:00:00+14:00
            2011-12-31T09:00:00+14:00
            2012-01-01T09:00:00+14:00
        0 9 30 12 *
            2011-12-31T00:00:00+14:00
            2012-12-30T09:00:00+14:00
            2013-12-30T09:00:00+14:00
            2014-12-30T09:00:00+14:00
    "#]],
    );
}

#[test]
fn times_end_with_the_calendar() {
    let cadence = Cadence::parse("@yearly", "UTC", Timestamp(0)).unwrap();
    assert_eq!(cadence.next(at("9998-12-31T23:59:59Z")), Some(at("9999-01-01T00:00:00Z")));
    assert_eq!(cadence.next(at("9999-06-01T00:00:00Z")), None);
    assert_eq!(cadence.next(Timestamp(u64::MAX)), None);
    let cadence = Cadence::parse("@every 1s", "UTC", Timestamp(0)).unwrap();
    assert_eq!(cadence.next(Timestamp(u64::MAX)), None);
    assert_eq!(cadence.latest(Timestamp(0), Timestamp(0)), Timestamp(0));
}

const EXPRESSIONS: [&str; 8] = [
    "@every 7s",
    "*/7 * * * * *",
    "0 * * * *",
    "30 2 * * *",
    "*/10 2,3 * * *",
    "0 0 * * SUN",
    "59 23 L * *",
    "* * 1-3 * * *",
];

proptest! {
    /// Around both changes of the clocks.
    #[test]
    fn the_latest_time_is_the_last_of_all(
        expression in proptest::sample::select(&EXPRESSIONS[..]),
        change in proptest::sample::select(&["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"][..]),
        (before, later) in (0..100_000_000u64, 0..20_000_000u64),
    ) {
        let begin = Timestamp(at(change).0 - before);
        let cadence = Cadence::parse(expression, "Europe/Berlin", begin).unwrap();
        let due = cadence.next(begin).unwrap();
        let now = Timestamp(due.0 + later);
        let mut last = due;
        while let Some(next) = cadence.next(last).filter(|next| *next <= now) {
            prop_assert!(next > last);
            last = next;
        }
        prop_assert_eq!(cadence.latest(due, now), last);
    }

    #[test]
    fn no_text_panics(text in "[@*0-9,/#?L A-Z-]{0,24}", after: u64) {
        if let Ok(cadence) = Cadence::parse(&text, "America/New_York", Timestamp(0)) {
            let _ = cadence.next(Timestamp(after % 4_102_444_800_000));
        }
    }
}
