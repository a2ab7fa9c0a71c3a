//! Awakeables and named signals.

use super::check;
use expect_test::expect;

#[test]
fn an_awakeable_wakes_its_owner() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 suspend first(s17 s1)
        2 invoke b Greeter/greet
        3 b#1 awake a 17 hello; output x; end
        4 a#2 output x; end
        4 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 suspend first(s17 s1)
            2 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            3 b#1 awake a 17 hello; output x; end
              ended b "x"
              invoke a#2
            4 a#2 output x; end
              ended a "x"
            4 dump
              | nothing
        "#]],
    );
}

#[test]
fn handlers_signal_each_other_and_themselves() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        1 a#1 suspend first(sgo)
        2 b#1 signal a go 1; signal b go 2; signal b 18 3
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 a#1 suspend first(sgo)
            2 b#1 signal a go 1; signal b go 2; signal b 18 3
              invoke a#2
              notify b#1 4:Signal s:go="2"
              notify b#1 5:Signal s18="3"
        "#]],
    );
}

#[test]
fn every_signal_is_kept_even_twice() {
    check(
        "
        0 invoke a Greeter/greet
        1 signal a go 1
        2 signal a go 2
        2 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 signal a go 1
              notify a#1 1:Signal s:go="1"
              reply appended
            2 signal a go 2
              notify a#1 2:Signal s:go="2"
              reply appended
            2 dump
              | invocation a running, attempt 1, journal 1/3, root a
              | journal a 0:Input
              | journal a 1:Signal s:go="1"
              | journal a 2:Signal s:go="2"
              | notified a s:go @2
              | running a
        "#]],
    );
}

#[test]
fn signals_to_what_cannot_hear_are_dropped() {
    check(
        "
        0 signal a 17 x
        1 invoke b Greeter/greet at=50
        1 signal b 17 x
        2 invoke c Counter/k/add
        2 invoke d Counter/k/add
        2 signal d 17 x
        3 c#1 output x; end
        3 invoke e Greeter/greet keep=100
        3 e#1 output x; end
        4 signal e 17 x
        5 dump
        ",
        expect![[r#"
            0 signal a 17 x
              reply unknown
            1 invoke b Greeter/greet at=50
              reply accepted b, new, starts at 50
              wake at 50
            1 signal b 17 x
              reply refused: NotStarted
            2 invoke c Counter/k/add
              reply accepted c, new
              invoke c#1
            2 invoke d Counter/k/add
              reply accepted d, new
            2 signal d 17 x
              reply refused: NotStarted
            3 c#1 output x; end
              ended c "x"
              invoke d#1
            3 invoke e Greeter/greet keep=100
              reply accepted e, new
              invoke e#1
            3 e#1 output x; end
              ended e "x"
              wake at 103
            4 signal e 17 x
              reply refused: AlreadyCompleted
            5 dump
              | invocation b scheduled 50, attempt 0, journal 1/1, root b
              | invocation d running, attempt 1, journal 1/1, root d
              | invocation e completed "x", attempt 1, journal 2/2, pin 1, root e
              | journal b 0:Input
              | journal d 0:Input
              | journal e 0:Input
              | journal e 1:Output
              | lock Counter/k d 1..1
              | running d
              | timer 50 Start b 0
              | timer 103 Forget e 0
        "#]],
    );
}

#[test]
fn paused_invocations_hear_but_do_not_wake() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 suspend first(s17)
        1 invoke b Greeter/greet
        1 b#1 fail x pause
        2 signal b 17 x
        3 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 suspend first(s17)
            1 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 b#1 fail x pause
            2 signal b 17 x
              reply appended
            3 dump
              | event b 0 AttemptFailed x1 x
              | event b 1 Paused x1 x
              | invocation a suspended, attempt 1, journal 1/1, root a
              | invocation b paused, attempt 1, journal 1/2, failures 0/1, root b
              | journal a 0:Input
              | journal b 0:Input
              | journal b 1:Signal s17="x"
              | notified b s17 @1
        "#]],
    );
}

#[test]
fn an_awakeable_can_be_rejected_and_a_signal_can_fail() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        1 a#1 suspend every(s17 sgo)
        2 b#1 awake! a 17 no; signal! a go neither
        3 a#2 output! 500 no; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 a#1 suspend every(s17 sgo)
            2 b#1 awake! a 17 no; signal! a go neither
              invoke a#2
              notify a#2 2:Signal s:go=[500] neither
            3 a#2 output! 500 no; end
              ended a [500] no
        "#]],
    );
}
