//! Pause and resume, in every status.

use super::check;
use expect_test::expect;

#[test]
fn pause_what_runs_is_a_wish() {
    check(
        "
        0 invoke a Greeter/greet
        1 pause a
        1 dump
        2 a#1 sleep 1 50; suspend first(1)
        2 dump
        3 pause a
        50 due
        51 resume a
        52 a#2 output x; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 pause a
              suspend a#1
              reply appended
            1 dump
              | invocation a running, attempt 1, journal 1/1, to be paused, root a
              | journal a 0:Input
              | running a
            2 a#1 sleep 1 50; suspend first(1)
              wake at 50
            2 dump
              | event a 0 Paused x1
              | invocation a paused, attempt 1, journal 2/2, pin 1, root a
              | journal a 0:Input
              | journal a 1:Sleep
              | timer 50 Sleep a 1
            3 pause a
              reply refused: AlreadyPaused
            50 due
            51 resume a
              invoke a#2
              reply done
            52 a#2 output x; end
              ended a "x"
        "#]],
    );
}

#[test]
fn what_waits_for_its_turn_is_paused_at_once() {
    check(
        "
        0 invoke a Greeter/greet
        1 pause a
        2 a#1 unstarted
        2 dump
        3 resume a
        4 pause a
        5 resume a
        6 a#2 unstarted
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 pause a
              suspend a#1
              reply appended
            2 a#1 unstarted
            2 dump
              | event a 0 Paused x1
              | invocation a paused, attempt 1, journal 1/1, root a
              | journal a 0:Input
            3 resume a
              invoke a#2
              reply done
            4 pause a
              suspend a#2
              reply appended
            5 resume a
              reply done
            6 a#2 unstarted
              invoke a#3
        "#]],
    );
}

#[test]
fn a_wish_to_pause_is_granted_by_failure_and_not_by_completion() {
    check(
        "
        0 invoke a Greeter/greet
        1 pause a
        2 a#1 fail oops
        2 dump
        3 invoke b Greeter/greet
        4 pause b
        5 b#1 output x; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 pause a
              suspend a#1
              reply appended
            2 a#1 fail oops
            2 dump
              | event a 0 AttemptFailed x1 oops
              | event a 1 Paused x1 oops
              | invocation a paused, attempt 1, journal 1/1, failures 0/1, root a
              | journal a 0:Input
            3 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            4 pause b
              suspend b#1
              reply appended
            5 b#1 output x; end
              ended b "x"
        "#]],
    );
}

#[test]
fn what_backs_off_is_paused_at_once() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 fail oops after=50
        2 pause a
        2 dump
        51 due
        52 resume a
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 fail oops after=50
              wake at 51
            2 pause a
              reply appended
            2 dump
              | event a 0 AttemptFailed x1 oops
              | event a 1 Paused x1 oops
              | invocation a paused, attempt 1, journal 1/1, failures 0/1, root a
              | journal a 0:Input
            51 due
            52 resume a
              invoke a#2
              reply done
        "#]],
    );
}

#[test]
fn pause_where_it_means_nothing() {
    check(
        "
        0 pause z
        0 invoke a Greeter/greet at=50
        1 pause a
        2 invoke b Greeter/greet keep=10
        3 b#1 suspend first(s17)
        4 pause b
        5 signal b 17
        6 b#2 output x; end
        7 pause b
        ",
        expect![[r#"
            0 pause z
              reply unknown
            0 invoke a Greeter/greet at=50
              reply accepted a, new, starts at 50
              wake at 50
            1 pause a
              reply refused: NotRunning
            2 invoke b Greeter/greet keep=10
              reply accepted b, new
              invoke b#1
            3 b#1 suspend first(s17)
            4 pause b
              reply refused: AlreadyPaused
            5 signal b 17
              invoke b#2
              reply appended
            6 b#2 output x; end
              ended b "x"
              wake at 16
            7 pause b
              reply refused: NotRunning
        "#]],
    );
}

#[test]
fn resume_in_every_status() {
    check(
        "
        0 resume z
        0 invoke a Greeter/greet at=50
        1 resume a
        2 invoke b Greeter/greet keep=10
        3 resume b
        4 b#1 run 1; fail oops after=50
        5 resume b
        5 dump
        6 b#2 suspend first(s17)
        7 resume b pin=2
        7 dump
        8 b#3 output x; end
        9 resume b
        ",
        expect![[r#"
            0 resume z
              reply unknown
            0 invoke a Greeter/greet at=50
              reply accepted a, new, starts at 50
              wake at 50
            1 resume a
              reply refused: NotStarted
            2 invoke b Greeter/greet keep=10
              reply accepted b, new
              invoke b#1
            3 resume b
              reply done
            4 b#1 run 1; fail oops after=50
              wake at 54
            5 resume b
              invoke b#2
              reply done
            5 dump
              | event b 0 AttemptFailed x1 oops
              | invocation a scheduled 50, attempt 0, journal 1/1, root a
              | invocation b running, attempt 2, journal 2/2, pin 1, failures 0/1, root b
              | journal a 0:Input
              | journal b 0:Input
              | journal b 1:Run
              | running b
              | timer 50 Start a 0
            6 b#2 suspend first(s17)
            7 resume b pin=2
              invoke b#3
              reply done
            7 dump
              | event b 0 AttemptFailed x1 oops
              | invocation a scheduled 50, attempt 0, journal 1/1, root a
              | invocation b running, attempt 3, journal 2/2, pin 2, root b
              | journal a 0:Input
              | journal b 0:Input
              | journal b 1:Run
              | running b
              | timer 50 Start a 0
            8 b#3 output x; end
              ended b "x"
              wake at 18
            9 resume b
              reply refused: AlreadyCompleted
        "#]],
    );
}

#[test]
fn only_what_waits_and_is_pinned_can_move() {
    check(
        "
        0 invoke a Greeter/greet
        1 resume a pin=2
        2 a#1 fail oops pause
        3 resume a pin=2
        4 resume a
        5 a#2 run 1; fail oops after=50
        6 resume a pin=2
        7 pause a
        8 resume a pin=2
        8 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 resume a pin=2
              reply refused: NotMovable
            2 a#1 fail oops pause
            3 resume a pin=2
              reply refused: NotMovable
            4 resume a
              invoke a#2
              reply done
            5 a#2 run 1; fail oops after=50
              wake at 55
            6 resume a pin=2
              reply refused: NotMovable
            7 pause a
              reply appended
            8 resume a pin=2
              invoke a#3
              reply done
            8 dump
              | event a 0 AttemptFailed x1 oops
              | event a 1 Paused x1 oops
              | event a 2 AttemptFailed x1 oops
              | event a 3 Paused x1 oops
              | invocation a running, attempt 3, journal 2/2, pin 2, root a
              | journal a 0:Input
              | journal a 1:Run
              | running a
        "#]],
    );
}

#[test]
fn cancel_and_resume_take_the_wish_to_pause_back() {
    check(
        "
        0 invoke a Greeter/greet
        1 pause a
        2 resume a
        3 a#1 suspend first(s1)
        4 invoke b Greeter/greet
        5 pause b
        6 cancel b
        7 b#1 suspend first(s1)
        8 b#2 output x; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 pause a
              suspend a#1
              reply appended
            2 resume a
              reply done
            3 a#1 suspend first(s1)
            4 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            5 pause b
              suspend b#1
              reply appended
            6 cancel b
              notify b#1 1:Signal s1=void
              reply appended
            7 b#1 suspend first(s1)
              invoke b#2
            8 b#2 output x; end
              ended b "x"
        "#]],
    );
}

#[test]
fn a_wish_to_pause_outlives_the_process() {
    check(
        "
        0 invoke a Greeter/greet
        1 invoke b Greeter/greet
        2 pause a
        3 pause b
        4 recover
        5 a#1 sleep 1 50; suspend first(1 s1)
        6 b#1 fail oops after=1
        7 recover
        8 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            2 pause a
              suspend a#1
              reply appended
            3 pause b
              suspend b#1
              reply appended
            4 recover
              invoke a#1
              suspend a#1
              invoke b#1
              suspend b#1
            5 a#1 sleep 1 50; suspend first(1 s1)
              wake at 50
            6 b#1 fail oops after=1
            7 recover
              wake at 50
            8 dump
              | event a 0 Paused x1
              | event b 0 AttemptFailed x1 oops
              | event b 1 Paused x1 oops
              | invocation a paused, attempt 1, journal 2/2, pin 1, root a
              | invocation b paused, attempt 1, journal 1/1, failures 0/1, root b
              | journal a 0:Input
              | journal a 1:Sleep
              | journal b 0:Input
              | timer 50 Sleep a 1
        "#]],
    );
}
