//! The real sidecar on a data directory of the test's own.

use crate::{eventually, http, process, process::Process};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A running sidecar. Ports are the ones that the system gave it, and stay over a restart, so that
/// clients can go on.
pub struct Sidecar {
    process: Process,
    directory: PathBuf,
    flags: Vec<String>,
    /// `http://127.0.0.1:PORT`
    pub ingress: String,
    pub admin: String,
}

impl Sidecar {
    /// Starts on `directory` with further flags, and waits until both doors answer.
    pub fn start(directory: &Path, flags: &[&str]) -> Sidecar {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let (process, ingress, admin) = launch(directory, &flags, "127.0.0.1:0", "127.0.0.1:0");
        Sidecar { process, directory: directory.to_owned(), flags, ingress, admin }
    }

    /// kill -9.
    pub fn kill9(&mut self) {
        self.process.kill9();
    }

    /// SIGTERM; true where it ended with status 0.
    pub fn terminate(&mut self) -> bool {
        self.process.terminate().success()
    }

    /// Starts again on the same directory and the same ports.
    pub fn restart(&mut self) {
        let (ingress, admin) = (address(&self.ingress), address(&self.admin));
        let (process, ..) = launch(&self.directory, &self.flags, &ingress, &admin);
        self.process = process;
    }

    pub fn lines(&self) -> Vec<String> {
        self.process.lines()
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Registers the services at `uri`.
    pub fn register(&self, uri: &str) -> Value {
        let body = serde_json::json!({ "uri": uri });
        let answer = http::post_json(&format!("{}/deployments", self.admin), &body).unwrap();
        assert!(
            answer.status == 201 || answer.status == 200,
            "{}: {}",
            answer.status,
            answer.text()
        );
        answer.json()
    }

    /// `GET /holdfast/invocations/{id}` on the admin listener.
    pub fn describe(&self, id: &str) -> Value {
        http::get(&format!("{}/holdfast/invocations/{id}", self.admin)).unwrap().json()
    }
}

/// The command that `holdfast serve` is, with its settings.
pub fn command(directory: &Path, flags: &[String], ingress: &str, admin: &str) -> Command {
    let mut command = Command::new(process::holdfast());
    command.args(["serve", "--log-format", "json", "--ingress", ingress, "--admin", admin]);
    command.arg("--data-dir").arg(directory).args(flags);
    command
}

fn launch(
    directory: &Path,
    flags: &[String],
    ingress: &str,
    admin: &str,
) -> (Process, String, String) {
    let mut process = Process::start(command(directory, flags, ingress, admin));
    let (ingress, admin) = eventually("the sidecar says where its doors are", || {
        if let Some(status) = process.has_ended() {
            panic!("the sidecar ended with {status}: {:?}", process.lines());
        }
        process.lines().iter().find_map(|line| doors(line))
    });
    for url in [format!("{ingress}/restate/health"), format!("{admin}/health")] {
        eventually("a door answers", || http::get(&url).ok().filter(|answer| answer.status == 200));
    }
    (process, ingress, admin)
}

/// The two addresses in the line that says that the sidecar is ready.
fn doors(line: &str) -> Option<(String, String)> {
    let line: Value = serde_json::from_str(line).ok()?;
    let address = |name: &str| Some(line.get(name)?.as_str()?.to_owned());
    Some((address("ingress")?, address("admin")?))
}

fn address(url: &str) -> String {
    url.trim_start_matches("http://").to_owned()
}
