//! Asks: listing, showing and answering.

use super::bench::Bench;
use bytes::Bytes;
use expect_test::expect;
use holdfast_machine::{
    command::{AttemptSaid, Command, Reply, Said},
    id::{DeploymentId, InvocationId},
    model::{Callee, NewInvocation, Pin, Retention, Source, Target},
};
use holdfast_wire::{
    manifest::HandlerType,
    message::{MessageType, pb},
    version::Version,
};
use prost::Message;
use serde_json::Value;
use std::time::Duration;

impl Bench {
    /// An invocation whose first attempt asks these things.
    async fn asking(&self, service: &str, number: u128, questions: &[&str]) -> InvocationId {
        let id = InvocationId::random(service, None, 1, number);
        let (service, ty) = (service.to_owned(), HandlerType::Service);
        let target = Target { service, key: None, handler: "run".into(), ty };
        let hour = Duration::from_secs(3600);
        let new = NewInvocation {
            id,
            target,
            argument: Bytes::new(),
            headers: vec![],
            idempotency_key: None,
            source: Source::Ingress,
            root: id,
            start_at: None,
            retention: Retention { completion: hour, journal: hour },
            lazy_state: false,
            random_seed: 1,
        };
        let reply = self.router.of(id).call(Command::Invoke(Box::new(new))).await;
        assert!(matches!(reply, Ok(Reply::Accepted { new: true, .. })), "{reply:?}");
        let said = (1..).zip(questions).map(|(number, question)| call(number, question)).collect();
        let pin = Some(Pin { deployment: DeploymentId(1), version: Version::V7 });
        self.router.of(id).say(AttemptSaid { invocation: id, attempt: 1, pin, said, end: None });
        // In order behind what was said.
        let reply = self.router.of(id).call(Command::Output { invocation: id }).await;
        assert_eq!(reply, Ok(Reply::Pending));
        id
    }

    async fn asks(&self, query: &str) -> Vec<Value> {
        let (status, found) = self.json("GET", &format!("/holdfast/asks{query}"), "").await;
        assert_eq!(status, 200, "{found}");
        found["asks"].as_array().unwrap().clone()
    }
}

fn call(number: u32, question: &str) -> Said {
    let command = pb::CallCommand {
        service_name: "holdfast.Human".into(),
        handler_name: "ask".into(),
        parameter: Bytes::copy_from_slice(question.as_bytes()),
        invocation_id_notification_idx: 2 * number,
        result_completion_id: 2 * number + 1,
        ..Default::default()
    };
    let callee = Callee {
        ty: HandlerType::Service,
        retention: Retention::default(),
        idempotent_retention: Retention::default(),
        lazy_state: true,
    };
    let payload = command.encode_to_vec().into();
    Said::Command { ty: MessageType::CALL, payload, callee: Some(callee) }
}

const REFUND: &str = r#"{"message":"Refund 12.50?","to":"approvers","expiresAfterMs":60000,
    "schema":{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}}"#;
const LOGIN: &str = r#"{"message":"Log in","kind":"auth","url":"https://example.com/login"}"#;

#[tokio::test]
async fn an_ask_is_shown_and_answered_once() {
    let bench = Bench::start().await;
    let id = bench.asking("Refund", 1, &[REFUND]).await;
    let mut shown = bench.asks("").await.remove(0);
    let ask = shown["id"].as_str().unwrap().to_owned();
    assert_eq!(shown["invocation"], id.to_string());
    assert_eq!(shown, bench.json("GET", &format!("/v3/holdfast/asks/{ask}"), "").await.1);
    for unstable in ["id", "invocation", "asked_by"] {
        shown.as_object_mut().unwrap().remove(unstable);
    }
    expect![[r#"
        {
          "expires_at": "2027-01-15T08:01:00.000Z",
          "number": 1,
          "status": "pending",
          "kind": "input",
          "message": "Refund 12.50?",
          "schema": {
            "type": "object",
            "properties": {
              "approved": {
                "type": "boolean"
              }
            },
            "required": [
              "approved"
            ]
          },
          "to": "approvers",
          "opened_at": "2027-01-15T08:00:00.000Z",
          "target": "Refund/run"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&shown).unwrap());

    let path = format!("/holdfast/asks/{ask}");
    let mut told = String::new();
    let mut answer = async |body: &str| {
        let (status, text) = bench.call("POST", &path, body).await;
        told += &format!("{body}\n  {status} {}\n", text.replace(&ask, "ASK"));
        status
    };
    answer("nonsense").await;
    answer(r#"{"action":"perhaps"}"#).await;
    answer(r#"{"action":"accept","contents":{}}"#).await;
    answer(r#"{"action":"accept","content":{"approved":"yes"}}"#).await;
    answer(r#"{"action":"accept"}"#).await;
    let accepted = r#"{"action":"accept","content":{"approved":true},"by":"ada"}"#;
    assert_eq!(answer(accepted).await, 200);
    assert_eq!(answer(r#"{"action":"decline","by":"bob"}"#).await, 409);
    let told = told.replace(&id.to_string(), "INVOCATION");
    expect![[r#"
        nonsense
          400 {"message":"the body is no answer: expected ident at line 1 column 2; write {\"action\":\"accept\",\"content\":{…},\"by\":\"…\"} (HF0212)","restate_code":null}
        {"action":"perhaps"}
          400 {"message":"the body is no answer: unknown variant `perhaps`, expected one of `accept`, `decline`, `cancel` at line 1 column 19; write {\"action\":\"accept\",\"content\":{…},\"by\":\"…\"} (HF0212)","restate_code":null}
        {"action":"accept","contents":{}}
          400 {"message":"the body is no answer: unknown field `contents`, expected one of `action`, `content`, `by` at line 1 column 29; write {\"action\":\"accept\",\"content\":{…},\"by\":\"…\"} (HF0212)","restate_code":null}
        {"action":"accept","content":{"approved":"yes"}}
          422 {"message":"the answer does not fit: `approved` is not true or false (HF0201)","restate_code":null}
        {"action":"accept"}
          422 {"message":"the answer does not fit: `approved` is missing (HF0201)","restate_code":null}
        {"action":"accept","content":{"approved":true},"by":"ada"}
          200 {"id":"ASK","number":1,"status":"answered","kind":"input","message":"Refund 12.50?","schema":{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]},"to":"approvers","invocation":"INVOCATION","asked_by":"INVOCATION","target":"Refund/run","opened_at":"2027-01-15T08:00:00.000Z","expires_at":"2027-01-15T08:01:00.000Z","answer":{"action":"accept","content":{"approved":true},"by":"ada","at":"2027-01-15T08:00:00.000Z"}}
        {"action":"decline","by":"bob"}
          409 {"message":"the question was closed before: answered (HF0202)","answer":{"action":"accept","content":{"approved":true},"by":"ada","at":"2027-01-15T08:00:00.000Z"},"restate_code":null}
    "#]].assert_eq(&told);
    assert_eq!(bench.asks("").await, [Value::Null; 0]);
    assert_eq!(bench.asks("?closed=true").await.len(), 1);
    bench.stop().await;
}

#[tokio::test]
async fn asks_are_chosen() {
    let bench = Bench::start().await;
    let one = bench.asking("Refund", 1, &[REFUND, LOGIN]).await;
    bench.asking("Other", 2, &[LOGIN]).await;
    let count = async |query: &str| bench.asks(query).await.len();
    assert_eq!(count("").await, 3);
    assert_eq!(count("?kind=auth").await, 2);
    assert_eq!(count("?kind=input&to=approvers").await, 1);
    assert_eq!(count("?to=nobody").await, 0);
    assert_eq!(count("?service=Other").await, 1);
    assert_eq!(count(&format!("?invocation={one}")).await, 2);
    let (_, page) = bench.json("GET", "/holdfast/asks?limit=2", "").await;
    assert!(page["asks"].as_array().unwrap().len() == 2 && page["more"] == true, "{page}");
    let mut told = String::new();
    for (method, path) in [
        ("GET", "?limit=0"),
        ("GET", "?kind=odd"),
        ("GET", "?invocation=x"),
        ("GET", "?tow=x"),
        ("POST", ""),
        ("DELETE", "/ask_1"),
        ("GET", "/ask_1"),
        ("GET", "/ask_1000000000000000000000000000000000"),
    ] {
        let (status, text) = bench.call(method, &format!("/holdfast/asks{path}"), "").await;
        told += &format!("{method} {path} {status} {text}\n");
    }
    expect![[r#"
        GET ?limit=0 400 {"message":"`limit` is wrong: expected 1 to 1000 (HF0212)","restate_code":null}
        GET ?kind=odd 400 {"message":"`kind` is wrong: `odd` is neither input nor auth (HF0212)","restate_code":null}
        GET ?invocation=x 400 {"message":"`invocation` is wrong: `x` is not an invocation id (inv_1 and 33 characters) (HF0212)","restate_code":null}
        GET ?tow=x 400 {"message":"`query` is wrong: Failed to deserialize query string: tow: unknown field `tow`, expected one of `closed`, `kind`, `to`, `service`, `invocation`, `limit` (HF0212)","restate_code":null}
        POST  405 {"message":"POST is not done here (HF0212)","restate_code":null}
        DELETE /ask_1 405 {"message":"DELETE is not done here (HF0212)","restate_code":null}
        GET /ask_1 404 {"message":"there is no such ask; it may have been forgotten with its invocation (HF0203)","restate_code":null}
        GET /ask_1000000000000000000000000000000000 404 {"message":"there is no such ask; it may have been forgotten with its invocation (HF0203)","restate_code":null}
    "#]].assert_eq(&told);
    let query =
        "SELECT status, kind, message FROM holdfast_ask WHERE asked_by_service_name = 'Other'";
    let body = serde_json::json!({ "query": query }).to_string();
    let (_, rows) = bench.json("POST", "/query", &body).await;
    expect![[r#"[{"status":"pending","kind":"auth","message":"Log in"}]"#]]
        .assert_eq(&rows["rows"].to_string());
    bench.stop().await;
}
