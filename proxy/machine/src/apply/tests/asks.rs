//! Asks: questions to people, of invocations that nobody follows.

mod ids;
mod roots;

use super::check;
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
              | ask-open a
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
              | ask-place A
              | ask-place B
            51 answer a 1 accept
              reply too late: withdrawn cancel at 51
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
