//! An ask is meant by its id, and by nothing that another one may have too.

use super::super::check;
use expect_test::expect;

#[test]
fn an_ask_is_cancelled_by_its_id() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}
        2 a#1 signal A 1 x
        2 answer a 1 accept
        3 a#1 call 3 4 holdfast.Human/ask {"message":"Again?"}; suspend first(4 s1)
        4 cancel B
        5 cancel B
        5 kill A
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 a#1 signal A 1 x
              notify a#1 4:CallCompletion 2=[409] canceled
            2 answer a 1 accept
              reply too late: withdrawn cancel at 2
            3 a#1 call 3 4 holdfast.Human/ask {"message":"Again?"}; suspend first(4 s1)
              notify a#1 6:CallInvocationIdCompletion 3=B
            4 cancel B
              reply done
              invoke a#2
            5 cancel B
              reply refused: AlreadyCompleted
            5 kill A
              reply refused: AlreadyCompleted
        "#]],
    );
}

#[test]
fn an_answer_meant_for_another_ask_of_that_number_is_not_taken() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 send 1 Greeter/other x; output x; end
        2 A#1 call 1 2 holdfast.Human/ask {"message":"First?"}; suspend first(2 s1)
        3 answer a 1 accept
        4 A#2 call 3 4 holdfast.Human/ask {"message":"Second?"}; suspend first(4 s1)
        5 answer a 1 accept ask=B
        6 answer a 1 accept ask=C
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 Greeter/other x; output x; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              ended a "x"
              invoke A#1
            2 A#1 call 1 2 holdfast.Human/ask {"message":"First?"}; suspend first(2 s1)
              notify A#1 2:CallInvocationIdCompletion 1=B
            3 answer a 1 accept
              reply answered
              invoke A#2
            4 A#2 call 3 4 holdfast.Human/ask {"message":"Second?"}; suspend first(4 s1)
              notify A#2 5:CallInvocationIdCompletion 3=C
            5 answer a 1 accept ask=B
              reply unknown
            6 answer a 1 accept ask=C
              reply answered
              invoke A#3
        "#]],
    );
}

#[test]
fn what_an_earlier_invocation_left_is_not_of_the_next() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 send 1 Greeter/other x; output x; end
        2 A#1 call 1 2 holdfast.Human/ask {"message":"Left?"}; call 3 4 holdfast.Human/ask {"message":"Too?"}; suspend first(4 s1)
        3 follow a Greeter/greet keep=100
        4 answer a 1 accept
        4 say a m1 {"x":1}
        5 a#1 call 1 2 holdfast.Human/ask {"message":"Mine?"}; call 3 4 holdfast.Human/ask {"message":"More?"}; suspend first(4 s1)
        6 dump
        7 say a m2 {"x":2}
        8 a#2 output x; end
        200 due
        200 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 Greeter/other x; output x; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              ended a "x"
              invoke A#1
            2 A#1 call 1 2 holdfast.Human/ask {"message":"Left?"}; call 3 4 holdfast.Human/ask {"message":"Too?"}; suspend first(4 s1)
              notify A#1 2:CallInvocationIdCompletion 1=B
              notify A#1 4:CallInvocationIdCompletion 3=C
            3 follow a Greeter/greet keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            4 answer a 1 accept
              reply answered
            4 say a m1 {"x":1}
              told a .3
              reply messaged .3
            5 a#1 call 1 2 holdfast.Human/ask {"message":"Mine?"}; call 3 4 holdfast.Human/ask {"message":"More?"}; suspend first(4 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=D
              told a .4
              told a .5
              told a .6
            6 dump
              | ask a 1 B of A "Left?", answered accept at 4 {}
              | ask a 2 C of A "Too?"
              | ask a 3 A of a "Mine?", answered accept at 5 {"x":1}
              | ask a 4 D of a "More?"
              | ask-open a
              | ask-open a
              | feed a 1 submitted
              | feed a 2 working
              | feed a 3 working message m1 waits
              | feed a 4 working asked 3 A of a "Mine?"
              | feed a 5 working 3 answered accept at 5 {"x":1}
              | feed a 6 input-required asked 4 D of a "More?"
              | task-listing ada 5 a
              | invocation a suspended, attempt 1, journal 3/6, pin 1, root a
              | invocation A suspended, attempt 1, journal 3/6, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:Call
              | journal a 4:CallInvocationIdCompletion 3=D
              | journal a 5:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"x\":1},\"at\":\"1970-01-01T00:00:00.005Z\"}"
              | journal A 0:Input
              | journal A 1:Call
              | journal A 2:CallInvocationIdCompletion 1=B
              | journal A 3:Call
              | journal A 4:CallInvocationIdCompletion 3=C
              | journal A 5:CallCompletion 2="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.004Z\"}"
              | task a of ada in c, input-required, next 7, updated 5
              | notified a 1 @2
              | notified a 2 @5
              | notified a 3 @4
              | notified A 1 @2
              | notified A 2 @5
              | notified A 3 @4
              | ask-place B
              | ask-place C
              | ask-place A
              | ask-place D
            7 say a m2 {"x":2}
              told a .7
              told a .8
              reply messaged .7, answers 4
              invoke a#2
            8 a#2 output x; end
              told a .9
              ended a "x"
              wake at 108
            200 due
            200 dump
              | ask a 2 C of A "Too?"
              | ask-open a
              | invocation A suspended, attempt 1, journal 3/6, pin 1, root a
              | journal A 0:Input
              | journal A 1:Call
              | journal A 2:CallInvocationIdCompletion 1=B
              | journal A 3:Call
              | journal A 4:CallInvocationIdCompletion 3=C
              | journal A 5:CallCompletion 2="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.004Z\"}"
              | notified A 1 @2
              | notified A 2 @5
              | notified A 3 @4
              | ask-place C
        "#]],
    );
}
