//! Asks: questions to people, of invocations that nobody follows.

use super::{check, check_on};
use expect_test::expect;

#[test]
fn an_answer_is_what_the_call_comes_to() {
    check(
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","to":"ops"}; suspend first(2 s1)
        1 dump
        2 answer a 1 accept {"x":1} by=ada
        3 a#2 output done; end
        3 dump
        200 due
        200 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","to":"ops"}; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
            1 dump
              | ask a 1 A of a "Sure?"
              | invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | notified a 1 @2
              | ask-place A
            2 answer a 1 accept {"x":1} by=ada
              reply answered
              invoke a#2
            3 a#2 output done; end
              ended a "done"
              wake at 103
            3 dump
              | ask a 1 A of a "Sure?", answered accept by ada at 2 {"x":1}
              | invocation a completed "done", attempt 2, journal 3/5, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"x\":1},\"by\":\"ada\",\"at\":\"1970-01-01T00:00:00.002Z\"}"
              | journal a 4:Output
              | notified a 1 @2
              | notified a 2 @3
              | timer 103 Forget a 0
              | ask-place A
            200 due
            200 dump
              | nothing
        "#]],
    );
}

#[test]
fn the_first_answer_counts_and_a_late_one_is_told_so() {
    check(
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}
        2 answer a 1 decline by=ada
        3 answer a 1 accept {} by=bob
        3 answer a 2 accept {}
        3 answer b 1 accept {}
        4 a#1 output done; end
        5 answer a 1 accept {}
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 answer a 1 decline by=ada
              reply answered
              notify a#1 3:CallCompletion 2="{\"action\":\"decline\",\"by\":\"ada\",\"at\":\"1970-01-01T00:00:00.002Z\"}"
            3 answer a 1 accept {} by=bob
              reply too late: answered decline by ada at 2
            3 answer a 2 accept {}
              reply unknown
            3 answer b 1 accept {}
              reply unknown
            4 a#1 output done; end
              ended a "done"
              wake at 104
            5 answer a 1 accept {}
              reply too late: answered decline by ada at 2
        "#]],
    );
}

#[test]
fn what_does_not_fit_changes_nothing() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}
        2 answer a 1 accept {"ok":"yes"}
        2 answer a 1 accept
        2 answer a 1 accept [1]
        2 answer a 1 accept nonsense
        3 answer a 1 accept {"ok":false}
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 answer a 1 accept {"ok":"yes"}
              reply violation: `ok` is not true or false
            2 answer a 1 accept
              reply violation: `ok` is missing
            2 answer a 1 accept [1]
              reply violation: the content is not a JSON object
            2 answer a 1 accept nonsense
              reply violation: the content is not JSON: expected ident at line 1 column 2
            3 answer a 1 accept {"ok":false}
              reply answered
              notify a#1 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"ok\":false},\"at\":\"1970-01-01T00:00:00.003Z\"}"
        "#]],
    );
}

#[test]
fn a_bad_question_fails_the_call() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 call 1 2 holdfast.Human/ask
        1 a#1 call 3 4 holdfast.Human/ask {"massage":"typo"}
        1 a#1 call 5 6 holdfast.Human/ask {"message":"x","schema":{"type":"object","properties":{"a":{"type":"object"}}}}
        1 a#1 call 7 8 holdfast.Human/ask {"message":"x","expiresAfterMs":0}
        1 a#1 call 9 10 holdfast.Task/progress {"progress":1}
        1 a#1 call 11 12 holdfast.Task/artifact {"artifactId":"x"}
        1 a#1 send 13 holdfast.Task/artifact nonsense
        1 a#1 output x; end
        1 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 3:CallCompletion 2=[400] `holdfast.Human/ask` cannot be done: EOF while parsing a value at line 1 column 0 (HF0200)
            1 a#1 call 3 4 holdfast.Human/ask {"massage":"typo"}
              notify a#1 5:CallInvocationIdCompletion 3=B
              notify a#1 6:CallCompletion 4=[400] `holdfast.Human/ask` cannot be done: unknown field `massage`, expected one of `message`, `schema`, `kind`, `to`, `url`, `expiresAfterMs`, `wants` at line 1 column 10 (HF0200)
            1 a#1 call 5 6 holdfast.Human/ask {"message":"x","schema":{"type":"object","properties":{"a":{"type":"object"}}}}
              notify a#1 8:CallInvocationIdCompletion 5=C
              notify a#1 9:CallCompletion 6=[400] `holdfast.Human/ask` cannot be done: `schema`: field `a` has type `object`; a field is a string, a number, an integer, a boolean, a choice or an array of choices (HF0200)
            1 a#1 call 7 8 holdfast.Human/ask {"message":"x","expiresAfterMs":0}
              notify a#1 11:CallInvocationIdCompletion 7=D
              notify a#1 12:CallCompletion 8=[400] `holdfast.Human/ask` cannot be done: `expiresAfterMs` is not within 1 and 3153600000000 (HF0200)
            1 a#1 call 9 10 holdfast.Task/progress {"progress":1}
              notify a#1 14:CallInvocationIdCompletion 9=E
              notify a#1 15:CallCompletion 10=[400] `holdfast.Task/progress` cannot be done: missing field `message` at line 1 column 14 (HF0200)
            1 a#1 call 11 12 holdfast.Task/artifact {"artifactId":"x"}
              notify a#1 17:CallInvocationIdCompletion 11=F
              notify a#1 18:CallCompletion 12=[400] `holdfast.Task/artifact` cannot be done: `parts` is not an array (HF0200)
            1 a#1 send 13 holdfast.Task/artifact nonsense
              notify a#1 20:CallInvocationIdCompletion 13=G
            1 a#1 output x; end
              ended a "x"
            1 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_question_has_its_time() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","expiresAfterMs":50}; call 3 4 holdfast.Human/ask {"message":"Really?","expiresAfterMs":60}; suspend all(2 4)
        2 answer a 2 accept
        51 due
        61 due
        62 answer a 1 accept
        63 a#2 output x; end
        63 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","expiresAfterMs":50}; call 3 4 holdfast.Human/ask {"message":"Really?","expiresAfterMs":60}; suspend all(2 4)
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              wake at 51
              wake at 61
            2 answer a 2 accept
              reply answered
            51 due
              invoke a#2
            61 due
            62 answer a 1 accept
              reply too late: expired cancel at 51
            63 a#2 output x; end
              ended a "x"
            63 dump
              | nothing
        "#]],
    );
}

#[test]
fn several_are_open_at_once_and_nobody_is_asked_in_vain() {
    check(
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"One?"}; call 3 4 holdfast.Human/ask {"message":"Two?","kind":"auth"}; sleep 50 5; suspend first(2 4 5)
        2 answer a 2 accept
        50 due
        51 a#2 output x; end
        51 dump
        51 answer a 1 accept
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"One?"}; call 3 4 holdfast.Human/ask {"message":"Two?","kind":"auth"}; sleep 50 5; suspend first(2 4 5)
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 3=B
              wake at 5
            2 answer a 2 accept
              reply answered
              invoke a#2
            50 due
              notify a#2 7:SleepCompletion 50=void
            51 a#2 output x; end
              ended a "x"
              wake at 151
            51 dump
              | ask a 1 A of a "One?", withdrawn cancel at 51
              | ask a 2 B of a "Two?" auth, answered accept at 2 {}
              | invocation a completed "x", attempt 2, journal 5/9, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:Call
              | journal a 4:CallInvocationIdCompletion 3=B
              | journal a 5:Sleep
              | journal a 6:CallCompletion 4="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.002Z\"}"
              | journal a 7:SleepCompletion 50=void
              | journal a 8:Output
              | notified a 1 @2
              | notified a 3 @4
              | notified a 4 @6
              | notified a 50 @7
              | timer 151 Forget a 0
              | ask-place B
              | ask-place A
            51 answer a 1 accept
              reply too late: withdrawn cancel at 51
        "#]],
    );
}

#[test]
fn the_asks_of_a_child_are_found_under_its_root() {
    check_on(
        2,
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 Counter/one/add; suspend first(2)
        1 route
        2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2)
        2 route
        2 dump
        3 answer a 1 accept {} by=ada
        3 route
        4 A#2 call 3 4 holdfast.Human/ask {"message":"Again?"}; output x; end
        4 route
        4 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/one/add; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            1 route
            2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2)
              notify A#1 2:CallInvocationIdCompletion 1=B
            2 route
            2 dump
              | 0: ask a 1 B of A "Sure?"
              | 0: invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | 0: invocation A suspended, attempt 1, journal 2/3, pin 1, for a 2, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: journal A 0:Input
              | 0: journal A 1:Call
              | 0: journal A 2:CallInvocationIdCompletion 1=B
              | 0: lock Counter/one A 0..0
              | 0: notified a 1 @2
              | 0: notified A 1 @2
              | 0: ask-place B
            3 answer a 1 accept {} by=ada
              reply answered
              invoke A#2
            3 route
            4 A#2 call 3 4 holdfast.Human/ask {"message":"Again?"}; output x; end
              notify A#2 5:CallInvocationIdCompletion 3=C
              ended A "x"
              invoke a#2
            4 route
            4 dump
              | 0: ask a 1 B of A "Sure?", answered accept by ada at 3 {}
              | 0: ask a 2 C of A "Again?", withdrawn cancel at 4
              | 0: invocation a running, attempt 2, journal 2/4, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: journal a 3:CallCompletion 2="x"
              | 0: notified a 1 @2
              | 0: notified a 2 @3
              | 0: running a
              | 0: ask-place B
              | 0: ask-place C
        "#]],
    );
}

#[test]
fn who_is_killed_or_cancelled_asks_no_more() {
    check(
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
        2 kill a
        2 dump
        3 invoke b Greeter/greet keep=100
        3 b#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
        4 cancel b
        5 b#2 call 3 4 holdfast.Human/ask {"message":"Undo?"}; suspend first(4)
        6 answer b 2 accept
        7 b#3 output! 409 canceled; end
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
            2 kill a
              ended a [409] killed
              wake at 102
              reply done
            2 dump
              | ask a 1 A of a "Sure?", withdrawn cancel at 2
              | invocation a completed [409] killed, attempt 1, journal 2/3, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | notified a 1 @2
              | timer 102 Forget a 0
              | ask-place A
            3 invoke b Greeter/greet keep=100
              reply accepted b, new
              invoke b#1
            3 b#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
              notify b#1 2:CallInvocationIdCompletion 1=B
            4 cancel b
              invoke b#2
              reply appended
              notify b#2 4:CallCompletion 2=[409] canceled
            5 b#2 call 3 4 holdfast.Human/ask {"message":"Undo?"}; suspend first(4)
              notify b#2 6:CallInvocationIdCompletion 3=C
            6 answer b 2 accept
              reply answered
              invoke b#3
            7 b#3 output! 409 canceled; end
              ended b [409] canceled
              wake at 107
        "#]],
    );
}

#[test]
fn a_root_takes_the_asks_of_its_children_with_it() {
    check_on(
        2,
        r#"
        0 invoke a Greeter/greet keep=100
        1 a#1 call 1 2 Counter/one/add; suspend first(2 s1)
        1 route
        2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
        2 route
        3 cancel a
        3 route
        4 kill a
        4 route
        4 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/one/add; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            1 route
            2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
              notify A#1 2:CallInvocationIdCompletion 1=B
            2 route
            3 cancel a
              invoke a#2
              reply appended
              invoke A#2
            3 route
            4 kill a
              abort a#2
              ended a [409] killed
              wake at 104
              reply done
              abort A#2
              ended A [409] killed
            4 route
            4 dump
              | 0: ask a 1 B of A "Sure?", withdrawn cancel at 3
              | 0: invocation a completed [409] killed, attempt 2, journal 2/4, pin 1, root a
              | 0: journal a 0:Input
              | 0: journal a 1:Call
              | 0: journal a 2:CallInvocationIdCompletion 1=A
              | 0: journal a 3:Signal s1=void
              | 0: notified a 1 @2
              | 0: notified a s1 @3
              | 0: timer 104 Forget a 0
              | 0: ask-place B
        "#]],
    );
}

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
fn who_was_sent_one_way_asks_when_its_root_is_gone() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 send 1 Greeter/other x; output x; end
        2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
        2 dump
        3 invoke a Greeter/greet keep=100
        3 a#1 call 1 2 holdfast.Human/ask {"message":"Mine?"}; suspend first(2 s1)
        4 answer a 1 accept
        5 answer a 2 accept
        6 A#2 output x; end
        6 a#2 output x; end
        6 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 Greeter/other x; output x; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              ended a "x"
              invoke A#1
            2 A#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
              notify A#1 2:CallInvocationIdCompletion 1=B
            2 dump
              | ask a 1 B of A "Sure?"
              | invocation A suspended, attempt 1, journal 2/3, pin 1, root a
              | journal A 0:Input
              | journal A 1:Call
              | journal A 2:CallInvocationIdCompletion 1=B
              | notified A 1 @2
              | ask-place B
            3 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            3 a#1 call 1 2 holdfast.Human/ask {"message":"Mine?"}; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
            4 answer a 1 accept
              reply answered
              invoke A#2
            5 answer a 2 accept
              reply answered
              invoke a#2
            6 A#2 output x; end
              ended A "x"
            6 a#2 output x; end
              ended a "x"
              wake at 106
            6 dump
              | ask a 1 B of A "Sure?", answered accept at 4 {}
              | ask a 2 A of a "Mine?", answered accept at 5 {}
              | invocation a completed "x", attempt 2, journal 3/5, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.005Z\"}"
              | journal a 4:Output
              | notified a 1 @2
              | notified a 2 @3
              | timer 106 Forget a 0
              | ask-place B
              | ask-place A
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
              | ask-place D
              | ask-place C
              | ask-place B
              | ask-place A
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

#[test]
fn nobody_hears_what_is_told_of_no_task() {
    check(
        r#"
        0 invoke a Greeter/greet
        1 a#1 send 1 holdfast.Task/progress {"message":"half"}; call 2 3 holdfast.Task/artifact {"artifactId":"x","parts":[]}
        1 dump
        "#,
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 send 1 holdfast.Task/progress {"message":"half"}; call 2 3 holdfast.Task/artifact {"artifactId":"x","parts":[]}
              notify a#1 2:CallInvocationIdCompletion 1=A
              notify a#1 4:CallInvocationIdCompletion 2=B
              notify a#1 5:CallCompletion 3="null"
            1 dump
              | invocation a running, attempt 1, journal 3/6, pin 1, root a
              | journal a 0:Input
              | journal a 1:OneWayCall
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:Call
              | journal a 4:CallInvocationIdCompletion 2=B
              | journal a 5:CallCompletion 3="null"
              | notified a 1 @2
              | notified a 2 @4
              | notified a 3 @5
              | running a
        "#]],
    );
}
