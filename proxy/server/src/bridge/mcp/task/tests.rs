//! Tasks of the room as MCP shows them.

use super::*;
use crate::tasks::{Ended, Progress, TaskId};
use expect_test::{Expect, expect};
use holdfast_machine::{
    id::{InvocationId, PartitionKey},
    model::Target,
};
use holdfast_wire::manifest::HandlerType;

fn task() -> Task {
    let invocation = InvocationId { partition_key: PartitionKey(1), uuid: 2 };
    let target = Target {
        service: "Shop".into(),
        key: None,
        handler: "refund".into(),
        ty: HandlerType::Service,
    };
    Task {
        id: TaskId::new(invocation, 3),
        invocation,
        target,
        principal: "anonymous".into(),
        context: "c".into(),
        door: "mcp".into(),
        meta: Bytes::new(),
        state: State::Working,
        sequence: 2,
        created_at: Timestamp(1_000),
        updated_at: Timestamp(2_500),
        progress: None,
        asks: vec![],
        ended: None,
        cancel_wanted: false,
        waits: None,
        wakes_at: None,
        expires_at: None,
    }
}

fn ended(state: State, outcome: Outcome, by: Option<FailedBy>) -> Task {
    let ended = Some(Ended { outcome, by });
    Task { state, ended, expires_at: Some(Timestamp(90_000)), ..task() }
}

fn failure(by: FailedBy) -> Outcome {
    let message = if by == FailedBy::Handler { "no money" } else { "" };
    Outcome::Failure(Failure { code: 500, message: message.into(), ..Failure::default() })
}

fn check(tasks: &[Task], expected: Expect) {
    let line = |task: &Task| {
        let config = Config::default();
        let view = view(task, None, &Capabilities::asking(true, true), &config);
        let Value::Object(mut view) = json!(view) else { panic!("a view is an object") };
        assert_eq!(view["taskId"], json!(task.id.to_string()));
        assert_eq!(view["createdAt"], json!("1970-01-01T00:00:01.000Z"));
        assert_eq!(view["lastUpdatedAt"], json!("1970-01-01T00:00:02.500Z"));
        view.retain(|name, _| !["taskId", "createdAt", "lastUpdatedAt"].contains(&name.as_str()));
        format!("{}\n", Value::Object(view))
    };
    expected.assert_eq(&tasks.iter().map(line).collect::<String>());
}

#[test]
fn what_goes_on_is_working() {
    let progress = Progress {
        message: "half of it".into(),
        progress: Some(1.0),
        total: Some(2.0),
        at: Timestamp(2_000),
    };
    let waits = Some("attempt 4 at …; last error: no bank".to_owned());
    check(
        &[
            task(),
            Task { waits: waits.clone(), ..task() },
            Task { progress: Some(progress), waits, ..task() },
            Task { cancel_wanted: true, ..task() },
        ],
        expect![[r#"
            {"status":"working","ttlMs":null,"pollIntervalMs":1000}
            {"status":"working","ttlMs":null,"statusMessage":"attempt 4 at …; last error: no bank","pollIntervalMs":1000}
            {"status":"working","ttlMs":null,"statusMessage":"half of it","pollIntervalMs":1000}
            {"status":"working","ttlMs":null,"statusMessage":"cancelling","pollIntervalMs":1000}
        "#]],
    );
}

#[test]
fn a_failed_handler_is_completed_and_a_failed_run_of_it_is_failed() {
    let success = |output: &'static str| Outcome::Success(Bytes::from(output));
    let failed = |state, by| ended(state, failure(by), Some(by));
    check(
        &[
            ended(State::Completed, success(r#"{"a":1}"#), None),
            ended(State::Completed, success(r#""text""#), None),
            ended(State::Completed, success(""), None),
            ended(State::Completed, success("no json"), None),
            failed(State::Failed, FailedBy::Handler),
            failed(State::Rejected, FailedBy::Handler),
            failed(State::Failed, FailedBy::Retries),
            failed(State::Cancelled, FailedBy::Kill),
        ],
        expect![[r#"
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1},"isError":false}}
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[{"type":"text","text":"text"}],"structuredContent":"text","isError":false}}
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[],"isError":false}}
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[{"type":"text","text":"no json"}],"isError":false}}
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[{"type":"text","text":"no money"}],"isError":true}}
            {"status":"completed","ttlMs":89000,"result":{"resultType":"complete","content":[{"type":"text","text":"no money"}],"isError":true}}
            {"status":"failed","ttlMs":89000,"statusMessage":"failed with code 500","error":{"code":-32603,"message":"failed with code 500"}}
            {"status":"cancelled","ttlMs":89000}
        "#]],
    );
}

#[test]
fn keys_of_questions_are_read_as_they_are_written() {
    assert_eq!(number(&key(7)), Some(7));
    for other in ["ask-07", "ask-", "ask--1", "7", "ask-7 ", "ask-99999999999"] {
        assert_eq!(number(other), None, "{other}");
    }
}

#[test]
fn older_protocols_know_objects_only() {
    let old = |output: &'static str| success(&Bytes::from(output), None, false);
    assert!(old("[1]").get("structuredContent").is_none());
    assert!(old(r#"{"a":1}"#).get("structuredContent").is_some());
    assert!(failed("x", false).get("resultType").is_none());
}

#[test]
fn a_result_is_what_the_schema_says_or_an_error_that_holds_it() {
    let amount = json!({ "type": "object", "required": ["amount"],
        "properties": { "amount": { "type": "integer" } } });
    let perhaps = json!({ "type": ["null", "string"] });
    let check = |schema: &Value, output: &'static str| {
        let value = serde_json::from_str(output).ok();
        let content = vec![text(output)];
        let told = of_schema(schema, value, content, output.is_empty(), true);
        format!("{output} => {told}\n")
    };
    let shown: String = [
        check(&amount, r#"{"amount":3}"#),
        check(&amount, r#"{"amount":"3"}"#),
        check(&amount, "{}"),
        check(&amount, "no json"),
        check(&amount, ""),
        check(&perhaps, ""),
    ]
    .concat();
    expect![[r#"
        {"amount":3} => {"resultType":"complete","content":[{"type":"text","text":"{\"amount\":3}"}],"structuredContent":{"amount":3},"isError":false}
        {"amount":"3"} => {"resultType":"complete","content":[{"type":"text","text":"the tool has done its work, but what it gave is not what its schema says: `/amount` is \"3\", not of type integer; what it gave follows"},{"type":"text","text":"{\"amount\":\"3\"}"}],"isError":true}
        {} => {"resultType":"complete","content":[{"type":"text","text":"the tool has done its work, but what it gave is not what its schema says: `/amount` is missing; what it gave follows"},{"type":"text","text":"{}"}],"isError":true}
        no json => {"resultType":"complete","content":[{"type":"text","text":"the tool has done its work, but what it gave is not what its schema says: the value is not JSON; what it gave follows"},{"type":"text","text":"no json"}],"isError":true}
         => {"resultType":"complete","content":[{"type":"text","text":"the tool has done its work, but what it gave is not what its schema says: the value is null, not of type object; what it gave follows"},{"type":"text","text":""}],"isError":true}
         => {"resultType":"complete","content":[{"type":"text","text":""}],"structuredContent":null,"isError":false}
    "#]].assert_eq(&shown);
}
