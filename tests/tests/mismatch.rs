//! A handler that does something else when it is invoked again: the real service finds it, and the
//! sidecar shows what is recorded beside what was done instead, at every door for operators.

use hyper::Method;
use serde_json::{Value, json};
use std::process::Command;
use tests::{
    eventually, http,
    process::{self, Process, example, free_port},
    sidecar::Sidecar,
};

#[test]
fn a_mismatch_is_shown_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut service = Command::new(example("drift_service"));
    service.env("PORT", port.to_string());
    let _service = Process::start(service);
    eventually("the service listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let sidecar = Sidecar::start(directory.path(), &[]);
    sidecar.register(&format!("http://127.0.0.1:{port}"));

    let sent = http::post_json(&format!("{}/Drift/settle/send", sidecar.ingress), &json!("42"));
    let sent = sent.unwrap().json();
    let id = sent["invocationId"].as_str().expect("an id");
    let detail = eventually("it is paused after three attempts", || {
        let detail = sidecar.describe(id);
        (detail["status"] == "paused").then_some(detail)
    });
    in_the_api(&detail);
    on_the_terminal(&sidecar, id);
    in_sql(&sidecar, id);
}

fn in_the_api(detail: &Value) {
    let failure = &detail["last_failure"];
    assert_eq!((&failure["code"], &failure["doc_code"]), (&json!(570), &json!("HF0094")));
    assert!(failure["message"].as_str().unwrap().contains("pay != refund"), "{failure}");
    let events = detail["events"].as_array().unwrap();
    let mismatches: Vec<&Value> = events.iter().filter_map(|event| event.get("mismatch")).collect();
    let expected = json!({
        "command": 1, "index": 1, "name": "pay",
        "recorded": { "type": "Run", "name": "pay", "result_completion_id": "1" },
        "received": { "type": "Run", "name": "refund", "result_completion_id": "1" },
        "differing": ["name"],
    });
    assert_eq!(mismatches, [&expected], "one event, which counts what repeats it");
}

fn on_the_terminal(sidecar: &Sidecar, id: &str) {
    let mut describe = Command::new(process::holdfast());
    describe.args(["invocations", "--admin", &sidecar.admin, "describe", id]);
    let output = describe.output().unwrap();
    let drawn = String::from_utf8(output.stdout).unwrap();
    let line = drawn.lines().find(|line| line.contains('≠')).unwrap_or_else(|| panic!("{drawn}"));
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["≠", "name", "pay", "refund"]);
    assert!(drawn.contains("HF0094"), "{drawn}");
}

fn in_sql(sidecar: &Sidecar, id: &str) {
    let question = format!(
        "SELECT json_extract(event_json, '$.mismatch.received.name') AS name \
         FROM sys_journal_events WHERE id = '{id}' AND name IS NOT NULL"
    );
    let headers = [("content-type", "application/json"), ("accept", "application/json")];
    let (url, body) = (format!("{}/query", sidecar.admin), json!({ "query": question }));
    let answer = http::request(Method::POST, &url, &headers, &body.to_string()).unwrap();
    assert_eq!(answer.json()["rows"], json!([{ "name": "refund" }]), "{}", answer.text());
}
