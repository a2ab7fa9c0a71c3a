//! The plain life of an invocation: accepted, attempted, completed; and who comes late.

use super::check;
use expect_test::expect;

#[test]
fn an_echo_is_two_commands() {
    check(
        "
        0 invoke a Greeter/greet hi keep=100
        0 dump
        5 a#1 output hello; end
        5 dump
        6 attach a
        6 output a
        ",
        expect![[r#"
            0 invoke a Greeter/greet hi keep=100
              reply accepted a, new
              invoke a#1
            0 dump
              | invocation a running, attempt 1, journal 1/1, root a
              | journal a 0:Input
              | running a
            5 a#1 output hello; end
              ended a "hello"
              wake at 105
            5 dump
              | invocation a completed "hello", attempt 1, journal 2/2, pin 1, root a
              | journal a 0:Input
              | journal a 1:Output
              | timer 105 Forget a 0
            6 attach a
              reply completed "hello", until 105
            6 output a
              reply completed "hello", until 105
        "#]],
    );
}

#[test]
fn without_retention_nothing_is_left() {
    check(
        "
        0 invoke a Greeter/greet hi
        1 a#1 run 1; ran 1 x
        2 a#1 output hello; end
        2 dump
        3 attach a
        ",
        expect![[r#"
            0 invoke a Greeter/greet hi
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; ran 1 x
              notify a#1 2:RunCompletion 1="x"
            2 a#1 output hello; end
              ended a "hello"
            2 dump
              | nothing
            3 attach a
              reply unknown
        "#]],
    );
}

#[test]
fn the_last_output_counts_and_none_is_a_failure() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 output one; output two
        2 a#1 output! 418 teapot
        3 a#1 end
        4 invoke b Greeter/greet
        5 b#1 end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 output one; output two
            2 a#1 output! 418 teapot
            3 a#1 end
              ended a [418] teapot
            4 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            5 b#1 end
              ended b [500] the handler ended without an output
        "#]],
    );
}

#[test]
fn what_comes_from_an_old_attempt_is_ignored() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        1 a#1 run 1; fail oops after=5
        2 a#1 ran 1 late
        6 due
        7 a#1 output old; end
        8 a#2 ran 1 good; output new; end
        9 a#2 output again; end
        9 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; fail oops after=5
              wake at 6
            2 a#1 ran 1 late
            6 due
              invoke a#2
            7 a#1 output old; end
            8 a#2 ran 1 good; output new; end
              notify a#2 2:RunCompletion 1="good"
              ended a "new"
              wake at 108
            9 a#2 output again; end
            9 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a completed "new", attempt 2, journal 3/4, pin 1, root a
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:RunCompletion 1="good"
              | journal a 3:Output
              | notified a 1 @2
              | timer 108 Forget a 0
        "#]],
    );
}

#[test]
fn a_run_has_one_result() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        1 a#1 run 1; run 2; ran 2 two; ran! 1 no
        2 a#1 ran 1 changed; ran 2 changed
        3 a#1 fail oops after=0
        3 due
        4 a#2 ran 1 changed
        4 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; run 2; ran 2 two; ran! 1 no
              notify a#1 3:RunCompletion 2="two"
              notify a#1 4:RunCompletion 1=[500] no
            2 a#1 ran 1 changed; ran 2 changed
            3 a#1 fail oops after=0
              wake at 3
            3 due
              invoke a#2
            4 a#2 ran 1 changed
            4 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a running, attempt 2, journal 3/5, pin 1, failures 0/1, root a
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:Run
              | journal a 3:RunCompletion 2="two"
              | journal a 4:RunCompletion 1=[500] no
              | notified a 1 @4 failed
              | notified a 2 @3
              | running a
        "#]],
    );
}

#[test]
fn the_first_journal_effect_pins() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 fail oops after=0
        1 dump
        1 due
        2 a#2 run 1
        2 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 fail oops after=0
              wake at 1
            1 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a backing off until 1, attempt 1, journal 1/1, failures 0/1, root a
              | journal a 0:Input
              | timer 1 Retry a 0
            1 due
              invoke a#2
            2 a#2 run 1
            2 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a running, attempt 2, journal 2/2, pin 1, failures 0/0, root a
              | journal a 0:Input
              | journal a 1:Run
              | running a
        "#]],
    );
}

#[test]
fn the_same_id_again_starts_nothing() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        1 invoke a Greeter/greet
        2 a#1 output x; end
        3 invoke a Greeter/greet
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 invoke a Greeter/greet
              reply accepted a, known
            2 a#1 output x; end
              ended a "x"
              wake at 102
            3 invoke a Greeter/greet
              reply accepted a, known
        "#]],
    );
}

#[test]
fn an_idempotency_key_names_the_invocation() {
    check(
        "
        0 invoke a Greeter/greet one idem=k keep=100
        1 invoke b Greeter/greet two idem=k keep=100
        2 a#1 output x; end
        3 invoke c Greeter/greet three idem=k keep=100
        3 attach a
        102 due
        103 invoke d Greeter/greet four idem=k keep=100
        ",
        expect![[r#"
            0 invoke a Greeter/greet one idem=k keep=100
              reply accepted a, new
              invoke a#1
            1 invoke b Greeter/greet two idem=k keep=100
              reply accepted a, known
            2 a#1 output x; end
              ended a "x"
              wake at 102
            3 invoke c Greeter/greet three idem=k keep=100
              reply accepted a, known
            3 attach a
              reply completed "x", until 102
            102 due
            103 invoke d Greeter/greet four idem=k keep=100
              reply accepted a, new
              invoke a#1
        "#]],
    );
}

#[test]
fn a_delayed_invocation_waits_for_its_time() {
    check(
        "
        0 invoke a Greeter/greet at=50
        0 dump
        1 attach a
        2 invoke b Greeter/greet at=2
        49 due
        50 due
        51 due
        ",
        expect![[r#"
            0 invoke a Greeter/greet at=50
              reply accepted a, new, starts at 50
              wake at 50
            0 dump
              | invocation a scheduled 50, attempt 0, journal 1/1, root a
              | journal a 0:Input
              | timer 50 Start a 0
            1 attach a
              reply pending
            2 invoke b Greeter/greet at=2
              reply accepted b, new
              invoke b#1
            49 due
            50 due
              invoke a#1
            51 due
        "#]],
    );
}
