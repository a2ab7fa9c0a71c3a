//! Asks belong to the invocation at the top of the calls, for as long as something is kept of it.

use super::super::{check, check_on};
use expect_test::expect;

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
              | 0: ask-open a
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
              | ask-open a
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
