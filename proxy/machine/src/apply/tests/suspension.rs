//! Sleeps, suspension and waking.

use super::check;
use expect_test::expect;

#[test]
fn a_sleep_wakes_what_is_suspended() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 50; suspend first(1 s1)
        2 dump
        50 due
        50 due
        51 a#2 output x; end
        51 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 sleep 1 50; suspend first(1 s1)
              wake at 50
            2 dump
              | invocation a suspended, attempt 1, journal 2/2, pin 1, root a
              | journal a 0:Input
              | journal a 1:Sleep
              | timer 50 Sleep a 1
            50 due
              invoke a#2
            50 due
            51 a#2 output x; end
              ended a "x"
            51 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_sleep_that_is_over_at_once() {
    check(
        "
        5 invoke a Greeter/greet
        6 a#1 sleep 1 6; suspend first(1)
        ",
        expect![[r#"
            5 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            6 a#1 sleep 1 6; suspend first(1)
              notify a#1 2:SleepCompletion 1=void
              invoke a#2
        "#]],
    );
}

#[test]
fn a_live_attempt_is_told() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 50; sleep 2 60
        50 due
        51 a#1 suspend first(1 2)
        60 due
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 sleep 1 50; sleep 2 60
              wake at 50
              wake at 60
            50 due
              notify a#1 3:SleepCompletion 1=void
            51 a#1 suspend first(1 2)
              invoke a#2
            60 due
              notify a#2 4:SleepCompletion 2=void
        "#]],
    );
}

#[test]
fn what_crosses_a_suspension_starts_the_next_attempt() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 run 1; ran 1 x; suspend first(1 s1)
        2 a#2 sleep 2 90; suspend first(2 s1)
        3 signal a 17 x
        4 signal a 1
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; ran 1 x; suspend first(1 s1)
              notify a#1 2:RunCompletion 1="x"
              invoke a#2
            2 a#2 sleep 2 90; suspend first(2 s1)
              wake at 90
            3 signal a 17 x
              reply appended
            4 signal a 1
              invoke a#3
              reply appended
        "#]],
    );
}

/// The signal it waits for is one that it was sent already: it waits for another of that name, and
/// attempts must not chase each other.
#[test]
fn a_signal_taken_before_does_not_wake_at_once() {
    check(
        "
        0 invoke a Greeter/greet
        1 signal a go one
        3 a#1 suspend first(sgo)
        4 a#2 suspend first(sgo)
        5 signal a go two
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 signal a go one
              notify a#1 1:Signal s:go="one"
              reply appended
            3 a#1 suspend first(sgo)
              invoke a#2
            4 a#2 suspend first(sgo)
            5 signal a go two
              invoke a#3
              reply appended
        "#]],
    );
}

#[test]
fn a_tree_waits_for_what_it_needs() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 10; sleep 2 20; sleep 3 30; suspend first(s1 all(1 2) 3)
        10 due
        20 due
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 sleep 1 10; sleep 2 20; sleep 3 30; suspend first(s1 all(1 2) 3)
              wake at 10
              wake at 20
              wake at 30
            10 due
            20 due
              invoke a#2
        "#]],
    );
}

#[test]
fn timers_of_sleeps_end_with_the_invocation() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 5000; sleep 2 10; sleep 3 9000
        10 due
        11 a#1 output x; end
        11 dump
        5000 due
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 sleep 1 5000; sleep 2 10; sleep 3 9000
              wake at 5000
              wake at 10
              wake at 9000
            10 due
              notify a#1 4:SleepCompletion 2=void
            11 a#1 output x; end
              ended a "x"
            11 dump
              | nothing
            5000 due
        "#]],
    );
}

/// Nobody but another attempt can bring the result of a run.
#[test]
fn who_waits_for_its_own_run_is_started_again() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 run 1; suspend first(1 s1)
        2 a#2 suspend first(1 s1)
        1002 due
        1003 a#3 sleep 2 5000; suspend all(1 first(2 s1))
        1004 a#4 ran 1 x; suspend all(1 first(2 s1))
        5000 due
        5001 a#5 run 3; run 4; ran 4 x; suspend first(4)
        5002 a#6 sleep 5 6000; suspend first(5 s1)
        5003 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; suspend first(1 s1)
              invoke a#2
            2 a#2 suspend first(1 s1)
              wake at 1002
            1002 due
              invoke a#3
            1003 a#3 sleep 2 5000; suspend all(1 first(2 s1))
              wake at 5000
              invoke a#4
            1004 a#4 ran 1 x; suspend all(1 first(2 s1))
              notify a#4 3:RunCompletion 1="x"
            5000 due
              invoke a#5
            5001 a#5 run 3; run 4; ran 4 x; suspend first(4)
              notify a#5 7:RunCompletion 4="x"
              invoke a#6
            5002 a#6 sleep 5 6000; suspend first(5 s1)
              wake at 6000
            5003 dump
              | invocation a suspended, attempt 6, journal 6/9, pin 1, root a
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:Sleep
              | journal a 3:RunCompletion 1="x"
              | journal a 4:SleepCompletion 2=void
              | journal a 5:Run
              | journal a 6:Run
              | journal a 7:RunCompletion 4="x"
              | journal a 8:Sleep
              | notified a 1 @3
              | notified a 2 @4
              | notified a 4 @7
              | timer 6000 Sleep a 5
        "#]],
    );
}

#[test]
fn a_failure_ends_a_wait_where_it_decides() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/x; call 3 4 Greeter/y; suspend first(s1 any(2 4))
        2 A#1 output! 500 no; end
        3 B#1 output yes; end
        4 invoke b Greeter/greet
        5 b#1 call 1 2 Greeter/x; call 3 4 Greeter/y; suspend first(s1 every(2 4))
        6 C#1 output! 500 no; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/x; call 3 4 Greeter/y; suspend first(s1 any(2 4))
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke A#1
              invoke B#1
            2 A#1 output! 500 no; end
              ended A [500] no
            3 B#1 output yes; end
              ended B "yes"
              invoke a#2
            4 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            5 b#1 call 1 2 Greeter/x; call 3 4 Greeter/y; suspend first(s1 every(2 4))
              notify b#1 2:CallInvocationIdCompletion 1=C
              notify b#1 4:CallInvocationIdCompletion 3=D
              invoke C#1
              invoke D#1
            6 C#1 output! 500 no; end
              ended C [500] no
              invoke b#2
        "#]],
    );
}
