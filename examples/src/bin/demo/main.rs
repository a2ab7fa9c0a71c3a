//! The demo: an agent calls the tool `refund` over MCP, the service is killed in the middle of a
//! step, the sidecar while it waits for a human, and it is refunded all the same, each step once.
//! Succeeds only if it has seen all of that. Must never pretend: kills are SIGKILL, waits are for
//! facts seen from outside, and the counts come from a process that neither kill touches.
//!
//! `HOLDFAST_BIN` is the sidecar; `KEEP=1` leaves everything running afterwards until Ctrl-C.

mod agent;
mod outside;
mod process;
mod proof;
mod sidecar;
mod stage;
mod story;

use stage::Stage;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// What was to be seen, or why it was not.
type Seen<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ndemo failed: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Seen<()> {
    let stage = Stage::set().await?;
    let told = tokio::select! {
        told = story::tell(&stage) => told,
        stopped = stopped() => stopped.and(Err("stopped before its end".into())),
    };
    let cast = told.map_err(|error| stage.explain(&*error))?;
    if std::env::var("KEEP").is_ok_and(|keep| !["", "0"].contains(&keep.as_str())) {
        tokio::select! {
            kept = story::keep(&stage) => kept?,
            stopped = stopped() => stopped?,
        }
    }
    cast.leave().await?;
    stage.clear()
}

/// Waits for Ctrl-C or SIGTERM, so that what was started is ended by leaving `run`.
async fn stopped() -> Seen<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
