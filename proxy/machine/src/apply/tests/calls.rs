//! Calls between invocations, attaching, and outcomes that come back.

use super::check;
use expect_test::expect;

#[test]
fn a_call_completes_its_caller() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other hi; suspend first(2 s1)
        1 dump
        2 A#1 output there; end
        3 a#2 output x; end
        3 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other hi; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            1 dump
              | invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | invocation A running, attempt 1, journal 1/1, for a 2, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal A 0:Input
              | notified a 1 @2
              | running A
            2 A#1 output there; end
              ended A "there"
              invoke a#2
            3 a#2 output x; end
              ended a "x"
            3 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_call_can_fail() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other
        2 A#1 output! 418 teapot; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 A#1 output! 418 teapot; end
              ended A [418] teapot
              notify a#1 3:CallCompletion 2=[418] teapot
        "#]],
    );
}

#[test]
fn one_way_calls_and_delayed_ones() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 send 1 Greeter/other now; send 2 Greeter/other later at=50; send 3 Greeter/x past at=1; output x; end
        1 dump
        50 due
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 Greeter/other now; send 2 Greeter/other later at=50; send 3 Greeter/x past at=1; output x; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 2=B
              notify a#1 6:CallInvocationIdCompletion 3=C
              ended a "x"
              invoke A#1
              wake at 50
              invoke C#1
            1 dump
              | invocation A running, attempt 1, journal 1/1, root a
              | invocation C running, attempt 1, journal 1/1, root a
              | invocation B scheduled 50, attempt 0, journal 1/1, root a
              | journal A 0:Input
              | journal C 0:Input
              | journal B 0:Input
              | running A
              | running C
              | timer 50 Start B 0
            50 due
              invoke B#1
        "#]],
    );
}

#[test]
fn calls_with_one_idempotency_key_share_an_invocation() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        1 a#1 call 1 2 Greeter/other x idem=k keep=100
        2 b#1 call 1 2 Greeter/other y idem=k keep=100
        2 b#1 send 3 Greeter/other y idem=k keep=100
        3 A#1 output z; end
        4 b#1 call 4 5 Greeter/other y idem=k keep=100
        4 invoke c Greeter/other idem=k
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 a#1 call 1 2 Greeter/other x idem=k keep=100
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 b#1 call 1 2 Greeter/other y idem=k keep=100
              notify b#1 2:CallInvocationIdCompletion 1=A
            2 b#1 send 3 Greeter/other y idem=k keep=100
              notify b#1 4:CallInvocationIdCompletion 3=A
            3 A#1 output z; end
              ended A "z"
              wake at 103
              notify a#1 3:CallCompletion 2="z"
              notify b#1 5:CallCompletion 2="z"
            4 b#1 call 4 5 Greeter/other y idem=k keep=100
              notify b#1 7:CallInvocationIdCompletion 4=A
              notify b#1 8:CallCompletion 5="z"
            4 invoke c Greeter/other idem=k
              reply accepted A, known
        "#]],
    );
}

#[test]
fn attach_and_output() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/other keep=100
        1 a#1 output-of b 1; attach b 2; attach b 3; attach z 4; output-of z 5
        2 b#1 output x; end
        3 a#1 output-of b 6; attach b 7
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/other keep=100
              reply accepted b, new
              invoke b#1
            1 a#1 output-of b 1; attach b 2; attach b 3; attach z 4; output-of z 5
              notify a#1 6:GetInvocationOutputCompletion 1=void
              notify a#1 7:AttachInvocationCompletion 4=[404] not found
              notify a#1 8:GetInvocationOutputCompletion 5=[404] not found
            2 b#1 output x; end
              ended b "x"
              wake at 102
              notify a#1 9:AttachInvocationCompletion 2="x"
              notify a#1 10:AttachInvocationCompletion 3="x"
            3 a#1 output-of b 6; attach b 7
              notify a#1 13:GetInvocationOutputCompletion 6="x"
              notify a#1 14:AttachInvocationCompletion 7="x"
        "#]],
    );
}

#[test]
fn outputs_by_target() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Counter/k/add idem=i keep=100
        1 a#1 output-of-idem Counter/k/add 1 idem=i; attach-workflow Wf/k 2
        2 b#1 output x; end
        3 a#1 output-of-idem Counter/k/add 3 idem=i
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Counter/k/add idem=i keep=100
              reply accepted b, new
              invoke b#1
            1 a#1 output-of-idem Counter/k/add 1 idem=i; attach-workflow Wf/k 2
              notify a#1 3:GetInvocationOutputCompletion 1=void
              notify a#1 4:AttachInvocationCompletion 2=[404] not found
            2 b#1 output x; end
              ended b "x"
              wake at 102
            3 a#1 output-of-idem Counter/k/add 3 idem=i
              notify a#1 6:GetInvocationOutputCompletion 3="x"
        "#]],
    );
}

#[test]
fn an_answer_to_nobody_is_dropped() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other; output x; end
        2 A#1 output y; end
        2 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other; output x; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              ended a "x"
              invoke A#1
            2 A#1 output y; end
              ended A "y"
            2 dump
              | nothing
        "#]],
    );
}

#[test]
fn the_root_is_that_of_the_caller() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other
        2 A#1 call 1 2 Greeter/third
        2 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 A#1 call 1 2 Greeter/third
              notify A#1 2:CallInvocationIdCompletion 1=B
              invoke B#1
            2 dump
              | invocation a running, attempt 1, journal 2/3, pin 1, root a
              | invocation B running, attempt 1, journal 1/1, for A 2, root a
              | invocation A running, attempt 1, journal 2/3, pin 1, for a 2, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal B 0:Input
              | journal A 0:Input
              | journal A 1:Call
              | journal A 2:CallInvocationIdCompletion 1=B
              | notified a 1 @2
              | notified A 1 @2
              | running a
              | running B
              | running A
        "#]],
    );
}

#[test]
fn what_was_called_with_an_idempotency_key_can_be_attached_to_by_it() {
    check(
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        1 a#1 call 1 2 Greeter/other x idem=k keep=100
        2 b#1 attach-idem Greeter/other 1 idem=k; attach-idem Greeter/other 2 idem=unknown
        3 A#1 output x; end
        4 b#1 attach-idem Greeter/other 3 idem=k
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 a#1 call 1 2 Greeter/other x idem=k keep=100
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 b#1 attach-idem Greeter/other 1 idem=k; attach-idem Greeter/other 2 idem=unknown
              notify b#1 3:AttachInvocationCompletion 2=[404] not found
            3 A#1 output x; end
              ended A "x"
              wake at 103
              notify a#1 3:CallCompletion 2="x"
              notify b#1 4:AttachInvocationCompletion 1="x"
            4 b#1 attach-idem Greeter/other 3 idem=k
              notify b#1 6:AttachInvocationCompletion 3="x"
        "#]],
    );
}

/// A call has the retention of its callee: one for calls with an idempotency key, one for others.
#[test]
fn a_call_is_kept_as_its_callee_says() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/other keep=10 idem-keep=90; call 3 4 Greeter/other idem=k keep=10 idem-keep=90
        1 a#1 send 5 Greeter/other idem=l keep=10 journal=5
        2 A#1 output x; end
        2 B#1 output y; end
        2 C#1 output z; end
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/other keep=10 idem-keep=90; call 3 4 Greeter/other idem=k keep=10 idem-keep=90
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              invoke A#1
              invoke B#1
            1 a#1 send 5 Greeter/other idem=l keep=10 journal=5
              notify a#1 6:CallInvocationIdCompletion 5=C
              invoke C#1
            2 A#1 output x; end
              ended A "x"
              wake at 12
              notify a#1 7:CallCompletion 2="x"
            2 B#1 output y; end
              ended B "y"
              wake at 92
              notify a#1 8:CallCompletion 4="y"
            2 C#1 output z; end
              ended C "z"
              wake at 12
              wake at 7
        "#]],
    );
}
