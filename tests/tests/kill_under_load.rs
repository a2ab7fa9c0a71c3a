//! Two thousand invocations with recorded steps while the sidecar is killed five times: whatever
//! was accepted ends, and every recorded value is one that its step really made, used once.

use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tests::{
    effects::Effects,
    eventually, eventually_within, http,
    process::{Process, example, free_port},
    sidecar::Sidecar,
};

const INVOCATIONS: usize = 2_000;
const CONCURRENCY: usize = 64;
const KILLS: usize = 5;
const STEPS: [&str; 3] = ["one", "two", "three"];
/// How often a client asks again for the outcome of what it was promised.
const TRIES: usize = 600;
/// How long a sixth of the load may take on a busy machine.
const LOAD_PATIENCE: Duration = Duration::from_secs(300);
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

#[test]
fn nothing_accepted_is_lost_when_the_sidecar_is_killed_under_load() {
    let directory = tempfile::tempdir().unwrap();
    let effects = Effects::start();
    let mut service = std::process::Command::new(example("load_service"));
    let port = free_port();
    service.env("PORT", port.to_string()).env("EFFECTS_URL", &effects.url);
    let _service = Process::start(service);
    let uri = format!("http://127.0.0.1:{port}");
    eventually("the service listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());

    let mut sidecar = Sidecar::start(directory.path(), &[]);
    sidecar.register(&uri);

    let finished = Arc::new(AtomicUsize::new(0));
    let clients = std::thread::spawn({
        let (ingress, finished) = (sidecar.ingress.clone(), finished.clone());
        move || run_clients(ingress, finished)
    });
    for kill in 1..=KILLS {
        let enough = INVOCATIONS * kill / (KILLS + 1);
        eventually_within(LOAD_PATIENCE, "the load goes on", || {
            (finished.load(Relaxed) >= enough).then_some(())
        });
        sidecar.kill9();
        sidecar.restart();
    }
    let outcomes = clients.join().expect("every client gets its outcome");
    assert_eq!(outcomes.len(), INVOCATIONS);
    check(&outcomes, &effects);
}

/// Each invocation gets one idempotency key, so that asking again never starts it twice.
fn run_clients(ingress: String, finished: Arc<AtomicUsize>) -> Vec<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let next = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..CONCURRENCY {
            clients.spawn(client(ingress.clone(), next.clone(), finished.clone()));
        }
        clients.join_all().await.into_iter().flatten().collect()
    })
}

async fn client(ingress: String, next: Arc<AtomicUsize>, finished: Arc<AtomicUsize>) -> Vec<Value> {
    let mut outcomes = Vec::new();
    loop {
        let id = next.fetch_add(1, Relaxed);
        if id >= INVOCATIONS {
            return outcomes;
        }
        outcomes.push(outcome(&ingress, id).await);
        finished.fetch_add(1, Relaxed);
    }
}

async fn outcome(ingress: &str, id: usize) -> Value {
    let url = format!("{ingress}/Load/work");
    let key = format!("load-{id}");
    let headers = [("content-type", "application/json"), ("idempotency-key", key.as_str())];
    let body = Bytes::from(json!({ "id": id.to_string() }).to_string());
    let mut last = String::new();
    for _ in 0..TRIES {
        match http::send(Method::POST, &url, &headers, body.clone()).await {
            Ok(answer) if answer.status == 200 => return answer.json(),
            Ok(answer) => last = format!("{} {}", answer.status, answer.text()),
            Err(error) => last = error.0,
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    panic!("invocation {id} has no outcome: {last}");
}

fn check(outcomes: &[Value], effects: &Effects) {
    let mut used = HashSet::new();
    for outcome in outcomes {
        let id = outcome["id"].as_str().unwrap();
        let recorded = outcome["steps"].as_array().unwrap().iter().zip(STEPS);
        for (value, step) in recorded.chain([(&outcome["child"], "child")]) {
            let value = value.as_str().unwrap();
            let made = effects.of(id, step);
            assert!(
                made.iter().any(|made| made == value),
                "{id}/{step}: {value} is not of {made:?}"
            );
            assert!(used.insert(value.to_owned()), "{id}/{step}: {value} was recorded twice");
        }
    }
    assert_eq!(used.len(), INVOCATIONS * (STEPS.len() + 1));
    let lost = effects.count() - used.len();
    println!(
        "{} recorded values, each used once; {lost} executions were cut off before",
        used.len()
    );
}
