//! Every example with the real sidecar, as its README says.

use holdfast_sdk::{Ingress, IngressError, Request};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use tests::effects::Effects;
use tests::process::{Process, free_port};
use tests::sidecar::Sidecar;
use tokio::runtime::Runtime;

/// An example that runs behind a sidecar.
struct Stage {
    runtime: Runtime,
    ingress: Ingress,
    effects: Effects,
    _service: Process,
    sidecar: Sidecar,
    _folder: tempfile::TempDir,
}

fn stage(program: &str) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let effects = Effects::start();
    let port = free_port();
    let mut service = Command::new(program);
    service.env("PORT", port.to_string()).env("EFFECTS_URL", &effects.url);
    let service = Process::start(service);
    tests::eventually("the service listens", || {
        std::net::TcpStream::connect(("127.0.0.1", port)).ok()
    });
    let sidecar = Sidecar::start(folder.path(), &[]);
    sidecar.register(&format!("http://127.0.0.1:{port}"));
    Stage {
        runtime: Runtime::new().unwrap(),
        ingress: Ingress::new(sidecar.ingress.as_str()),
        effects,
        _service: service,
        sidecar,
        _folder: folder,
    }
}

impl Stage {
    fn call(&self, request: Request<Value>) -> Value {
        self.runtime.block_on(self.ingress.call(request)).unwrap()
    }

    fn send(&self, request: Request<Value>) -> String {
        self.runtime.block_on(self.ingress.send(request)).unwrap()
    }

    fn fails(&self, request: Request<Value>) -> (u16, String) {
        failure(self.runtime.block_on(self.ingress.call(request)))
    }

    fn result(&self, invocation: &str) -> Result<Value, IngressError> {
        self.runtime.block_on(self.ingress.attach(invocation))
    }

    /// A text in the state of a workflow, as an operator sees it.
    fn state_of(&self, key: &str, name: &str) -> String {
        let question =
            format!("SELECT value_utf8 FROM state WHERE service_key = '{key}' AND key = '{name}'");
        let headers = [("content-type", "application/json"), ("accept", "application/json")];
        let (url, body) = (format!("{}/query", self.sidecar.admin), json!({ "query": question }));
        let post = tests::http::request(hyper::Method::POST, &url, &headers, &body.to_string());
        let rows = post.unwrap().json();
        serde_json::from_str(rows["rows"][0]["value_utf8"].as_str().unwrap()).unwrap()
    }

    fn becomes(&self, request: impl Fn() -> Request<Value>, expected: Value) {
        tests::eventually(&format!("it becomes {expected}"), || {
            (self.call(request()) == expected).then_some(())
        });
    }
}

fn failure(result: Result<Value, IngressError>) -> (u16, String) {
    match result {
        Err(IngressError::Failed(failure)) => (failure.http_code(), failure.message().to_owned()),
        other => panic!("it should have failed: {other:?}"),
    }
}

fn request(service: &str, handler: &str, input: Value) -> Request<Value> {
    Request::new(service, handler, &input)
}

fn nothing(service: &str, handler: &str) -> Request<Value> {
    Request::new(service, handler, &())
}

#[test]
fn refund() {
    let stage = stage(env!("CARGO_BIN_EXE_refund"));
    let order = json!({ "orderId": "42", "amount": 120.0 });
    let first = mcp(&stage, "tools/call", json!({ "name": "refund", "arguments": order }));
    let task = first["taskId"].clone();
    let look = || mcp(&stage, "tasks/get", json!({ "taskId": task }));
    let asking = tests::eventually("it asks a human", || {
        Some(look()).filter(|seen| seen["status"] == "input_required")
    });
    let asked = &asking["inputRequests"]["ask-1"]["params"];
    assert_eq!(asked["message"], "Refund 120.00 for order 42?");
    let answer = json!({ "ask-1": { "action": "accept", "content": { "approved": true } } });
    mcp(&stage, "tasks/update", json!({ "taskId": task, "inputResponses": answer }));
    let done = tests::eventually("it is refunded", || {
        Some(look()).filter(|seen| seen["status"] == "completed")
    });
    let result = &done["result"]["structuredContent"];
    assert_eq!((&result["status"], &result["by"]), (&json!("refunded"), &json!("anonymous")));
    let calls = stage.effects.all();
    let id = &calls.first().unwrap().0;
    for step in ["check-order", "reserve-amount", "pay-back"] {
        let done = stage.effects.of(id, step);
        assert_eq!(json!(done), json!([result["receipts"][step]]), "{step} once");
    }
}

/// An example that nobody can follow, or that nobody runs, is none.
#[test]
fn every_example_has_a_page_and_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "demo")
        .collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        let page = folder.join(&name).join("README.md");
        let page =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}: its page begins with its name");
        assert!(
            page.contains("```\ncurl ") || page.contains("```\nholdfast "),
            "{name}: how to call it"
        );
        let test = format!("\nfn {name}() {{");
        assert!(include_str!("real.rs").contains(&test), "{name}: a test of that name");
    }
}

/// The result of one request of an agent.
fn mcp(stage: &Stage, method: &str, mut params: Value) -> Value {
    let name = params.get("name").or(params.get("taskId")).unwrap().as_str().unwrap().to_owned();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":
            { "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("mcp-name", &name),
    ];
    let url = format!("{}/mcp", stage.sidecar.ingress);
    let answer = tests::http::request(hyper::Method::POST, &url, &headers, &message.to_string());
    answer.unwrap().json()["result"].clone()
}

#[test]
fn checkout() {
    let stage = stage(env!("CARGO_BIN_EXE_checkout"));
    let cart =
        |id: &str, total: u32| request("Checkout", "checkout", json!({ "id": id, "total": total }));
    assert_eq!(stage.call(cart("c1", 120)), "c1 is on its way");
    assert_eq!(stage.effects.of("c1", "ship").len(), 1);
    assert_eq!(stage.effects.of("c1", "void-payment").len(), 0);
    assert_eq!(stage.fails(cart("c2", 5000)), (402, "the card was declined".to_owned()));
    for undone in ["void-payment", "release-stock"] {
        assert_eq!(stage.effects.of("c2", undone).len(), 1, "{undone}");
    }
}

#[test]
fn subscription() {
    let stage = stage(env!("CARGO_BIN_EXE_subscription"));
    let plan = json!({ "price": 9, "period_ms": 100 });
    let ada = |handler: &str| nothing("Subscription", handler).key("ada");
    stage.call(request("Subscription", "subscribe", plan).key("ada"));
    tests::eventually("three periods are paid", || {
        (stage.effects.of("ada", "pay").len() >= 3).then_some(())
    });
    stage.call(ada("unsubscribe"));
    let standing = stage.call(ada("standing"));
    assert_eq!(standing["plan"], Value::Null);
    let paid = stage.effects.of("ada", "pay").len();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(stage.effects.of("ada", "pay").len(), paid, "nothing is paid any more");
    assert_eq!(stage.call(ada("standing"))["paid"], json!(paid));
}

#[test]
fn signup() {
    let stage = stage(env!("CARGO_BIN_EXE_signup"));
    let run = |user: &str, patience_ms: u64| {
        let application = json!({ "email": "ada@example.com", "patience_ms": patience_ms });
        stage.send(request("Signup", "run", application).key(user))
    };
    let signup = run("ada", 600_000);
    stage.becomes(|| nothing("Signup", "step").key("ada"), json!("waits for the confirmation"));
    let confirm = |secret: &str| request("Signup", "confirm", json!(secret)).key("ada");
    let of_ada = || nothing("Signup", "run").key("ada");
    let done =
        |stage: &Stage| stage.runtime.block_on(stage.ingress.output_of_request(of_ada())).unwrap();
    assert_eq!(done(&stage), None, "it waits");
    assert_eq!(stage.fails(confirm("guessed")).0, 403);
    let too_late = run("bob", 50);
    assert_eq!(failure(stage.result(&too_late)), (410, "the link has expired".to_owned()));
    stage.call(confirm(&stage.state_of("ada", "secret")));
    assert_eq!(stage.result(&signup).unwrap(), "welcome, ada@example.com");
    let attached = stage.runtime.block_on(stage.ingress.attach_request(of_ada()));
    assert_eq!(attached.unwrap(), "welcome, ada@example.com", "by the key of the workflow");
    assert_eq!(done(&stage), Some(json!("welcome, ada@example.com")));
}

#[test]
fn fanout() {
    let stage = stage(env!("CARGO_BIN_EXE_fanout"));
    let texts = json!(["one two", "three", "four five six"]);
    assert_eq!(stage.call(request("Words", "count", texts)), 6);
    let once = || request("Words", "count", json!(["just three words"])).idempotency_key("once");
    let sent = stage.send(once());
    let attached = stage.runtime.block_on(stage.ingress.attach_request(once()));
    assert_eq!(attached.unwrap(), 3, "by the idempotency key");
    assert_eq!(stage.send(once()), sent, "the same invocation");
    let without =
        stage.runtime.block_on(stage.ingress.attach_request(request("Words", "count", json!([]))));
    assert!(matches!(without, Err(IngressError::Payload(_))), "{without:?}");
    let many: Vec<String> = (0..100).map(|n| format!("text {n}")).collect();
    assert_eq!(stage.call(request("Words", "count", json!(many))), 200);
}

#[test]
fn cron() {
    let stage = stage(env!("CARGO_BIN_EXE_cron"));
    let job = json!({ "every_ms": 50, "times": 3 });
    stage.call(request("Cron", "start", job).key("job"));
    stage.becomes(|| nothing("Cron", "ticks").key("job"), json!(3));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(stage.effects.of("job", "tick").len(), 3, "not once more");
}

#[test]
fn agent() {
    let stage = stage(env!("CARGO_BIN_EXE_agent"));
    let task = |budget: u32| {
        request("Agent", "solve", json!({ "question": "2 + 3 + 4", "budget": budget }))
    };
    let solution = json!({ "answer": "9", "spent": 60, "turns": 3 });
    assert_eq!(stage.call(task(1000)), solution);
    assert_eq!(stage.effects.count(), 3, "each call of the model is made once");
    assert_eq!(stage.fails(task(40)), (429, "no answer within 40 tokens".to_owned()));
}
