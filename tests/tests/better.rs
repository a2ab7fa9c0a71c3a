//! What the doors do better than existing servers, so that it stays so: a second workflow run can
//! wait for the first, mistakes of callers are told at once and with a sentence, and what is not
//! needed any more goes without force.

use hyper::Method;
use serde_json::{Value, json};
use std::{
    net::TcpStream,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tests::{
    eventually, http,
    http::Answer,
    process::{Process, example, free_port},
    sidecar::Sidecar,
};

/// Sooner than this is at once, also on a busy machine; the alternative is forever.
const AT_ONCE: Duration = Duration::from_secs(20);

/// A sidecar with the services of `tests/foreign/src/bin/playground.rs`.
struct Bench {
    sidecar: Sidecar,
    deployment: String,
    _service: Process,
    _directory: TempDir,
}

fn playground() -> (Process, String) {
    let port = free_port();
    let mut command = std::process::Command::new(example("playground"));
    command.env("PORT", port.to_string());
    let process = Process::start(command);
    eventually("the service listens", || TcpStream::connect(("127.0.0.1", port)).ok());
    (process, format!("http://127.0.0.1:{port}"))
}

impl Bench {
    fn start() -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let (service, uri) = playground();
        let sidecar = Sidecar::start(directory.path(), &[]);
        let deployment = sidecar.register(&uri)["id"].as_str().unwrap().to_owned();
        Bench { sidecar, deployment, _service: service, _directory: directory }
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let url = format!("{}{path}", self.sidecar.ingress);
        let json = [("content-type", "application/json")];
        let json = if body.is_empty() { &[] } else { &json[..] };
        http::request(Method::POST, &url, &[json, headers].concat(), body).unwrap()
    }

    fn admin(&self, method: Method, path: &str, body: &Value) -> Answer {
        let url = format!("{}{path}", self.sidecar.admin);
        let json = [("content-type", "application/json")];
        http::request(method, &url, &json, &body.to_string()).unwrap()
    }

    /// Sends, and gives the id.
    fn send(&self, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let answer = self.post(path, headers, body);
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["invocationId"].as_str().unwrap().to_owned()
    }

    fn becomes(&self, id: &str, status: &str) {
        eventually(&format!("{id} is {status}"), || {
            (self.sidecar.describe(id)["status"] == status).then_some(())
        });
    }
}

#[test]
fn a_second_run_of_a_workflow_can_wait_for_the_first() {
    let bench = Bench::start();
    let id = bench.send("/Signup/ada/run/send", &[], "\"ada@example.com\"");
    let refused = bench.post("/Signup/ada/run", &[], "\"eve@example.com\"");
    assert_eq!(refused.status, 409, "{}", refused.text());

    std::thread::scope(|scope| {
        let run = |query: &'static str, headers: &'static [(&str, &str)]| {
            let path = format!("/Signup/ada/run{query}");
            bench.post(&path, headers, "\"eve@example.com\"")
        };
        let by_header = scope.spawn(move || run("", &[("prefer", "holdfast-attach")]));
        let by_query = scope.spawn(move || run("?attach=true", &[]));
        eventually("both wait", || {
            let metrics = http::get(&format!("{}/metrics", bench.sidecar.admin)).unwrap().text();
            metrics.contains("holdfast_ingress_requests_in_progress 2\n").then_some(())
        });
        assert!(!by_header.is_finished() && !by_query.is_finished(), "nobody confirmed yet");
        let confirmed = bench.post("/Signup/ada/confirm", &[], "\"Bob\"");
        assert_eq!(confirmed.status, 200, "{}", confirmed.text());
        for waiting in [by_header, by_query] {
            let answer = waiting.join().unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert_eq!(answer.json(), "ada@example.com is confirmed by Bob");
            assert_eq!(answer.header("x-restate-id"), Some(id.as_str()));
        }
    });
}

#[test]
fn a_body_that_names_no_invocation_is_the_callers_mistake() {
    let bench = Bench::start();
    let bodies = ["", "{", "[]", "{}", r#"{"target":"nonsense"}"#, r#"{"target":"invocation"}"#];
    for path in ["/restate/attach", "/restate/output", "/restate/lookup", "/holdfast/cancel"] {
        for body in bodies {
            let answer = bench.post(path, &[], body);
            assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text());
            assert_eq!(answer.json()["source"], "ingress");
            assert!(answer.text().contains("HF0127"), "{path} {body}: {}", answer.text());
            assert!(!answer.text().contains(".rs:"), "no backtrace: {}", answer.text());
        }
    }
}

#[test]
fn a_state_that_changed_in_between_is_reported() {
    let bench = Bench::start();
    assert_eq!(bench.post("/Counter/k/add", &[], "7").json(), 7);
    let state = || http::get(&format!("{}/holdfast/state/Counter/k", bench.sidecar.admin)).unwrap();
    let version = state().json()["version"].clone();
    assert_eq!(bench.post("/Counter/k/add", &[], "1").json(), 8);
    let stale = json!({ "object_key": "k", "new_state": { "count": "0" }, "version": version });
    let answer = bench.admin(Method::POST, "/services/Counter/state", &stale);
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert!(answer.text().contains("HF0161"), "{}", answer.text());
    assert_eq!(bench.post("/Counter/k/get", &[], "").json(), 8);

    let mut fresh = stale;
    fresh["version"] = state().json()["version"].clone();
    assert_eq!(bench.admin(Method::POST, "/services/Counter/state", &fresh).status, 202);
    assert_eq!(bench.post("/Counter/k/get", &[], "").json(), 0);
}

#[test]
fn callers_cancel_what_they_called() {
    let bench = Bench::start();
    let by_id = bench.send("/Counter/a/hold/send", &[], "");
    let by_key = bench.send("/Counter/b/hold/send", &[("idempotency-key", "mine")], "");
    for id in [&by_id, &by_key] {
        bench.becomes(id, "suspended");
    }
    let answer = bench.post(&format!("/holdfast/invocations/{by_id}/cancel"), &[], "");
    assert_eq!(answer.status, 202, "{}", answer.text());
    bench.becomes(&by_id, "completed");
    let target = json!({ "target": "idempotentInvocation", "service": "Counter", "key": "b",
        "handler": "hold", "idempotencyKey": "mine" });
    let answer = bench.post("/holdfast/cancel", &[], &target.to_string());
    assert_eq!(answer.status, 202, "{}", answer.text());
    bench.becomes(&by_key, "completed");
    for id in [&by_id, &by_key] {
        let outcome = http::get(&format!("{}/restate/attach/{id}", bench.sidecar.ingress)).unwrap();
        assert_eq!((outcome.status, &outcome.json()["source"]), (409, &"invocation".into()));
    }
    let unknown = bench.post(&format!("/holdfast/invocations/{}/cancel", "inv_1x"), &[], "");
    assert_eq!(unknown.status, 400, "{}", unknown.text());
}

#[test]
fn an_object_that_calls_its_own_key_is_told_at_once() {
    let bench = Bench::start();
    let began = Instant::now();
    let answer = bench.post("/Counter/k/add_through_itself", &[], "1");
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert!(answer.text().contains("HF0095"), "{}", answer.text());
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    assert_eq!(bench.post("/Counter/k/add", &[], "1").json(), 1, "the key is free again");
}

#[test]
fn a_drained_deployment_goes_without_force() {
    let bench = Bench::start();
    let path = format!("/deployments/{}", bench.deployment);
    let remove = || bench.admin(Method::DELETE, &path, &Value::Null);
    let holder = bench.send("/Counter/k/hold/send", &[], "");
    bench.becomes(&holder, "suspended");
    let in_use = remove();
    assert_eq!(in_use.status, 409, "new calls go there: {}", in_use.text());

    let (_newer, uri) = playground();
    bench.sidecar.register(&uri);
    let draining = remove();
    assert_eq!(draining.status, 409, "one is pinned to it: {}", draining.text());
    assert_eq!(
        bench.admin(Method::PATCH, &format!("/invocations/{holder}/kill"), &Value::Null).status,
        200
    );
    let drained = remove();
    assert_eq!(drained.status, 202, "{}", drained.text());
    assert_eq!(bench.post("/Counter/k/add", &[], "1").json(), 1);
}
