//! The door for MCP of the real sidecar, with handlers on our own SDK that live in the test: tasks
//! over kill -9, principals, older protocols, what many waiting tasks cost, and messages that no
//! client should send.

#[path = "mcp/client.rs"]
mod client;
#[path = "mcp/fuzz.rs"]
mod fuzz;
#[path = "mcp/polling.rs"]
mod polling;
#[path = "mcp/service.rs"]
mod service;

use client::{Client, LEGACY};
use serde_json::{Value, json};
use service::Service;
use std::time::{Duration, Instant};
use tests::{eventually, sidecar::Sidecar};

const TOKENS: &str = "[{principal='ada',token='of-ada'},{principal='bob',token='of-bob'}]";

struct Stage {
    sidecar: Sidecar,
    _service: Service,
    _folder: tempfile::TempDir,
}

/// A sidecar with further settings, as a configuration file has them.
fn stage(settings: &str) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("holdfast.toml");
    std::fs::write(&file, settings).unwrap();
    let service = Service::start();
    let data = folder.path().join("data");
    let sidecar = Sidecar::start(&data, &["--config", file.to_str().unwrap()]);
    sidecar.register(&service.url);
    Stage { sidecar, _service: service, _folder: folder }
}

impl Stage {
    fn client(&self) -> Client {
        Client::new(&format!("{}/mcp", self.sidecar.ingress))
    }
}

fn yes() -> Value {
    json!({ "ask-1": { "action": "accept", "content": { "approved": true } } })
}

#[test]
fn a_task_survives_kill_9_at_every_step() {
    let mut stage = stage("");
    let client = stage.client();
    let made = client.call("refund", json!({ "orderId": "o", "amount": 3 }));
    assert_eq!(made["resultType"], "task", "{made}");
    assert_eq!(made["ttlMs"], Value::Null);
    let task = made["taskId"].as_str().unwrap();
    for _ in 0..2 {
        stage.sidecar.kill9();
        stage.sidecar.restart();
        let asking = client.see(task, "input_required");
        assert_eq!(asking["createdAt"], made["createdAt"]);
        let asked = &asking["inputRequests"]["ask-1"];
        assert_eq!(asked["params"]["message"], "Refund 3 for o?", "{asking}");
        assert_eq!(asked["method"], "elicitation/create");
    }
    let ack = client.update(task, yes());
    assert_eq!(ack["resultType"], "complete", "{ack}");
    stage.sidecar.kill9();
    stage.sidecar.restart();
    let done = client.see(task, "completed");
    assert_eq!(done["result"]["structuredContent"], json!({ "status": "refunded" }));
    assert!(done["ttlMs"].as_u64().unwrap() > 0);

    let other = client.call("refund", json!({ "orderId": "p", "amount": 1 }));
    let other = other["taskId"].as_str().unwrap();
    client.see(other, "input_required");
    client.request("tasks/cancel", json!({ "taskId": other }));
    stage.sidecar.kill9();
    stage.sidecar.restart();
    let cancelled = client.see(other, "cancelled");
    assert!(cancelled.get("result").is_none() && cancelled.get("error").is_none(), "{cancelled}");
    client.update(other, yes());
    assert_eq!(client.get(other)["status"], "cancelled");
}

#[test]
fn what_one_principal_made_no_other_one_sees() {
    let stage = stage(&format!("[guard]\ntokens = {TOKENS}"));
    let (ada, bob) = (stage.client().token("of-ada"), stage.client().token("of-bob"));
    assert_eq!(stage.client().raw("tools/list", json!({})).status, 401);
    assert_eq!(stage.client().token("wrong").raw("tools/list", json!({})).status, 401);
    let made = ada.call("refund", json!({ "orderId": "o", "amount": 3 }));
    let task = made["taskId"].as_str().unwrap();
    ada.see(task, "input_required");
    for (method, more) in
        [("tasks/get", json!(null)), ("tasks/update", yes()), ("tasks/cancel", json!(null))]
    {
        let params = json!({ "taskId": task, "inputResponses": more });
        let foreign = bob.raw(method, params.clone()).json();
        let mut unknown = params;
        unknown["taskId"] = json!(task.replace("task_1", "task_2"));
        let unknown = ada.raw(method, unknown).json();
        assert_eq!(foreign["error"]["code"], -32602, "{method}: {foreign}");
        assert_eq!(foreign["error"], unknown["error"], "{method}: nobody learns which it is");
    }
    assert_eq!(ada.get(task)["status"], "input_required");
}

#[test]
fn a_repeated_call_is_the_same_task() {
    let stage = stage("");
    let key = json!({ "dev.holdfast/idempotencyKey": "k1" });
    let client = stage.client().meta(key);
    let order = json!({ "orderId": "o", "amount": 3 });
    let first = client.call("refund", order.clone());
    let again = client.call("refund", json!({ "amount": 3, "orderId": "o" }));
    assert_eq!(first["taskId"], again["taskId"]);
    assert_eq!(first["createdAt"], again["createdAt"]);
    let header = stage.client().header("idempotency-key", "k1").call("refund", order.clone());
    assert_eq!(first["taskId"], header["taskId"], "by header as by _meta");
    let other = client.raw(
        "tools/call",
        json!({ "name": "refund", "arguments": { "orderId": "o", "amount": 4 } }),
    );
    assert_eq!(other.json()["error"]["code"], -32602, "{}", other.text());
    let elsewhere = stage.client().call("refund", order);
    assert_ne!(first["taskId"], elsewhere["taskId"]);
}

#[test]
fn lists_have_pages_and_services_have_doors_of_their_own() {
    let stage = stage("[mcp]\ntools_page_max = 2");
    let client = stage.client();
    let (mut names, mut cursor) = (vec![], json!(""));
    loop {
        let page = client.request("tools/list", json!({ "cursor": cursor }));
        assert!(page["tools"].as_array().unwrap().len() <= 2, "{page}");
        names.extend(page["tools"].as_array().unwrap().iter().map(|it| it["name"].clone()));
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(
        json!(names),
        json!(["Counter.add", "Shop.broken", "Shop.odd", "Shop.slow", "echo", "refund"])
    );
    let wrong = client.raw("tools/list", json!({ "cursor": "!" })).json();
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let only = Client::new(&format!("{}/mcp/Counter", stage.sidecar.ingress));
    let tools = only.request("tools/list", json!({}));
    assert_eq!(tools["tools"][0]["name"], "Counter.add");
    assert_eq!(tools["tools"].as_array().unwrap().len(), 1);
    assert_eq!(only.raw("tools/call", json!({ "name": "echo" })).json()["error"]["code"], -32602);
    let sum = only.call("Counter.add", json!({ "key": "a", "input": 2 }));
    let done = only.see(sum["taskId"].as_str().unwrap(), "completed");
    assert_eq!(done["result"]["structuredContent"], 2);
}

#[test]
fn results_and_failures_are_told_apart() {
    let stage = stage("");
    let client = stage.client();
    let ended = |tool: &str, arguments: Value, status: &str| {
        let made = client.call(tool, arguments);
        client.see(made["taskId"].as_str().unwrap(), status)
    };
    // Of a tool that is no task, the answer is the result.
    let said = client.call("echo", json!({ "text": "hello" }));
    assert_eq!(said["content"], json!([{ "type": "text", "text": "hello" }]));
    assert_eq!(said["structuredContent"], "hello");
    let refused = client.call("echo", json!({ "text": 7 }));
    assert_eq!((&refused["isError"], &refused["resultType"]), (&json!(true), &json!("complete")));
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("/text"), "{refused}");
    let failed = ended("refund", json!({ "orderId": "bad", "amount": 1 }), "completed");
    assert_eq!(failed["result"]["isError"], true, "{failed}");
    assert_eq!(failed["result"]["content"][0]["text"], "there is no order bad");
    let odd = ended("Shop.odd", json!({}), "completed");
    let told = odd["result"]["content"].as_array().unwrap();
    assert_eq!(odd["result"]["isError"], true, "{odd}");
    assert!(odd["result"].get("structuredContent").is_none(), "{odd}");
    assert!(told[0]["text"].as_str().unwrap().contains("`/amount`"), "{odd}");
    assert_eq!(told[1]["text"], r#"{"amount":"much"}"#, "nothing of it is lost");
    let broken = ended("Shop.broken", json!({}), "failed");
    assert_eq!(broken["error"]["code"], -32603, "{broken}");
    assert!(broken.get("result").is_none());
}

#[test]
fn what_clients_ask_is_counted() {
    let stage = stage(&format!("[guard]\ntokens = {TOKENS}"));
    let client = stage.client().token("of-ada");
    let made = client.call("refund", json!({ "orderId": "o", "amount": 3 }));
    client.see(made["taskId"].as_str().unwrap(), "input_required");
    client.raw("tasks/get", json!({ "taskId": "nobody's" }));
    client.raw("tools/fly", json!({}));
    stage.client().raw("tools/list", json!({}));
    let text = tests::http::get(&format!("{}/metrics", stage.sidecar.admin)).unwrap().text();
    let counts = |line: &str| assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    counts(r#"holdfast_mcp_requests_total{method="tools/call",outcome="result"} 1"#);
    counts(r#"holdfast_mcp_requests_total{method="tasks/get",outcome="refused"} 1"#);
    counts(r#"holdfast_mcp_requests_total{method="other",outcome="refused"} 1"#);
    counts(r#"holdfast_mcp_requests_total{method="none",outcome="forbidden"} 1"#);
    counts(r#"holdfast_mcp_tasks_shown_total{status="input_required"} 1"#);
    let took = "holdfast_mcp_request_seconds_total{method=\"tasks/get\"} ";
    assert!(text.lines().any(|line| line.starts_with(took)), "{text}");
}

#[test]
fn questions_go_round_without_tasks() {
    let stage = stage("");
    let client = stage.client().capabilities(json!({ "elicitation": { "form": {} } }));
    let order = json!({ "name": "refund", "arguments": { "orderId": "o", "amount": 3 } });
    let asked = client.request("tools/call", order.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let with = |changes: Value| {
        let mut params = order.clone();
        params["requestState"] = asked["requestState"].clone();
        for (name, value) in changes.as_object().unwrap() {
            params[name] = value.clone();
        }
        client.raw("tools/call", params).json()
    };
    let others = with(json!({ "arguments": { "orderId": "o", "amount": 4 } }));
    assert_eq!(others["error"]["code"], -32602, "{others}");
    let forged = with(json!({ "requestState": "hf1.task_1abc" }));
    assert_eq!(forged["error"]["code"], -32602, "{forged}");
    let again = with(json!({ "inputResponses": { "else": {} } }));
    assert_eq!(again["result"]["inputRequests"], asked["inputRequests"]);
    let unfit = json!({ "ask-1": { "action": "accept", "content": { "approved": "maybe" } } });
    let unfit = with(json!({ "inputResponses": unfit }));
    assert_eq!(unfit["error"]["code"], -32602, "{unfit}");
    let done = with(json!({ "inputResponses": yes() }));
    assert_eq!(done["result"]["structuredContent"], json!({ "status": "refunded" }), "{done}");
    let nothing = stage.client().capabilities(json!({})).raw("tools/call", order);
    assert_eq!((nothing.status, &nothing.json()["error"]["code"]), (400, &json!(-32021)));
}

#[test]
fn whoever_goes_away_takes_the_call_along() {
    let stage = stage("");
    let client = stage.client().capabilities(json!({}));
    let call = json!({ "name": "Shop.slow", "arguments": {} });
    client.send_and_leave("tools/call", call);
    let question = "SELECT completion_failure FROM sys_invocation WHERE status = 'completed'";
    let headers = [("content-type", "application/json"), ("accept", "application/json")];
    let (url, body) = (format!("{}/query", stage.sidecar.admin), json!({ "query": question }));
    eventually("the invocation is cancelled", || {
        let rows = tests::http::request(hyper::Method::POST, &url, &headers, &body.to_string());
        let rows = rows.unwrap().json();
        (rows["rows"] == json!([{ "completion_failure": "[409] cancelled" }])).then_some(())
    });
}

#[test]
fn who_is_told_to_come_again_later_has_begun_nothing() {
    let stage = stage("[mcp]\nstreams_max = 0\n");
    let call = json!({ "name": "Shop.slow", "arguments": {} });
    let client = stage.client().capabilities(json!({})).meta(json!({ "progressToken": 7 }));
    let busy = client.raw("tools/call", call);
    assert_eq!(busy.status, 429, "{}", busy.json());
    let invocations = format!("{}/holdfast/invocations?status=all", stage.sidecar.admin);
    let begun = tests::http::get(&invocations).unwrap().json();
    assert_eq!(begun["invocations"], json!([]));
}

#[test]
fn listeners_are_told_each_change_once() {
    let stage = stage("");
    let client = stage.client();
    let made = client.call("refund", json!({ "orderId": "o", "amount": 3 }));
    let task = made["taskId"].as_str().unwrap();
    client.see(task, "input_required");
    let wanted = json!({ "notifications": { "taskIds": [task, "task_1unknown"] } });
    let mut stream = client.stream("subscriptions/listen", wanted);
    let acknowledged = stream.next().unwrap();
    assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": [task] }));
    assert_eq!(stream.next().unwrap()["params"]["status"], "input_required");
    client.update(task, yes());
    let mut seen = vec![];
    let last = loop {
        let message = stream.next().expect("the stream ends with a result");
        if message.get("result").is_some() {
            break message;
        }
        seen.push(message["params"]["status"].clone());
    };
    assert_eq!(seen.last().unwrap(), "completed", "{seen:?}");
    assert_eq!(last["result"]["resultType"], "complete");
    assert!(stream.next().is_none());
}

#[test]
fn an_older_client_waits_and_is_asked_on_the_stream() {
    let stage = stage("");
    for version in LEGACY {
        let client = stage.client().initialize(version, json!({ "elicitation": {} }));
        assert_eq!(client.legacy("ping", json!({})), json!({}));
        let tools = client.legacy("tools/list", json!({}));
        assert!(tools["tools"].as_array().unwrap().len() >= 5, "{tools}");
        let said =
            client.legacy("tools/call", json!({ "name": "echo", "arguments": { "text": "x" } }));
        assert_eq!(said["content"][0]["text"], "x", "{said}");
        assert!(said.get("resultType").is_none() && said.get("structuredContent").is_none());
        let order = json!({ "name": "refund", "arguments": { "orderId": "o", "amount": 3 },
            "_meta": { "progressToken": 7 } });
        if version == "2025-03-26" {
            let refused = client.legacy("tools/call", order);
            assert_eq!(refused["isError"], true, "nobody can be asked there: {refused}");
            continue;
        }
        let mut stream = client.stream("tools/call", order);
        let question = loop {
            let message = stream.next().unwrap();
            if message["method"] == "elicitation/create" {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
        };
        assert_eq!(question["params"].get("mode").is_some(), version == "2025-11-25");
        let answer = json!({ "action": "accept", "content": { "approved": true } });
        client.answer(&question["id"], answer);
        let result = loop {
            let message = stream.next().unwrap();
            if message.get("result").is_some() {
                break message;
            }
        };
        assert_eq!(result["result"]["structuredContent"], json!({ "status": "refunded" }));
        assert_eq!(client.end().status, 200);
        assert_eq!(client.raw("ping", json!({})).status, 404, "an ended session");
    }
}

#[test]
fn an_older_client_takes_a_call_back() {
    let stage = stage("");
    let client = stage.client().initialize("2025-11-25", json!({}));
    let call = json!({ "name": "Shop.slow", "arguments": {}, "_meta": { "progressToken": "t" } });
    let began = Instant::now();
    let mut stream = client.stream("tools/call", call);
    client.notify("notifications/cancelled", json!({ "requestId": stream.id }));
    let last = std::iter::from_fn(|| stream.next()).last().unwrap();
    assert_eq!(last["result"]["isError"], true, "{last}");
    assert!(began.elapsed() < Duration::from_secs(30), "it would have slept for a minute");
}
