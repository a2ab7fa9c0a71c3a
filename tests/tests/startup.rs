//! Everything that can be wrong at a start, or with what comes in: each has its code and its
//! sentence, and nothing that was accepted is lost by it.

use serde_json::json;
use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Output},
};
use tests::{eventually, http, process::holdfast, sidecar::Sidecar};

/// Runs the binary to its end, which must come by itself.
fn run(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(holdfast()).args(arguments).envs(env.iter().copied()).output().unwrap()
}

#[track_caller]
fn refused(output: &Output, code: &str, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it started: {text}");
    for word in [code].iter().chain(words) {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

fn serve(directory: &Path, more: &[&str]) -> Output {
    let directory = directory.to_str().unwrap();
    let doors = ["--ingress", "--admin"].into_iter().filter(|door| !more.contains(door));
    let ports: Vec<&str> = doors.flat_map(|door| [door, "127.0.0.1:0"]).collect();
    run(&[&["serve", "--data-dir", directory], &ports[..], more].concat(), &[])
}

#[test]
fn a_setting_that_does_not_exist_is_named_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("holdfast.toml");
    std::fs::write(&file, "shutdown_ms = 5\n\n[ingress]\nrequest_bites_max = 7\n").unwrap();
    let file = file.to_str().unwrap();
    refused(
        &run(&["config", "--config", file], &[]),
        "HF0002",
        &["holdfast.toml:4", "request_bites_max"],
    );
    refused(&run(&["config", "--config", "/does/not/exist.toml"], &[]), "HF0001", &["exist.toml"]);
    refused(&run(&["config"], &[("HOLDFAST__STOR__X", "1")]), "HF0003", &["HOLDFAST__STOR__X"]);
    refused(&run(&["config", "--ingress", "nowhere"], &[]), "HF0003", &["--ingress"]);
    let printed = run(&["config"], &[("HOLDFAST__SHUTDOWN_MS", "77")]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("shutdown_ms = 77"));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let directory = tempfile::tempdir().unwrap();
    refused(&serve(directory.path(), &["--ingress", &address]), "HF0005", &[&address]);
    refused(&serve(directory.path(), &["--admin", &address]), "HF0005", &[&address]);
}

#[test]
fn a_second_sidecar_on_one_data_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = Sidecar::start(directory.path(), &[]);
    refused(&serve(directory.path(), &[]), "HF0020", &[&first.id().to_string()]);
    assert!(first.terminate());
    let mut next = Sidecar::start(directory.path(), &[]);
    assert!(next.terminate());
}

#[test]
fn a_directory_of_something_else_or_a_damaged_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("thesis.txt"), "do not touch").unwrap();
    refused(&serve(directory.path(), &[]), "HF0022", &["thesis.txt"]);

    let directory = tempfile::tempdir().unwrap();
    assert!(Sidecar::start(directory.path(), &[]).terminate());
    let current = find(directory.path(), "CURRENT");
    std::fs::write(current, "MANIFEST-999999\n").unwrap();
    refused(&serve(directory.path(), &[]), "HF0021", &[]);
}

fn find(directory: &Path, name: &str) -> std::path::PathBuf {
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    panic!("there is no {name}");
}

#[test]
fn a_service_that_is_not_there_or_not_right_is_refused_with_a_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let sidecar = Sidecar::start(directory.path(), &[]);
    let deployments = format!("{}/deployments", sidecar.admin);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let answer = http::post_json(&deployments, &json!({ "uri": nobody })).unwrap();
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert_eq!(answer.json()["restate_code"], "META0003");
    assert!(answer.text().contains(&nobody[7..]), "{}", answer.text());

    // The ingress is an HTTP server, but not a service.
    let answer = http::post_json(&deployments, &json!({ "uri": sidecar.ingress })).unwrap();
    assert_eq!(answer.status, 500, "{}", answer.text());
    let answer = http::post_json(&deployments, &json!({ "uri": "not an address" })).unwrap();
    assert_eq!(answer.status, 400, "{}", answer.text());
    let listed = http::get(&deployments).unwrap().json();
    assert_eq!(listed["deployments"], json!([]));
}

#[test]
fn an_oversized_body_is_413_and_the_door_stays_open() {
    let directory = tempfile::tempdir().unwrap();
    let sidecar = Sidecar::start(directory.path(), &["--set", "ingress.request_bytes_max=1000"]);
    let url = format!("{}/Greeter/greet", sidecar.ingress);
    let answer = http::request(hyper::Method::POST, &url, &[], &"x".repeat(1_001)).unwrap();
    assert_eq!(answer.status, 413, "{}", answer.text());
    let answer = http::request(hyper::Method::POST, &url, &[], "x").unwrap();
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert_eq!(answer.json()["source"], "ingress");
}

#[test]
fn run_starts_the_service_too_and_neither_again() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().to_str().unwrap();
    let ports = ["--ingress", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    let arguments = ["run", "--data-dir", directory];
    let output = run(&[&arguments[..], &ports, &["--", "sh", "-c", "exit 7"]].concat(), &[]);
    refused(&output, "7", &["the service ended"]);
    let output = run(&[&arguments[..], &ports, &["--", "/does/not/exist"]].concat(), &[]);
    refused(&output, "HF0006", &["/does/not/exist"]);
}

#[test]
fn the_command_line_says_where_it_looked() {
    let output = run(&["invocations", "list", "--admin", "http://127.0.0.1:1"], &[]);
    refused(&output, "127.0.0.1:1", &["no sidecar answers"]);
    let directory = tempfile::tempdir().unwrap();
    let sidecar = Sidecar::start(directory.path(), &[]);
    let output = run(&["invocations", "describe", "inv_1x", "--admin", &sidecar.admin], &[]);
    refused(&output, "invocation id", &[]);
    let listed = eventually("the list comes", || {
        let output = run(&["deployments", "list", "--admin", &sidecar.admin], &[]);
        output.status.success().then_some(output)
    });
    assert!(String::from_utf8_lossy(&listed.stdout).contains("nothing is registered"));
}
