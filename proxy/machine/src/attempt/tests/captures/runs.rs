//! Runs: proposals, completions, acknowledgements.

use super::*;

#[test]
fn run_v6_gets_the_whole_completion() {
    check(
        &greeter(
            "v6",
            "chunk 041100000000000a580162066d792d72756e
             chunk 000500000000000d080172092272616e2d426f6222
             stored 1 Run{11:1 12:\"my-run\"}
             stored 2 801100000000000f08012a0b0a092272616e2d426f6222
             sends 801100000000000f08012a0b0a092272616e2d426f6222
             chunk 040100000000000d720b0a092272616e2d426f6222 0003000000000000
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041100000000000a580162066d792d72756e
            chunk 000500000000000d080172092272616e2d426f6222
                say
                  Run 580162066d792d72756e
                  result of 1 08012a0b0a092272616e2d426f6222
            stored 1 Run{11:1 12:"my-run"}
            stored 2 801100000000000f08012a0b0a092272616e2d426f6222
                sends RunCompletion
            chunk 040100000000000d720b0a092272616e2d426f6222 0003000000000000
                say
                  Output 720b0a092272616e2d426f6222
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn run_v7_gets_an_acknowledgement() {
    check(
        &greeter(
            "v7",
            "chunk 041100000000000a580162066d792d72756e
             chunk 000580000000000d080172092272616e2d426f6222
             chunk 000600000000000a0a080a01011201012801
             chunk 000600000000000a0a080a01011201012801
             stored 2 801100000000000f08012a0b0a092272616e2d426f6222
             sends 00070000000000020801
             chunk 040100000000000d720b0a092272616e2d426f6222 0003000000000000
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041100000000000a580162066d792d72756e
            chunk 000580000000000d080172092272616e2d426f6222
                say
                  Run 580162066d792d72756e
                  result of 1 08012a0b0a092272616e2d426f6222
            chunk 000600000000000a0a080a01011201012801
                awaiting FirstCompleted(1, signal 1)
            chunk 000600000000000a0a080a01011201012801
            stored 2 801100000000000f08012a0b0a092272616e2d426f6222
                sends ProposeRunCompletionAck
            chunk 040100000000000d720b0a092272616e2d426f6222 0003000000000000
                say
                  Output 720b0a092272616e2d426f6222
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn run_that_fails_for_good() {
    let output = "040100000000000b7a0908a2031204626f6f6d 0003000000000000";
    check(
        &greeter(
            "v6",
            &format!(
                "chunk 041100000000000a580162066d792d72756e 000500000000000d08017a0908a2031204626f6f6d
                 stored 2 801100000000000d0801320908a2031204626f6f6d
                 sends 801100000000000d0801320908a2031204626f6f6d
                 chunk {output}"
            ),
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041100000000000a580162066d792d72756e 000500000000000d08017a0908a2031204626f6f6d
                say
                  Run 580162066d792d72756e
                  result of 1 0801320908a2031204626f6f6d
            stored 2 801100000000000d0801320908a2031204626f6f6d
                sends RunCompletion
            chunk 040100000000000b7a0908a2031204626f6f6d 0003000000000000
                say
                  Output 7a0908a2031204626f6f6d
                  completed
                half-close
        "#]],
    );
    check(
        &greeter("v7", "chunk 000580000000000d08017a0908a2031204626f6f6d"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 000580000000000d08017a0908a2031204626f6f6d
                say
                  result of 1 0801320908a2031204626f6f6d
        "#]],
    );
}

#[test]
fn run_that_returns_nothing() {
    check(
        &greeter(
            "v6",
            "chunk 041100000000000a580162066d792d72756e 000500000000000408017200
             stored 2 801100000000000408012a00
             sends 801100000000000408012a00",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041100000000000a580162066d792d72756e 000500000000000408017200
                say
                  Run 580162066d792d72756e
                  result of 1 08012a00
            stored 2 801100000000000408012a00
                sends RunCompletion
        "#]],
    );
}

#[test]
fn request_response_v6() {
    check(
        "open Greeter/greet v6 inactivity=0
         head 200
         chunk Run{11:1} ProposeRunCompletion{1:1 14:\"1\"} Suspension{1:x01 2:x01}
         stored 2 RunCompletion{1:1 5:{1:\"1\"}}
         end",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
                half-close
            head 200
            chunk Run{11:1} ProposeRunCompletion{1:1 14:"1"} Suspension{1:x01 2:x01}
                say
                  Run 5801
                  result of 1 08012a030a0131
                  suspended FirstCompleted(1, signal 1)
            stored 2 RunCompletion{1:1 5:{1:"1"}}
            end
                finished
        "#]],
    );
    check(
        "open Greeter/greet v6 request-response
         entry Input{14:{}}
         entry Run{11:1}
         entry RunCompletion{1:1 5:{1:\"1\"}}
         head 200
         chunk Run{11:2} ProposeRunCompletion{1:2 14:\"2\"} Suspension{1:x02 2:x01}
         end",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371803
                send Input 04000000000000027200
                send Run 04110000000000025801
                send RunCompletion 801100000000000708012a030a0131
                half-close
            head 200
            chunk Run{11:2} ProposeRunCompletion{1:2 14:"2"} Suspension{1:x02 2:x01}
                say
                  Run 5802
                  result of 2 08022a030a0132
                  suspended FirstCompleted(2, signal 1)
            end
                finished
        "#]],
    );
}

/// There is nowhere to send an acknowledgement: the next replay has the result.
#[test]
fn request_response_v7() {
    check(
        "open Greeter/greet v7 request-response
         head 200
         chunk Run{11:1} ProposeRunCompletion!{1:1 14:\"1\"}
         stored 2 RunCompletion{1:1 5:{1:\"1\"}}
         chunk Suspension{4:{1:x01 2:x01 5:1}}
         end",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
                half-close
            head 200
            chunk Run{11:1} ProposeRunCompletion!{1:1 14:"1"}
                say
                  Run 5801
                  result of 1 08012a030a0131
            stored 2 RunCompletion{1:1 5:{1:"1"}}
            chunk Suspension{4:{1:x01 2:x01 5:1}}
                say
                  suspended FirstCompleted(1, signal 1)
            end
                finished
        "#]],
    );
}
