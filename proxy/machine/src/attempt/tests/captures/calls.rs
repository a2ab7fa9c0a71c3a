//! Calls of either kind, and questions about other invocations.

use super::*;

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
