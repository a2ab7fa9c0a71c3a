//! A disk that fills up: calls are refused from then on, with a reason, and everything that was
//! accepted before is there when there is room again. Needs the right to mount a tmpfs.

use hyper::Method;
use std::{path::Path, process::Command};
use tests::{
    eventually, http,
    process::{Process, example, free_port},
    sidecar::Sidecar,
};

const SMALL: &str = "size=40m";
const LARGE: &str = "size=400m";
/// Enough to fill the small disk many times over.
const CALLS_MAX: usize = 2_000;
const BODY_BYTES: usize = 256 * 1024;

/// A tmpfs that goes with the test.
struct Disk(tempfile::TempDir);

impl Disk {
    /// `None` where this user may not mount.
    fn mount() -> Option<Disk> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", SMALL, "tmpfs"], directory.path());
        mounted.then(|| Disk(directory))
    }

    fn grow(&self) {
        assert!(mount(&["-o", &format!("remount,{LARGE}")], self.0.path()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    let output = Command::new("mount").args(arguments).arg(at).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn what_was_accepted_before_the_disk_was_full_is_there_afterwards() {
    let Some(disk) = Disk::mount() else {
        println!("skipped: mounting a tmpfs needs root");
        return;
    };
    let port = free_port();
    let mut service = Command::new(example("load_service"));
    service.env("PORT", port.to_string());
    let mut service = Process::start(service);
    eventually("the service listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let data = disk.0.path().join("data");
    let mut sidecar = Sidecar::start(&data, &[]);
    sidecar.register(&format!("http://127.0.0.1:{port}"));
    // Nobody takes the calls: they only fill the journal.
    service.kill9();

    let (accepted, refused) = fill(&sidecar);
    assert!(!accepted.is_empty(), "the first calls fit");
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(refused.json()["source"], "ingress");
    let health = http::get(&format!("{}/holdfast/health", sidecar.admin)).unwrap();
    assert_eq!(health.status, 503, "{}", health.text());
    assert_eq!(health.json()["ready"], false);

    disk.grow();
    sidecar.kill9();
    sidecar.restart();
    for id in &accepted {
        let url = format!("{}/holdfast/invocations/{id}", sidecar.admin);
        let answer = http::get(&url).unwrap();
        assert_eq!(answer.status, 200, "{id} was accepted and is lost: {}", answer.text());
    }
    println!("{} calls were accepted before the disk was full; all are there", accepted.len());
}

/// Sends until a call is refused.
fn fill(sidecar: &Sidecar) -> (Vec<String>, http::Answer) {
    let url = format!("{}/Load/work/send", sidecar.ingress);
    let body = format!("{{\"id\":\"{}\"}}", noise(BODY_BYTES));
    let mut accepted = Vec::new();
    for _ in 0..CALLS_MAX {
        let headers = [("content-type", "application/json")];
        let answer = http::request(Method::POST, &url, &headers, &body).unwrap();
        if answer.status != 202 {
            return (accepted, answer);
        }
        accepted.push(answer.json()["invocationId"].as_str().unwrap().to_owned());
    }
    panic!("the disk of {SMALL} never was full");
}

/// Text that no compression makes small.
fn noise(bytes: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state % 26) as u8)
    };
    (0..bytes).map(letter).collect()
}
