//! The service that `holdfast run` starts beside the sidecar: told its port through `PORT`, ended
//! with the sidecar, and never started again behind anybody's back.

use super::Error;
use crate::config::Config;
use std::{net::TcpListener, time::Duration};
use tokio::process::Command;

/// How long a service may take to end after it was asked to.
const END_WAIT: Duration = Duration::from_secs(10);

/// A running service.
pub struct Child {
    process: tokio::process::Child,
    command: String,
}

impl Child {
    /// Starts `command` on a free port (or on `PORT`, where that is set) and makes `config` wait
    /// for it.
    pub fn start(command: Vec<String>, config: &mut Config) -> Result<Child, Error> {
        let shown = command.join(" ");
        let failed = |reason: String| Error::Child { command: shown.clone(), reason };
        let (program, arguments) =
            command.split_first().ok_or_else(|| failed("there is no program".into()))?;
        let port = match std::env::var("PORT") {
            Ok(port) => port,
            Err(_) => free_port().map_err(|error| failed(error.to_string()))?.to_string(),
        };
        let process = Command::new(program)
            .args(arguments)
            .env("PORT", &port)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        tracing::info!(command = shown, port, "the service is started");
        config.services.push(format!("http://127.0.0.1:{port}"));
        Ok(Child { process, command: shown })
    }

    /// Asks the service to end, and ends it when it does not.
    pub async fn stop(mut self) {
        if matches!(self.process.try_wait(), Ok(Some(_))) {
            return;
        }
        if let Some(id) = self.process.id().and_then(|id| libc::pid_t::try_from(id).ok()) {
            // SAFETY: a signal to a process of ours that was not waited for yet, so its id is its own.
            unsafe { libc::kill(id, libc::SIGTERM) };
        }
        if tokio::time::timeout(END_WAIT, self.process.wait()).await.is_err() {
            tracing::warn!(command = self.command, "the service does not end; killing it");
            if let Err(error) = self.process.kill().await {
                tracing::error!(%error, "the service cannot be killed");
            }
        }
    }
}

/// Waits for the end of the service and says how it ended; for ever where there is none.
pub async fn ended(child: &mut Option<Child>) -> String {
    let Some(child) = child else { return std::future::pending().await };
    match child.process.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
