//! What is read and what is written, as text.

use super::{Fields, read, write};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn wrong<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

fn fields_of<T>(
    value: &Value,
    read: impl FnOnce(&Fields<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    read::params(value, read)
}

fn part(value: Value) -> Result<Part, Error> {
    fields_of(&value, read::part)
}

#[test]
fn camel_and_snake_case() {
    let camel = json!({"contextId": "c", "pageSize": 2, "pageToken": "p", "historyLength": 1,
        "statusTimestampAfter": "2026-11-29T15:40:23.314Z", "includeArtifacts": true,
        "status": "TASK_STATE_WORKING"});
    let snake = json!({"context_id": "c", "page_size": "2", "page_token": "p", "history_length": 1.0,
        "status_timestamp_after": "2026-11-29T17:40:23.3149+02:00", "include_artifacts": true,
        "status": 2});
    let expected = params::List {
        context_id: "c".into(),
        status: Some(TaskState::Working),
        page_size: Some(2),
        page_token: "p".into(),
        history_length: Some(1),
        status_timestamp_after: Some(Timestamp(1_795_966_823_314)),
        include_artifacts: true,
    };
    assert_eq!(fields_of(&camel, read::list), Ok(expected.clone()));
    assert_eq!(fields_of(&snake, read::list), Ok(expected));
}

#[test]
fn unset_is_left_out_null_or_unspecified() {
    let unset = params::List::default();
    for value in [
        json!({}),
        json!({"status": null, "contextId": null, "pageSize": null, "includeArtifacts": null}),
        json!({"status": "TASK_STATE_UNSPECIFIED", "stranger": {"any": "thing"}}),
        json!({"status": 0}),
    ] {
        assert_eq!(fields_of(&value, read::list), Ok(unset.clone()), "{value}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_path() {
    let send = |message: Value| wrong(fields_of(&json!({"message": message}), read::send));
    let text = |part: Value| json!({"messageId": "m", "role": "ROLE_USER", "parts": [part]});
    let told = [
        wrong(fields_of(&json!([1]), read::send)),
        wrong(fields_of(&json!({}), read::send)),
        send(json!("hello")),
        send(json!({"messageId": 7, "role": "ROLE_USER"})),
        send(json!({"messageId": "m"})),
        send(json!({"messageId": "m", "role": "ROLE_KING"})),
        send(json!({"messageId": "m", "role": "ROLE_USER", "parts": {"text": "x"}})),
        send(text(json!({"text": 1}))),
        send(text(json!({}))),
        send(text(json!({"text": "a", "url": "b"}))),
        send(text(json!({"raw": "!!"}))),
        wrong(fields_of(&json!({"status": "TASK_STATE_NOPE"}), read::list)),
        wrong(fields_of(&json!({"pageSize": 1.5}), read::list)),
        wrong(fields_of(&json!({"pageSize": 3_000_000_000u64}), read::list)),
        wrong(fields_of(&json!({"statusTimestampAfter": "yesterday"}), read::list)),
        wrong(fields_of(&json!({"includeArtifacts": "yes"}), read::list)),
        wrong(fields_of(&json!({"id": "t", "metadata": []}), read::cancel)),
    ];
    let told: String = told.iter().map(|line| format!("{line}\n")).collect();
    expect_test::expect![[r#"
        Invalid parameters: params must be an object, not an array
        Invalid parameters: message is required
        Invalid parameters: message must be an object, not a string
        Invalid parameters: message.messageId must be a string, not a number
        Invalid parameters: message.role is required
        Invalid parameters: message.role is none of the known values
        Invalid parameters: message.parts must be an array, not an object
        Invalid parameters: message.parts[0].text must be a string, not a number
        Invalid parameters: message.parts[0].content must be exactly one of text, raw, url and data
        Invalid parameters: message.parts[0].content must be exactly one of text, raw, url and data
        Invalid parameters: message.parts[0].raw is not base64
        Invalid parameters: status is none of the known values
        Invalid parameters: pageSize must be a whole number of 32 bits, not a number
        Invalid parameters: pageSize must be a whole number of 32 bits, not a number
        Invalid parameters: statusTimestampAfter must be a time as in 2026-11-29T15:40:23.314Z, not a string
        Invalid parameters: includeArtifacts must be true or false, not a string
        Invalid parameters: metadata must be an object, not an array
    "#]]
    .assert_eq(&told);
}

#[test]
fn parts_of_every_kind() {
    let raw = |text: &str| part(json!({"raw": text})).unwrap().content;
    let bytes = Content::Raw(vec![0xfb, 0xff, 0xfe, 0x01].into());
    for text in ["+//+AQ==", "-__-AQ==", "+//+AQ", "-__-AQ"] {
        assert_eq!(raw(text), bytes, "{text}");
    }
    let data = |value: Value| part(json!({"data": value})).unwrap().content;
    let exact = json!({"big": u64::MAX, "small": i64::MIN, "none": null, "list": [1, "a", true]});
    for value in [Value::Null, json!(7), json!("x"), json!([]), exact] {
        assert_eq!(data(value.clone()), Content::Data(value));
    }
    let text = part(json!({"text": "", "url": null, "data": null})).unwrap();
    assert_eq!(text, Part::text(""), "an empty text is a text; what is null is not there");
}

#[test]
fn nothing_unset_is_written() {
    let message = Message {
        message_id: "m-1".into(),
        context_id: String::new(),
        task_id: String::new(),
        role: Role::User,
        parts: vec![Part::text("hi"), Part::data(Value::Null)],
        metadata: Struct::new(),
        extensions: vec![],
        reference_task_ids: vec![],
    };
    let written = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [
        {"text": "hi"}, {"data": null, "mediaType": "application/json"}]});
    assert_eq!(write::message(&message), written);
    let empty =
        TaskPage { tasks: vec![], next_page_token: String::new(), page_size: 50, total_size: 0 };
    let written = json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0});
    assert_eq!(write::task_page(&empty), written);
}

#[test]
fn a_task_in_full() {
    let status = TaskStatus {
        state: TaskState::InputRequired,
        message: None,
        timestamp: Timestamp(1_795_966_823_314),
    };
    let artifact = Artifact {
        artifact_id: "result".into(),
        name: "result".into(),
        description: String::new(),
        parts: vec![Part { filename: "o.txt".into(), ..Part::of(Content::Raw("tck".into())) }],
        metadata: Struct::new(),
        extensions: vec!["urn:x".into()],
    };
    let task = Task {
        id: "t".into(),
        context_id: "c".into(),
        status,
        artifacts: vec![artifact.clone()],
        history: vec![],
        metadata: Struct::new(),
    };
    let written_artifact = json!({"artifactId": "result", "name": "result",
        "parts": [{"raw": "dGNr", "filename": "o.txt"}], "extensions": ["urn:x"]});
    let written_status =
        json!({"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-11-29T15:40:23.314Z"});
    let written = json!({"id": "t", "contextId": "c", "status": written_status,
        "artifacts": [written_artifact]});
    assert_eq!(write::task(&task), written);
    let update = ArtifactUpdate {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact,
        append: false,
        last_chunk: true,
        metadata: Struct::new(),
    };
    let event = StreamResponse::ArtifactUpdate(Box::new(update));
    let written = json!({"artifactUpdate": {"taskId": "t", "contextId": "c",
        "artifact": written_artifact, "lastChunk": true}});
    assert_eq!(write::stream_response(&event), written);
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9é ]{0,8}"
}

fn facts() -> impl Strategy<Value = Struct> {
    prop::collection::btree_map("[a-z]{1,4}", any::<i64>().prop_map(Value::from), 0..3)
        .prop_map(|facts| facts.into_iter().collect())
}

fn any_part() -> impl Strategy<Value = Part> {
    let data = prop_oneof![Just(Value::Null), any::<u64>().prop_map(Value::from), Just(json!({}))];
    let content = prop_oneof![
        text().prop_map(Content::Text),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|raw| Content::Raw(raw.into())),
        text().prop_map(Content::Url),
        data.prop_map(Content::Data),
    ];
    (content, facts(), text(), text()).prop_map(|(content, metadata, filename, media_type)| Part {
        content,
        metadata,
        filename,
        media_type,
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Agent)];
    let texts = || prop::collection::vec(text(), 0..3);
    let parts = prop::collection::vec(any_part(), 0..4);
    (text(), text(), text(), role, parts, facts(), texts(), texts()).prop_map(
        |(message_id, context_id, task_id, role, parts, metadata, extensions, references)| {
            Message {
                message_id,
                context_id,
                task_id,
                role,
                parts,
                metadata,
                extensions,
                reference_task_ids: references,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_message_is_read_as_it_was_written(message in any_message()) {
        let text = write::message(&message).to_string();
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read::params(&value, read::message), Ok(message));
    }
}
