//! What has ended leaves nothing behind: no row of any table, and no space on the disk; and where
//! the disk has a budget, the oldest makes room for the newest.

use bytes::Bytes;
use holdfast_machine::id::AwakeableId;
use hyper::Method;
use serde_json::{Value, json};
use std::{
    fs, io,
    net::TcpStream,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};
use tests::{
    eventually, eventually_within, http,
    process::{Process, example, free_port, holdfast},
    sidecar::Sidecar,
};

const CONCURRENCY: usize = 48;
/// How long a busy machine may take for what is a matter of seconds.
const PATIENCE: Duration = Duration::from_secs(300);
/// The data directory is looked at so often.
const INTERVAL: [&str; 2] = ["--set", "partition.retention.interval_ms=200"];

/// Every SQL table with rows of single invocations, or of keys.
const TABLES: [&str; 10] = [
    "sys_invocation_status",
    "sys_invocation_state",
    "sys_invocation",
    "sys_journal",
    "sys_journal_events",
    "state",
    "sys_inbox",
    "sys_keyed_service_status",
    "sys_locks",
    "sys_promise",
];
/// What was deployed stays, and what the store knows of its partitions.
const STAY: [&str; 3] = ["deployment", "service", "store"];

/// A sidecar and the load service.
struct World {
    directory: tempfile::TempDir,
    _service: Process,
    sidecar: Sidecar,
}

impl World {
    fn start(flags: &[&str], settings: Value) -> World {
        let directory = tempfile::tempdir().unwrap();
        let mut service = std::process::Command::new(example("load_service"));
        let port = free_port();
        service.env("PORT", port.to_string()).env_remove("EFFECTS_URL");
        let _service = Process::start(service);
        eventually("the service listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        let sidecar = Sidecar::start(directory.path(), &[&INTERVAL[..], flags].concat());
        sidecar.register(&format!("http://127.0.0.1:{port}"));
        let url = format!("{}/services/Load", sidecar.admin);
        let json = [("content-type", "application/json")];
        let patched = http::request(Method::PATCH, &url, &json, &settings.to_string()).unwrap();
        assert_eq!(patched.status, 200, "{}", patched.text());
        World { directory, _service, sidecar }
    }

    /// Bytes of all files.
    fn disk_bytes(&self) -> u64 {
        disk_bytes(self.directory.path())
    }

    fn rows(&self, table: &str) -> u64 {
        let body = json!({ "query": format!("SELECT COUNT(*) AS n FROM {table}") }).to_string();
        let json = [("content-type", "application/json"), ("accept", "application/json")];
        let url = format!("{}/query", self.sidecar.admin);
        let answer = http::request(Method::POST, &url, &json, &body).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["rows"][0]["n"].as_u64().unwrap()
    }

    /// The tables that have rows and should not.
    fn left_behind(&self) -> Vec<String> {
        let url = format!("{}/holdfast/storage?count=true", self.sidecar.admin);
        let storage = http::get(&url).unwrap().json();
        let left = storage["tables"].as_array().unwrap().iter().filter(|table| {
            !STAY.contains(&table["table"].as_str().unwrap()) && table["rows"] != 0
        });
        left.map(Value::to_string).collect()
    }

    /// Calls `handler` so often, many at once, and gives the ids in the order of the calls.
    fn call(&self, handler: &str, count: usize, more: &Value) -> Vec<String> {
        let url = format!("{}/Load/{handler}", self.sidecar.ingress);
        let next = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut ids: Vec<(usize, String)> = runtime.block_on(async {
            let mut clients = tokio::task::JoinSet::new();
            for _ in 0..CONCURRENCY {
                clients.spawn(client(url.clone(), next.clone(), count, more.clone()));
            }
            clients.join_all().await.into_iter().flatten().collect()
        });
        ids.sort();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    fn outcome(&self, id: &str) -> http::Answer {
        http::get(&format!("{}/restate/invocation/{id}/output", self.sidecar.ingress)).unwrap()
    }
}

async fn client(
    url: String,
    next: Arc<AtomicUsize>,
    count: usize,
    more: Value,
) -> Vec<(usize, String)> {
    let mut ids = vec![];
    loop {
        let number = next.fetch_add(1, Relaxed);
        if number >= count {
            return ids;
        }
        let mut body = more.clone();
        body["id"] = number.to_string().into();
        let json = [("content-type", "application/json")];
        let body = Bytes::from(body.to_string());
        let answer = http::send(Method::POST, &url, &json, body).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        ids.push((number, answer.header("x-restate-id").unwrap().to_owned()));
    }
}

/// Files may go while they are looked at.
fn disk_bytes(directory: &Path) -> u64 {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match fs::read_dir(directory) {
        Err(error) if gone(&error) => return 0,
        entries => entries.unwrap(),
    };
    let size = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        match entry.metadata() {
            Err(error) if gone(&error) => 0,
            metadata if metadata.as_ref().unwrap().is_dir() => disk_bytes(&entry.path()),
            metadata => metadata.unwrap().len(),
        }
    };
    entries.map(size).sum()
}

/// Watches a directory until it is dropped.
struct Peak {
    bytes: Arc<AtomicUsize>,
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peak {
    fn watch(directory: PathBuf) -> Peak {
        let (bytes, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (most, stop) = (bytes.clone(), enough.clone());
        let thread = std::thread::spawn(move || {
            while !stop.load(Relaxed) {
                most.fetch_max(usize::try_from(disk_bytes(&directory)).unwrap(), Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Peak { bytes, enough, thread: Some(thread) }
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed) as u64
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.enough.store(true, Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn ten_thousand_invocations_leave_nothing_behind() {
    const COUNT: usize = 10_000;
    /// A log that is not worth a flush, and the files that the engine always has.
    const LEFT_BYTES_MAX: u64 = 512 << 10;
    let short = json!({ "journal_retention": "2s", "idempotency_retention": "2s" });
    let world = World::start(&[], short);
    let empty = world.disk_bytes();
    let peak = Peak::watch(world.directory.path().to_owned());
    let ids = world.call("child", COUNT, &json!({}));
    assert_eq!(ids.len(), COUNT);
    assert!(world.rows("sys_journal") > 0, "the last ones are still there");
    for table in TABLES {
        eventually_within(PATIENCE, &format!("{table} is empty"), || {
            (world.rows(table) == 0).then_some(())
        });
    }
    eventually_within(PATIENCE, "no row is left but what is deployed", || {
        world.left_behind().is_empty().then_some(())
    });
    assert_eq!(world.outcome(&ids[0]).status, 404);
    let mut least = u64::MAX;
    eventually_within(PATIENCE, "the disk shrinks", || {
        least = least.min(world.disk_bytes());
        (least <= LEFT_BYTES_MAX).then_some(())
    });
    assert!(peak.bytes() > 4 * LEFT_BYTES_MAX, "there was nothing to shrink: {}", peak.bytes());
    println!("data directory: {empty} bytes empty, {} at most, {least} at the end", peak.bytes());
    shows_tables(&world);
}

fn shows_tables(world: &World) {
    let mut storage = std::process::Command::new(holdfast());
    storage.args(["storage", "--count", "--admin", &world.sidecar.admin]);
    let shown = String::from_utf8(storage.output().unwrap().stdout).unwrap();
    assert!(shown.contains("service") && shown.contains("in all"), "{shown}");
    assert!(!shown.contains("journal"), "{shown}");
}

#[test]
fn the_oldest_makes_room_for_the_newest() {
    const BUDGET: u64 = 48 << 20;
    /// What comes in between two looks, twice: it is in the log, and then in files; and all files
    /// once more, which for a moment are there twice while they are rewritten.
    const MARGIN: u64 = 2 * ROUND * BYTES * 3 + BUDGET;
    const ROUND: u64 = 100;
    const BYTES: u64 = 24_000;
    let setting = format!("partition.retention.disk_bytes_max={BUDGET}");
    let flags = ["--set", &setting, "--set", "store.log_bytes_max=8388608"];
    let world = World::start(&flags, json!({ "inactivity_timeout": "100ms" }));
    let waits = send_wait(&world);
    let peak = Peak::watch(world.directory.path().to_owned());
    // Twice in the journal and once as the outcome.
    let mut ids = vec![];
    while ids.len() as u64 * BYTES * 3 < 4 * BUDGET {
        ids.extend(world.call("fill", ROUND as usize, &json!({ "bytes": BYTES })));
        eventually_within(PATIENCE, "the directory is within its budget", || {
            (world.disk_bytes() <= BUDGET).then_some(())
        });
    }
    let newest = ids.last().unwrap();
    assert_eq!(world.outcome(&ids[0]).status, 404, "the oldest is forgotten");
    let outcome = world.outcome(newest);
    assert_eq!(outcome.status, 200, "the newest is kept: {}", outcome.text());
    assert!(outcome.body.len() as u64 > BYTES);
    assert!(peak.bytes() <= BUDGET + MARGIN, "{} bytes at most", peak.bytes());
    let kept = ids.iter().filter(|id| world.outcome(id).status == 200).count();
    println!(
        "{} of {} are kept in {} bytes of {BUDGET}, {} at most",
        kept,
        ids.len(),
        world.disk_bytes(),
        peak.bytes()
    );
    assert!(kept * 10 >= ids.len(), "more than needed was forgotten: {kept} are kept");
    let metrics = http::get(&format!("{}/metrics", world.sidecar.admin)).unwrap().text();
    assert!(metrics.contains("holdfast_retention_over_budget 0"), "{metrics}");
    wakes(&world, &waits);
}

/// An old one that waits.
fn send_wait(world: &World) -> String {
    let url = format!("{}/Load/wait/send", world.sidecar.ingress);
    let sent = http::post_json(&url, &json!({ "id": "old" })).unwrap().json();
    let id = sent["invocationId"].as_str().unwrap().to_owned();
    eventually("it is suspended", || {
        (world.sidecar.describe(&id)["status"] == "suspended").then_some(())
    });
    id
}

/// It was older than all that was forgotten, and finishes.
fn wakes(world: &World, id: &str) {
    let awakeable = AwakeableId { invocation: id.parse().unwrap(), signal: 17 };
    let url = format!("{}/restate/awakeables/{awakeable}/resolve", world.sidecar.ingress);
    let resolved = http::post_json(&url, &json!("at last")).unwrap();
    assert!(resolved.status < 300, "{}", resolved.text());
    let outcome = eventually("it ends", || {
        let outcome = world.outcome(id);
        (outcome.status == 200).then_some(outcome)
    });
    assert!(outcome.text().contains("at last"), "{}", outcome.text());
}
