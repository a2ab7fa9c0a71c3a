//! Workflows: one run for each key, and promises.

use super::check;
use expect_test::expect;

#[test]
fn a_workflow_runs_once() {
    check(
        "
        0 invoke a Wf/k/run keep=100
        1 invoke b Wf/k/run keep=100
        2 invoke c Greeter/greet
        3 c#1 call 1 2 Wf/k/run; send 3 Wf/k/run; attach-workflow Wf/k 4
        4 a#1 output x; end
        5 c#1 call 5 6 Wf/k/run
        104 due
        105 c#1 call 7 8 Wf/k/run; attach-workflow Wf/other 9
        ",
        expect![[r#"
            0 invoke a Wf/k/run keep=100
              reply accepted a, new
              invoke a#1
            1 invoke b Wf/k/run keep=100
              reply accepted a, known
            2 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            3 c#1 call 1 2 Wf/k/run; send 3 Wf/k/run; attach-workflow Wf/k 4
              notify c#1 2:CallInvocationIdCompletion 1=a
              notify c#1 4:CallInvocationIdCompletion 3=a
              notify c#1 6:CallCompletion 2=[409] the workflow method was already invoked
            4 a#1 output x; end
              ended a "x"
              wake at 104
              notify c#1 7:AttachInvocationCompletion 4="x"
            5 c#1 call 5 6 Wf/k/run
              notify c#1 9:CallInvocationIdCompletion 5=a
              notify c#1 10:CallCompletion 6=[409] the workflow method was already invoked
            104 due
            105 c#1 call 7 8 Wf/k/run; attach-workflow Wf/other 9
              notify c#1 12:CallInvocationIdCompletion 7=a
              invoke a#1
              notify c#1 14:AttachInvocationCompletion 9=[404] not found
        "#]],
    );
}

#[test]
fn promises_are_completed_once() {
    check(
        "
        0 invoke a Wf/k/run keep=100
        1 a#1 peek p 1; promise p 2; suspend first(2 s1)
        2 invoke b Wf/k/poke
        2 dump
        3 b#1 promise p 1; resolve p 2 yes; resolve p 3 no; peek p 4; promise p 5; reject q 6 bad
        4 a#2 promise q 3; output x; end
        5 dump
        104 due
        105 b#1 output x; end
        105 dump
        ",
        expect![[r#"
            0 invoke a Wf/k/run keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 peek p 1; promise p 2; suspend first(2 s1)
              notify a#1 2:PeekPromiseCompletion 1=void
            2 invoke b Wf/k/poke
              reply accepted b, new
              invoke b#1
            2 dump
              | invocation b running, attempt 1, journal 1/1, root b
              | invocation a suspended, attempt 1, journal 3/4, pin 1, root a
              | journal b 0:Input
              | journal a 0:Input
              | journal a 1:PeekPromise
              | journal a 2:PeekPromiseCompletion 1=void
              | journal a 3:GetPromise
              | notified a 1 @2
              | promise Wf/k p open, 1 wait
              | running b
            3 b#1 promise p 1; resolve p 2 yes; resolve p 3 no; peek p 4; promise p 5; reject q 6 bad
              invoke a#2
              notify b#1 3:GetPromiseCompletion 1="yes"
              notify b#1 4:CompletePromiseCompletion 2=void
              notify b#1 6:CompletePromiseCompletion 3=[409] promise was already completed
              notify b#1 8:PeekPromiseCompletion 4="yes"
              notify b#1 10:GetPromiseCompletion 5="yes"
              notify b#1 12:CompletePromiseCompletion 6=void
            4 a#2 promise q 3; output x; end
              notify a#2 6:GetPromiseCompletion 3=[500] bad
              ended a "x"
              wake at 104
            5 dump
              | invocation b running, attempt 1, journal 7/13, pin 1, root b
              | invocation a completed "x", attempt 2, journal 5/8, pin 1, root a
              | journal b 0:Input
              | journal b 1:GetPromise
              | journal b 2:CompletePromise
              | journal b 3:GetPromiseCompletion 1="yes"
              | journal b 4:CompletePromiseCompletion 2=void
              | journal b 5:CompletePromise
              | journal b 6:CompletePromiseCompletion 3=[409] promise was already completed
              | journal b 7:PeekPromise
              | journal b 8:PeekPromiseCompletion 4="yes"
              | journal b 9:GetPromise
              | journal b 10:GetPromiseCompletion 5="yes"
              | journal b 11:CompletePromise
              | journal b 12:CompletePromiseCompletion 6=void
              | journal a 0:Input
              | journal a 1:PeekPromise
              | journal a 2:PeekPromiseCompletion 1=void
              | journal a 3:GetPromise
              | journal a 4:GetPromiseCompletion 2="yes"
              | journal a 5:GetPromise
              | journal a 6:GetPromiseCompletion 3=[500] bad
              | journal a 7:Output
              | notified b 1 @3
              | notified b 2 @4
              | notified b 3 @6 failed
              | notified b 4 @8
              | notified b 5 @10
              | notified b 6 @12
              | notified a 1 @2
              | notified a 2 @4
              | notified a 3 @6 failed
              | promise Wf/k p "yes"
              | promise Wf/k q [500] bad
              | running b
              | timer 104 Forget a 0
            104 due
            105 b#1 output x; end
              ended b "x"
            105 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_promise_can_come_before_the_run() {
    check(
        "
        0 invoke a Wf/k/poke
        1 a#1 reject p 1 no; output x; end
        2 invoke b Wf/k/run
        3 b#1 promise p 1
        ",
        expect![[r#"
            0 invoke a Wf/k/poke
              reply accepted a, new
              invoke a#1
            1 a#1 reject p 1 no; output x; end
              notify a#1 2:CompletePromiseCompletion 1=void
              ended a "x"
            2 invoke b Wf/k/run
              reply accepted b, new
              invoke b#1
            3 b#1 promise p 1
              notify b#1 2:GetPromiseCompletion 1=[500] no
        "#]],
    );
}

#[test]
fn a_listener_that_is_gone_is_passed_over() {
    check(
        "
        0 invoke a Wf/k/poke
        0 invoke b Wf/k/poke
        1 a#1 promise p 1; suspend first(1)
        2 kill a
        3 b#1 resolve p 1 x
        ",
        expect![[r#"
            0 invoke a Wf/k/poke
              reply accepted a, new
              invoke a#1
            0 invoke b Wf/k/poke
              reply accepted b, new
              invoke b#1
            1 a#1 promise p 1; suspend first(1)
            2 kill a
              ended a [409] killed
              reply done
            3 b#1 resolve p 1 x
              notify b#1 2:CompletePromiseCompletion 1=void
        "#]],
    );
}

#[test]
fn the_state_of_a_workflow_goes_with_its_run() {
    check(
        "
        0 invoke a Wf/k/run keep=100
        1 a#1 set n 1; resolve p 1 x; output x; end
        1 dump
        2 purge a
        2 dump
        ",
        expect![[r#"
            0 invoke a Wf/k/run keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 set n 1; resolve p 1 x; output x; end
              notify a#1 3:CompletePromiseCompletion 1=void
              ended a "x"
              wake at 101
            1 dump
              | invocation a completed "x", attempt 1, journal 4/5, pin 1, root a
              | journal a 0:Input
              | journal a 1:SetState
              | journal a 2:CompletePromise
              | journal a 3:CompletePromiseCompletion 1=void
              | journal a 4:Output
              | notified a 1 @3
              | promise Wf/k p "x"
              | state Wf/k n="1"
              | timer 101 Forget a 0
            2 purge a
              reply done
            2 dump
              | nothing
        "#]],
    );
}
