//! Awakeables, and the signals that resolve them.

use super::*;

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
