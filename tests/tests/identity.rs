//! Signed requests, end to end: a service that takes only what its sidecar signed, and what the
//! operator sees where the keys do not belong together.

use serde_json::{Value, json};
use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tests::{
    eventually, http,
    process::{Process, example, free_port, holdfast},
    sidecar::Sidecar,
};

fn identity(verb: &str, file: &Path) -> Output {
    Command::new(holdfast()).args(["identity", verb, "--file"]).arg(file).output().unwrap()
}

/// Makes a key; its file and its public half.
fn new_key(file: PathBuf) -> (PathBuf, String) {
    let output = identity("new", &file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let [public, setting] = printed.lines().collect::<Vec<_>>()[..] else {
        panic!("expected two lines: {printed}");
    };
    assert_eq!(setting, format!("identity_key_file = \"{}\"", file.display()));
    (file, public.to_owned())
}

/// The load service, which takes only what the holder of `public` signed.
fn service(public: &str) -> (Process, String) {
    let mut service = Command::new(example("load_service"));
    let port = free_port();
    service.env("PORT", port.to_string()).env("IDENTITY_KEY", public).env_remove("EFFECTS_URL");
    let service = Process::start(service);
    eventually("the service listens", || TcpStream::connect(("127.0.0.1", port)).ok());
    (service, format!("http://127.0.0.1:{port}"))
}

fn call(sidecar: &Sidecar) -> http::Answer {
    http::post_json(&format!("{}/Load/child", sidecar.ingress), &json!({ "id": "1" })).unwrap()
}

#[test]
fn a_key_is_made_once_and_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let (file, public) = new_key(folder.path().join("identity.pem"));
    let shown = identity("show", &file);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), format!("{public}\n"));
    let before = std::fs::read(&file).unwrap();
    let again = identity("new", &file);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("HF0009"), "{again:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let missing = identity("show", &folder.path().join("none.pem"));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("HF0008"), "{missing:?}");
}

#[test]
fn a_service_takes_only_what_its_sidecar_signed() {
    let folder = tempfile::tempdir().unwrap();
    let (right, public) = new_key(folder.path().join("right.pem"));
    let (wrong, _) = new_key(folder.path().join("wrong.pem"));
    let used = folder.path().join("used.pem");
    let setting = format!("identity_key_file={}", used.display());
    std::fs::copy(&right, &used).unwrap();
    let (_service, uri) = service(&public);
    let unsigned = Sidecar::start(&folder.path().join("unsigned"), &[]);
    is_refused(&unsigned, &uri, "has no identity key");

    let mut sidecar = Sidecar::start(&folder.path().join("data"), &["--set", &setting]);
    sidecar.register(&uri);
    let answer = call(&sidecar);
    assert_eq!(answer.status, 200, "{}", answer.text());

    // With another key the same service refuses; the call waits, and the operator is told why.
    assert!(sidecar.terminate());
    std::fs::copy(&wrong, &used).unwrap();
    sidecar.restart();
    let send = format!("{}/Load/child/send", sidecar.ingress);
    let sent = http::post_json(&send, &json!({ "id": "2" })).unwrap().json();
    let id = sent["invocationId"].as_str().unwrap().to_owned();
    let failure: Value = eventually("the attempt is refused", || {
        let failure = sidecar.describe(&id)["last_failure"].clone();
        failure.is_object().then_some(failure)
    });
    assert_eq!(failure["doc_code"], "HF0076", "{failure}");
    let described = invocations_describe(&sidecar, &id);
    assert!(described.contains("HF0076"), "{described}");
    let body = json!({ "uri": uri, "force": true });
    let refused = http::post_json(&format!("{}/deployments", sidecar.admin), &body).unwrap();
    assert_eq!(refused.json()["restate_code"], "META0003", "{}", refused.text());
    assert!(
        refused.text().contains("does not know this server's public key"),
        "{}",
        refused.text()
    );

    // What waited goes on once the keys belong together again.
    assert!(sidecar.terminate());
    std::fs::copy(&right, &used).unwrap();
    sidecar.restart();
    eventually("the call that waited ends", || {
        (sidecar.describe(&id)["status"] == "completed").then_some(())
    });
}

/// The service does not even tell this sidecar what it offers.
#[track_caller]
fn is_refused(sidecar: &Sidecar, uri: &str, why: &str) {
    let body = json!({ "uri": uri, "force": true });
    let refused = http::post_json(&format!("{}/deployments", sidecar.admin), &body).unwrap();
    assert_eq!(refused.json()["restate_code"], "META0003", "{}", refused.text());
    assert!(refused.text().contains(why), "{}", refused.text());
}

fn invocations_describe(sidecar: &Sidecar, id: &str) -> String {
    let mut command = Command::new(holdfast());
    command.args(["invocations", "describe", id, "--admin", &sidecar.admin]);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}
