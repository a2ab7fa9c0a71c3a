//! What somebody outside is told: pauses and failures, where that is wanted, and for as long as
//! they were not told.

use super::{check, check_on};
use crate::tables::{notice::Notice, queue};
use expect_test::expect;

#[test]
fn a_pause_is_told_whoever_paused() {
    check(
        "
        0 notices paused
        0 invoke a Greeter/greet
        1 a#1 run 1; fail oops attempts=1
        2 invoke b Greeter/greet
        3 b#1 fail stop pause doc=HF0001
        4 invoke c Greeter/greet
        5 pause c
        6 c#1 suspend first(s17)
        7 invoke d Greeter/greet
        8 pause d
        9 d#1 fail oops after=50
        10 invoke e Greeter/greet
        11 e#1 fail oops after=50
        12 pause e
        13 dump
        ",
        expect![[r#"
            0 notices paused
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; fail oops attempts=1
              notice .1
            2 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            3 b#1 fail stop pause doc=HF0001
              notice .2
            4 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            5 pause c
              suspend c#1
              reply appended
            6 c#1 suspend first(s17)
              notice .3
            7 invoke d Greeter/greet
              reply accepted d, new
              invoke d#1
            8 pause d
              suspend d#1
              reply appended
            9 d#1 fail oops after=50
              notice .4
            10 invoke e Greeter/greet
              reply accepted e, new
              invoke e#1
            11 e#1 fail oops after=50
              wake at 61
            12 pause e
              notice .5
              reply appended
            13 dump
              | event a 0 AttemptFailed x1 oops
              | event a 1 Paused x1 oops
              | event b 0 AttemptFailed x1 stop
              | event b 1 Paused x1 stop
              | event c 0 Paused x1
              | event d 0 AttemptFailed x1 oops
              | event d 1 Paused x1 oops
              | event e 0 AttemptFailed x1 oops
              | event e 1 Paused x1 oops
              | notice .1 a Greeter/greet paused by Retries at 1, attempts 1, on 1: [500] oops
              | notice .2 b Greeter/greet paused by Service at 3, attempts 1: [500] stop (HF0001)
              | notice .3 c Greeter/greet paused by Operator at 6, attempts 1
              | notice .4 d Greeter/greet paused by Operator at 9, attempts 1: [500] oops
              | notice .5 e Greeter/greet paused by Operator at 12, attempts 1: [500] oops
              | invocation a paused, attempt 1, journal 2/2, pin 1, failures 1/1, root a
              | invocation b paused, attempt 1, journal 1/1, failures 0/1, root b
              | invocation c paused, attempt 1, journal 1/1, root c
              | invocation d paused, attempt 1, journal 1/1, failures 0/1, root d
              | invocation e paused, attempt 1, journal 1/1, failures 0/1, root e
              | journal a 0:Input
              | journal a 1:Run
              | journal b 0:Input
              | journal c 0:Input
              | journal d 0:Input
              | journal e 0:Input
              | meta [08, 06]
        "#]],
    );
}

#[test]
fn a_failure_is_told_with_its_cause() {
    check(
        "
        0 notices roots
        0 invoke a Greeter/greet
        1 a#1 run 1; output! 402 broke; end
        2 invoke b Greeter/greet
        3 b#1 fail oops attempts=1 kill doc=HF0002
        4 invoke c Greeter/greet
        5 c#1 fail never fail
        6 invoke d Greeter/greet
        7 kill d
        8 invoke e Greeter/greet
        9 cancel e
        10 e#1 output! 409 cancelled; end
        11 invoke f Greeter/greet at=90
        12 cancel f
        13 invoke g Greeter/greet
        14 g#1 output! 409 taken; end
        15 invoke h Greeter/greet
        16 h#1 end
        17 dump
        ",
        expect![[r#"
            0 notices roots
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; output! 402 broke; end
              notice .1
              ended a [402] broke
            2 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            3 b#1 fail oops attempts=1 kill doc=HF0002
              notice .2
              ended b [500] oops with stacktrace
            4 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            5 c#1 fail never fail
              notice .3
              ended c [500] never
            6 invoke d Greeter/greet
              reply accepted d, new
              invoke d#1
            7 kill d
              abort d#1
              notice .4
              ended d [409] killed
              reply done
            8 invoke e Greeter/greet
              reply accepted e, new
              invoke e#1
            9 cancel e
              notify e#1 1:Signal s1=void
              reply appended
            10 e#1 output! 409 cancelled; end
              notice .5
              ended e [409] cancelled
            11 invoke f Greeter/greet at=90
              reply accepted f, new, starts at 90
              wake at 90
            12 cancel f
              notice .6
              ended f [409] canceled
              reply done
            13 invoke g Greeter/greet
              reply accepted g, new
              invoke g#1
            14 g#1 output! 409 taken; end
              notice .7
              ended g [409] taken
            15 invoke h Greeter/greet
              reply accepted h, new
              invoke h#1
            16 h#1 end
              notice .8
              ended h [500] the handler ended without an output
            17 dump
              | notice .1 a Greeter/greet failed by Handler at 1, attempts 1, on 1: [402] broke
              | notice .2 b Greeter/greet failed by Retries at 3, attempts 1: [500] oops (HF0002)
              | notice .3 c Greeter/greet failed by Service at 5, attempts 1: [500] never
              | notice .4 d Greeter/greet failed by Kill at 7, attempts 1: [409] killed
              | notice .5 e Greeter/greet failed by Cancel at 10, attempts 1, on 1: [409] cancelled
              | notice .6 f Greeter/greet failed by Cancel at 12, attempts 0: [409] canceled
              | notice .7 g Greeter/greet failed by Handler at 14, attempts 1, on 1: [409] taken
              | notice .8 h Greeter/greet failed by Handler at 16, attempts 1: [500] the handler ended without an output
              | meta [08, 09]
        "#]],
    );
}

#[test]
fn what_is_not_wanted_or_no_trouble_is_not_told() {
    check(
        "
        0 invoke a Greeter/greet
        1 a#1 fail oops pause
        2 invoke b Greeter/greet
        3 b#1 output! 402 broke; end
        4 notices paused roots
        5 invoke c Greeter/greet
        6 c#1 output fine; end
        7 invoke d Greeter/greet
        8 d#1 fail oops after=50
        9 notices paused
        9 d#1 output! 402 late; end
        10 kill d
        11 notices roots
        12 resume a
        13 a#2 fail oops pause
        14 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 fail oops pause
            2 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            3 b#1 output! 402 broke; end
              ended b [402] broke
            4 notices paused roots
            5 invoke c Greeter/greet
              reply accepted c, new
              invoke c#1
            6 c#1 output fine; end
              ended c "fine"
            7 invoke d Greeter/greet
              reply accepted d, new
              invoke d#1
            8 d#1 fail oops after=50
              wake at 58
            9 notices paused
            9 d#1 output! 402 late; end
            10 kill d
              ended d [409] killed
              reply done
            11 notices roots
            12 resume a
              invoke a#2
              reply done
            13 a#2 fail oops pause
            14 dump
              | event a 0 AttemptFailed x1 oops
              | event a 1 Paused x1 oops
              | event a 2 AttemptFailed x1 oops
              | event a 3 Paused x1 oops
              | invocation a paused, attempt 2, journal 1/1, failures 0/1, root a
              | journal a 0:Input
        "#]],
    );
}

#[test]
fn a_failure_that_answers_a_caller_is_told_only_where_all_are() {
    let script = "
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/called; send 3 Greeter/sent
        2 A#1 output! 402 called; end
        3 B#1 output! 402 sent; end
        4 A#1 fail oops pause
        5 dump
        ";
    check(
        &format!("0 notices roots\n{script}"),
        expect![[r#"
        0 notices roots
        0 invoke a Greeter/greet
          reply accepted a, new
          invoke a#1
        1 a#1 call 1 2 Greeter/called; send 3 Greeter/sent
          notify a#1 2:CallInvocationIdCompletion 1=A
          notify a#1 4:CallInvocationIdCompletion 3=B
          invoke A#1
          invoke B#1
        2 A#1 output! 402 called; end
          ended A [402] called
          notify a#1 5:CallCompletion 2=[402] called
        3 B#1 output! 402 sent; end
          notice .1
          ended B [402] sent
        4 A#1 fail oops pause
        5 dump
          | notice .1 B Greeter/sent failed by Handler at 3, attempts 1, on 1: [402] sent
          | invocation a running, attempt 1, journal 3/6, pin 1, root a
          | journal a 0:Input
          | journal a 1:Call
          | journal a 2:CallInvocationIdCompletion 1=A
          | journal a 3:OneWayCall
          | journal a 4:CallInvocationIdCompletion 3=B
          | journal a 5:CallCompletion 2=[402] called
          | meta [08, 02]
          | notified a 1 @2
          | notified a 2 @5 failed
          | notified a 3 @4
          | running a
    "#]],
    );
    check(
        &format!("0 notices all\n{script}"),
        expect![[r#"
        0 notices all
        0 invoke a Greeter/greet
          reply accepted a, new
          invoke a#1
        1 a#1 call 1 2 Greeter/called; send 3 Greeter/sent
          notify a#1 2:CallInvocationIdCompletion 1=A
          notify a#1 4:CallInvocationIdCompletion 3=B
          invoke A#1
          invoke B#1
        2 A#1 output! 402 called; end
          notice .1
          ended A [402] called
          notify a#1 5:CallCompletion 2=[402] called
        3 B#1 output! 402 sent; end
          notice .2
          ended B [402] sent
        4 A#1 fail oops pause
        5 dump
          | notice .1 A Greeter/called failed by Handler at 2, attempts 1, on 1: [402] called
          | notice .2 B Greeter/sent failed by Handler at 3, attempts 1, on 1: [402] sent
          | invocation a running, attempt 1, journal 3/6, pin 1, root a
          | journal a 0:Input
          | journal a 1:Call
          | journal a 2:CallInvocationIdCompletion 1=A
          | journal a 3:OneWayCall
          | journal a 4:CallInvocationIdCompletion 3=B
          | journal a 5:CallCompletion 2=[402] called
          | meta [08, 03]
          | notified a 1 @2
          | notified a 2 @5 failed
          | notified a 3 @4
          | running a
    "#]],
    );
}

#[test]
fn a_called_one_that_is_paused_is_told() {
    check(
        "
        0 notices paused roots
        0 invoke a Greeter/greet
        1 a#1 call 1 2 Greeter/called; suspend first(2)
        2 A#1 fail oops pause
        3 dump
        ",
        expect![[r#"
            0 notices paused roots
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Greeter/called; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke A#1
            2 A#1 fail oops pause
              notice .1
            3 dump
              | event A 0 AttemptFailed x1 oops
              | event A 1 Paused x1 oops
              | notice .1 A Greeter/called paused by Service at 2, attempts 1: [500] oops
              | invocation a suspended, attempt 1, journal 2/3, pin 1, root a
              | invocation A paused, attempt 1, journal 1/1, for a 2, failures 0/1, root a
              | journal a 0:Input
              | journal a 1:Call
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal A 0:Input
              | meta [08, 02]
              | notified a 1 @2
        "#]],
    );
}

#[test]
fn a_restart_is_nobodys_answer() {
    check(
        "
        0 notices roots
        0 invoke a Greeter/greet keep=100
        1 a#1 output fine; end
        2 restart a b
        3 b#1 output! 402 broke; end
        4 dump
        ",
        expect![[r#"
            0 notices roots
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 output fine; end
              ended a "fine"
              wake at 101
            2 restart a b
              invoke b#1
              reply restarted as b
            3 b#1 output! 402 broke; end
              notice .1
              ended b [402] broke
              wake at 103
            4 dump
              | notice .1 b Greeter/greet failed by Handler at 3, attempts 1, on 1: [402] broke
              | invocation a completed "fine", attempt 1, journal 2/2, pin 1, root a
              | invocation b completed [402] broke, attempt 1, journal 2/2, pin 1, restarted from a, root b
              | journal a 0:Input
              | journal a 1:Output
              | journal b 0:Input
              | journal b 1:Output
              | meta [08, 02]
              | timer 101 Forget a 0
              | timer 103 Forget b 0
        "#]],
    );
}

#[test]
fn a_notice_outlives_what_it_is_about_until_it_is_delivered() {
    check(
        "
        0 notices paused roots
        0 invoke a Greeter/greet keep=10
        1 a#1 fail oops pause
        2 kill a
        3 purge a
        4 dump
        5 recover
        6 noticed 1
        7 recover
        8 noticed 1
        8 noticed 2
        9 recover
        9 dump
        10 invoke b Greeter/greet
        11 b#1 output! 402 broke; end
        ",
        expect![[r#"
            0 notices paused roots
            0 invoke a Greeter/greet keep=10
              reply accepted a, new
              invoke a#1
            1 a#1 fail oops pause
              notice .1
            2 kill a
              notice .2
              ended a [409] killed
              wake at 12
              reply done
            3 purge a
              reply done
            4 dump
              | notice .1 a Greeter/greet paused by Service at 1, attempts 1: [500] oops
              | notice .2 a Greeter/greet failed by Kill at 2, attempts 1: [409] killed
              | meta [08, 03]
            5 recover
              notice .1
            6 noticed 1
              reply done
            7 recover
              notice .2
            8 noticed 1
              reply done
            8 noticed 2
              reply done
            9 recover
            9 dump
              | meta [08, 03]
            10 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            11 b#1 output! 402 broke; end
              notice .3
              ended b [402] broke
        "#]],
    );
}

#[test]
fn each_partition_numbers_its_own() {
    check_on(
        2,
        "
        0 notices roots
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        1 a#1 output! 402 one; end
        2 b#1 output! 402 two; end
        3 dump
        4 recover
        ",
        expect![[r#"
            0 notices roots
            0 invoke a Greeter/greet
              reply accepted a, new
              invoke a#1
            0 invoke b Greeter/greet
              reply accepted b, new
              invoke b#1
            1 a#1 output! 402 one; end
              notice .1
              ended a [402] one
            2 b#1 output! 402 two; end
              notice .1
              ended b [402] two
            3 dump
              | 0: notice .1 a Greeter/greet failed by Handler at 1, attempts 1, on 1: [402] one
              | 0: meta [08, 02]
              | 1: notice .1 b Greeter/greet failed by Handler at 2, attempts 1, on 1: [402] two
              | 1: meta [08, 02]
            4 recover
              notice .1
              notice .1
        "#]],
    );
}

#[test]
fn what_is_told_of_a_failure_is_short() {
    let long = "é".repeat(5_000);
    let world = super::script::World::after(
        1,
        &format!("0 notices paused\n0 invoke a Greeter/greet\n1 a#1 fail {long} pause"),
    );
    let mut told = vec![];
    let partition = crate::id::PartitionId(0);
    queue::scan(&world.stores[0], partition, 0, &mut |_, notice: Notice| {
        told.push(notice.failure.unwrap().message);
        true
    })
    .unwrap();
    assert_eq!(told, ["é".repeat(2_048)]);
}
