//! What SDKs said about mismatches, to the letter, and the two sides that are read from it.

use super::*;
use crate::attempt::tests::frames::frames;
use crate::model::RelatedCommand;
use crate::time::Timestamp;
use expect_test::{Expect, expect};
use std::fmt::Write;

/// The first lines of every text of the core that the TypeScript, Python and Rust SDKs share.
const FOUND: &str = "Found a mismatch between the code paths taken during the previous execution and \
                     the paths taken during this execution.\nThis typically happens when some parts \
                     of the code are non-deterministic.\n";

/// A mismatch at command 1, which is entry 3: `recorded` is the command there, then what the SDK
/// tells beside its text: type and name of the command it received.
fn check(recorded: &str, received: (u16, &str), text: &str, expected: Expect) {
    expected.assert_eq(&compared(recorded, received, text));
}

fn compared(recorded: &str, (ty, name): (u16, &str), text: &str) -> String {
    let recorded = frames(recorded).pop().map(|frame| Entry {
        index: 3,
        ty: frame.ty,
        payload: frame.payload,
        appended_at: Timestamp(0),
    });
    let related = RelatedCommand {
        index: Some(1),
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        ty: Some(MessageType(ty)),
    };
    let failure = AttemptFailure {
        code: JOURNAL_MISMATCH,
        message: text.to_owned(),
        related: (ty != 0).then_some(related),
        ..AttemptFailure::default()
    };
    show(&compare(&failure, recorded.as_ref()))
}

fn show(mismatch: &Mismatch) -> String {
    let Mismatch { command, entry, name, recorded, received, differing } = mismatch;
    let mut text = format!("command {command:?}, entry {entry:?}, name {name:?}\n");
    for field in recorded.keys().chain(received.keys()).collect::<std::collections::BTreeSet<_>>() {
        let side = |side: &BTreeMap<String, String>| side.get(field).cloned().unwrap_or("-".into());
        let mark = if differing.contains(field) { "!" } else { " " };
        writeln!(text, "{mark} {field}: {} | {}", side(recorded), side(received)).unwrap();
    }
    text
}

#[test]
fn a_command_of_another_kind() {
    let told = |recorded: &str, received: &str| {
        format!(
            "{FOUND} - The previous execution ran and recorded the following: '{recorded}' (index \
             '1')\n - The current execution attempts to perform the following: '{received}'"
        )
    };
    let call = "Call{1:\"Greeter\" 2:\"greet\" 3:\"x\" 10:1 11:2}";
    check(
        call,
        (0x0411, "pay"),
        &told("call", "run"),
        expect![[r#"
        command Some(1), entry Some(3), name Some("pay")
          handler_name: greet | -
          invocation_id_notification_idx: 1 | -
        ! name: - | pay
          parameter: 1 bytes, sha256 2d711642 | -
          result_completion_id: 2 | -
          service_name: Greeter | -
        ! type: Call | Run
    "#]],
    );
    // The TypeScript SDK 1.17 exchanges the two.
    let exchanged = compared(call, (0x0411, "pay"), &told("run", "call"));
    assert_eq!(exchanged, compared(call, (0x0411, "pay"), &told("call", "run")));
    check(
        "Sleep{1:1234 11:1 12:\"nap\"}",
        (0x0401, ""),
        &told("sleep", "handler return"),
        expect![[r#"
            command Some(1), entry Some(3), name Some("nap")
            ! name: nap | -
              result_completion_id: 1 | -
            ! type: Sleep | Output
              wake_up_time: 1234 | -
        "#]],
    );
    check(
        "Output{14:{1:\"done\"}}",
        (0x040c, ""),
        &told("handler return", "sleep"),
        expect![[r#"
            command Some(1), entry Some(3), name None
              result: 4 bytes, sha256 a4c3ed04 | -
            ! type: Output | Sleep
        "#]],
    );
}

#[test]
fn the_same_kind_with_other_fields() {
    let told = |what: &str, difference: &str| {
        format!(
            "{FOUND}- The mismatch happened while executing '{what}' (index '1')\n- Difference:\
             {difference}"
        )
    };
    check(
        "Run{11:1 12:\"pay\"}",
        (0x0411, "refund"),
        &told("run", "\n   name: pay != refund"),
        expect![[r#"
            command Some(1), entry Some(3), name Some("pay")
            ! name: pay | refund
              result_completion_id: 1 | 1
              type: Run | Run
        "#]],
    );
    check(
        "Call{1:\"Greeter\" 2:\"greet\" 3:\"x\" 10:1 11:2}",
        (0x040d, ""),
        &told(
            "call",
            "\n   service_name: Greeter != Other\n   handler_name: greet != hello\n   parameter: 'x' \
             != 'y\nz != w'\n   key:  != kk\n   headers:  != a: b\n   idempotency_key: <empty> != i1",
        ),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! handler_name: greet | hello
            ! headers: - | 4 bytes, sha256 75cd1899
            ! idempotency_key: - | i1
              invocation_id_notification_idx: 1 | 1
            ! key: - | kk
            ! parameter: 1 bytes, sha256 2d711642 | 8 bytes, sha256 12ba7d0d
              result_completion_id: 2 | 2
            ! service_name: Greeter | Other
              type: Call | Call
        "#]],
    );
    check(
        "OneWayCall{1:\"Greeter\" 2:\"greet\" 3:\"x\" 4:99 10:1}",
        (0x040e, ""),
        &told("one way call/send", "\n   handler_name: greet != hello\n   key:  != k"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! handler_name: greet | hello
              invocation_id_notification_idx: 1 | 1
              invoke_time: 99 | -
            ! key: - | k
              parameter: 1 bytes, sha256 2d711642 | 1 bytes, sha256 2d711642
              service_name: Greeter | Greeter
              type: OneWayCall | OneWayCall
        "#]],
    );
    check(
        "SetState{1:\"a\" 3:{1:\"1\"}}",
        (0x0403, ""),
        &told("set state", "\n   key: 'a' != 'b'\n   value: '1' != '2'"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! key: a | b
              type: SetState | SetState
            ! value: 1 bytes, sha256 6b86b273 | 1 bytes, sha256 d4735e3a
        "#]],
    );
    check(
        "GetEagerState{1:\"a\" 13:{}}",
        (0x0407, ""),
        &told("get state", "\n   key: 'a' != 'b'"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! key: a | b
              result: no value | no value
              type: GetEagerState | GetEagerState
        "#]],
    );
    check(
        "GetPromise{1:\"a\" 11:1}",
        (0x0409, ""),
        &told("get promise", "\n   key: a != b"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! key: a | b
              result_completion_id: 1 | 1
              type: GetPromise | GetPromise
        "#]],
    );
    check(
        "CompletePromise{1:\"a\" 2:{1:\"1\"} 11:1}",
        (0x040b, ""),
        &told("complete promise", "\n   key: a != b\n   completion: '1' != error [500] 'no'"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! completion: 1 bytes, sha256 6b86b273 | failure 500: no
            ! key: a | b
              result_completion_id: 1 | 1
              type: CompletePromise | CompletePromise
        "#]],
    );
    check(
        "SendSignal{1:\"inv_1a\" 2:1 4:{}}",
        (0x0410, ""),
        &told("send signal", "\n   target_invocation_id: inv_1a != inv_1b\n   signal_id: 1 != go"),
        expect![[r#"
            command Some(1), entry Some(3), name None
              result: no value | no value
            ! signal_id: 1 | go
            ! target_invocation_id: inv_1a | inv_1b
              type: SendSignal | SendSignal
        "#]],
    );
    check(
        "CompleteAwakeable{1:\"sign_1a\" 2:{1:\"1\"}}",
        (0x0414, ""),
        &told("complete awakeable", "\n   awakeable_id: sign_1a != sign_1b\n   result: '1' != '2'"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! awakeable_id: sign_1a | sign_1b
            ! result: 1 bytes, sha256 6b86b273 | 1 bytes, sha256 d4735e3a
              type: CompleteAwakeable | CompleteAwakeable
        "#]],
    );
    check(
        "AttachInvocation{1:\"inv_1a\" 11:1}",
        (0x0412, ""),
        &told("attach invocation", "\n   target: inv_1a != WorkflowTarget"),
        expect![[r#"
            command Some(1), entry Some(3), name None
              result_completion_id: 1 | 1
            ! target: inv_1a | WorkflowTarget
              type: AttachInvocation | AttachInvocation
        "#]],
    );
}

#[test]
fn payloads_may_hold_anything() {
    let told = |difference: &str| format!("{FOUND}- Difference:{difference}");
    // What looks like the next field belongs to the value.
    check(
        "Call{1:\"G\" 2:\"g\" 3:\"a != b\n   key: 'c\" 10:1 11:2}",
        (0x040d, ""),
        &told("\n   parameter: 'a != b\n   key: 'c' != 'd'\n   name:  != n"),
        expect![[r#"
            command Some(1), entry Some(3), name Some("n")
              handler_name: g | g
              invocation_id_notification_idx: 1 | 1
            ! name: - | n
            ! parameter: 17 bytes, sha256 a0b47fe2 | 1 bytes, sha256 18ac3e73
              result_completion_id: 2 | 2
              service_name: G | G
              type: Call | Call
        "#]],
    );
    check(
        "Call{1:\"G\" 2:\"g\" 3:xff00 10:1 11:2}",
        (0x040d, ""),
        &told("\n   parameter: [255, 0] != [255, 1]"),
        expect![[r#"
            command Some(1), entry Some(3), name None
              handler_name: g | g
              invocation_id_notification_idx: 1 | 1
            ! parameter: 2 bytes, sha256 ea5dbf95 | 2 bytes, sha256 437cb43a
              result_completion_id: 2 | 2
              service_name: G | G
              type: Call | Call
        "#]],
    );
    check(
        "SetState{1:\"a\" 3:{1:xff00}}",
        (0x0403, ""),
        &told("\n   value: b\"\\xff\\0\" != b\"\\xff\\x01\""),
        expect![[r#"
            command Some(1), entry Some(3), name None
              key: a | a
              type: SetState | SetState
            ! value: 2 bytes, sha256 ea5dbf95 | 2 bytes, sha256 437cb43a
        "#]],
    );
    // A long text is cut before it is kept.
    check(
        "SetState{1:\"a\" 3:{1:\"long\"}}",
        (0x0403, ""),
        &told("\n   key: 'a' != 'b'\n   value: 'lo"),
        expect![[r#"
            command Some(1), entry Some(3), name None
            ! key: a | b
              type: SetState | SetState
            ! value: 4 bytes, sha256 fc66f021 | -
        "#]],
    );
}

#[test]
fn an_await_that_was_added() {
    check(
        "",
        (0, ""),
        "Found a mismatch between the code paths taken during the previous execution and the paths \
         taken during this execution.\n'await' could not be replayed. This usually means the code was \
         mutated adding an 'await' without registering a new service revision.\nNotifications \
         awaited on this await point:\n - Awakeable sign_1BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAAAAEQ\n \
         - Cancellation",
        expect![[r#"
            command None, entry None, name None
            ! awaits: - | Awakeable sign_1BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAAAAEQ, Cancellation
        "#]],
    );
}

#[test]
fn a_text_that_is_not_understood_is_shown() {
    check(
        "Run{11:1 12:\"pay\"}",
        (0x0411, "refund"),
        "expected step `pay`, got `refund`",
        expect![[r#"
            command Some(1), entry Some(3), name Some("pay")
            ! name: pay | refund
              result_completion_id: 1 | -
              said: - | expected step `pay`, got `refund`
              type: Run | Run
        "#]],
    );
    check(
        "",
        (0x0411, "refund"),
        "the journal is shorter",
        expect![[r#"
        command Some(1), entry None, name Some("refund")
        ! name: - | refund
        ! type: - | Run
    "#]],
    );
    check(
        "",
        (0, ""),
        "",
        expect![[r#"
            command None, entry None, name None
        "#]],
    );
    check(
        "Run{11:1 12:xff}",
        (0x0411, ""),
        &format!("{FOUND}{}", "é".repeat(300)),
        expect![[r#"
            command Some(1), entry Some(3), name None
              said: - | Found a mismatch between the code paths taken during the previous execution and the paths taken during this execution.
            This typically happens when some parts of the code are non-deterministic.
            ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…
              type: Run | Run
        "#]],
    );
}

#[test]
fn the_index_may_be_in_the_text_alone() {
    let failure = |message: &str, index| AttemptFailure {
        message: message.into(),
        related: Some(RelatedCommand { index, ..RelatedCommand::default() }),
        ..AttemptFailure::default()
    };
    assert_eq!(command(&failure("ran 'call' (index '12')", None)), Some(12));
    assert_eq!(command(&failure("ran 'call' (index '12')", Some(3))), Some(3));
    assert_eq!(command(&failure("ran 'call' (index 'x')", None)), None);
}
