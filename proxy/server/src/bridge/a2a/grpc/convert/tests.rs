//! What goes over the wire of gRPC comes back as it was.

use super::*;
use crate::bridge::a2a::grpc::pb;
use prost::Message as _;
use serde_json::json;

fn message() -> pb::Message {
    let part = |content| pb::Part { content: Some(content), ..pb::Part::default() };
    pb::Message {
        message_id: "m-1".into(),
        context_id: "c-1".into(),
        task_id: "t-1".into(),
        role: pb::Role::User.into(),
        parts: vec![
            part(pb::part::Content::Text("hello".into())),
            part(pb::part::Content::Raw("bytes".into())),
            pb::Part {
                filename: "output.txt".into(),
                media_type: "text/plain".into(),
                ..part(pb::part::Content::Url("https://example.com".into()))
            },
            part(pb::part::Content::Data(value_out(&json!({"orderId": "o-1", "amount": 42})))),
            part(pb::part::Content::Data(value_out(&json!(null)))),
        ],
        metadata: struct_out(json!({"a": [1]}).as_object().unwrap()),
        extensions: vec!["urn:x".into()],
        reference_task_ids: vec!["t-0".into()],
    }
}

#[test]
fn messages_come_back() {
    let read = message_in(message()).unwrap();
    assert_eq!(read.parts[3].content, Content::Data(json!({"orderId": "o-1", "amount": 42})));
    assert_eq!(message_out(read), message());
}

fn field(refused: Error) -> String {
    refused.violations().iter().map(|it| it.field.clone()).collect()
}

#[test]
fn what_has_no_meaning_is_refused_with_its_field() {
    let send = |message| send(pb::SendMessageRequest { message, ..Default::default() });
    assert_eq!(field(send(None).unwrap_err()), "message");
    let with = |change: fn(&mut pb::Message)| {
        let mut changed = message();
        change(&mut changed);
        field(send(Some(changed)).unwrap_err())
    };
    assert_eq!(with(|it| it.role = 0), "message.role");
    assert_eq!(with(|it| it.role = 7), "message.role");
    assert_eq!(with(|it| it.parts[0].content = None), "message.parts");
    let filtered = pb::ListTasksRequest { status: 99, ..Default::default() };
    assert_eq!(field(list(filtered).unwrap_err()), "status");
    let after = Some(prost_types::Timestamp { seconds: -1, nanos: 0 });
    let filtered = pb::ListTasksRequest { status_timestamp_after: after, ..Default::default() };
    assert_eq!(field(list(filtered).unwrap_err()), "statusTimestampAfter");
}

#[test]
fn absent_is_not_zero() {
    let get = |history_length| get(pb::GetTaskRequest { history_length, ..Default::default() });
    assert_eq!(get(None).history_length, None);
    assert_eq!(get(Some(0)).history_length, Some(0));
    assert_eq!(list(pb::ListTasksRequest::default()).unwrap().status, None);
}

#[test]
fn every_state_has_its_number() {
    for number in 1..=8 {
        let state = state_in(number).unwrap().unwrap();
        assert_eq!(state_out(state), number);
        let name = pb::TaskState::try_from(number).unwrap().as_str_name();
        assert_eq!(state.name(), name);
    }
}

#[test]
fn a_task_is_written_with_its_numbers() {
    let status =
        TaskStatus { state: TaskState::Working, message: None, timestamp: Timestamp(1_500) };
    let task = task(Task {
        id: "t".into(),
        context_id: "c".into(),
        status,
        artifacts: vec![],
        history: vec![],
        metadata: Struct::new(),
    });
    // 1: "t", 2: "c", 3: {1: 2, 3: {1: 1, 2: 500000000}}
    let expected = b"\x0a\x01t\x12\x01c\x1a\x0c\x08\x02\x1a\x08\x08\x01\x10\x80\xca\xb5\xee\x01";
    assert_eq!(task.encode_to_vec(), expected);
}

#[test]
fn receivers_come_back() {
    let config = pb::TaskPushNotificationConfig {
        tenant: String::new(),
        id: "p-1".into(),
        task_id: "t-1".into(),
        url: "https://example.com/hook".into(),
        token: "t".into(),
        authentication: Some(pb::AuthenticationInfo {
            scheme: "Bearer".into(),
            credentials: "c".into(),
        }),
    };
    assert_eq!(push_config_out(push_config_in(config.clone())), config);
}
