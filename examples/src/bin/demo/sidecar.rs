//! The sidecar as the demo meets it: a binary to start and kill, an ingress and an admin address,
//! and a command line. Must never use anything that a user could not use.

use crate::Seen;
use crate::process::{Program, Running, free_port, until};
use examples::http::Http;
use serde_json::{Value, json};
use std::path::Path;
use tokio::process::Command;

/// How to start the sidecar, and where it is then.
pub struct Sidecar {
    program: Program,
    http: Http,
    pub ingress: String,
    pub admin: String,
}

impl Sidecar {
    /// Prepares a sidecar for the service at `service`; its data and log are in `folder`.
    pub fn new(folder: &Path, service: &str) -> Seen<Self> {
        let path = std::env::var_os("HOLDFAST_BIN").ok_or(
            "HOLDFAST_BIN is not set; say where the holdfast binary is, or use `make demo`",
        )?;
        let (ingress, admin) = (free_port()?, free_port()?);
        let data = folder.join("data").to_string_lossy().into_owned();
        let arguments = [
            "serve",
            "--data-dir",
            &data,
            "--ingress",
            &format!("127.0.0.1:{ingress}"),
            "--admin",
            &format!("127.0.0.1:{admin}"),
            "--service",
            service,
        ];
        let program = Program {
            name: "sidecar",
            path: path.into(),
            arguments: arguments.map(str::to_owned).into(),
            environment: vec![],
            log: folder.join("sidecar.log"),
        };
        Ok(Self {
            program,
            http: Http::default(),
            ingress: format!("http://127.0.0.1:{ingress}"),
            admin: format!("http://127.0.0.1:{admin}"),
        })
    }

    /// Starts it and waits until it knows the service `name`.
    pub async fn start(&self, name: &str) -> Seen<Running> {
        let mut running = self.program.start()?;
        let health = format!("{}/restate/health", self.ingress);
        let knows = || async {
            let health: Value = serde_json::from_slice(&self.http.get(&health).await.ok()?).ok()?;
            health["services"].as_array()?.contains(&json!(name)).then_some(())
        };
        let what = format!("the sidecar to know the service {name}");
        running.while_it_runs(until(&what, knows)).await?;
        Ok(running)
    }

    /// Waits until an invocation has a status.
    pub async fn see_status(&self, id: &str, wanted: &str) -> Seen<()> {
        let is = || async { (self.status(id).await.ok()?? == wanted).then_some(()) };
        until(&format!("the invocation to be {wanted}"), is).await
    }

    async fn status(&self, id: &str) -> Seen<Option<String>> {
        let url = format!("{}/holdfast/invocations/{id}", self.admin);
        let invocation: Value = serde_json::from_slice(&self.http.get(&url).await?)?;
        Ok(invocation["status"].as_str().map(str::to_owned))
    }

    /// The journal of an invocation as the command line shows it.
    pub async fn journal(&self, id: &str) -> Seen<String> {
        let mut command = Command::new(&self.program.path);
        command.args(["invocations", "describe", id, "--admin", &self.admin]);
        let output = command.output().await?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`holdfast invocations describe` failed: {why}").into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The binary.
    pub fn path(&self) -> &Path {
        &self.program.path
    }

    /// Where it writes its log.
    pub fn log(&self) -> &Path {
        &self.program.log
    }
}
