//! What a service says when an attempt has failed.

use super::*;

#[test]
fn a_transient_failure_is_an_error() {
    check(
        &greeter(
            "v6",
            "chunk 000200000000005508f403122748616e646c6572206661696c6564207769746820726574727961626c65206572726f723a2045271a2748616e646c6572206661696c6564207769746820726574727961626c65206572726f723a204527
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 000200000000005508f403122748616e646c6572206661696c6564207769746820726574727961626c
                say
                  failed 500 Retry: Handler failed with retryable error: E' [Handler failed with retryable error: E']
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn a_run_that_is_tried_again() {
    check(
        "open Greeter/greet v6
         head 200
         chunk Run{11:1 12:\"flaky\"} Error{1:500 2:\"flaky!\" 3:\"at x\" 4:1 5:\"flaky\" 6:1041 8:50}
         end",
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk Run{11:1 12:"flaky"} Error{1:500 2:"flaky!" 3:"at x" 4:1 5:"flaky" 6:1041 8:50}
                say
                  Run 58016205666c616b79
                  failed 500 RetryAfter(50ms) at Some(1) Some("flaky") Some(Run (0x0411)): flaky! [at x]
                half-close
            end
                finished
        "#]],
    );
    check(
        "open Greeter/greet v6 retries=2 unchanged=165
         entry Input{14:{}}
         entry Run{11:1 12:\"flaky\"}
         head 200
         chunk ProposeRunCompletion{1:1 15:{1:500 2:\"flaky!\"}}
         stored 2 RunCompletion{1:1 6:{1:500 2:\"flaky!\"}}",
        expect![[r#"
            open
                send Start 00000000000000490a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371802380240a501
                send Input 04000000000000027200
                send Run 041100000000000958016205666c616b79
            head 200
            chunk ProposeRunCompletion{1:1 15:{1:500 2:"flaky!"}}
                say
                  result of 1 0801320b08f4031206666c616b7921
            stored 2 RunCompletion{1:1 6:{1:500 2:"flaky!"}}
                send RunCompletion 801100000000000f0801320b08f4031206666c616b7921
        "#]],
    );
}

#[test]
fn a_journal_mismatch_is_told_as_the_sdk_told_it() {
    check(
        &greeter(
            "v6",
            "chunk Error{1:570 2:\"expected Sleep, found Run\" 4:1 5:\"x\" 6:1041}
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk Error{1:570 2:"expected Sleep, found Run" 4:1 5:"x" 6:1041}
                say
                  failed 570 HF0094 Retry at Some(1) Some("x") Some(Run (0x0411)): expected Sleep, found Run
                half-close
            end
                finished
        "#]],
    );
}
