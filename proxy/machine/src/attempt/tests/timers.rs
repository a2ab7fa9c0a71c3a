//! Inactivity, abort and drain timeouts.

use super::*;
use expect_test::expect;

#[test]
fn inactivity_asks_to_suspend_and_then_the_abort_timeout_runs() {
    check(
        "open Greeter/greet v6 inactivity=2000 abort=5000
         head 200
         chunk Run{11:1}
         deadline
         deadline
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1}
            deadline
                after 5 ms
                say
                  Run 5801
            deadline
                after 1995 ms
                half-close
            deadline
                after 5000 ms
                say
                  failed 500 HF0072 Retry: the service sent nothing for 5000 ms although it was expected to finish or to suspend; if its work takes that long, raise the abort timeout
                reset
                finished
        "#]],
    );
}

#[test]
fn messages_in_either_direction_put_inactivity_off() {
    check(
        "open Greeter/greet v6 inactivity=2000
         head 200
         wait 1500
         chunk Sleep{1:9 11:1}
         wait 1500
         stored 2 SleepCompletion{1:1 4:{}}
         wait 1999
         raw 04
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            wait 1500
            chunk Sleep{1:9 11:1}
                say
                  Sleep 08095801
            wait 1500
            stored 2 SleepCompletion{1:1 4:{}}
                send SleepCompletion 800c00000000000408012200
            wait 1999
            raw 04
            deadline
                after 2000 ms
                half-close
        "#]],
    );
}

#[test]
fn the_head_is_no_message() {
    check(
        "open Greeter/greet v6 inactivity=2000
         wait 1500
         head 200
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            wait 1500
            head 200
            deadline
                after 500 ms
                half-close
        "#]],
    );
}

#[test]
fn a_result_that_waits_to_be_stored_is_not_inactivity() {
    check(
        "open Greeter/greet v7 inactivity=2000
         head 200
         chunk Run{11:1} Run{11:2} ProposeRunCompletion!{1:1 14:\"a\"} ProposeRunCompletion!{1:2 14:\"b\"}
         wait 5000
         stored 3 RunCompletion{1:2 5:{1:\"b\"}}
         wait 5000
         stored 4 RunCompletion{1:1 5:{1:\"a\"}}
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1} Run{11:2} ProposeRunCompletion!{1:1 14:"a"} ProposeRunCompletion!{1:2 14
                say
                  Run 5801
                  Run 5802
                  result of 1 08012a030a0161
                  result of 2 08022a030a0162
            wait 5000
            stored 3 RunCompletion{1:2 5:{1:"b"}}
                send ProposeRunCompletionAck 00070000000000020802
            wait 5000
            stored 4 RunCompletion{1:1 5:{1:"a"}}
                send ProposeRunCompletionAck 00070000000000020801
            deadline
                after 2000 ms
                half-close
        "#]],
    );
}

/// What the partition answers as soon as it has stored the question.
#[test]
fn an_answer_that_waits_for_our_commit_is_not_inactivity() {
    check(
        "open Wf/run v6 inactivity=2000
         head 200
         chunk GetLazyState{1:\"n\" 11:1} PeekPromise{1:\"p\" 11:2} Call{1:\"Greeter\" 2:\"greet\" 10:3 11:4}
         wait 5000
         stored 4 GetLazyStateCompletion{1:1 4:{}}
         wait 5000
         stored 5 PeekPromiseCompletion{1:2 4:{}}
         wait 5000
         stored 6 CallInvocationIdCompletion{1:3 16:\"inv_1\"}
         deadline",
        expect![[r#"
            open
                send Start 00000000000000480a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b735033775370587937180132026b31
                send Input 04000000000000027200
            head 200
            chunk GetLazyState{1:"n" 11:1} PeekPromise{1:"p" 11:2} Call{1:"Greeter" 2:"greet" 10:3 1
                say
                  GetLazyState 0a016e5801
                  PeekPromise 0a01705802
                  Call 0a07477265657465721205677265657450035804 -> service
            wait 5000
            stored 4 GetLazyStateCompletion{1:1 4:{}}
                send GetLazyStateCompletion 800200000000000408012200
            wait 5000
            stored 5 PeekPromiseCompletion{1:2 4:{}}
                send PeekPromiseCompletion 800a00000000000408022200
            wait 5000
            stored 6 CallInvocationIdCompletion{1:3 16:"inv_1"}
                send CallInvocationIdCompletion 800e00000000000a0803820105696e765f31
            deadline
                after 2000 ms
                half-close
        "#]],
    );
}

#[test]
fn a_result_that_is_never_stored_has_a_bound() {
    check(
        "open Greeter/greet v7 inactivity=2000 abort=30000
         head 200
         chunk ProposeRunCompletion!{1:1 14:\"a\"}
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk ProposeRunCompletion!{1:1 14:"a"}
                say
                  result of 1 08012a030a0161
            deadline
                after 30000 ms
                half-close
        "#]],
    );
}

#[test]
fn a_hint_is_told_again_after_something_went_on() {
    check(
        "open Greeter/greet v7
         head 200
         chunk Run{11:1} AwaitingOn{1:{1:1 5:1}}
         chunk AwaitingOn{1:{1:1 5:1}}
         chunk Run{11:2}
         chunk AwaitingOn{1:{1:1 5:1}}
         stored 3 Signal{2:17 4:{}}
         chunk AwaitingOn{1:{1:1 5:1}}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1} AwaitingOn{1:{1:1 5:1}}
            chunk AwaitingOn{1:{1:1 5:1}}
            chunk Run{11:2}
            chunk AwaitingOn{1:{1:1 5:1}}
            stored 3 Signal{2:17 4:{}}
                say
                  Run 5801
                  Run 5802
                send Signal fbff00000000000410112200
            chunk AwaitingOn{1:{1:1 5:1}}
                awaiting FirstCompleted(1)
        "#]],
    );
}

#[test]
fn a_deadline_before_its_time_does_nothing() {
    let mut opening = Opening::parse("open Greeter/greet v6 inactivity=2000");
    opening.entry("Input{14:{}}");
    let mut attempt = Attempt::new(Timestamp(0), opening.start, opening.terms);
    while attempt.poll().is_some() {}
    attempt.handle_deadline(Timestamp(1999));
    assert_eq!(attempt.poll(), None);
    attempt.handle_deadline(Timestamp(2000));
    assert_eq!(attempt.poll(), Some(Output::HalfClose));
}

#[test]
fn chunks_put_the_abort_off() {
    check(
        "open Greeter/greet v6 inactivity=2000 abort=5000
         head 200
         deadline
         wait 4999
         chunk Run{11:1}
         deadline
         wait 4994
         raw 00
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            deadline
                after 2000 ms
                half-close
            wait 4999
            chunk Run{11:1}
            deadline
                after 5 ms
                say
                  Run 5801
            wait 4994
            raw 00
            deadline
                after 5000 ms
                say
                  failed 500 HF0072 Retry: the service sent nothing for 5000 ms although it was expected to finish or to suspend; if its work takes that long, raise the abort timeout
                reset
                finished
        "#]],
    );
}

#[test]
fn in_request_response_the_abort_timeout_runs_from_the_beginning() {
    check(
        "open Greeter/greet v6 request-response inactivity=2000 abort=5000
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
                half-close
            deadline
                after 5000 ms
                say
                  failed 500 HF0072 Retry: the service sent nothing for 5000 ms and did not begin to answer; if its work takes that long, raise the abort timeout
                reset
                finished
        "#]],
    );
    check(
        "open Greeter/greet v6 inactivity=0 abort=5000
         wait 3000
         head 200
         wait 3000
         chunk Run{11:1}
         deadline
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
                half-close
            wait 3000
            head 200
            wait 3000
            chunk Run{11:1}
            deadline
                after 5 ms
                say
                  Run 5801
            deadline
                after 4995 ms
                say
                  failed 500 HF0072 Retry: the service sent nothing for 5000 ms although it was expected to finish or to suspend; if its work takes that long, raise the abort timeout
                reset
                finished
        "#]],
    );
}

#[test]
fn a_service_that_answers_and_then_is_mute() {
    check(
        "open Greeter/greet v6 inactivity=2000 abort=5000
         head 200
         deadline
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            deadline
                after 2000 ms
                half-close
            deadline
                after 5000 ms
                say
                  failed 500 HF0073 Retry: the service answered 200 and then nothing for 5000 ms; it is likely that its runtime is too old for its SDK (the TypeScript SDK 1.17 needs Node 22), or that the handler blocks its thread
                reset
                finished
        "#]],
    );
}

#[test]
fn a_service_that_does_not_answer() {
    check(
        "open Greeter/greet v6 inactivity=2000 abort=5000
         deadline
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            deadline
                after 2000 ms
                half-close
            deadline
                after 5000 ms
                say
                  failed 500 HF0072 Retry: the service sent nothing for 5000 ms and did not begin to answer; if its work takes that long, raise the abort timeout
                reset
                finished
        "#]],
    );
}

#[test]
fn the_response_drains_for_a_while() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Output{14:{}} End{}
         wait 4000
         raw 00
         deadline
         deadline",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Output{14:{}} End{}
                say
                  Output 7200
                  completed
                half-close
            wait 4000
            raw 00
                note: the service sent bytes after its final message
            deadline
                after 1000 ms
                reset
                finished
            deadline
                there is none
        "#]],
    );
}

#[test]
fn asked_to_suspend() {
    check(
        "open Greeter/greet v6 abort=5000
         head 200
         chunk Sleep{1:9 11:1}
         wait 100
         suspend
         suspend
         stored 2 SleepCompletion{1:1 4:{}}
         chunk Suspension{1:1}
         suspend",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Sleep{1:9 11:1}
                say
                  Sleep 08095801
            wait 100
            suspend
                half-close
            suspend
            stored 2 SleepCompletion{1:1 4:{}}
            chunk Suspension{1:1}
                say
                  suspended FirstCompleted(1)
            suspend
        "#]],
    );
    check(
        "open Greeter/greet v6 request-response
         suspend",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
                half-close
            suspend
        "#]],
    );
}
