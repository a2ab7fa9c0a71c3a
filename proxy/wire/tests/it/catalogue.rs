//! The catalogue of messages and the versions, as tables to be read.

use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::pb::{CombinatorType, Future, Suspension};
use holdfast_wire::message::{MessageType, pb::Notification};
use holdfast_wire::version::{Feature, Version, parse_content_type};
use prost::Message;

#[test]
fn types() {
    let table: String = MessageType::ALL.iter().map(|ty| format!("{}\n", line(*ty))).collect();
    expect![[r#"
        0000 Start | control: Start
        0001 Suspension | control: Suspension | terminal
        0002 Error | control: Error | terminal
        0003 End | control: End | terminal
        0004 CommandAck | control: CommandAck
        0005 ProposeRunCompletion | control: ProposeRunCompletion
        0006 AwaitingOn | control: AwaitingOn
        0007 ProposeRunCompletionAck | control: ProposeRunCompletionAck
        0400 Input | Command: Input
        0401 Output | Command: Output
        0402 GetLazyState | Command: GetLazyState | completed by GetLazyStateCompletion (0x8002)
        0403 SetState | Command: SetState
        0404 ClearState | Command: ClearState
        0405 ClearAllState | Command: ClearAllState
        0406 GetLazyStateKeys | Command: GetLazyStateKeys | completed by GetLazyStateKeysCompletion (0x8006)
        0407 GetEagerState | Command: GetEagerState
        0408 GetEagerStateKeys | Command: GetEagerStateKeys
        0409 GetPromise | Command: GetPromise | completed by GetPromiseCompletion (0x8009)
        040a PeekPromise | Command: PeekPromise | completed by PeekPromiseCompletion (0x800a)
        040b CompletePromise | Command: CompletePromise | completed by CompletePromiseCompletion (0x800b)
        040c Sleep | Command: Sleep | completed by SleepCompletion (0x800c)
        040d Call | Command: Call | completed by CallCompletion (0x800d)
        040e OneWayCall | Command: OneWayCall
        0410 SendSignal | Command: SendSignal
        0411 Run | Command: Run | completed by RunCompletion (0x8011)
        0412 AttachInvocation | Command: AttachInvocation | completed by AttachInvocationCompletion (0x8012)
        0413 GetInvocationOutput | Command: GetInvocationOutput | completed by GetInvocationOutputCompletion (0x8013)
        0414 CompleteAwakeable | Command: CompleteAwakeable
        8002 GetLazyStateCompletion | Notification: GetLazyState | carries void, value
        8006 GetLazyStateKeysCompletion | Notification: GetLazyStateKeys | carries state keys
        8009 GetPromiseCompletion | Notification: GetPromise | carries value, failure
        800a PeekPromiseCompletion | Notification: PeekPromise | carries void, value, failure
        800b CompletePromiseCompletion | Notification: CompletePromise | carries void, failure
        800c SleepCompletion | Notification: Sleep | carries void
        800d CallCompletion | Notification: Call | carries value, failure
        800e CallInvocationIdCompletion | Notification: CallInvocationId | carries invocation id
        8011 RunCompletion | Notification: Run | carries value, failure
        8012 AttachInvocationCompletion | Notification: AttachInvocation | carries value, failure
        8013 GetInvocationOutputCompletion | Notification: GetInvocationOutput | carries void, value, failure
        fbff Signal | Notification: Signal | carries void, value, failure
    "#]].assert_eq(&table);
}

fn line(ty: MessageType) -> String {
    let class = match (ty.is_control(), ty.is_command(), ty.is_notification()) {
        (true, false, false) => "control",
        (false, true, false) => "Command",
        (false, false, true) => "Notification",
        other => panic!("{ty} is of {other:?} classes"),
    };
    let mut line = format!("{:04x} {} | {class}: {}", ty.0, ty.name(), ty.kind());
    if ty.is_terminal() {
        line += " | terminal";
    }
    if let Some(completion) = ty.completion() {
        line += &format!(" | completed by {completion}");
    }
    let carried = outcomes().into_iter().filter(|(_, outcome)| ty.may_carry(outcome));
    let carried: Vec<_> = carried.map(|(name, _)| name).collect();
    if !carried.is_empty() {
        line += &format!(" | carries {}", carried.join(", "));
    }
    line
}

fn outcomes() -> [(&'static str, Outcome); 5] {
    [
        ("void", Outcome::void()),
        ("value", Outcome::value("1")),
        ("failure", Outcome::failure(500, "no")),
        ("invocation id", Outcome::InvocationId("inv_1".to_owned())),
        ("state keys", Outcome::state_keys([])),
    ]
}

#[test]
fn types_of_no_catalogue_are_kept() {
    let shown = |number| MessageType(number).to_string();
    assert_eq!(shown(0x0200), "Unknown (0x0200)");
    assert_eq!(shown(0xFC00), "Unknown (0xfc00)");
    assert!(!MessageType(0xFC00).is_notification());
    assert!(!MessageType(0x0200).is_control());
    assert!(MessageType(0x0500).is_command());
    assert!(!MessageType(0x0500).is_known());
    assert_eq!(MessageType(0x0404 | 0x0800).completion(), None);
}

#[test]
fn versions() {
    let features = [
        Feature::RandomSeed,
        Feature::FailureMetadata,
        Feature::FutureTree,
        Feature::AwaitingOn,
        Feature::RunAck,
        Feature::ErrorBehavior,
        Feature::Scopes,
        Feature::IdempotencyKeyInStart,
    ];
    let mut table = String::new();
    for version in Version::ALL {
        assert_eq!(parse_content_type(version.content_type()), Some(version));
        assert_eq!(Version::from_number(version.number()), Some(version));
        let supported: Vec<_> =
            features.into_iter().filter(|feature| version.supports(*feature)).collect();
        table += &format!("{version} {} {supported:?}\n", version.content_type());
    }
    assert_eq!(parse_content_type("application/vnd.restate.invocation.v8"), None);
    assert_eq!(parse_content_type("application/vnd.restate.invocation.v7; a=b"), None);
    expect![[r#"
        V5 application/vnd.restate.invocation.v5 []
        V6 application/vnd.restate.invocation.v6 [RandomSeed, FailureMetadata]
        V7 application/vnd.restate.invocation.v7 [RandomSeed, FailureMetadata, FutureTree, AwaitingOn, RunAck, ErrorBehavior, Scopes, IdempotencyKeyInStart]
    "#]].assert_eq(&table);
}

#[test]
fn negotiation() {
    let negotiate = |min, max, cap, expected: Expect| {
        let shown = match Version::negotiate(min, max, cap) {
            Ok(version) => version.to_string(),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    };
    negotiate(5, 7, Version::V7, expect!["V7"]);
    negotiate(5, 7, Version::V6, expect!["V6"]);
    negotiate(1, 5, Version::V7, expect!["V5"]);
    negotiate(6, 99, Version::V7, expect!["V7"]);
    negotiate(
        1,
        4,
        Version::V7,
        expect![
            "service speaks protocol versions 1 to 4, all older than V5, the oldest we speak; update the SDK of the service"
        ],
    );
    negotiate(
        7,
        9,
        Version::V6,
        expect![
            "service speaks protocol versions 7 to 9, all newer than V6, the newest allowed here; raise the limit or update the sidecar"
        ],
    );
    negotiate(
        8,
        9,
        Version::V7,
        expect![
            "service speaks protocol versions 8 to 9, all newer than V7, the newest allowed here; raise the limit or update the sidecar"
        ],
    );
    negotiate(
        7,
        5,
        Version::V7,
        expect!["service speaks protocol versions 7 to 5; expected a range in rising order"],
    );
}

#[test]
fn notifications_are_written_as_the_services_expect() {
    let hex = |notification: Notification| -> String {
        notification.encode_to_vec().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(hex(Notification::cancel()), "10012200");
    assert_eq!(hex(Notification::completion(1, Outcome::void())), "08012200");
    assert_eq!(hex(Notification::completion(1, Outcome::value(Bytes::new()))), "08012a00");
    assert_eq!(
        hex(Notification::completion(1, Outcome::failure(418, "boom"))),
        "0801320908a2031204626f6f6d"
    );
    let keys = Outcome::state_keys([Bytes::from_static(b"count")]);
    assert_eq!(hex(Notification::completion(1, keys)), "08018a01070a05636f756e74");
    assert_eq!(hex(Notification::named_signal("go", Outcome::void())), "1a02676f2200");
}

#[test]
fn both_forms_of_a_suspension_become_one_future() {
    let flat = Suspension {
        waiting_completions: vec![2],
        waiting_signals: vec![1],
        ..Suspension::default()
    };
    let tree = Suspension {
        awaiting_on: Some(Future {
            waiting_completions: vec![2],
            waiting_signals: vec![1],
            combinator_type: CombinatorType::FirstCompleted.into(),
            ..Future::default()
        }),
        ..Suspension::default()
    };
    assert_eq!(flat.into_future(), tree.into_future());
}

#[test]
fn a_future_without_ids_is_empty_at_any_depth() {
    let mut future = Future { nested_futures: vec![Future::default()], ..Future::default() };
    assert!(future.is_empty());
    assert!(Suspension::default().into_future().is_empty());
    future.nested_futures[0].waiting_named_signals.push("go".to_owned());
    assert!(!future.is_empty());
}
