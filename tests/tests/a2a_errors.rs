//! Every error of A2A, on every binding: the code, the status, the reason by which clients tell
//! them apart.

use hyper::Method;
use serde_json::{Value, json};
use tests::{
    a2a::{Agents, BINDINGS, Binding, Client, block, data, text, to},
    http::{self, Answer},
};

/// One way to be refused, as an operation that every binding knows.
struct Case {
    name: &'static str,
    agent: &'static str,
    headers: Vec<(&'static str, &'static str)>,
    operation: &'static str,
    params: Value,
    expected: Expected,
}

/// How it is told.
struct Expected {
    rpc: i64,
    http: u16,
    reason: &'static str,
}

const SETTINGS: [&str; 5] = [
    "a2a.agents.ledger.push_notifications=false",
    "a2a.agents.ledger.streaming=false",
    "a2a.agents.office.strict_media_types=true",
    "a2a.agents.stories.extensions=[{uri='urn:test:needed',required=true}]",
    "a2a.request_bytes_max=65536",
];

fn start() -> Agents {
    let flags: Vec<&str> = SETTINGS.iter().flat_map(|setting| ["--set", setting]).collect();
    Agents::start(&flags)
}

/// All of them; `done` is a task of `refunds` that is completed.
fn cases(done: &Value) -> Vec<Case> {
    let case = |name, agent, operation, params, rpc, http, reason| Case {
        name,
        agent,
        headers: vec![],
        operation,
        params,
        expected: Expected { rpc, http, reason },
    };
    let (unknown, id) = (json!({ "id": "nope" }), json!({ "id": done["id"] }));
    let config = json!({ "taskId": done["id"], "url": "https://example.com/hook" });
    let of_config = json!({ "taskId": done["id"], "id": "c" });
    let picture = json!({ "message": { "messageId": "picture", "role": "ROLE_USER",
        "metadata": { "skill": "file" },
        "parts": [{ "text": "x", "mediaType": "image/png" }] } });
    let mut with_push = data("pushed", json!(1));
    with_push["configuration"] =
        json!({ "taskPushNotificationConfig": { "url": "https://example.com/hook" } });
    let not_found = |name, operation, params| {
        case(name, "refunds", operation, params, -32001, 404, "TASK_NOT_FOUND")
    };
    let no_push = |operation, params: &Value| {
        let reason = "PUSH_NOTIFICATION_NOT_SUPPORTED";
        case("push is off", "ledger", operation, params.clone(), -32003, 400, reason)
    };
    let unsupported = |name, agent, operation, params| {
        case(name, agent, operation, params, -32004, 400, "UNSUPPORTED_OPERATION")
    };
    let invalid = |name, operation, params| {
        case(name, "refunds", operation, params, -32602, 400, "INVALID_PARAMS")
    };
    let mut meant = to(text("meant", "yes"), done);
    meant["message"]["metadata"] = json!({ "ask": "the first one" });
    let mut cases = vec![
        not_found("get", "GetTask", unknown.clone()),
        not_found("cancel", "CancelTask", unknown.clone()),
        not_found("subscribe", "SubscribeToTask", unknown.clone()),
        not_found("follow-up", "SendMessage", to(text("astray", "yes"), &unknown)),
        not_found("stream", "SendStreamingMessage", to(text("astray", "yes"), &unknown)),
        case(
            "it has ended",
            "refunds",
            "CancelTask",
            id.clone(),
            -32002,
            400,
            "TASK_NOT_CANCELABLE",
        ),
        no_push("CreateTaskPushNotificationConfig", &config),
        no_push("GetTaskPushNotificationConfig", &of_config),
        no_push("ListTaskPushNotificationConfigs", &of_config),
        no_push("DeleteTaskPushNotificationConfig", &of_config),
        no_push("SendMessage", &with_push),
        unsupported("late", "refunds", "SendMessage", to(text("late", "yes"), done)),
        unsupported("late", "refunds", "SendStreamingMessage", to(text("late", "yes"), done)),
        unsupported("ended", "refunds", "SubscribeToTask", id.clone()),
        unsupported("no streams", "ledger", "SendStreamingMessage", data("s", json!(1))),
        unsupported("no streams", "ledger", "SubscribeToTask", unknown.clone()),
        unsupported("no extended card", "refunds", "GetExtendedAgentCard", json!({})),
        case("strict", "office", "SendMessage", picture, -32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
        case(
            "a message without parts",
            "talker",
            "SendMessage",
            text("wrong", "wrong"),
            -32006,
            500,
            "INVALID_AGENT_RESPONSE",
        ),
        invalid("no id", "SendMessage", text("", "x")),
        invalid("no id of a question", "SendMessage", meant),
        invalid(
            "no parts",
            "SendMessage",
            json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [] } }),
        ),
        invalid(
            "an agent",
            "SendMessage",
            json!({ "message": { "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "x" }] } }),
        ),
        invalid(
            "two contents",
            "SendMessage",
            json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "x", "url": "y" }] } }),
        ),
        invalid("not what the skill takes", "SendMessage", data("m", json!({ "orderId": 1 }))),
        invalid("a negative length", "GetTask", json!({ "id": done["id"], "historyLength": -1 })),
        invalid("a page of none", "ListTasks", json!({ "pageSize": 0 })),
        invalid("a large page", "ListTasks", json!({ "pageSize": 101 })),
        invalid("a foreign token", "ListTasks", json!({ "pageToken": "foreign" })),
        invalid("no such state", "ListTasks", json!({ "status": "TASK_STATE_NOPE" })),
        invalid("no time", "ListTasks", json!({ "statusTimestampAfter": "yesterday" })),
    ];
    for operation in ["SendMessage", "ListTasks", "GetTask"] {
        let reason = "EXTENSION_SUPPORT_REQUIRED";
        let params = if operation == "SendMessage" {
            data("e", json!({ "chapters": 1 }))
        } else {
            unknown.clone()
        };
        cases.push(case("an extension", "stories", operation, params, -32008, 400, reason));
    }
    for version in ["99.0", "0.3", "2.0"] {
        cases.push(Case {
            headers: vec![("a2a-version", version)],
            ..case(
                "version",
                "refunds",
                "GetTask",
                id.clone(),
                -32009,
                400,
                "VERSION_NOT_SUPPORTED",
            )
        });
    }
    cases
}

fn completed(agents: &Agents) -> Value {
    let client = agents.client("refunds", Binding::JsonRpc);
    let order = json!({ "orderId": "o-1", "amount": 1 });
    let asked = client.send(data("begin", order)).unwrap();
    let mut yes = to(data("end", json!({ "approved": true })), &asked);
    yes["message"]["metadata"] = json!({ "ask": asked["status"]["message"]["messageId"] });
    let done = client.send(yes).unwrap();
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    done
}

#[test]
fn every_error_on_both_bindings() {
    let agents = start();
    let done = completed(&agents);
    for case in cases(&done) {
        for binding in BINDINGS {
            let mut client = agents.client(case.agent, binding);
            for (name, value) in &case.headers {
                client = client.with(name, value);
            }
            let told = format!("{}: {} over {binding:?}", case.name, case.operation);
            let answer = client.answer(case.operation, &case.params);
            let refused = client.read(&answer).expect_err(&told);
            let Expected { rpc, http, reason } = case.expected;
            let (code, status) = match binding {
                Binding::JsonRpc => (rpc, 200),
                Binding::HttpJson => (i64::from(http), http),
            };
            assert_eq!(
                (refused.code, answer.status),
                (code, status),
                "{told}: {}",
                refused.message
            );
            assert_eq!(refused.reason.as_deref(), Some(reason), "{told}");
            assert!(
                answer.header("content-type").unwrap().starts_with("application/json"),
                "{told}"
            );
            assert!(answer.header("x-holdfast-error").unwrap().starts_with("HF0"), "{told}");
            let is_invalid = reason == "INVALID_PARAMS";
            assert_eq!(is_invalid, !refused.violations.is_empty(), "{told}");
        }
    }
}

fn rpc(agents: &Agents, headers: &[(&str, &str)], body: &str) -> (Answer, Value) {
    let url = format!("{}/a2a/refunds", agents.sidecar.ingress);
    let answer = http::request(Method::POST, &url, headers, body).unwrap();
    let body = answer.json();
    (answer, body)
}

#[test]
fn what_is_no_call_of_json_rpc() {
    let agents = start();
    let json_type = [("content-type", "application/json")];
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"{}"}}"#,
        "x".repeat(70_000)
    );
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":3,"method":"GetTask"}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":"4"}"#, -32600, json!("4")),
        (r#"{"jsonrpc":"2.0","id":5,"method":"getTask"}"#, -32601, json!(5)),
        (r#"{"jsonrpc":"2.0","id":6,"method":"GetTask","params":[1]}"#, -32602, json!(6)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"GetTask"}"#, -32602, json!(7)),
        (&large, -32600, Value::Null),
    ] {
        let (answer, told) = rpc(&agents, &json_type, body);
        let shown: String = body.chars().take(80).collect();
        assert_eq!((answer.status, &told["error"]["code"]), (200, &json!(code)), "{shown}");
        assert_eq!(told["id"], id, "{shown}");
    }
    let call = r#"{"jsonrpc":"2.0","id":8,"method":"ListTasks"}"#;
    let (_, told) = rpc(&agents, &[("content-type", "text/plain")], call);
    assert_eq!(told["error"]["code"], -32005);
    for path in ["", "/"] {
        let url = format!("{}/a2a/refunds{path}", agents.sidecar.ingress);
        let answer = http::request(Method::POST, &url, &json_type, call).unwrap();
        assert_eq!(answer.json()["result"]["tasks"], json!([]), "no redirect at `{path}`");
    }
    // Names of protobuf are read, too.
    let snake = r#"{"jsonrpc":"2.0","id":9,"method":"ListTasks","params":{"page_size":"3"}}"#;
    let (_, told) = rpc(&agents, &json_type, snake);
    assert_eq!(told["result"]["pageSize"], 3);
}

#[test]
fn what_no_path_of_http_is() {
    let agents = start();
    let base = format!("{}/a2a/refunds", agents.sidecar.ingress);
    let ask = |method: Method, path: &str, headers: &[(&str, &str)], body: &str| {
        http::request(method, &format!("{base}{path}"), headers, body).unwrap()
    };
    let json_type = [("content-type", "application/json")];
    for (method, path, status) in [
        (Method::GET, "/nothing", 404),
        (Method::GET, "/message:send", 405),
        (Method::DELETE, "/tasks", 405),
        (Method::POST, "/tasks/x", 405),
        (Method::GET, "/tasks/x:cancel", 405),
        (Method::GET, "", 405),
    ] {
        let answer = ask(method.clone(), path, &json_type, "");
        assert_eq!(answer.status, status, "{method} {path}");
        let error = &answer.json()["error"];
        let name = if status == 404 { "NOT_FOUND" } else { "UNIMPLEMENTED" };
        assert_eq!((&error["code"], &error["status"]), (&json!(status), &json!(name)));
        assert_eq!(error["details"], json!([]), "no reason of A2A");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{method} {path}");
    }
    let plain = ask(Method::POST, "/message:send", &[("content-type", "text/plain")], "{}");
    assert_eq!(plain.status, 415);
    assert_eq!(plain.json()["error"]["details"][0]["reason"], "CONTENT_TYPE_NOT_SUPPORTED");
    let broken = ask(Method::POST, "/message:send", &json_type, "{");
    assert_eq!(
        (broken.status, &broken.json()["error"]["status"]),
        (400, &json!("INVALID_ARGUMENT"))
    );
    let own = ask(Method::GET, "/tasks", &[("accept", "application/a2a+json")], "");
    assert_eq!(own.header("content-type"), Some("application/a2a+json"));
    for body in ["", "null", "{}", r#"{"metadata":{"why":"x"}}"#] {
        let answer = ask(Method::POST, "/tasks/nope:cancel", &json_type, body);
        assert_eq!(answer.status, 404, "the body `{body}` is read");
    }
    let nobody = http::get(&format!("{}/a2a/nobody/tasks", agents.sidecar.ingress)).unwrap();
    assert_eq!(nobody.status, 404);
}

#[test]
fn who_may_not_come_in_and_who_comes_too_much() {
    let tokens = "guard.tokens=[{principal='ada',token='ada-token'}]";
    let agents = Agents::start(&["--set", tokens, "--set", "a2a.requests_max=1"]);
    for binding in BINDINGS {
        let client = agents.client("refunds", binding);
        for stranger in [client.clone(), client.clone().with("authorization", "Bearer wrong")] {
            let answer = stranger.answer("ListTasks", &json!({}));
            assert_eq!(answer.status, 401);
            assert!(answer.header("www-authenticate").is_some());
            assert_eq!(answer.header("x-holdfast-error"), Some("HF0256"));
        }
        let astray = client.clone().with("origin", "https://evil.example");
        assert_eq!(astray.answer("ListTasks", &json!({})).status, 403);

        let ada: Client = client.with("authorization", "Bearer ada-token");
        let order = data(&format!("{binding:?}"), json!({ "orderId": "o", "amount": 1 }));
        let task = ada.send(order).unwrap();
        block(async {
            let of = json!({ "id": task["id"] });
            let mut stream = ada.stream("SubscribeToTask", &of, None).await.unwrap();
            stream.next().await.unwrap().unwrap();
            let asking = ada.clone();
            let refused =
                tokio::task::spawn_blocking(move || asking.answer("ListTasks", &json!({})));
            let refused = refused.await.unwrap();
            assert_eq!(refused.status, 503, "the stream has the only place");
            assert_eq!(refused.header("retry-after"), Some("1"));
        });
        tests::eventually("the place is free again", || {
            (ada.answer("ListTasks", &json!({})).status == 200).then_some(())
        });
    }
}
