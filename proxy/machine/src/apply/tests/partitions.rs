//! Several partitions: messages between them, duplicates, and crashes.

use super::{check, check_on};
use expect_test::expect;

#[test]
fn a_call_crosses_and_its_outcome_comes_back() {
    check_on(
        3,
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Counter/k4/add hi; suspend first(2)
        1 dump
        2 route
        2 dump
        3 A#1 output x; end
        4 route
        4 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/k4/add hi; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              send to 2 .1: invoke A
            1 dump
              | 0: invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: meta [08, 01, 10, 02]
              | 0: notified a 1 @2
              | 0: outbox .1 invoke A
            2 route
              partition 2 takes 0.1
              invoke A#1
            2 dump
              | 0: invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: meta [08, 02, 10, 02]
              | 0: notified a 1 @2
              | 2: dedup [08, 01]
              | 2: invocation A running, attempt 1, journal 1/1, for a 2, root a
              | 2: journal A 0:Input
              | 2: lock Counter/k4 A 0..0
              | 2: running A
            3 A#1 output x; end
              send to 0 .1: a 2 "x"
              ended A "x"
            4 route
              partition 0 takes 2.1
              invoke a#2
            4 dump
              | 0: dedup [08, 01]
              | 0: invocation a running, attempt 2, journal 2/4, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: journal a 3:CallCompletion 2="x"
              | 0: meta [08, 02, 10, 02]
              | 0: notified a 1 @2
              | 0: notified a 2 @3
              | 0: running a
              | 2: dedup [08, 01]
              | 2: meta [08, 02, 10, 02]
        "#]],
    );
}

#[test]
fn what_was_on_the_way_is_sent_again_and_taken_once() {
    check_on(
        3,
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        0 invoke c Greeter/greet
        1 a#1 awake b 17 one; awake c 17 two; signal b go three
        2 recover
        3 recover
        4 route
        5 recover
        6 route
        6 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            0 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            1 a#1 awake b 17 one; awake c 17 two; signal b go three
              send to 1 .1: signal b s17 Success(b"one")
              send to 2 .1: signal c s17 Success(b"two")
              send to 1 .2: signal b s:go Success(b"three")
            2 recover
              invoke a#1
              send to 1 .1: signal b s17 Success(b"one")
              send to 1 .2: signal b s:go Success(b"three")
              send to 2 .1: signal c s17 Success(b"two")
              invoke b#1
              invoke c#1
            3 recover
              invoke a#1
              send to 1 .1: signal b s17 Success(b"one")
              send to 1 .2: signal b s:go Success(b"three")
              send to 2 .1: signal c s17 Success(b"two")
              invoke b#1
              invoke c#1
            4 route
              partition 1 takes 0.1
              notify b#1 1:Signal s17="one"
              partition 1 takes 0.2
              notify b#1 2:Signal s:go="three"
              partition 2 takes 0.1
              notify c#1 1:Signal s17="two"
            5 recover
              invoke a#1
              invoke b#1
              invoke c#1
            6 route
            6 dump
              | 0: invocation a running, attempt 1, journal 4/4, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:CompleteAwakeable
              | 0: journal a 2:CompleteAwakeable
              | 0: journal a 3:SendSignal
              | 0: meta [08, 03, 10, 03]
              | 0: meta [08, 02, 10, 02]
              | 0: running a
              | 1: dedup [08, 02]
              | 1: invocation b running, attempt 1, journal 1/3, root b
              | 1: journal b 0:Input
              | 1: journal b 1:Signal s17="one"
              | 1: journal b 2:Signal s:go="three"
              | 1: notified b s17 @1
              | 1: notified b s:go @2
              | 1: running b
              | 2: dedup [08, 01]
              | 2: invocation c running, attempt 1, journal 1/2, root c
              | 2: journal c 0:Input
              | 2: journal c 1:Signal s17="two"
              | 2: notified c s17 @1
              | 2: running c
        "#]],
    );
}

#[test]
fn kill_crosses() {
    check_on(
        3,
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Counter/k4/add hi; call 3 4 Greeter/here
        1 kill a
        2 route
        2 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/k4/add hi; call 3 4 Greeter/here
              notify a#1 2:CallInvocationIdCompletion 1=A
              send to 2 .1: invoke A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke B#1
            1 kill a
              abort a#1
              send to 2 .2: kill A
              ended a [409] killed
              reply done
              abort B#1
              ended B [409] killed
            2 route
              partition 2 takes 0.1
              invoke A#1
              partition 2 takes 0.2
              abort A#1
              send to 0 .1: a 2 [409] killed
              ended A [409] killed
              partition 0 takes 2.1
            2 dump
              | 0: dedup [08, 01]
              | 0: meta [08, 03, 10, 03]
              | 2: dedup [08, 02]
              | 2: meta [08, 02, 10, 02]
        "#]],
    );
}

#[test]
fn recovery_derives_what_was_lost() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        0 invoke c Greeter/greet
        0 invoke d Greeter/greet at=90
        0 invoke e Greeter/greet keep=5
        1 a#1 sleep 1 50; suspend first(1)
        1 c#1 fail oops pause
        1 e#1 output x; end
        2 recover
        3 pause b
        4 recover
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            0 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            0 invoke d Greeter/greet at=90
              reply accepted d, new, starts at 90
              wake at 90
            0 invoke e Greeter/greet keep=5
              reply accepted e, new
              invoke e#1
            1 a#1 sleep 1 50; suspend first(1)
              wake at 50
            1 c#1 fail oops pause
            1 e#1 output x; end
              ended e "x"
              wake at 6
            2 recover
              invoke b#1
              wake at 6
            3 pause b
              suspend b#1
              reply appended
            4 recover
              invoke b#1
              suspend b#1
              wake at 6
        "#]],
    );
}

#[test]
fn what_wanted_to_run_first_is_recovered_first() {
    check(
        "
        0 invoke c Greeter/greet
        1 invoke b Greeter/greet
        2 invoke a Greeter/greet
        3 c#1 run 1
        4 recover
        ",
        expect![[r#"
            0 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            1 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            2 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            3 c#1 run 1
            4 recover
              invoke c#1
              invoke b#1
              invoke a#1
        "#]],
    );
}
