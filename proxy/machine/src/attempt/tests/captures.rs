//! Conversations as they were recorded between existing servers and SDKs, to the byte. A capture
//! is never edited to make a test pass.

use super::*;
use expect_test::expect;

const GREETER_START: &str = "00000000000000520a18c3ba0630971751d9e709d695742dc6a7fd1735e8021d4ec41226696e765f3169454c524b7434384d444e355971633145436c75314b7274324e3653794a37494818012801400148e6d0ca988cb6bf926f";
const GREETER_INPUT: &str = "040000000000006a0a280a16782d726573746174652d696e67726573732d70617468120e2f477265657465722f67726565740a200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e0a130a0e636f6e74656e742d6c656e67746812013572070a052241646122";
const GREETER: &str =
    "id=inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH seed=8008804973000435814 unchanged=1 partial";

fn greeter(version: &str, then: &str) -> String {
    format!(
        "open Greeter/greet {version} {GREETER}
         entry {GREETER_INPUT}
         sends {GREETER_START} {GREETER_INPUT}
         head 200
         {then}"
    )
}

#[test]
fn greeter_v6() {
    check(
        &greeter(
            "v6",
            "chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
                say
                  Output 720d0a0b2248656c6c6f2041646122
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn greeter_is_the_same_in_v5_and_v7() {
    let script = "chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
                  end";
    let [v5, v6, v7] = ["v5", "v6", "v7"].map(|version| transcript(&greeter(version, script)));
    assert_eq!(v5, v6);
    assert_eq!(v6, v7);
}

#[test]
fn request_heads() {
    let head = |opening: &str| {
        let mut opening = Opening::parse(opening);
        opening.entry("Input{14:{}}");
        format!(
            "{:#?}\n",
            Attempt::new(Timestamp(START_MS), opening.start, opening.terms).request_head()
        )
    };
    let heads = head("open Greeter/greet v6 id=inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH")
        + &head("open Counter/add v7 key=äpfel/&_-.~");
    expect![[r#"
        Head {
            path: "/invoke/Greeter/greet",
            content_type: "application/vnd.restate.invocation.v6",
            headers: [
                (
                    "x-restate-invocation-id",
                    "inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH",
                ),
            ],
        }
        Head {
            path: "/invoke/Counter/add",
            content_type: "application/vnd.restate.invocation.v7",
            headers: [
                (
                    "x-restate-invocation-id",
                    "inv_10Bpelau4EQf0dg9MKoV2L6aKsP3wSpXy7",
                ),
                (
                    "x-restate-service-key",
                    "%C3%A4pfel%2F%26_-.~",
                ),
            ],
        }
    "#]]
    .assert_eq(&heads);
}

#[test]
fn a_terminal_failure_is_an_output() {
    check(
        &greeter("v6", "chunk 04010000000000107a0e08990312097465726d696e616c21 0003000000000000"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 04010000000000107a0e08990312097465726d696e616c21 0003000000000000
                say
                  Output 7a0e08990312097465726d696e616c21
                  completed
                half-close
        "#]],
    );
}

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
                say
                  Run 580162066d792d72756e
            chunk 000500000000000d080172092272616e2d426f6222
                say
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
                say
                  Run 580162066d792d72756e
            chunk 000580000000000d080172092272616e2d426f6222
                say
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

const SLOW: &str = "id=inv_1b7NZloE7Bug75D5ugcCjFcVch0lYa2u6S seed=17602554857788021918 unchanged=4 partial inactivity=2000";
const SLOW_INPUT: &str = "040000000000002f0a2b0a16782d726573746174652d696e67726573732d7061746812112f477265657465722f63616c6c536c6f777200";
const SLOW_CALL: &str = "040d00000000001a0a07477265657465721205736c6565701a043335303050015802";
const SLOW_ID: &str = "800e00000000002b0801820126696e765f3162544c5262676d7a49327930395261465736423631306141386942564831675a50";

#[test]
fn a_call_that_suspends_v6() {
    check(
        &format!(
            "open Greeter/callSlow v6 {SLOW}
             entry {SLOW_INPUT}
             sends 00000000000000530a18f0fc97bacf1f978172a5e0363a9a5568c619d24b605afbe81226696e765f3162374e5a6c6f453742756737354435756763436a4663566368306c596132753653180128014004489eb9a0ee97ccb5a4f401 {SLOW_INPUT}
             head 200
             chunk {SLOW_CALL}
             stored 2 {SLOW_ID}
             sends {SLOW_ID}
             deadline
             chunk 00010000000000060a0102120101
             end"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040d00000000001a0a07477265657465721205736c6565701a043335303050015802
                say
                  Call 0a07477265657465721205736c6565701a043335303050015802 -> service
            stored 2 800e00000000002b0801820126696e765f3162544c5262676d7a493279303952614657364236313
                sends CallInvocationIdCompletion
            deadline
                after 2000 ms
                half-close
            chunk 00010000000000060a0102120101
                say
                  suspended FirstCompleted(2, signal 1)
            end
                finished
        "#]],
    );
}

#[test]
fn a_call_that_suspended_is_replayed_v6() {
    let result = "800d00000000000d08022a090a0722736c65707422";
    check(
        &format!(
            "open Greeter/callSlow v6 {SLOW}
             entry {SLOW_INPUT}
             entry {SLOW_CALL}
             entry {SLOW_ID}
             entry {result}
             sends 00000000000000530a18f0fc97bacf1f978172a5e0363a9a5568c619d24b605afbe81226696e765f3162374e5a6c6f453742756737354435756763436a4663566368306c596132753653180428014004489eb9a0ee97ccb5a4f401 {SLOW_INPUT} {SLOW_CALL} {SLOW_ID} {result}
             head 200
             chunk 040100000000000b72090a0722736c65707422 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input, Call, CallInvocationIdCompletion, CallCompletion
            head 200
            chunk 040100000000000b72090a0722736c65707422 0003000000000000
                say
                  Output 72090a0722736c65707422
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn a_call_that_suspends_v7() {
    check(
        &format!(
            "open Greeter/callSlow v7 inactivity=2000
             head 200
             chunk {SLOW_CALL} 000600000000000a0a080a01021201012801
             stored 2 {SLOW_ID}
             sends {SLOW_ID}
             deadline
             chunk 000100000000000a22080a01021201012801
             end"
        ),
        expect![[r#"
            open
                send Start 00000000000000440a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801
                send Input 04000000000000027200
            head 200
            chunk 040d00000000001a0a07477265657465721205736c6565701a043335303050015802 0006000000000
                say
                  Call 0a07477265657465721205736c6565701a043335303050015802 -> service
                awaiting FirstCompleted(2, signal 1)
            stored 2 800e00000000002b0801820126696e765f3162544c5262676d7a493279303952614657364236313
                sends CallInvocationIdCompletion
            deadline
                after 2000 ms
                half-close
            chunk 000100000000000a22080a01021201012801
                say
                  suspended FirstCompleted(2, signal 1)
            end
                finished
        "#]],
    );
}

#[test]
fn a_sleep_that_suspended_is_replayed() {
    let entries = "040000000000000872060a0433353030 040c00000000001308dcc1c1bfa234580162086d792d736c656570 800c00000000000408012200";
    let [input, sleep, slept] = *entries.split(' ').collect::<Vec<_>>() else { panic!("three") };
    check(
        &format!(
            "open Greeter/sleep v6 id=inv_1bTLRbgmzI2y09RaFW6B610aA8iBVH1gZP seed=15749587119524422821 unchanged=3 partial
             entry {input}
             entry {sleep}
             entry {slept}
             sends 00000000000000530a18d62191331df4998a01a227f0532ad3b67201c6b7765a39051226696e765f3162544c5262676d7a49327930395261465736423631306141386942564831675a5018032801400348a5c9c892a5c1f1c8da01 {entries}
             head 200
             chunk 040100000000000b72090a0722736c65707422 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input, Sleep, SleepCompletion
            head 200
            chunk 040100000000000b72090a0722736c65707422 0003000000000000
                say
                  Output 72090a0722736c65707422
                  completed
                half-close
            end
                finished
        "#]],
    );
}

const AWAKEABLE: &str =
    "id=inv_1kCdbc6f74wW2FdydnxXv5PLSr2vZPAHP5 seed=16463460221029357123 partial";
const AWAKEABLE_INPUT: &str = "04000000000000350a310a16782d726573746174652d696e67726573732d7061746812172f477265657465722f6177616b6561626c652f73656e647200";
const AWAKEABLE_RUN: &str = "0411000000000009580162057072696e74";

#[test]
fn an_awakeable_that_suspends_v7() {
    check(
        &format!(
            "open Greeter/awakeable v7 {AWAKEABLE} unchanged=7
             entry {AWAKEABLE_INPUT}
             sends 00000000000000530a1882572f1d709421f03b3e3b8c265ff22c3559c5a530b68e571226696e765f316b4364626336663734775732466479646e78587635504c537232765a504148503518012801400748c3aceac180bbfdbce401 {AWAKEABLE_INPUT}
             head 200
             chunk {AWAKEABLE_RUN} 000580000000000408017200 000600000000000a0a080a01011201012801
             stored 2 801100000000000408012a00
             sends 00070000000000020801
             chunk 00060000000000080a06120211012801
             deadline
             chunk 00010000000000082206120211012801
             end"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 0411000000000009580162057072696e74 000580000000000408017200 000600000000000a0a080a
                say
                  Run 580162057072696e74
                  result of 1 08012a00
                awaiting FirstCompleted(1, signal 1)
            stored 2 801100000000000408012a00
                sends ProposeRunCompletionAck
            chunk 00060000000000080a06120211012801
                awaiting FirstCompleted(signal 17, signal 1)
            deadline
                after 60000 ms
                half-close
            chunk 00010000000000082206120211012801
                say
                  suspended FirstCompleted(signal 17, signal 1)
            end
                finished
        "#]],
    );
}

#[test]
fn an_awakeable_that_was_resolved_is_replayed_v7() {
    let done = "801100000000000408012a00";
    let signal = "fbff00000000001210112a0e0a0c2261776b2d726573756c7422";
    check(
        &format!(
            "open Greeter/awakeable v7 {AWAKEABLE} unchanged=10
             entry {AWAKEABLE_INPUT}
             entry {AWAKEABLE_RUN}
             entry {done}
             entry {signal}
             sends 00000000000000530a1882572f1d709421f03b3e3b8c265ff22c3559c5a530b68e571226696e765f316b4364626336663734775732466479646e78587635504c537232765a504148503518042801400a48c3aceac180bbfdbce401 {AWAKEABLE_INPUT} {AWAKEABLE_RUN} {done} {signal}
             head 200
             chunk 0401000000000010720e0a0c2261776b2d726573756c7422 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input, Run, RunCompletion, Signal
            head 200
            chunk 0401000000000010720e0a0c2261776b2d726573756c7422 0003000000000000
                say
                  Output 720e0a0c2261776b2d726573756c7422
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn an_awakeable_is_resolved_by_a_command() {
    check(
        &greeter(
            "v7",
            "chunk 041400000000003e0a2c7369676e5f31676c63764858435549664137506a754d4a6c5f794c44565a78615577746f3558414141414551120e0a0c2261776b2d726573756c7422",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041400000000003e0a2c7369676e5f31676c63764858435549664137506a754d4a6c5f794c44565a78
                say
                  CompleteAwakeable 0a2c7369676e5f31676c63764858435549664137506a754d4a6c5f794c44565a78615577746f3558414141414551120e0a0c2261776b2d726573756c7422
        "#]],
    );
}

#[test]
fn a_suspension_on_an_awakeable_v6() {
    check(
        &greeter("v6", "chunk 000100000000000412021101"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 000100000000000412021101
                say
                  suspended FirstCompleted(signal 17, signal 1)
                half-close
        "#]],
    );
}

#[test]
fn state_sent_with_the_start() {
    let input = "04000000000000670a290a16782d726573746174652d696e67726573732d70617468120f2f436f756e7465722f6b312f6164640a200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e0a130a0e636f6e74656e742d6c656e67746812013172030a0133";
    check(
        &format!(
            "open Counter/add v6 id=inv_1foAirY4KKzi3dC9eU06DqdslPc41BirZ4 seed=2275205355629387086
             entry {input}
             sends 00000000000000520a18548ae3cba54055b3d693a6bdacf7336ca4871a789636c9691226696e765f31666f41697259344b4b7a693364433965553036447164736c506334314269725a34180132026b3148cebaecaaf6e6c9c91f {input}
             head 200
             chunk 04070000000000090a05636f756e746a00 040300000000000c0a05636f756e741a030a0133 040100000000000572030a0133 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 04070000000000090a05636f756e746a00 040300000000000c0a05636f756e741a030a0133 040100
                say
                  GetEagerState 0a05636f756e746a00
                  SetState 0a05636f756e741a030a0133
                  Output 72030a0133
                  completed
                half-close
            end
                finished
        "#]],
    );
    check(
        &format!(
            "open Counter/add v6 id=inv_1foAirY4KKzi77aNYwm7jsi0JR4Uu5AUxj seed=9191211973184245201 state=count:3
             entry {input}
             sends 000000000000005e0a18548ae3cba54055b361dfe4828d771ec37e410e53cfcccce91226696e765f31666f41697259344b4b7a693737614e59776d376a7369304a52345575354155786a1801220a0a05636f756e7412013332026b3148d19bdbe7fad2efc67f {input}
             head 200
             chunk 040700000000000c0a05636f756e7472030a0133 040300000000000c0a05636f756e741a030a0137"
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040700000000000c0a05636f756e7472030a0133 040300000000000c0a05636f756e741a030a0137
                say
                  GetEagerState 0a05636f756e7472030a0133
                  SetState 0a05636f756e741a030a0137
        "#]],
    );
}

#[test]
fn state_read_key_by_key() {
    check(
        "open Counter/add v6 partial
         head 200
         chunk 04020000000000090a05636f756e745801
         stored 2 800200000000000408012200
         sends 800200000000000408012200
         chunk 04060000000000025802
         stored 4 800600000000000c08018a01070a05636f756e74
         sends 800600000000000c08018a01070a05636f756e74
         chunk 040800000000000972070a05636f756e74 04040000000000070a05636f756e74 0405000000000000",
        expect![[r#"
            open
                send Start 000000000000004a0a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b7350337753705879371801280132026b31
                send Input 04000000000000027200
            head 200
            chunk 04020000000000090a05636f756e745801
                say
                  GetLazyState 0a05636f756e745801
            stored 2 800200000000000408012200
                sends GetLazyStateCompletion
            chunk 04060000000000025802
                say
                  GetLazyStateKeys 5802
            stored 4 800600000000000c08018a01070a05636f756e74
                sends GetLazyStateKeysCompletion
            chunk 040800000000000972070a05636f756e74 04040000000000070a05636f756e74 0405000000000000
                say
                  GetEagerStateKeys 72070a05636f756e74
                  ClearState 0a05636f756e74
                  ClearAllState 
        "#]],
    );
}

#[test]
fn promises() {
    check(
        "open Wf/run v6
         head 200
         chunk 04090000000000050a01705801 040a0000000000050a01705801 040b00000000000e0a017012070a0522736967225801
         stored 4 800900000000000b08012a070a052273696722
         sends 800900000000000b08012a070a052273696722
         stored 5 800b00000000002608013222089903121d70726f6d6973652077617320616c726561647920636f6d706c65746564
         sends 800b00000000002608013222089903121d70726f6d6973652077617320616c726561647920636f6d706c65746564",
        expect![[r#"
            open
                send Start 00000000000000480a180707070707070707070707070707070707070707070707071226696e765f31304270656c617534455166306467394d4b6f56324c36614b735033775370587937180132026b31
                send Input 04000000000000027200
            head 200
            chunk 04090000000000050a01705801 040a0000000000050a01705801 040b00000000000e0a017012070a
                say
                  GetPromise 0a01705801
                  PeekPromise 0a01705801
                  CompletePromise 0a017012070a0522736967225801
            stored 4 800900000000000b08012a070a052273696722
                sends GetPromiseCompletion
            stored 5 800b00000000002608013222089903121d70726f6d6973652077617320616c726561647920636f6
                sends CompletePromiseCompletion
        "#]],
    );
}

#[test]
fn calls_with_everything() {
    check(
        &greeter(
            "v7",
            "chunk 040e0000000000340a07436f756e74657212036164641a013120b291b5bfa2342a0c0a05782d666f6f120362617232026b313a066964656d2d315001",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040e0000000000340a07436f756e74657212036164641a013120b291b5bfa2342a0c0a05782d666f6f
                say
                  OneWayCall 0a07436f756e74657212036164641a013120b291b5bfa2342a0c0a05782d666f6f120362617232026b313a066964656d2d315001 -> exclusive
        "#]],
    );
}

#[test]
fn attach_and_cancel() {
    check(
        &greeter(
            "v6",
            "chunk 041200000000002a0a26696e765f31657563504e5656364c6978333863427a757a5872325647656e487030497059326e5801
             stored 2 801200000000000d08012a090a0722736c65707422
             sends 801200000000000d08012a090a0722736c65707422
             stored 3 fbff00000000000410012200
             sends fbff00000000000410012200
             chunk 041000000000002c0a26696e765f31324b5144394472796c327232625555746e7a545635374558757364616d5936735310012200",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 041200000000002a0a26696e765f31657563504e5656364c6978333863427a757a5872325647656e48
                say
                  AttachInvocation 0a26696e765f31657563504e5656364c6978333863427a757a5872325647656e487030497059326e5801
            stored 2 801200000000000d08012a090a0722736c65707422
                sends AttachInvocationCompletion
            stored 3 fbff00000000000410012200
                sends Signal
            chunk 041000000000002c0a26696e765f31324b5144394472796c327232625555746e7a5456353745587573
                say
                  SendSignal 0a26696e765f31324b5144394472796c327232625555746e7a545635374558757364616d5936735310012200
        "#]],
    );
}

#[test]
fn combinators_v7() {
    check(
        &greeter(
            "v7",
            "chunk 040c00000000000908e497c3bfa2345801 040d0000000000190a0747726565746572120567726565741a0322782250025803
             chunk 00060000000000160a14120101220d12011122060a020103280428012801
             chunk 00060000000000150a13120101220c12011122050a0101280428012801
             suspend
             chunk 00010000000000152213120101220c12011122050a0101280428012801
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040c00000000000908e497c3bfa2345801 040d0000000000190a07477265657465721205677265657
                say
                  Sleep 08e497c3bfa2345801
                  Call 0a0747726565746572120567726565741a0322782250025803 -> service
            chunk 00060000000000160a14120101220d12011122060a020103280428012801
                awaiting FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1, 3)))
            chunk 00060000000000150a13120101220c12011122050a0101280428012801
                awaiting FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1)))
            suspend
                half-close
            chunk 00010000000000152213120101220c12011122050a0101280428012801
                say
                  suspended FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1)))
            end
                finished
        "#]],
    );
}

#[test]
fn combinators_v6() {
    check(
        &greeter("v6", "chunk 00010000000000070a010112020111"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 00010000000000070a010112020111
                say
                  suspended FirstCompleted(1, signal 1, signal 17)
                half-close
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
