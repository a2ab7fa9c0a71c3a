//! The agent for the protocol's test suite does what the suite's contract says, row by row, through
//! the sidecar: what it is sent by, over JSON-RPC and over gRPC, and what comes of it.

use expect_test::{Expect, expect};
use hyper::Method;
use serde_json::{Value, json};
use std::{
    fmt::Write,
    process::Command,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};
use tempfile::TempDir;
use tests::{
    eventually,
    grpc::{Client, pb, text},
    http,
    process::{self, Process},
    sidecar::Sidecar,
};

struct Agent {
    sidecar: Sidecar,
    _service: Process,
    _directory: TempDir,
}

impl Agent {
    /// At the root of a sidecar, as `make a2a-tck-agent` starts it.
    fn start() -> Agent {
        let directory = tempfile::tempdir().unwrap();
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], process::free_port()));
        let mut command = Command::new(process::beside("a2a_tck"));
        command.env("PORT", address.port().to_string());
        let service = Process::start(command);
        let flags = ["--set", "a2a.root='tck'", "--set", "a2a.agents.tck.idempotency='off'"];
        let sidecar = Sidecar::start(&directory.path().join("data"), &flags);
        eventually("the agent listens", || std::net::TcpStream::connect(address).ok());
        sidecar.register(&format!("http://{address}"));
        Agent { sidecar, _service: service, _directory: directory }
    }

    fn post(&self, method: &str, params: &Value) -> http::Answer {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers = [("content-type", "application/json"), ("a2a-version", "1.0")];
        http::request(Method::POST, &self.sidecar.ingress, &headers, &body.to_string()).unwrap()
    }

    fn call(&self, method: &str, params: &Value) -> Value {
        let answer = self.post(method, params).json();
        assert_eq!(answer["error"], Value::Null, "{method} {params}");
        answer["result"].clone()
    }

    /// The events of a stream, to its end.
    fn stream(&self, method: &str, params: &Value) -> Vec<Value> {
        let answer = self.post(method, params);
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{}", answer.text());
        let text = answer.text();
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let events = events.map(|event| serde_json::from_str::<Value>(event).unwrap());
        events.map(|event| event["result"].clone()).collect()
    }
}

/// A new id with that beginning, as the suite makes them.
fn id(beginning: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{beginning}-{}", COUNT.fetch_add(1, Relaxed))
}

fn message(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] })
}

fn state(status: &Value) -> String {
    let state = status["state"].as_str().unwrap().trim_start_matches("TASK_STATE_");
    let said = &status["message"]["parts"][0]["text"];
    said.as_str().map_or_else(|| state.to_owned(), |said| format!("{state} {said:?}"))
}

fn artifact(artifact: &Value) -> String {
    let parts = artifact["parts"].as_array().unwrap().iter();
    parts.map(|part| format!(" {part}")).collect()
}

/// What a task or a message says, in a line.
fn told(result: &Value) -> String {
    if let Some(message) = result.get("message") {
        return format!("message{}", artifact(message));
    }
    let task = &result["task"];
    let artifacts = task["artifacts"].as_array().into_iter().flatten();
    let artifacts: String = artifacts.map(|it| format!(" |{}", artifact(it))).collect();
    format!("{}{artifacts}", state(&task["status"]))
}

fn event(event: &Value) -> String {
    if let Some(update) = event.get("statusUpdate") {
        return state(&update["status"]);
    }
    if let Some(update) = event.get("artifactUpdate") {
        let flag = |name: &str| if update[name] == json!(true) { " +" } else { "" };
        let (append, last) = (flag("append"), flag("lastChunk"));
        let last = if last.is_empty() { "" } else { " last" };
        return format!("artifact{append}{}{last}", artifact(&update["artifact"]));
    }
    // How far it was when it was accepted is a matter of luck.
    if event.get("task").is_some() { "task".to_owned() } else { told(event) }
}

/// What comes of each beginning of an id.
fn by_id(agent: &Agent, beginnings: &[&str], expected: Expect) {
    let mut lines = String::new();
    for beginning in beginnings {
        let result = agent.call("SendMessage", &json!({ "message": message(&id(beginning), "x") }));
        writeln!(lines, "{beginning}: {}", told(&result)).unwrap();
    }
    expected.assert_eq(&lines);
}

/// What a stream tells of each.
fn streamed(agent: &Agent, beginnings: &[&str], expected: Expect) {
    let mut lines = String::new();
    for beginning in beginnings {
        let params = json!({ "message": message(&id(beginning), "x") });
        let events = agent.stream("SendStreamingMessage", &params);
        let events: Vec<String> = events.iter().map(event).collect();
        writeln!(lines, "{beginning}: {}", events.join(" > ")).unwrap();
    }
    expected.assert_eq(&lines);
}

#[test]
fn every_row_of_the_contract() {
    let agent = Agent::start();
    by_id(
        &agent,
        &[
            "tck-complete-task",
            "anything",
            "tck-artifact-text",
            "tck-artifact-file-url",
            "tck-artifact-file",
            "tck-artifact-data",
            "tck-message-response",
            "tck-input-required",
            "tck-reject-task",
        ],
        expect![[r#"
            tck-complete-task: COMPLETED "Hello from TCK"
            anything: COMPLETED "Hello from TCK"
            tck-artifact-text: COMPLETED | {"text":"Generated text content"}
            tck-artifact-file-url: COMPLETED | {"url":"https://example.com/output.txt","filename":"output.txt","mediaType":"text/plain"}
            tck-artifact-file: COMPLETED | {"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"}
            tck-artifact-data: COMPLETED | {"data":{"key":"value","count":42}}
            tck-message-response: message {"text":"Direct message response"}
            tck-input-required: INPUT_REQUIRED "What else?"
            tck-reject-task: REJECTED "rejected"
        "#]],
    );
    streamed(
        &agent,
        &[
            "tck-stream-001",
            "tck-stream-002",
            "tck-stream-003",
            "tck-stream-ordering-001",
            "tck-stream-artifact-text",
            "tck-stream-artifact-file",
            "tck-stream-artifact-chunked",
            "tck-message-response",
            "tck-input-required",
        ],
        expect![[r#"
            tck-stream-001: task > WORKING > artifact {"text":"Stream hello from TCK"} last > COMPLETED
            tck-stream-002: task > WORKING > COMPLETED
            tck-stream-003: task > WORKING > artifact {"text":"Stream task lifecycle"} last > COMPLETED
            tck-stream-ordering-001: task > WORKING > artifact {"text":"Ordered output"} last > COMPLETED
            tck-stream-artifact-text: task > WORKING > artifact {"text":"Streamed text content"} last > COMPLETED
            tck-stream-artifact-file: task > WORKING > artifact {"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"} last > COMPLETED
            tck-stream-artifact-chunked: task > WORKING > artifact {"text":"chunk-1 "} > artifact + {"text":"chunk-2"} last > COMPLETED
            tck-message-response: message {"text":"Direct message response"}
            tck-input-required: task > WORKING > INPUT_REQUIRED "What else?"
        "#]],
    );
    texts_count_where_ids_say_nothing(&agent);
    follow_ups_have_their_own_beginning(&agent);
    a_subscription_sees_the_rest(&agent);
    a_task_is_canceled(&agent);
    the_same_over_grpc(&agent);
}

fn texts_count_where_ids_say_nothing(agent: &Agent) {
    let mut lines = String::new();
    let texts = [
        "tck-complete-task please",
        "tck-artifact-file-url",
        "tck-artifact-data",
        "tck-message-response",
        "tck-reject-task",
        "tck-task-failure",
        "tck-auth-required",
        "tck-multi-turn",
        "tck-stream-chunked",
    ];
    for text in texts {
        let params = json!({ "message": message(&id("a-uuid"), text) });
        writeln!(lines, "{text}: {}", told(&agent.call("SendMessage", &params))).unwrap();
    }
    expect![[r#"
        tck-complete-task please: COMPLETED "Hello from TCK"
        tck-artifact-file-url: COMPLETED | {"url":"https://example.com/output.txt","filename":"output.txt","mediaType":"text/plain"}
        tck-artifact-data: COMPLETED | {"data":{"key":"value","count":42}}
        tck-message-response: message {"text":"Direct message response"}
        tck-reject-task: REJECTED "rejected"
        tck-task-failure: FAILED "failed"
        tck-auth-required: AUTH_REQUIRED "Who are you?"
        tck-multi-turn: INPUT_REQUIRED "What else?"
        tck-stream-chunked: COMPLETED | {"text":"chunk-1 "} {"text":"chunk-2"}
    "#]].assert_eq(&lines);
}

fn follow_ups_have_their_own_beginning(agent: &Agent) {
    let asked = message(&id("tck-input-required"), "x");
    let asked = agent.call("SendMessage", &json!({ "message": asked }));
    let mut again = message(&id("tck-input-required"), "x");
    again["taskId"] = asked["task"]["id"].clone();
    let again = agent.call("SendMessage", &json!({ "message": again }));
    assert_eq!(told(&again), "INPUT_REQUIRED \"What else?\"");
    let mut last = message(&id("tck-artifact-text"), "x");
    last["taskId"] = asked["task"]["id"].clone();
    let last = agent.call("SendMessage", &json!({ "message": last }));
    assert_eq!(told(&last), "COMPLETED | {\"text\":\"Generated text content\"}");
}

fn a_subscription_sees_the_rest(agent: &Agent) {
    let configuration = json!({ "returnImmediately": true });
    let sent = message(&id("test-resubscribe-message-id"), "x");
    let sent = json!({ "message": sent, "configuration": configuration });
    let sent = agent.call("SendMessage", &sent);
    let events = agent.stream("SubscribeToTask", &json!({ "id": sent["task"]["id"] }));
    let events: Vec<String> = events.iter().map(event).collect();
    assert_eq!(
        (events.first().unwrap().as_str(), events.last().unwrap().as_str()),
        ("task", "COMPLETED")
    );
}

fn a_task_is_canceled(agent: &Agent) {
    let configuration = json!({ "returnImmediately": true });
    let sent =
        json!({ "message": message(&id("x"), "tck-cancel"), "configuration": configuration });
    let sent = agent.call("SendMessage", &sent);
    let canceled = agent.call("CancelTask", &json!({ "id": sent["task"]["id"] }));
    assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED");
}

fn the_same_over_grpc(agent: &Agent) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut lines = String::new();
    runtime.block_on(async {
        let mut client = Client::connect(&agent.sidecar.ingress).await;
        for beginning in ["tck-complete-task", "tck-artifact-file", "tck-artifact-data"] {
            let request = pb::SendMessageRequest {
                message: Some(text(&id(beginning), "x")),
                ..Default::default()
            };
            let sent: pb::SendMessageResponse = client.call("SendMessage", &request).await.unwrap();
            let Some(pb::send_message_response::Payload::Task(task)) = sent.payload else {
                panic!("{sent:?}");
            };
            let state = pb::TaskState::try_from(task.status.unwrap().state).unwrap();
            let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
            let parts: Vec<_> = parts.map(|part| (&part.content, &part.filename)).collect();
            writeln!(lines, "{beginning}: {} {parts:?}", state.as_str_name()).unwrap();
        }
        let request = pb::SendMessageRequest {
            message: Some(text(&id("tck-stream-artifact-chunked"), "x")),
            ..Default::default()
        };
        let mut events = client.stream("SendStreamingMessage", &request).await.unwrap();
        while let Some(event) = events.next::<pb::StreamResponse>().await {
            use pb::stream_response::Payload;
            let told = match event.unwrap().payload.unwrap() {
                Payload::Task(_) => "task".to_owned(),
                Payload::Message(_) => "message".to_owned(),
                Payload::StatusUpdate(it) => {
                    let state = pb::TaskState::try_from(it.status.unwrap().state).unwrap();
                    state.as_str_name().to_owned()
                }
                Payload::ArtifactUpdate(it) => {
                    let parts = it.artifact.unwrap().parts;
                    format!("{:?} {} {}", parts[0].content, it.append, it.last_chunk)
                }
            };
            writeln!(lines, "  {told}").unwrap();
        }
    });
    expect![[r#"
        tck-complete-task: TASK_STATE_COMPLETED []
        tck-artifact-file: TASK_STATE_COMPLETED [(Some(Raw(b"tck")), "output.txt")]
        tck-artifact-data: TASK_STATE_COMPLETED [(Some(Data(Value { kind: Some(StructValue(Struct { fields: {"count": Value { kind: Some(NumberValue(42.0)) }, "key": Value { kind: Some(StringValue("value")) }} })) })), "")]
          task
          TASK_STATE_WORKING
          Some(Text("chunk-1 ")) false false
          Some(Text("chunk-2")) true true
          TASK_STATE_COMPLETED
    "#]].assert_eq(&lines);
}
