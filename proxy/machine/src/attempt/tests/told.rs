//! What the service is told while an attempt runs, and what the partition is: once, and together
//! where that can wait.

use super::*;
use expect_test::expect;

#[test]
fn a_notification_is_sent_once_and_a_command_never() {
    check(
        "open Greeter/greet v6
         entry Input{14:{}}
         entry Sleep{1:9 11:1}
         stored 1 SleepCompletion{1:1 4:{}}
         stored 2 Run{11:2}
         stored 2 SleepCompletion{1:1 4:{}}
         stored 2 SleepCompletion{1:1 4:{}}
         stored 5 Signal{3:\"go\" 5:{1:\"x\"}}
         stored 4 Signal{3:\"late\" 4:{}}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371802
                send Input 04000000000000027200
                send Sleep 040c00000000000408095801
            stored 1 SleepCompletion{1:1 4:{}}
            stored 2 Run{11:2}
            stored 2 SleepCompletion{1:1 4:{}}
                send SleepCompletion 800c00000000000408012200
            stored 2 SleepCompletion{1:1 4:{}}
            stored 5 Signal{3:"go" 5:{1:"x"}}
                send Signal fbff0000000000091a02676f2a030a0178
            stored 4 Signal{3:"late" 4:{}}
        "#]],
    );
}

#[test]
fn an_acknowledgement_is_only_for_a_proposal_that_asked_here() {
    check(
        "open Greeter/greet v7
         head 200
         chunk ProposeRunCompletion{1:1 14:\"a\"} ProposeRunCompletion!{1:2 14:\"b\"}
         stored 1 RunCompletion{1:1 5:{1:\"a\"}}
         stored 2 RunCompletion{1:2 5:{1:\"b\"}}
         stored 3 RunCompletion{1:2 5:{1:\"b\"}}
         stored 4 RunCompletion{1:3 5:{1:\"c\"}}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk ProposeRunCompletion{1:1 14:"a"} ProposeRunCompletion!{1:2 14:"b"}
                say
                  result of 1 08012a030a0161
                  result of 2 08022a030a0162
            stored 1 RunCompletion{1:1 5:{1:"a"}}
                send RunCompletion 801100000000000708012a030a0161
            stored 2 RunCompletion{1:2 5:{1:"b"}}
                send ProposeRunCompletionAck 00070000000000020802
            stored 3 RunCompletion{1:2 5:{1:"b"}}
                send RunCompletion 801100000000000708022a030a0162
            stored 4 RunCompletion{1:3 5:{1:"c"}}
                send RunCompletion 801100000000000708032a030a0163
        "#]],
    );
    check(
        "open Greeter/greet v6
         head 200
         chunk ProposeRunCompletion!{1:1 14:\"a\"}
         stored 1 RunCompletion{1:1 5:{1:\"a\"}}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk ProposeRunCompletion!{1:1 14:"a"}
                say
                  result of 1 08012a030a0161
            stored 1 RunCompletion{1:1 5:{1:"a"}}
                send RunCompletion 801100000000000708012a030a0161
        "#]],
    );
}

#[test]
fn the_start_tells_what_the_version_knows() {
    let start = "open Counter/get v6 key=ä idempotency=once retries=3 unchanged=1234 seed=5 \
                 state=a:1 state=b: partial";
    let text = transcript(start);
    let text7 = transcript(&start.replace("v6", "v7"));
    expect![[r#"
        open
            send Start 000000000000005e0a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b735033775370587937180122060a016112013122030a016228013202c3a4380340d2094805
            send Input 04000000000000027200
        open
            send Start 00000000000000640a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b735033775370587937180122060a016112013122030a016228013202c3a4380340d209480562046f6e6365
            send Input 04000000000000027200
    "#]].assert_eq(&(text + &text7));
}

#[test]
fn large_payloads_are_sent_as_they_are() {
    let mut opening = Opening::parse("open Greeter/greet v6");
    opening.entry("Input{14:{}}");
    let payload = Bytes::from(vec![7; 5000]);
    let ty = MessageType::SIGNAL;
    let entry = |index| Entry { index, ty, payload: payload.clone(), appended_at: Timestamp(0) };
    opening.start.entries.push(entry(1));
    let mut attempt = Attempt::new(Timestamp(0), opening.start, opening.terms);
    let Some(Output::Send(replay)) = attempt.poll() else { panic!("a replay") };
    assert_eq!(replay.len(), 2);
    assert_eq!(replay[1].as_ptr(), payload.as_ptr());
    attempt.handle_stored(Timestamp(0), entry(2));
    let Some(Output::Send(news)) = attempt.poll() else { panic!("news") };
    assert_eq!(news[1].as_ptr(), payload.as_ptr());
}

#[test]
fn a_run_that_begins_is_told_with_its_result() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1}
         wait 4
         chunk ProposeRunCompletion{1:1 14:x0a}
         chunk Run{11:2} Run{11:3}
         wait 2
         chunk Run{11:4}
         wait 2
         chunk Sleep{1:9 11:5}",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1}
            wait 4
            chunk ProposeRunCompletion{1:1 14:x0a}
                say
                  Run 5801
                  result of 1 08012a030a010a
            chunk Run{11:2} Run{11:3}
            wait 2
            chunk Run{11:4}
            wait 2
            chunk Sleep{1:9 11:5}
                say
                  Run 5802
                  Run 5803
                  Run 5804
                  Sleep 08095805
        "#]],
    );
}

#[test]
fn a_run_that_takes_long_is_told_alone() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1}
         deadline
         chunk Run{11:2}
         suspend
         chunk Run{11:3}
         broken it fell",
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
            chunk Run{11:2}
            suspend
                say
                  Run 5802
                half-close
            chunk Run{11:3}
            broken it fell
                say
                  Run 5803
                  failed 500 HF0070 Retry: the conversation with the service broke: it fell
                reset
                finished
        "#]],
    );
}

#[test]
fn state_that_is_set_is_told_with_the_output() {
    check(
        "open Counter/add v6
         head 200
         chunk GetEagerState{1:\"n\" 13:{}}
         chunk SetState{1:\"n\" 3:{}}
         wait 1
         chunk Output{14:{}} End{}",
        expect![[r#"
            open
                send Start 00000000000000480a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b735033775370587937180132026b31
                send Input 04000000000000027200
            head 200
            chunk GetEagerState{1:"n" 13:{}}
            chunk SetState{1:"n" 3:{}}
            wait 1
            chunk Output{14:{}} End{}
                say
                  GetEagerState 0a016e6a00
                  SetState 0a016e1a00
                  Output 7200
                  completed
                half-close
        "#]],
    );
}
