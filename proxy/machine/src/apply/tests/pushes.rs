//! Receivers of feeds: what they are to be told is queued with its cause.

use super::{check, check_on};
use expect_test::expect;

#[test]
fn every_event_is_queued_in_the_commit_of_its_cause() {
    check(
        r#"
        0 follow a Greeter/greet hi message=m-1 push=in keep=100
        0 dump
        1 push a out
        1 say a m-2
        2 a#1 send 1 holdfast.Task/progress {"message":"half"}; output done; end
        2 pushed 1
        2 pushed 2
        2 dump
        3 recover
        3 unpush a out
        3 unpush a out
        102 due
        102 dump
        "#,
        expect![[r#"
            0 follow a Greeter/greet hi message=m-1 push=in keep=100
              push .1
              told a .1
              told a .2
              invoke a#1
              reply started, new, secret 42
              push .2
              told a .3
            0 dump
              | feed a 1 submitted
              | feed a 2 submitted message m-1
              | feed a 3 working
              | task-listing ada 0 a
              | invocation a running, attempt 1, journal 1/1, root a
              | journal a 0:Input
              | task a of ada in c, working, next 4, updated 0
              | meta [08, 03]
              | push-config a in http://h/ since 0
              | running a
              | push .1 a .1 to in at 0
              | push .2 a .3 to in at 0
            1 push a out
              reply stored, new
            1 say a m-2
              told a .4
              reply messaged .4
            2 a#1 send 1 holdfast.Task/progress {"message":"half"}; output done; end
              notify a#1 2:CallInvocationIdCompletion 1=A
              push .3
              told a .5
              push .5
              told a .6
              ended a "done"
              wake at 102
            2 pushed 1
              reply done
            2 pushed 2
              reply done
            2 dump
              | feed a 1 submitted
              | feed a 2 submitted message m-1
              | feed a 3 working
              | feed a 4 working message m-2 waits
              | feed a 5 working "half" None/None
              | feed a 6 completed ended "done" None
              | task-listing ada 2 a
              | invocation a completed "done", attempt 1, journal 3/4, pin 1, root a
              | journal a 0:Input
              | journal a 1:OneWayCall
              | journal a 2:CallInvocationIdCompletion 1=A
              | journal a 3:Output
              | task a of ada in c, completed, next 7, updated 2, waiting [4]
              | meta [08, 07]
              | notified a 1 @2
              | push-config a in http://h/ since 0
              | push-config a out http://h/ since 1
              | timer 102 Forget a 0
              | push .3 a .5 to in at 2
              | push .4 a .5 to out at 2
              | push .5 a .6 to in at 2
              | push .6 a .6 to out at 2
            3 recover
              wake at 102
              push .3
            3 unpush a out
              reply done
            3 unpush a out
              reply done
            102 due
            102 dump
              | meta [08, 07]
              | push .3 a .5 to in at 2
              | push .4 a .5 to out at 2
              | push .5 a .6 to in at 2
              | push .6 a .6 to out at 2
        "#]],
    );
}

#[test]
fn a_receiver_is_replaced_and_there_are_no_more_than_may_be() {
    let names = ('a'..='q').map(|name| format!("1 push a {name}\n")).collect::<String>();
    let script = format!(
        "0 follow a Greeter/greet hi\n{names}2 push a b\n2 unpush a b\n2 push a q\n3 push z q"
    );
    check(
        &script,
        expect![[r#"
        0 follow a Greeter/greet hi
          told a .1
          invoke a#1
          reply started, new, secret 42
          told a .2
        1 push a a
          reply stored, new
        1 push a b
          reply stored, new
        1 push a c
          reply stored, new
        1 push a d
          reply stored, new
        1 push a e
          reply stored, new
        1 push a f
          reply stored, new
        1 push a g
          reply stored, new
        1 push a h
          reply stored, new
        1 push a i
          reply stored, new
        1 push a j
          reply stored, new
        1 push a k
          reply stored, new
        1 push a l
          reply stored, new
        1 push a m
          reply stored, new
        1 push a n
          reply stored, new
        1 push a o
          reply stored, new
        1 push a p
          reply stored, new
        1 push a q
          reply 16 receivers already
        2 push a b
          reply stored, known
        2 unpush a b
          reply done
        2 push a q
          reply stored, new
        3 push z q
          reply unknown
    "#]],
    );
}

#[test]
fn who_is_told_nothing_has_nothing_queued() {
    check_on(
        2,
        "
        0 follow a Greeter/greet hi
        0 push a out
        0 unpush a out
        1 a#1 output done; end
        1 push a late
        1 dump
        2 invoke b Greeter/greet hi
        2 push b out
        ",
        expect![[r#"
            0 follow a Greeter/greet hi
              told a .1
              invoke a#1
              reply started, new, secret 42
              told a .2
            0 push a out
              reply stored, new
            0 unpush a out
              reply done
            1 a#1 output done; end
              told a .3
              ended a "done"
            1 push a late
              reply unknown
            1 dump
              | nothing
            2 invoke b Greeter/greet hi
              reply accepted b, new
              invoke b#1
            2 push b out
              reply unknown
        "#]],
    );
}
