//! Processes that the demo starts, kills for real and starts again. Must never outlive the demo.

use crate::Seen;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// How long the demo waits for one thing to happen; a loaded machine may be slow.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at something that is not there yet.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const SIGKILL: i32 = 9;

/// A program that can be started many times with the same arguments.
pub struct Program {
    pub name: &'static str,
    pub path: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(&'static str, String)>,
    pub log: PathBuf,
}

/// One run of a program; ended with SIGKILL when dropped.
pub struct Running {
    name: &'static str,
    child: Child,
}

impl Program {
    /// Starts it; what it says is appended to its log.
    pub fn start(&self) -> Seen<Running> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let child = Command::new(&self.path)
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.path.display()))?;
        println!("   {} is process {}", self.name, child.id().unwrap_or_default());
        Ok(Running { name: self.name, child })
    }
}

impl Running {
    /// Sends SIGKILL and sees the process die of it.
    pub async fn kill(self) -> Seen<()> {
        let (name, id) = (self.name, self.child.id().unwrap_or_default());
        let status = self.end().await?;
        if status.signal() != Some(SIGKILL) {
            return Err(format!("the {name} had ended by itself: {status}").into());
        }
        println!("   kill -9 {id}: the {name} is dead");
        Ok(())
    }

    /// Waits for something that cannot happen any more once the process has ended.
    pub async fn while_it_runs<T>(&mut self, wait: impl Future<Output = Seen<T>>) -> Seen<T> {
        tokio::select! {
            seen = wait => seen,
            ended = self.child.wait() => Err(format!("the {} has ended: {}", self.name, ended?).into()),
        }
    }

    /// Ends the process without a word.
    pub async fn end(mut self) -> Seen<ExitStatus> {
        self.child.start_kill()?;
        Ok(self.child.wait().await?)
    }
}

/// Looks again and again until there is something; an error names what never came.
pub async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut look: impl FnMut() -> F,
) -> Seen<T> {
    let start = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return Ok(seen);
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("waited {} s for {what}", PATIENCE.as_secs()).into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> Seen<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The program `name` that was built beside this one.
pub fn beside(name: &str) -> Seen<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// The last lines of a log, for whoever has to find out what went wrong.
pub fn tail(log: &Path) -> String {
    const LINES: usize = 15;
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
