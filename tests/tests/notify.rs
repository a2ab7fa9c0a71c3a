//! Somebody outside is told what was paused or failed, even if they were away and the sidecar was
//! killed in the meantime.

use hyper::Method;
use serde_json::{Value, json};
use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering::Relaxed},
    },
};
use tests::{
    eventually, http,
    process::holdfast,
    receiver::{Got, Receiver},
    sidecar::Sidecar,
};

const MANIFEST: &str = "application/vnd.restate.endpointmanifest.v4+json";

/// A service of that name whose every attempt fails; two of them, then it is paused.
fn failing_service(name: &str) -> Receiver {
    let manifest = json!({
        "protocolMode": "REQUEST_RESPONSE", "minProtocolVersion": 5, "maxProtocolVersion": 7,
        "services": [{ "name": name, "ty": "SERVICE", "handlers": [{
            "name": "work", "retryPolicyInitialInterval": 10, "retryPolicyMaxAttempts": 2,
            "retryPolicyOnMaxAttempts": "PAUSE",
        }] }],
    });
    Receiver::start(move |path, _| match path {
        "/discover" => (200, MANIFEST, manifest.to_string()),
        _ => (500, "text/plain", "the handler is broken".to_owned()),
    })
}

/// Answers with a status that can be changed.
fn receiver(status: u16) -> (Receiver, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let answer = status.clone();
    (Receiver::start(move |_, _| (answer.load(Relaxed), "text/plain", String::new())), status)
}

fn register(sidecar: &Sidecar, service: &Receiver, metadata: Value) -> http::Answer {
    let body = json!({ "uri": service.url, "use_http_11": true, "metadata": metadata });
    http::post_json(&format!("{}/deployments", sidecar.admin), &body).unwrap()
}

/// Sends one call, and tells its invocation.
fn send(sidecar: &Sidecar, target: &str) -> String {
    let url = format!("{}/{target}/send", sidecar.ingress);
    let answer = http::post_json(&url, &json!("x")).unwrap();
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["invocationId"].as_str().unwrap().to_owned()
}

fn notices(sidecar: &Sidecar) -> Vec<Value> {
    let answer = http::get(&format!("{}/holdfast/notices", sidecar.admin)).unwrap();
    answer.json()["notices"].as_array().unwrap().clone()
}

fn id(got: &Got) -> String {
    got.header("x-holdfast-notice").to_owned()
}

#[test]
fn a_notice_survives_the_receiver_and_the_sidecar() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef\n").unwrap();
    let (service, (receiver, status)) = (failing_service("Broken"), receiver(503));
    let flags = [
        format!("notify.url={}/hook", receiver.url),
        format!("notify.secret_file={}", secret.display()),
        "notify.retry_initial_ms=100".to_owned(),
        "notify.retry_max_ms=200".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().flat_map(|flag| ["--set", flag]).collect();
    let data = directory.path().join("data");
    let mut sidecar = Sidecar::start(&data, &flags);
    let answer = register(&sidecar, &service, json!({}));
    assert_eq!(answer.status, 201, "{}", answer.text());

    let invocation = send(&sidecar, "Broken/work");
    let first = eventually("the receiver is told", || receiver.got().first().cloned());
    let waiting = eventually("the try is noted", || {
        notices(&sidecar).into_iter().find(|notice| notice["tries"].as_u64() > Some(0))
    });
    assert_eq!(waiting["id"], id(&first));
    assert_eq!(waiting["last_error"], "the receiver answered 503");
    assert_eq!(waiting["invocation"], invocation);
    let mut list = Command::new(holdfast());
    let listed = list.args(["notices", "list", "--admin", &sidecar.admin]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains(&id(&first)) && listed.contains("503"), "{listed}");

    sidecar.kill9();
    let before = receiver.got().len();
    sidecar.restart();
    eventually("it is tried again", || (receiver.got().len() > before).then_some(()));
    status.store(204, Relaxed);
    eventually("nothing waits any more", || notices(&sidecar).is_empty().then_some(()));
    let got = receiver.got();
    assert!(got.iter().all(|it| id(it) == id(&first) && it.body == first.body), "{got:?}");
    let told = first.json();
    let expected = json!({
        "type": "invocation.paused", "id": id(&first), "at": told["at"], "by": "retries",
        "invocation": {
            "id": invocation, "target": "Broken/work", "service": "Broken", "handler": "work",
            "status": "paused", "attempts": 2,
            "failure": told["invocation"]["failure"],
        },
        "links": { "describe": told["links"]["describe"] },
    });
    assert_eq!(told, expected);
    assert_eq!(told["invocation"]["failure"]["code"], 500, "{told}");
    assert!(first.header("x-holdfast-signature").starts_with("t="));
    let described = told["links"]["describe"].as_str().unwrap();
    assert!(described.ends_with(&format!("/holdfast/invocations/{invocation}")), "{described}");

    // A person ends it, which is told too, once.
    let kill = format!("{}/invocations/{invocation}/kill", sidecar.admin);
    http::request(Method::PATCH, &kill, &[], "").unwrap();
    let last = eventually("the end is told", || {
        receiver.got().into_iter().find(|it| id(it) != id(&first))
    });
    assert_eq!(last.json()["type"], "invocation.failed");
    assert_eq!(last.json()["cause"], "killed");
    eventually("nothing waits any more", || notices(&sidecar).is_empty().then_some(()));
    assert!(sidecar.terminate());
    let told = receiver.got().iter().filter(|it| id(it) == id(&last)).count();
    assert_eq!(told, 1);
}

#[test]
fn a_deployment_has_a_receiver_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let sidecar = Sidecar::start(directory.path(), &[]);
    let (quiet, told) = (failing_service("Quiet"), failing_service("Told"));
    let (receiver, _) = receiver(200);
    let refused = register(&sidecar, &told, json!({ "holdfast.notify.url": "hooks/1" }));
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("HF0190"), "{}", refused.text());
    assert_eq!(register(&sidecar, &quiet, json!({})).status, 201);
    let url = format!("{}/of/told?token=x", receiver.url);
    let mut command = Command::new(holdfast());
    let metadata = format!("holdfast.notify.url={url}");
    command.args(["deployments", "register", &told.url, "--http1", "--metadata", &metadata]);
    let output = command.args(["--admin", &sidecar.admin]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    send(&sidecar, "Quiet/work");
    let invocation = send(&sidecar, "Told/work");
    let got = eventually("the receiver is told", || receiver.got().first().cloned());
    assert_eq!(
        (got.path.as_str(), &got.json()["invocation"]["id"]),
        ("/of/told", &invocation.into())
    );
    eventually("nothing waits any more", || notices(&sidecar).is_empty().then_some(()));
    assert_eq!(receiver.got().len(), 1);
}

#[test]
fn a_wrong_setting_is_named_at_the_start() {
    let check = |setting: &str, words: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(holdfast());
        command.args(["serve", "--ingress", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
        command.arg("--data-dir").arg(directory.path()).args(["--set", setting]);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "it started: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    check("notify.url=hooks.example.com/x", &["HF0003", "notify.url"]);
    check("notify.on=['painful']", &["HF0003", "notify.on", "painful"]);
    check("notify.secret_file=/does/not/exist", &["HF0191", "/does/not/exist"]);
}
