//! Cancel and kill, in every status.

use super::check;
use expect_test::expect;

#[test]
fn cancel_in_every_status() {
    check(
        "
        0 cancel z
        0 invoke s Greeter/greet at=50
        1 cancel s
        2 invoke h Counter/k/add
        2 invoke i Counter/k/add
        3 cancel i
        4 invoke r Greeter/greet keep=100
        4 cancel r
        5 r#1 fail oops after=50
        6 cancel r
        55 due
        56 r#2 suspend first(2 s1)
        57 r#2 output! 409 cancelled; end
        58 cancel r
        59 dump
        ",
        expect![[r#"
            0 cancel z
              reply unknown
            0 invoke s Greeter/greet at=50
              reply accepted s, new, starts at 50
              wake at 50
            1 cancel s
              ended s [409] canceled
              reply done
            2 invoke h Counter/k/add
              reply accepted h, new
              invoke h#1
            2 invoke i Counter/k/add
              reply accepted i, new
            3 cancel i
              ended i [409] canceled
              reply done
            4 invoke r Greeter/greet keep=100
              reply accepted r, new
              invoke r#1
            4 cancel r
              notify r#1 1:Signal s1=void
              reply appended
            5 r#1 fail oops after=50
              wake at 55
            6 cancel r
              reply appended
            55 due
              invoke r#2
            56 r#2 suspend first(2 s1)
            57 r#2 output! 409 cancelled; end
            58 cancel r
              invoke r#3
              reply appended
            59 dump
              | event r 0 AttemptFailed x1 oops
              | invocation h running, attempt 1, journal 1/1, root h
              | invocation r running, attempt 3, journal 1/4, root r
              | journal h 0:Input
              | journal r 0:Input
              | journal r 1:Signal s1=void
              | journal r 2:Signal s1=void
              | journal r 3:Signal s1=void
              | lock Counter/k h 0..1
              | notified r s1 @3
              | running h
              | running r
        "#]],
    );
}

#[test]
fn cancel_wakes_and_resumes() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 50; suspend first(1 s1)
        2 cancel a
        3 a#2 sleep 2 60; suspend first(2)
        4 cancel a
        5 invoke p Greeter/greet
        5 p#1 fail oops pause
        6 cancel p
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 sleep 1 50; suspend first(1 s1)
              wake at 50
            2 cancel a
              invoke a#2
              reply appended
            3 a#2 sleep 2 60; suspend first(2)
              wake at 60
            4 cancel a
              reply appended
            5 invoke p Greeter/greet
              reply accepted p, new
              invoke p#1
            5 p#1 fail oops pause
            6 cancel p
              invoke p#2
              reply appended
        "#]],
    );
}

#[test]
fn what_waits_for_its_turn_ends_at_once_unless_it_left_a_trace() {
    check(
        "
        0 invoke a Counter/k/add
        0 invoke b Counter/k/add
        1 cancel a
        2 a#1 unstarted
        3 b#1 run 1; fail oops
        1000 due
        1001 cancel b
        1002 b#2 unstarted
        1003 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            0 invoke b Counter/k/add
              reply accepted b, new
            1 cancel a
              notify a#1 1:Signal s1=void
              reply appended
            2 a#1 unstarted
              ended a [409] canceled
              invoke b#1
            3 b#1 run 1; fail oops
              wake at 16
            1000 due
              invoke b#2
            1001 cancel b
              notify b#2 2:Signal s1=void
              reply appended
            1002 b#2 unstarted
              invoke b#3
            1003 dump
              | event b 0 AttemptFailed x1 oops
              | invocation b running, attempt 3, journal 2/3, pin 1, failures 1/1, root b
              | journal b 0:Input
              | journal b 1:Run
              | journal b 2:Signal s1=void
              | lock Counter/k b 1..1
              | notified b s1 @2
              | running b
        "#]],
    );
}

#[test]
fn a_handler_cancels_its_callee() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other; send 3 Greeter/other at=50; suspend first(2 s1)
        2 A#1 suspend first(1 s1)
        3 cancel a
        4 a#2 signal A 1; signal B 1; output! 409 cancelled; end
        5 A#2 output! 409 cancelled; end
        5 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other; send 3 Greeter/other at=50; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke A#1
              wake at 50
            2 A#1 suspend first(1 s1)
            3 cancel a
              invoke a#2
              reply appended
            4 a#2 signal A 1; signal B 1; output! 409 cancelled; end
              ended a [409] cancelled
              invoke A#2
              ended B [409] canceled
            5 A#2 output! 409 cancelled; end
              ended A [409] cancelled
            5 dump
              | nothing
        "#]],
    );
}

#[test]
fn callers_are_told_of_what_never_began() {
    check(
        "
        0 invoke h Counter/k/add
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Counter/k/add; suspend first(2)
        2 cancel A
        3 a#2 call 3 4 Counter/k/add
        4 kill B
        ",
        expect![[r#"
            0 invoke h Counter/k/add
              reply accepted h, new
              invoke h#1
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/k/add; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 cancel A
              ended A [409] canceled
              reply done
              invoke a#2
            3 a#2 call 3 4 Counter/k/add
              notify a#2 5:CallInvocationIdCompletion 3=B
            4 kill B
              ended B [409] killed
              reply done
              notify a#2 6:CallCompletion 4=[409] killed
        "#]],
    );
}

#[test]
fn kill_in_every_status() {
    check(
        "
        0 kill z
        0 invoke s Greeter/greet at=50
        1 kill s
        2 invoke h Counter/k/add keep=100
        2 invoke i Counter/k/add
        2 invoke j Counter/k/add
        3 kill i
        4 kill h
        5 j#1 sleep 1 9000; suspend first(1)
        6 kill j
        7 invoke b Greeter/greet
        7 b#1 fail oops after=50
        8 kill b
        9 invoke p Greeter/greet
        9 p#1 fail oops pause
        10 kill p
        11 kill h
        12 h#1 output late; end
        12 dump
        ",
        expect![[r#"
            0 kill z
              reply unknown
            0 invoke s Greeter/greet at=50
              reply accepted s, new, starts at 50
              wake at 50
            1 kill s
              ended s [409] killed
              reply done
            2 invoke h Counter/k/add keep=100
              reply accepted h, new
              invoke h#1
            2 invoke i Counter/k/add
              reply accepted i, new
            2 invoke j Counter/k/add
              reply accepted j, new
            3 kill i
              ended i [409] killed
              reply done
            4 kill h
              abort h#1
              ended h [409] killed
              wake at 104
              reply done
              invoke j#1
            5 j#1 sleep 1 9000; suspend first(1)
              wake at 9000
            6 kill j
              ended j [409] killed
              reply done
            7 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            7 b#1 fail oops after=50
              wake at 57
            8 kill b
              ended b [409] killed
              reply done
            9 invoke p Greeter/greet
              reply accepted p, new
              invoke p#1
            9 p#1 fail oops pause
            10 kill p
              ended p [409] killed
              reply done
            11 kill h
              reply refused: AlreadyCompleted
            12 h#1 output late; end
            12 dump
              | invocation h completed [409] killed, attempt 1, journal 1/1, root h
              | journal h 0:Input
              | timer 104 Forget h 0
        "#]],
    );
}

#[test]
fn kill_takes_all_that_was_called() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/b; send 3 Greeter/c; send 4 Greeter/d at=90; suspend first(2)
        2 A#1 call 1 2 Greeter/e
        3 B#1 output x; end
        4 kill a
        4 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/b; send 3 Greeter/c; send 4 Greeter/d at=90; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              notify a#1 6:CallInvocationIdCompletion 4=C
              invoke A#1
              invoke B#1
              wake at 90
            2 A#1 call 1 2 Greeter/e
              notify A#1 2:CallInvocationIdCompletion 1=D
              invoke D#1
            3 B#1 output x; end
              ended B "x"
            4 kill a
              ended a [409] killed
              reply done
              abort A#1
              ended A [409] killed
              ended C [409] killed
              abort D#1
              ended D [409] killed
            4 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_deep_tree_is_killed_without_recursion() {
    let mut script = String::from("0 invoke a Greeter/greet\n0 a#1 call 1 2 Greeter/x\n");
    let names: Vec<char> = ('A'..='Z').collect();
    for name in &names[..25] {
        script += &format!("0 {name}#1 call 1 2 Greeter/x\n");
    }
    script += "1 kill a\n1 dump\n";
    let transcript = super::script::run(1, &script);
    assert_eq!(transcript.matches("[409] killed").count(), 27, "{transcript}");
    assert!(transcript.ends_with("| nothing\n"), "{transcript}");
}

#[test]
fn signal_one_is_cancel() {
    check(
        "
        0 invoke a Greeter/greet at=50
        1 signal a 1
        2 invoke b Greeter/greet
        3 signal b 1
        ",
        expect![[r#"
            0 invoke a Greeter/greet at=50
              reply accepted a, new, starts at 50
              wake at 50
            1 signal a 1
              ended a [409] canceled
              reply done
            2 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            3 signal b 1
              notify b#1 1:Signal s1=void
              reply appended
        "#]],
    );
}

/// Whoever is called waits for the key: it must not begin only to be killed.
#[test]
fn kill_starts_nothing_that_it_kills() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 send 1 Counter/k/add; send 2 Greeter/relay; send 3 Counter/k/get
        2 B#1 send 1 Counter/k/add
        3 invoke z Counter/k/add
        4 kill a
        4 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 Counter/k/add; send 2 Greeter/relay; send 3 Counter/k/get
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 2=B
              notify a#1 6:CallInvocationIdCompletion 3=C
              invoke B#1
              invoke C#1
            2 B#1 send 1 Counter/k/add
              notify B#1 2:CallInvocationIdCompletion 1=D
            3 invoke z Counter/k/add
              reply accepted z, new
            4 kill a
              abort a#1
              ended a [409] killed
              reply done
              ended A [409] killed
              abort B#1
              ended B [409] killed
              abort C#1
              ended C [409] killed
              ended D [409] killed
              invoke z#1
            4 dump
              | invocation z running, attempt 1, journal 1/1, root z
              | journal z 0:Input
              | lock Counter/k z 3..3
              | running z
        "#]],
    );
}
