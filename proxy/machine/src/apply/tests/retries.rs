//! Failed attempts: retried by policy, paused or ended.

use super::check;
use expect_test::expect;

#[test]
fn retries_follow_the_policy() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail oops attempts=3
        13 due
        13 dump
        13 a#2 fail oops attempts=3
        36 due
        36 a#3 fail oops attempts=3
        36 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail oops attempts=3
              wake at 13
            13 due
              invoke a#2
            13 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a running, attempt 2, journal 1/1, failures 1/1, root a
              | journal a 0:Input
              | running a
            13 a#2 fail oops attempts=3
              wake at 36
            36 due
              invoke a#3
            36 a#3 fail oops attempts=3
            36 dump
              | event a 0 AttemptFailed x3 oops
              | event a 1 Paused x1 oops
              | invocation a paused, attempt 3, journal 1/1, failures 3/3, root a
              | journal a 0:Input
        "#]],
    );
}

#[test]
fn used_up_attempts_can_end_it() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        0 a#1 fail oops code=503 attempts=1 kill
        0 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            0 a#1 fail oops code=503 attempts=1 kill
              ended a [503] oops with stacktrace
              wake at 100
            0 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a completed [503] oops with stacktrace, attempt 1, journal 1/1, failures 1/1, root a
              | journal a 0:Input
              | timer 100 Forget a 0
        "#]],
    );
}

#[test]
fn a_delay_of_its_own_uses_up_no_attempt() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 run 1; fail flaky after=50 attempts=1
        50 due
        50 a#2 fail flaky after=100 attempts=1
        50 dump
        150 due
        150 a#3 run 2; fail flaky after=100 attempts=1
        150 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 run 1; fail flaky after=50 attempts=1
              wake at 50
            50 due
              invoke a#2
            50 a#2 fail flaky after=100 attempts=1
              wake at 150
            50 dump
              | event a 0 AttemptFailed x2 flaky
              | invocation a backing off until 150, attempt 2, journal 2/2, pin 1, failures 0/2, root a
              | journal a 0:Input
              | journal a 1:Run
              | timer 150 Retry a 0
            150 due
              invoke a#3
            150 a#3 run 2; fail flaky after=100 attempts=1
              wake at 250
            150 dump
              | event a 0 AttemptFailed x3 flaky
              | invocation a backing off until 250, attempt 3, journal 3/3, pin 1, failures 0/1, root a
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:Run
              | timer 250 Retry a 0
        "#]],
    );
}

#[test]
fn a_failure_can_pause_or_end_at_once() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail wait pause
        0 invoke b Greeter/greet
        0 b#1 fail never code=422 fail
        0 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail wait pause
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            0 b#1 fail never code=422 fail
              ended b [422] never
            0 dump
              | event a 0 AttemptFailed x1 wait
              | event a 1 Paused x1 wait
              | invocation a paused, attempt 1, journal 1/1, failures 0/1, root a
              | journal a 0:Input
        "#]],
    );
}

#[test]
fn the_policy_begins_anew_after_a_wait() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail oops
        13 due
        13 a#2 sleep 1 20; suspend first(1)
        20 due
        20 a#3 fail oops
        20 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail oops
              wake at 13
            13 due
              invoke a#2
            13 a#2 sleep 1 20; suspend first(1)
              wake at 20
            20 due
              invoke a#3
            20 a#3 fail oops
              wake at 33
            20 dump
              | event a 0 AttemptFailed x2 oops
              | invocation a backing off until 33, attempt 3, journal 2/3, pin 1, failures 1/1, root a
              | journal a 0:Input
              | journal a 1:Sleep
              | journal a 2:SleepCompletion 1=void
              | notified a 1 @2
              | timer 33 Retry a 0
        "#]],
    );
}

#[test]
fn some_failures_do_not_count_for_the_entry() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail gone uncounted
        0 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail gone uncounted
              wake at 13
            0 dump
              | event a 0 AttemptFailed x1 gone
              | invocation a backing off until 13, attempt 1, journal 1/1, failures 1/0, root a
              | journal a 0:Input
              | timer 13 Retry a 0
        "#]],
    );
}

#[test]
fn a_failure_that_repeats_is_one_event() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail oops after=0
        0 due
        0 a#2 fail oops after=0
        0 due
        0 a#3 fail other after=0
        0 due
        0 a#4 fail oops after=0
        0 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail oops after=0
              wake at 0
            0 due
              invoke a#2
            0 a#2 fail oops after=0
              wake at 0
            0 due
              invoke a#3
            0 a#3 fail other after=0
              wake at 0
            0 due
              invoke a#4
            0 a#4 fail oops after=0
              wake at 0
            0 dump
              | event a 0 AttemptFailed x2 oops
              | event a 1 AttemptFailed x1 other
              | event a 2 AttemptFailed x1 oops
              | invocation a backing off until 0, attempt 4, journal 1/1, failures 0/4, root a
              | journal a 0:Input
              | timer 0 Retry a 0
        "#]],
    );
}

#[test]
fn events_are_bounded() {
    let mut script = String::from("0 invoke a Greeter/greet\n");
    for attempt in 1..=40 {
        script += &format!("0 a#{attempt} fail oops{attempt} after=0\n0 due\n");
    }
    script += "0 dump\n";
    let transcript = super::script::run(1, &script);
    let events = transcript.lines().filter(|line| line.starts_with("  | event")).count();
    assert_eq!(events, crate::tables::event::EVENTS_MAX as usize);
    assert!(transcript.contains("oops40") && !transcript.contains("| event a 0 "));
}

#[test]
fn signals_do_not_shorten_a_backoff() {
    check(
        "
        0 invoke a Greeter/greet
        0 a#1 fail oops after=50
        1 signal a 17 x
        2 cancel a
        50 due
        50 a#2 output x; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 a#1 fail oops after=50
              wake at 50
            1 signal a 17 x
              reply appended
            2 cancel a
              reply appended
            50 due
              invoke a#2
            50 a#2 output x; end
              ended a "x"
        "#]],
    );
}

#[test]
fn long_failures_are_cut_for_onlookers() {
    let message = "é".repeat(20_000);
    let transcript =
        super::script::run(1, &format!("0 invoke a G/g\n0 a#1 fail {message} pause\n0 dump"));
    let shown = transcript.lines().find(|line| line.contains("AttemptFailed")).unwrap();
    assert_eq!(shown.matches('é').count(), 16 * 1024 / 2);
    let outcome =
        super::script::run(1, &format!("0 invoke a G/g\n0 a#1 fail {message} fail\n0 dump"));
    assert!(outcome.contains(&format!("ended a [500] {message}\n")));
}
