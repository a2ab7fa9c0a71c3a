//! Limits on the real binary, as a counter outside of it sees them: never more inside of a handler
//! at once than the limit says, over kill -9 too; everybody else goes on; everything ends.

use serde_json::{Value, json};
use std::process::Command;
use tests::{
    eventually,
    gate::Gate,
    http,
    process::{Process, example, free_port, holdfast},
    sidecar::Sidecar,
};

const CALLS: usize = 20;
const LIMIT: usize = 2;

/// The example service behind a gate; `limit` is what its metadata says about `gated`.
struct Service {
    _process: Process,
    uri: String,
}

impl Service {
    fn start(gate: &Gate, limit: Option<usize>) -> Service {
        let mut service = Command::new(example("load_service"));
        let port = free_port();
        service.env("PORT", port.to_string()).env("GATE_URL", &gate.url);
        if let Some(limit) = limit {
            service.env("GATED_LIMIT", limit.to_string());
        }
        let process = Process::start(service);
        eventually("the service listens", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Service { _process: process, uri: format!("http://127.0.0.1:{port}") }
    }
}

/// A gate, a service behind it, and a sidecar with these limits.
fn world(limits: &str) -> (tempfile::TempDir, Gate, Service, Sidecar) {
    let (directory, gate) = (tempfile::tempdir().unwrap(), Gate::start());
    let service = Service::start(&gate, None);
    let setting = format!("limits={limits}");
    let sidecar = Sidecar::start(directory.path(), &["--set", &setting, "--partitions", "4"]);
    sidecar.register(&service.uri);
    (directory, gate, service, sidecar)
}

/// Sends to `target` and gives the id of the invocation.
fn send(sidecar: &Sidecar, target: &str, id: usize) -> String {
    let url = format!("{}/{target}/send", sidecar.ingress);
    let answer = http::post_json(&url, &json!({ "id": id.to_string() })).unwrap();
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["invocationId"].as_str().unwrap().to_owned()
}

fn limits(sidecar: &Sidecar) -> Value {
    http::get(&format!("{}/holdfast/limits", sidecar.admin)).unwrap().json()
}

/// Waits until the only limit has so many running and waiting.
#[track_caller]
fn stands(sidecar: &Sidecar, running: usize, waiting: usize) {
    let mut seen = Value::Null;
    eventually(&format!("{running} run and {waiting} wait"), || {
        seen = limits(sidecar)["limits"][0].clone();
        (seen["running"] == running && seen["waiting"] == waiting).then_some(())
    });
}

#[track_caller]
fn all_end(sidecar: &Sidecar, ids: &[String]) {
    for id in ids {
        eventually("an invocation ends well", || {
            let shown = sidecar.describe(id);
            (shown["status"] == "completed").then(|| {
                assert_eq!(shown["outcome"]["result"], "success", "{shown:#}");
            })
        });
    }
}

#[test]
fn a_handler_never_runs_more_often_at_once_than_its_limit() {
    let (_directory, gate, _service, mut sidecar) =
        world(r#"[{service="Load",handler="gated",concurrency=2}]"#);
    let mut ids: Vec<_> = (0..CALLS).map(|id| send(&sidecar, "Load/gated", id)).collect();
    eventually("two are inside", || (gate.inside("gated").len() == LIMIT).then_some(()));
    stands(&sidecar, LIMIT, CALLS - LIMIT);

    // Another handler of the same service goes on.
    let child = format!("{}/Load/child", sidecar.ingress);
    assert_eq!(http::post_json(&child, &json!({ "id": "x" })).unwrap().status, 200);

    let waiting = |id: &String| {
        let shown = sidecar.describe(id);
        let waits = shown["waits_for"].as_str().unwrap_or_default().to_owned();
        (shown["status"] == "ready").then_some(waits)
    };
    let reasons: Vec<String> = ids.iter().filter_map(waiting).collect();
    assert_eq!(reasons.len(), CALLS - LIMIT);
    let mut before: Vec<usize> = reasons
        .iter()
        .map(|reason| {
            let rest = reason.strip_prefix("a place: limit Load/gated (2 of 2 running, ");
            rest.and_then(|rest| rest.strip_suffix(" before it)")).unwrap().parse().unwrap()
        })
        .collect();
    before.sort_unstable();
    assert_eq!(before, (0..CALLS - LIMIT).collect::<Vec<_>>());

    gate.let_pass(4);
    stands(&sidecar, LIMIT, CALLS - LIMIT - 4);
    check_tools(&sidecar);

    // Who is killed or paused while it waits, waits no longer; what is paused can be resumed.
    let oldest = limits(&sidecar)["limits"][0]["oldest_waiter"].as_str().unwrap().to_owned();
    let change = |id: &str, verb: &str| {
        let url = format!("{}/invocations/{id}/{verb}", sidecar.admin);
        let answer = http::request(hyper::Method::PATCH, &url, &[], "").unwrap();
        assert!(answer.status < 300, "{verb}: {}", answer.text());
    };
    change(&oldest, "kill");
    ids.retain(|id| *id != oldest);
    stands(&sidecar, LIMIT, CALLS - LIMIT - 5);
    let next = limits(&sidecar)["limits"][0]["oldest_waiter"].as_str().unwrap().to_owned();
    change(&next, "pause");
    eventually("it is paused", || (sidecar.describe(&next)["status"] == "paused").then_some(()));
    stands(&sidecar, LIMIT, CALLS - LIMIT - 6);
    change(&next, "resume");
    stands(&sidecar, LIMIT, CALLS - LIMIT - 5);

    sidecar.kill9();
    eventually("the service lets go", || gate.inside("gated").is_empty().then_some(()));
    sidecar.restart();
    eventually("two are inside again", || (gate.inside("gated").len() == LIMIT).then_some(()));
    stands(&sidecar, LIMIT, CALLS - LIMIT - 5);

    gate.let_pass(1_000);
    all_end(&sidecar, &ids);
    assert_eq!(gate.most("gated"), LIMIT);
    stands(&sidecar, 0, 0);
}

/// The command line and the metrics show the same.
fn check_tools(sidecar: &Sidecar) {
    let output = Command::new(holdfast())
        .args(["limits", "list", "--admin", &sidecar.admin])
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = table.lines().find(|line| line.starts_with("Load/gated")).unwrap_or_default();
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells.get(..5), Some(&["Load/gated", "config", "2", "2", "14"][..]), "{table}");
    let metrics = http::get(&format!("{}/metrics", sidecar.admin)).unwrap().text();
    for line in ["running{limit=\"Load/gated\"} 2", "waiting{limit=\"Load/gated\"} 14"] {
        assert!(metrics.contains(&format!("holdfast_limit_{line}\n")), "{line}: {metrics}");
    }
}

#[test]
fn keys_with_one_prefix_share_a_limit() {
    let (_directory, gate, _service, sidecar) =
        world(r#"[{service="Account",key_prefix="eu-",concurrency=1}]"#);
    let keys = ["eu-1", "us-1", "eu-2", "us-2", "eu-3", "eu-1"];
    let sends = keys.iter().enumerate();
    let ids: Vec<_> =
        sends.map(|(id, key)| send(&sidecar, &format!("Account/{key}/charge"), id)).collect();
    eventually("one of the eu and all of the us are inside", || {
        let inside = gate.inside("charge");
        let eu = inside.iter().filter(|id| keys[id.parse::<usize>().unwrap()].starts_with("eu"));
        (inside.len() == 3 && eu.count() == 1).then_some(())
    });
    // The second call of eu-1 waits for its key, not for a place.
    stands(&sidecar, 1, 2);
    gate.let_pass(1_000);
    all_end(&sidecar, &ids);
    assert_eq!(gate.most("charge"), 3);
}

#[test]
fn metadata_limits_and_another_revision_changes_the_limit_at_once() {
    let (directory, gate) = (tempfile::tempdir().unwrap(), Gate::start());
    let sidecar = Sidecar::start(directory.path(), &[]);
    let first = Service::start(&gate, Some(1));
    sidecar.register(&first.uri);
    let ids: Vec<_> = (0..6).map(|id| send(&sidecar, "Load/gated", id)).collect();
    eventually("one is inside", || (gate.inside("gated").len() == 1).then_some(()));
    stands(&sidecar, 1, 5);
    assert_eq!(limits(&sidecar)["limits"][0]["from"], "metadata");
    let second = Service::start(&gate, Some(4));
    sidecar.register(&second.uri);
    eventually("four are inside", || (gate.inside("gated").len() == 4).then_some(()));
    stands(&sidecar, 4, 2);
    gate.let_pass(1_000);
    all_end(&sidecar, &ids);
    assert_eq!(gate.most("gated"), 4);
}

#[test]
fn a_caller_and_its_callee_share_a_limit_without_waiting_for_each_other() {
    let (_directory, _gate, _service, sidecar) = world(r#"[{service="Load",concurrency=1}]"#);
    let work = format!("{}/Load/work", sidecar.ingress);
    let answer = http::post_json(&work, &json!({ "id": "1" })).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn a_limit_of_nothing_lets_none_begin() {
    let (_directory, gate, _service, sidecar) =
        world(r#"[{service="Load",handler="gated",concurrency=0}]"#);
    gate.let_pass(1_000);
    let id = send(&sidecar, "Load/gated", 1);
    stands(&sidecar, 0, 1);
    let url = format!("{}/invocations/{id}/cancel", sidecar.admin);
    assert_eq!(http::request(hyper::Method::PATCH, &url, &[], "").unwrap().status, 202);
    let shown = eventually("what never began is cancelled at once", || {
        let shown = sidecar.describe(&id);
        (shown["status"] == "completed").then_some(shown)
    });
    assert_eq!(shown["outcome"]["code"], 409, "{shown:#}");
    assert_eq!(gate.most("gated"), 0);
    stands(&sidecar, 0, 0);
}
