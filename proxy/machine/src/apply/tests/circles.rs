//! Invocations that would wait for each other, and nobody for the end of any of them.

use super::check;
use expect_test::expect;

#[test]
fn nobody_waits_for_itself() {
    check(
        "
        0 invoke a Greeter/greet idem=i
        1 a#1 attach a 1; call 2 3 Greeter/greet idem=i
        2 a#1 output-of a 4; send 5 Greeter/greet idem=i
        3 a#1 output x; end
        3 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet idem=i
              reply accepted a, new
              invoke a#1
            1 a#1 attach a 1; call 2 3 Greeter/greet idem=i
              notify a#1 3:CallInvocationIdCompletion 2=a
              notify a#1 4:AttachInvocationCompletion 1=[409] an invocation cannot wait for its own outcome; call another target, or call one-way (HF0095)
              notify a#1 5:CallCompletion 3=[409] an invocation cannot wait for its own outcome; call another target, or call one-way (HF0095)
            2 a#1 output-of a 4; send 5 Greeter/greet idem=i
              notify a#1 8:CallInvocationIdCompletion 5=a
              notify a#1 9:GetInvocationOutputCompletion 4=void
            3 a#1 output x; end
              ended a "x"
            3 dump
              | nothing
        "#]],
    );
}

#[test]
fn nobody_attaches_to_what_waits_for_its_own_key() {
    check(
        "
        0 invoke a Counter/k/add
        1 invoke b Counter/k/add
        2 invoke c Counter/k/add at=50
        3 invoke d Counter/other/add
        4 invoke e Counter/other/add
        5 a#1 attach b 1; attach c 2; attach e 3; output-of b 4
        6 a#1 output x; end
        7 b#1 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 invoke b Counter/k/add
              reply accepted b, new
            2 invoke c Counter/k/add at=50
              reply accepted c, new, starts at 50
              wake at 50
            3 invoke d Counter/other/add
              reply accepted d, new
              invoke d#1
            4 invoke e Counter/other/add
              reply accepted e, new
            5 a#1 attach b 1; attach c 2; attach e 3; output-of b 4
              notify a#1 5:AttachInvocationCompletion 1=[409] what this invocation would wait for needs the key that it holds, and could never begin; call another key, or call one-way (HF0095)
              notify a#1 6:AttachInvocationCompletion 2=[409] what this invocation would wait for needs the key that it holds, and could never begin; call another key, or call one-way (HF0095)
              notify a#1 7:GetInvocationOutputCompletion 4=void
            6 a#1 output x; end
              ended a "x"
              invoke b#1
            7 b#1 output x; end
              ended b "x"
        "#]],
    );
}

#[test]
fn what_has_not_begun_of_ones_own_key_is_not_latched_onto() {
    check(
        "
        0 invoke a Counter/k/add
        1 invoke b Counter/k/add idem=i at=50
        2 a#1 call 1 2 Counter/k/add idem=i
        3 a#1 output x; end
        50 due
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 invoke b Counter/k/add idem=i at=50
              reply accepted b, new, starts at 50
              wake at 50
            2 a#1 call 1 2 Counter/k/add idem=i
              notify a#1 2:CallInvocationIdCompletion 1=b
              notify a#1 3:CallCompletion 2=[409] what this invocation would wait for needs the key that it holds, and could never begin; call another key, or call one-way (HF0095)
            3 a#1 output x; end
              ended a "x"
            50 due
              invoke b#1
        "#]],
    );
}

#[test]
fn a_call_that_comes_back_to_the_key_fails_when_the_circle_is_closed() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Greeter/relay
        2 A#1 call 1 2 Counter/k/add
        3 a#1 suspend first(2 s1)
        4 A#1 suspend first(2 s1)
        5 A#2 output! 409 circle; end
        6 a#2 output x; end
        6 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/relay
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 A#1 call 1 2 Counter/k/add
              notify A#1 2:CallInvocationIdCompletion 1=B
            3 a#1 suspend first(2 s1)
            4 A#1 suspend first(2 s1)
              ended B [409] this invocation waits for one that waits for this one in turn, so that neither could end; call another key, or call one-way (HF0095)
              invoke A#2
            5 A#2 output! 409 circle; end
              ended A [409] circle
              invoke a#2
            6 a#2 output x; end
              ended a "x"
            6 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_circle_of_two_keys() {
    check(
        "
        0 invoke a Counter/k/add keep=9
        0 invoke b Counter/l/add keep=9
        1 a#1 call 1 2 Counter/l/add; suspend first(2 s1)
        2 b#1 call 1 2 Counter/k/add; suspend first(2 s1)
        3 b#2 output x; end
        4 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add keep=9
              reply accepted a, new
              invoke a#1
            0 invoke b Counter/l/add keep=9
              reply accepted b, new
              invoke b#1
            1 a#1 call 1 2 Counter/l/add; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 b#1 call 1 2 Counter/k/add; suspend first(2 s1)
              notify b#1 2:CallInvocationIdCompletion 1=B
              ended B [409] this invocation waits for one that waits for this one in turn, so that neither could end; call another key, or call one-way (HF0095)
              invoke b#2
            3 b#2 output x; end
              ended b "x"
              wake at 12
              invoke A#1
            4 dump
              | invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | invocation b completed "x", attempt 2, journal 3/5, pin 1, root b
              | invocation A running, attempt 1, journal 1/1, for a 2, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal b 0:Input
              | journal b 1:Call
              | journal b 2:CallInvocationIdCompletion 1=B
              | journal b 3:CallCompletion 2=[409] this invocation waits for one that waits for this one in turn, so that neither could end; call another key, or call one-way (HF0095)
              | journal b 4:Output
              | journal A 0:Input
              | lock Counter/k a 0..1
              | lock Counter/l A 1..1
              | notified a 1 @2
              | notified b 1 @2
              | notified b 2 @3 failed
              | running A
              | timer 12 Forget b 0
        "#]],
    );
}

#[test]
fn a_circle_of_attaches() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        0 invoke c Greeter/greet
        1 a#1 attach b 1; suspend first(1 s1)
        2 b#1 attach c 1; suspend first(1 s1)
        3 c#1 attach a 1; suspend first(1 s1)
        4 c#2 output x; end
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
            1 a#1 attach b 1; suspend first(1 s1)
            2 b#1 attach c 1; suspend first(1 s1)
            3 c#1 attach a 1; suspend first(1 s1)
              invoke c#2
            4 c#2 output x; end
              ended c "x"
              invoke b#2
        "#]],
    );
}

/// One could go on if the other failed, but the other can do neither.
#[test]
fn a_circle_through_combinators() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Greeter/relay; call 3 4 Greeter/fast
        2 A#1 call 1 2 Counter/k/add; suspend every(2 first(2 s1))
        3 a#1 suspend every(2 any(2 s1))
        4 a#2 suspend all(4 2)
        5 B#1 output x; end
        6 a#3 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/relay; call 3 4 Greeter/fast
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke A#1
              invoke B#1
            2 A#1 call 1 2 Counter/k/add; suspend every(2 first(2 s1))
              notify A#1 2:CallInvocationIdCompletion 1=C
            3 a#1 suspend every(2 any(2 s1))
              invoke a#2
            4 a#2 suspend all(4 2)
            5 B#1 output x; end
              ended B "x"
              invoke a#3
            6 a#3 output x; end
              ended a "x"
              invoke C#1
        "#]],
    );
}

#[test]
fn a_circle_is_found_when_the_last_begins_to_wait() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Greeter/relay; suspend first(2 s1)
        2 A#1 call 1 2 Counter/k/add
        3 pause a
        3 A#1 suspend first(2 s1)
        4 A#2 output x; end
        5 a#2 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/relay; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 A#1 call 1 2 Counter/k/add
              notify A#1 2:CallInvocationIdCompletion 1=B
            3 pause a
              reply refused: AlreadyPaused
            3 A#1 suspend first(2 s1)
              ended B [409] this invocation waits for one that waits for this one in turn, so that neither could end; call another key, or call one-way (HF0095)
              invoke A#2
            4 A#2 output x; end
              ended A "x"
              invoke a#2
            5 a#2 output x; end
              ended a "x"
        "#]],
    );
}

/// Of a longer inbox only the beginning is looked at.
#[test]
fn a_long_inbox_is_not_read_to_its_end() {
    let mut script = String::from("0 invoke a Counter/k/add\n0 a#1 call 1 2 Greeter/relay\n");
    for _ in 0..70 {
        script += "1 a#1 send 3 Counter/k/add\n";
    }
    script += "2 A#1 call 1 2 Counter/k/add; suspend first(2 s1)\n3 a#1 suspend first(2 s1)\n";
    let transcript = super::script::run(1, &script);
    assert!(!transcript.contains("HF0095"), "{transcript}");
}

/// The queued one was called by somebody else: it stays.
#[test]
fn a_circle_through_what_others_called() {
    check(
        "
        0 invoke a Counter/k/add
        0 invoke b Counter/k/add idem=i
        0 invoke c Greeter/greet
        1 c#1 attach b 1; suspend first(1 s1)
        2 a#1 attach c 1; suspend first(1 s1)
        3 a#2 output x; end
        4 b#1 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            0 invoke b Counter/k/add idem=i
              reply accepted b, new
            0 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            1 c#1 attach b 1; suspend first(1 s1)
            2 a#1 attach c 1; suspend first(1 s1)
              invoke a#2
            3 a#2 output x; end
              ended a "x"
              invoke b#1
            4 b#1 output x; end
              ended b "x"
              invoke c#2
        "#]],
    );
}

#[test]
fn a_circle_that_time_closes() {
    check(
        "
        0 invoke a Counter/k/add
        0 invoke b Counter/k/add idem=i at=50
        0 invoke c Greeter/greet
        1 c#1 attach b 1; suspend first(1 s1)
        2 a#1 attach c 1; suspend first(1 s1)
        50 due
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            0 invoke b Counter/k/add idem=i at=50
              reply accepted b, new, starts at 50
              wake at 50
            0 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            1 c#1 attach b 1; suspend first(1 s1)
            2 a#1 attach c 1; suspend first(1 s1)
            50 due
              invoke c#2
        "#]],
    );
}

#[test]
fn whoever_can_go_on_otherwise_waits() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Greeter/relay; sleep 3 90; suspend first(2 3 s1)
        2 A#1 call 1 2 Counter/k/add; suspend first(2 s1)
        90 due
        91 a#2 output x; end
        92 B#1 output x; end
        93 A#2 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/relay; sleep 3 90; suspend first(2 3 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              wake at 90
              invoke A#1
            2 A#1 call 1 2 Counter/k/add; suspend first(2 s1)
              notify A#1 2:CallInvocationIdCompletion 1=B
            90 due
              invoke a#2
            91 a#2 output x; end
              ended a "x"
              invoke B#1
            92 B#1 output x; end
              ended B "x"
              invoke A#2
            93 A#2 output x; end
              ended A "x"
        "#]],
    );
}

#[test]
fn all_of_several_calls_that_come_back() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Greeter/relay; call 3 4 Greeter/relay
        2 A#1 call 1 2 Counter/k/add; suspend first(2 s1)
        3 B#1 call 1 2 Counter/k/add; suspend first(2 s1)
        4 a#1 suspend first(s1 all(2 4))
        5 a#2 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/relay; call 3 4 Greeter/relay
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke A#1
              invoke B#1
            2 A#1 call 1 2 Counter/k/add; suspend first(2 s1)
              notify A#1 2:CallInvocationIdCompletion 1=C
            3 B#1 call 1 2 Counter/k/add; suspend first(2 s1)
              notify B#1 2:CallInvocationIdCompletion 1=D
            4 a#1 suspend first(s1 all(2 4))
              invoke a#2
            5 a#2 output x; end
              ended a "x"
              invoke C#1
        "#]],
    );
}
