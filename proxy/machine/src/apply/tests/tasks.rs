//! Tasks: what those who follow an invocation see, and what they say to it.

use super::{check, check_on};
use expect_test::expect;

#[test]
fn the_life_of_a_task() {
    check(
        r#"
        0 follow a Greeter/greet hi keep=100
        0 dump
        1 a#1 send 1 holdfast.Task/progress {"message":"half","progress":1,"total":2}; send 2 holdfast.Task/artifact {"artifactId":"r","parts":[{"text":"x"}],"append":true,"last":true}; call 3 4 holdfast.Human/ask {"message":"Sure?"}; suspend first(4 s1)
        2 answer a 1 accept {"x":1} by=ada
        3 a#2 output done; end
        3 dump
        200 due
        200 dump
        "#,
        expect![[r#"
            0 follow a Greeter/greet hi keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            0 dump
              | feed a 1 submitted
              | feed a 2 working
              | task-listing ada 0 a
              | invocation a running, attempt 1, journal 1/1, root a
              | journal a 0:Input
              | task a of ada in c, working, next 3, updated 0
              | running a
            1 a#1 send 1 holdfast.Task/progress {"message":"half","progress":1,"total":2}; send 2 holdfast.Task/artifact {"artifactId":"r","parts":[{"text":"x"}],"append":true,"last":true}; call 3 4 holdfast.Human/ask {"message":"Sure?"}; suspend first(4 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              told a .3
              notify a#1 4:CallInvocationIdCompletion 2=B
              told a .4
              notify a#1 6:CallInvocationIdCompletion 3=C
              told a .5
            2 answer a 1 accept {"x":1} by=ada
              told a .6
              reply answered .6
              invoke a#2
            3 a#2 output done; end
              told a .7
              ended a "done"
              wake at 103
            3 dump
              | ask a 1 C of a "Sure?", answered accept by ada at 2 {"x":1}
              | feed a 1 submitted
              | feed a 2 working
              | feed a 3 working "half" Some(1.0)/Some(2.0)
              | feed a 4 working {"artifactId":"r","parts":[{"text":"x"}]} append last
              | feed a 5 input-required asked 1 C of a "Sure?"
              | feed a 6 working 1 answered accept by ada at 2 {"x":1}
              | feed a 7 completed ended "done" None
              | task-listing ada 3 a
              | invocation a completed "done", attempt 2, journal 5/9, pin 1, root a
              | journal a 0:Input
              | journal a 1:OneWayCall
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:OneWayCall
              | journal a 4:CallInvocationIdCompletion 2=B
              | journal a 5:Call
              | journal a 6:CallInvocationIdCompletion 3=C
              | journal a 7:CallCompletion 4="{\"action\":\"accept\",\"content\":{\"x\":1},\"by\":\"ada\",\"at\":\"1970-01-01T00:00:00.002Z\"}"
              | journal a 8:Output
              | task a of ada in c, completed, next 8, updated 3
              | notified a 1 @2
              | notified a 2 @4
              | notified a 3 @6
              | notified a 4 @7
              | timer 103 Forget a 0
              | ask-place C
            200 due
            200 dump
              | nothing
        "#]],
    );
}

#[test]
fn the_same_request_is_one_task() {
    check(
        r#"
        0 follow a Greeter/greet hi digest=d keep=100
        1 follow a Greeter/greet hi digest=d keep=100
        1 follow a Greeter/greet ho digest=e keep=100
        1 follow a Greeter/greet hi digest=d by=bob keep=100
        2 follow b Greeter/greet hi keep=100
        2 follow b Greeter/greet hi keep=100
        3 invoke c Greeter/greet
        3 follow c Greeter/greet hi digest=d
        4 a#1 output x; end
        5 follow a Greeter/greet hi digest=d keep=100
        "#,
        expect![[r#"
            0 follow a Greeter/greet hi digest=d keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            1 follow a Greeter/greet hi digest=d keep=100
              reply started, known, secret 42
            1 follow a Greeter/greet ho digest=e keep=100
              reply OtherRequest
            1 follow a Greeter/greet hi digest=d by=bob keep=100
              reply OtherRequest
            2 follow b Greeter/greet hi keep=100
              told b .1
              invoke b#1
              reply started, new, secret 42
              told b .2
            2 follow b Greeter/greet hi keep=100
              reply OtherRequest
            3 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            3 follow c Greeter/greet hi digest=d
              reply NoTask
            4 a#1 output x; end
              told a .3
              ended a "x"
              wake at 104
            5 follow a Greeter/greet hi digest=d keep=100
              reply started, known, secret 42
        "#]],
    );
}

#[test]
fn a_follow_up_answers_and_comes_twice() {
    check(
        r#"
        0 follow a Greeter/greet message=m0 digest=d0 keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}; suspend first(2)
        2 say a m1 {"ok":1} digest=d1
        3 say a m1 {"ok":true} digest=d2
        4 say a m1 {"ok":true} digest=d2
        4 say a m1 {"ok":false} digest=d3
        4 say a m0 digest=d0
        5 a#2 output x; end
        6 say a m1 {"ok":true} digest=d2
        6 say a m2 {"ok":true}
        6 say b m2 {"ok":true}
        6 dump
        "#,
        expect![[r#"
            0 follow a Greeter/greet message=m0 digest=d0 keep=100
              told a .1
              told a .2
              invoke a#1
              reply started, new, secret 42
              told a .3
            1 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              told a .4
            2 say a m1 {"ok":1} digest=d1
              reply violation: `ok` is not true or false
            3 say a m1 {"ok":true} digest=d2
              told a .5
              told a .6
              reply messaged .5, answers 1
              invoke a#2
            4 say a m1 {"ok":true} digest=d2
              reply messaged .5, known, answers 1
            4 say a m1 {"ok":false} digest=d3
              reply OtherMessage
            4 say a m0 digest=d0
              reply messaged .2, known
            5 a#2 output x; end
              told a .7
              ended a "x"
              wake at 105
            6 say a m1 {"ok":true} digest=d2
              reply messaged .5, known, answers 1
            6 say a m2 {"ok":true}
              reply refused: AlreadyCompleted
            6 say b m2 {"ok":true}
              reply unknown
            6 dump
              | ask a 1 A of a "Sure?", answered accept at 3 {"ok":true}
              | feed a 1 submitted
              | feed a 2 submitted message m0
              | feed a 3 working
              | feed a 4 input-required asked 1 A of a "Sure?"
              | feed a 5 input-required message m1 answers 1
              | feed a 6 working 1 answered accept at 3 {"ok":true}
              | feed a 7 completed ended "x" None
              | task-listing ada 5 a
              | invocation a completed "x", attempt 2, journal 3/5, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"ok\":true},\"at\":\"1970-01-01T00:00:00.003Z\"}"
              | journal a 4:Output
              | task a of ada in c, completed, next 8, updated 5
              | notified a 1 @2
              | notified a 2 @3
              | timer 105 Forget a 0
              | task-message a m0
              | task-message a m1
              | ask-place A
        "#]],
    );
}

#[test]
fn early_messages_wait_in_order_for_the_next_asks() {
    check(
        r#"
        0 follow a Greeter/greet keep=100
        1 say a m1 text=perhaps
        1 say a m2 text=yes
        1 say a m3 decline
        1 dump
        2 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}
        3 a#1 call 3 4 holdfast.Human/ask {"message":"Really?"}; suspend first(4)
        4 a#2 call 5 6 holdfast.Human/ask {"message":"Now?"}; suspend first(6)
        4 dump
        "#,
        expect![[r#"
            0 follow a Greeter/greet keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            1 say a m1 text=perhaps
              told a .3
              reply messaged .3
            1 say a m2 text=yes
              told a .4
              reply messaged .4
            1 say a m3 decline
              told a .5
              reply messaged .5
            1 dump
              | feed a 1 submitted
              | feed a 2 working
              | feed a 3 working message m1 waits
              | feed a 4 working message m2 waits
              | feed a 5 working message m3 waits
              | task-listing ada 0 a
              | invocation a running, attempt 1, journal 1/1, root a
              | journal a 0:Input
              | task a of ada in c, working, next 6, updated 0, waiting [3, 4, 5]
              | running a
            2 a#1 call 1 2 holdfast.Human/ask {"message":"Sure?","schema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}
              notify a#1 2:CallInvocationIdCompletion 1=A
              told a .6
              told a .7
              told a .8
              notify a#1 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"ok\":true},\"at\":\"1970-01-01T00:00:00.002Z\"}"
            3 a#1 call 3 4 holdfast.Human/ask {"message":"Really?"}; suspend first(4)
              notify a#1 5:CallInvocationIdCompletion 3=B
              told a .9
              told a .10
              invoke a#2
            4 a#2 call 5 6 holdfast.Human/ask {"message":"Now?"}; suspend first(6)
              notify a#2 8:CallInvocationIdCompletion 5=C
              told a .11
            4 dump
              | ask a 1 A of a "Sure?", answered accept at 2 {"ok":true}
              | ask a 2 B of a "Really?", answered decline at 3
              | ask a 3 C of a "Now?"
              | ask-open a
              | feed a 1 submitted
              | feed a 2 working
              | feed a 3 working message m1 waits
              | feed a 4 working message m2 waits
              | feed a 5 working message m3 waits
              | feed a 6 working message m1 is not taken for 1: `ok` cannot be read from the text; answer with a JSON object with `ok`
              | feed a 7 working asked 1 A of a "Sure?"
              | feed a 8 working 1 answered accept at 2 {"ok":true}
              | feed a 9 working asked 2 B of a "Really?"
              | feed a 10 working 2 answered decline at 3
              | feed a 11 input-required asked 3 C of a "Now?"
              | task-listing ada 4 a
              | invocation a suspended, attempt 2, journal 4/9, pin 1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:CallCompletion 2="{\"action\":\"accept\",\"content\":{\"ok\":true},\"at\":\"1970-01-01T00:00:00.002Z\"}"
              | journal a 4:Call
              | journal a 5:CallInvocationIdCompletion 3=B
              | journal a 6:CallCompletion 4="{\"action\":\"decline\",\"at\":\"1970-01-01T00:00:00.003Z\"}"
              | journal a 7:Call
              | journal a 8:CallInvocationIdCompletion 5=C
              | task a of ada in c, input-required, next 12, updated 4
              | notified a 1 @2
              | notified a 2 @3
              | notified a 3 @5
              | notified a 4 @6
              | notified a 5 @8
              | ask-place A
              | ask-place C
              | ask-place B
        "#]],
    );
}

#[test]
fn how_tasks_end() {
    check(
        r#"
        0 follow a Greeter/greet keep=100
        0 a#1 output! 500 broken; end
        1 follow b Greeter/greet keep=100
        1 b#1 output! 422 nonsense; end
        2 follow c Greeter/greet keep=100
        2 c#1 run 1; suspend first(1 s1)
        2 kill c
        3 follow d Greeter/greet keep=100
        3 d#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
        4 cancel d
        5 d#2 output! 409 canceled; end
        6 follow e Greeter/greet keep=100
        6 e#1 output! 409 conflict; end
        7 follow f Greeter/greet at=50 keep=100
        8 cancel f
        9 follow g Greeter/greet keep=100
        9 g#1 fail oops fail
        9 dump
        "#,
        expect![[r#"
            0 follow a Greeter/greet keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            0 a#1 output! 500 broken; end
              told a .3
              ended a [500] broken
              wake at 100
            1 follow b Greeter/greet keep=100
              told b .1
              invoke b#1
              reply started, new, secret 42
              told b .2
            1 b#1 output! 422 nonsense; end
              told b .3
              ended b [422] nonsense
              wake at 101
            2 follow c Greeter/greet keep=100
              told c .1
              invoke c#1
              reply started, new, secret 42
              told c .2
            2 c#1 run 1; suspend first(1 s1)
              invoke c#2
            2 kill c
              abort c#2
              told c .3
              ended c [409] killed
              wake at 102
              reply done
            3 follow d Greeter/greet keep=100
              told d .1
              invoke d#1
              reply started, new, secret 42
              told d .2
            3 d#1 call 1 2 holdfast.Human/ask {"message":"Sure?"}; suspend first(2 s1)
              notify d#1 2:CallInvocationIdCompletion 1=A
              told d .3
            4 cancel d
              invoke d#2
              told d .4
              reply appended
              notify d#2 4:CallCompletion 2=[409] canceled
            5 d#2 output! 409 canceled; end
              told d .5
              ended d [409] canceled
              wake at 105
            6 follow e Greeter/greet keep=100
              told e .1
              invoke e#1
              reply started, new, secret 42
              told e .2
            6 e#1 output! 409 conflict; end
              told e .3
              ended e [409] conflict
              wake at 106
            7 follow f Greeter/greet at=50 keep=100
              told f .1
              wake at 50
              reply started, new, secret 42
            8 cancel f
              told f .2
              ended f [409] canceled
              wake at 108
              reply done
            9 follow g Greeter/greet keep=100
              told g .1
              invoke g#1
              reply started, new, secret 42
              told g .2
            9 g#1 fail oops fail
              told g .3
              ended g [500] oops
              wake at 109
            9 dump
              | ask d 1 A of d "Sure?", withdrawn cancel at 4
              | event g 0 AttemptFailed x1 oops
              | feed a 1 submitted
              | feed a 2 working
              | feed a 3 failed ended [500] broken Some(Handler)
              | feed b 1 submitted
              | feed b 2 working
              | feed b 3 rejected ended [422] nonsense Some(Handler)
              | feed c 1 submitted
              | feed c 2 working
              | feed c 3 cancelled ended [409] killed Some(Kill)
              | feed d 1 submitted
              | feed d 2 working
              | feed d 3 input-required asked 1 A of d "Sure?"
              | feed d 4 working 1 withdrawn cancel at 4
              | feed d 5 cancelled ended [409] canceled Some(Handler)
              | feed e 1 submitted
              | feed e 2 working
              | feed e 3 failed ended [409] conflict Some(Handler)
              | feed f 1 submitted
              | feed f 2 cancelled ended [409] canceled Some(Cancel)
              | feed g 1 submitted
              | feed g 2 working
              | feed g 3 failed ended [500] oops Some(Service)
              | task-listing ada 9 g
              | task-listing ada 8 f
              | task-listing ada 6 e
              | task-listing ada 5 d
              | task-listing ada 2 c
              | task-listing ada 1 b
              | task-listing ada 0 a
              | invocation a completed [500] broken, attempt 1, journal 2/2, pin 1, root a
              | invocation b completed [422] nonsense, attempt 1, journal 2/2, pin 1, root b
              | invocation c completed [409] killed, attempt 2, journal 2/2, pin 1, root c
              | invocation d completed [409] canceled, attempt 2, journal 3/6, pin 1, root d
              | invocation e completed [409] conflict, attempt 1, journal 2/2, pin 1, root e
              | invocation f completed [409] canceled, attempt 0, journal 1/1, root f
              | invocation g completed [500] oops, attempt 1, journal 1/1, failures 0/1, root g
              | journal a 0:Input
              | journal a 1:Output
              | journal b 0:Input
              | journal b 1:Output
              | journal c 0:Input
              | journal c 1:Run
              | journal d 0:Input
              | journal d 1:Call
              | journal d 2:CallInvocationIdCompletion 1=A
              | journal d 3:Signal s1=void
              | journal d 4:CallCompletion 2=[409] canceled
              | journal d 5:Output
              | journal e 0:Input
              | journal e 1:Output
              | journal f 0:Input
              | journal g 0:Input
              | task a of ada in c, failed, next 4, updated 0
              | task b of ada in c, rejected, next 4, updated 1
              | task c of ada in c, cancelled, next 4, updated 2
              | task d of ada in c, cancelled, next 6, updated 5, to be cancelled
              | task e of ada in c, failed, next 4, updated 6
              | task f of ada in c, cancelled, next 3, updated 8
              | task g of ada in c, failed, next 4, updated 9
              | notified d 1 @2
              | notified d 2 @4 failed
              | notified d s1 @3
              | timer 100 Forget a 0
              | timer 101 Forget b 0
              | timer 102 Forget c 0
              | timer 105 Forget d 0
              | timer 106 Forget e 0
              | timer 108 Forget f 0
              | timer 109 Forget g 0
              | ask-place A
        "#]],
    );
}

#[test]
fn tasks_wait_for_their_key_and_are_resumed() {
    check(
        r#"
        0 follow a Counter/k/add keep=100
        0 follow b Counter/k/add keep=100
        1 a#1 fail oops after=10
        11 due
        12 a#2 output x; end
        13 cancel b
        14 b#1 output! 409 canceled; end
        "#,
        expect![[r#"
            0 follow a Counter/k/add keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            0 follow b Counter/k/add keep=100
              told b .1
              reply started, new, secret 42
            1 a#1 fail oops after=10
              wake at 11
            11 due
              invoke a#2
            12 a#2 output x; end
              told a .3
              ended a "x"
              wake at 112
              invoke b#1
              told b .2
            13 cancel b
              notify b#1 1:Signal s1=void
              reply appended
            14 b#1 output! 409 canceled; end
              told b .3
              ended b [409] canceled
              wake at 114
        "#]],
    );
}

#[test]
fn a_task_hears_from_children_elsewhere() {
    check_on(
        2,
        r#"
        0 follow a Greeter/greet keep=100
        1 a#1 call 1 2 Counter/one/add; suspend first(2 s1)
        1 route
        2 A#1 send 1 holdfast.Task/progress {"message":"half"}; call 2 3 holdfast.Human/ask {"message":"Sure?","kind":"auth"}; suspend first(3)
        2 route
        3 say a m1 text=yes
        3 route
        4 A#2 send 4 holdfast.Task/artifact {"artifactId":"x","parts":[]}; output x; end
        4 route
        5 a#2 output x; end
        6 recover
        "#,
        expect![[r#"
            0 follow a Greeter/greet keep=100
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            1 a#1 call 1 2 Counter/one/add; suspend first(2 s1)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            1 route
            2 A#1 send 1 holdfast.Task/progress {"message":"half"}; call 2 3 holdfast.Human/ask {"message":"Sure?","kind":"auth"}; suspend first(3)
              notify A#1 2:CallInvocationIdCompletion 1=B
              notify A#1 4:CallInvocationIdCompletion 2=C
              told a .3
              told a .4
            2 route
            3 say a m1 text=yes
              told a .5
              told a .6
              reply messaged .5, answers 1
              invoke A#2
            3 route
            4 A#2 send 4 holdfast.Task/artifact {"artifactId":"x","parts":[]}; output x; end
              notify A#2 7:CallInvocationIdCompletion 4=D
              ended A "x"
              told a .7
              invoke a#2
            4 route
            5 a#2 output x; end
              told a .8
              ended a "x"
              wake at 105
            6 recover
              wake at 105
        "#]],
    );
}

#[test]
fn only_so_many_messages_wait() {
    let mut script = String::from("0 follow a Greeter/greet\n");
    for number in 0..66 {
        script += &format!("1 say a m{number}\n");
    }
    let transcript = super::script::run(1, &script);
    let refused = transcript.lines().filter(|line| line.contains("64 wait already")).count();
    assert_eq!(refused, 2, "{transcript}");
}

#[test]
fn a_long_feed_is_forgotten_in_pieces() {
    let mut script = String::from("0 follow a Greeter/greet keep=100\n");
    for completion in 1..=2_500 {
        let progress = r#"holdfast.Task/progress {"message":"x"}"#;
        script += &format!("1 a#1 send {completion} {progress}\n");
    }
    script += "2 a#1 output x; end\n102 due\n102 follow a Greeter/greet keep=100\n102 kill a\n";
    script += "300 due\n301 due\n302 due\n303 due\n";
    let world = super::script::World::after(1, &script);
    assert!(world.stores[0].0.is_empty(), "{} rows are left", world.stores[0].0.len());
}
