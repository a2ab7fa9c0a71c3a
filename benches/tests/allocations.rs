//! Allocations, counted by an allocator of this test's own, held against bounds: of single operations,
//! of an attempt of our SDK, and of a whole sidecar that runs in this process, with its service in
//! another. One test, since all threads share one allocator.

mod common;

use benches::{Failure, micro, service};
use bytes::Bytes;
use common::{CALLS, Caller, Service, caller, hold};
use holdfast::config::Config;
use holdfast_wire::frame::Frame;
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Version;
use http_body_util::{BodyExt, Full};
use std::alloc::{GlobalAlloc, Layout, System};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, which counts. A block that grows counts as one more.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn count(&self, bytes: usize) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

// SAFETY: every method does what the system's allocator does.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count(size);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WARM_UP: u64 = 100;
const COUNTED: u64 = 300;

/// Of operations in memory.
const OPERATIONS: [(&str, f64); 10] = [
    ("frame of 300 bytes: encoded", 1.0),          // measured: 1
    ("frame of 300 bytes: decoded", 2.0),          // measured: 2
    ("64 frames in one piece: decoded", 2.0),      // measured: 2
    ("frame of 1 MiB: decoded", 2.0),              // measured: 2
    ("key of a journal entry: written", 1.0),      // measured: 1
    ("id of an invocation: as text", 2.0),         // measured: 2
    ("id of an invocation: from text", 0.0),       // measured: 0
    ("echo: accepted and completed", 47.0),        // measured: 41
    ("three steps: accepted to completed", 160.0), // measured: 140
    ("commit of 8 rows, memory", 25.0),            // measured: 21
];

/// Of an attempt of our SDK. Measured: 26.
const SDK_ECHO: f64 = 29.0;

/// Of a whole sidecar, for each call of one caller.
const SIDECAR: [(&str, f64); 5] = [
    ("echo", 158.0),      // measured: 135
    ("steps", 285.0),     // measured: 246
    ("counter", 206.0),   // measured: 177
    ("chain", 375.0),     // measured: 324
    ("awakeable", 365.0), // measured: 315
];

/// Bytes that a whole sidecar allocates for an echo of 1 MiB, in MiB: how often the payload is copied
/// or room is made for it, there and back, three times of it to compress it for the log. Measured: 15.3;
/// less or more by how the pieces come.
const LARGE: f64 = 17.0;

#[test]
fn allocations_stay_within_their_bounds() {
    let mut over = operations();
    over.extend(sdk());
    over.extend(sidecar());
    assert!(over.is_empty(), "{over:#?}");
}

/// Allocations of each of `COUNTED` times.
fn each(mut act: impl FnMut()) -> f64 {
    (0..WARM_UP).for_each(|_| act());
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    (0..COUNTED).for_each(|_| act());
    (ALLOCATIONS.load(Ordering::SeqCst) - before) as f64 / COUNTED as f64
}

fn operations() -> Vec<Failure> {
    let mut over = vec![];
    for mut operation in micro::in_memory() {
        let bound = OPERATIONS.iter().find(|(name, _)| *name == operation.name);
        let (name, bound) = bound.unwrap_or_else(|| panic!("{} has no bound", operation.name));
        over.extend(hold(name, each(|| operation.run()), *bound).err());
    }
    over
}

fn sdk() -> Option<Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let endpoint = service::endpoint();
    let frames = opening();
    let allocations = each(|| {
        let request = http::Request::post("/invoke/Bench/echo")
            .header("content-type", Version::V7.content_type())
            .body(Full::new(frames.clone()))
            .unwrap();
        let answer = runtime.block_on(endpoint.handle(request).into_body().collect());
        assert!(answer.unwrap().to_bytes().len() > 20);
    });
    hold("SDK: an attempt of echo", allocations, SDK_ECHO).err()
}

/// The start and the input of an attempt.
fn opening() -> Bytes {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: 1,
        ..pb::Start::default()
    };
    let value = Some(pb::Value { content: Bytes::from_static(b"hello, durable world") });
    let input = pb::InputCommand { value, ..pb::InputCommand::default() };
    let start = Frame::of(MessageType::START, &start).encode();
    [start, Frame::of(MessageType::INPUT, &input).encode()].concat().into()
}

fn sidecar() -> Vec<Failure> {
    let (folder, service) = (tempfile::tempdir().unwrap(), Service::start());
    let (ingress, admin) = run_here(folder.path());
    let registered = tests::http::post_json(
        &format!("http://{admin}/deployments"),
        &serde_json::json!({ "uri": service.address }),
    );
    assert_eq!(registered.unwrap().status, 201);
    let mut over = vec![];
    for ((name, ..), (named, bound)) in CALLS.iter().zip(&SIDECAR) {
        assert_eq!(name, named);
        let mut caller = caller(&ingress.to_string(), name);
        let what = format!("sidecar: {name}");
        over.extend(hold(&what, each(|| caller.call()), *bound).err());
    }
    over.extend(large(&ingress.to_string()));
    over
}

fn large(ingress: &str) -> Option<Failure> {
    const CALLS: u64 = 20;
    let body = vec![b'x'; 1 << 20];
    let mut caller = Caller::new(ingress, "/Bench/echo", "application/octet-stream", &body);
    (0..CALLS).for_each(|_| caller.call());
    let before = BYTES.load(Ordering::SeqCst);
    (0..CALLS).for_each(|_| caller.call());
    let bytes = BYTES.load(Ordering::SeqCst) - before;
    let each = bytes as f64 / CALLS as f64 / f64::from(1 << 20);
    hold("sidecar: MiB for an echo of 1 MiB", each, LARGE).err()
}

/// Runs a sidecar in this process, until it ends, and gives its two doors.
fn run_here(directory: &Path) -> (SocketAddr, SocketAddr) {
    let free = || SocketAddr::from(([127, 0, 0, 1], tests::process::free_port()));
    let mut config = Config::default();
    (config.listen.ingress, config.listen.admin) = (free(), free());
    config.store.directory = directory.to_owned();
    config.telemetry.filter = "warn".to_owned();
    let doors = (config.listen.ingress, config.listen.admin);
    std::thread::spawn(move || holdfast::node::run(config, None));
    for (door, path) in [(doors.0, "restate/health"), (doors.1, "health")] {
        tests::eventually("a door answers", || {
            let answer = tests::http::get(&format!("http://{door}/{path}")).ok()?;
            (answer.status == 200).then_some(())
        });
    }
    doors
}
