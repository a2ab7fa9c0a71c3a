//! What is measured: a sidecar of our own with a data directory that vanishes, or a server that is
//! there already; and the service, registered with it. Everything that was started here ends with
//! the stage.

use crate::Failure;
use crate::call::Caller;
use crate::usage::{self, Usage};
use bytes::Bytes;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a process may take to say where it listens, and to end.
const START_MAX: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Which server.
pub enum Server {
    /// This program, started here. `data` is the folder in which its directory is made.
    Ours { program: PathBuf, data: Option<PathBuf>, flags: Vec<String> },
    /// One that listens there; `process` is known only if it runs on this machine.
    There { ingress: String, admin: String, process: Option<u32> },
}

/// A server and the service behind it.
pub struct Stage {
    pub ingress: String,
    server: Option<Running>,
    service: Running,
    process: Option<u32>,
    directory: Option<TempDir>,
}

/// A process that ends when this is dropped.
struct Running(Child);

impl Stage {
    /// Starts what is to be started and registers the service, which is `service` or listens there.
    pub async fn set(server: Server, service: &Path) -> Result<Stage, Failure> {
        let (service, its_address) = start_service(service)?;
        let (server, process, directory, ingress, admin) = match server {
            Server::There { ingress, admin, process } => (None, process, None, ingress, admin),
            Server::Ours { program, data, flags } => {
                let folder = match data {
                    Some(data) => TempDir::new_in(data)?,
                    None => TempDir::new()?,
                };
                let (server, ingress, admin) = start_server(&program, folder.path(), &flags)?;
                let process = Some(server.0.id());
                (Some(server), process, Some(folder), ingress, admin)
            }
        };
        let stage = Stage { ingress, server, service, process, directory };
        register(&admin, &its_address).await?;
        Ok(stage)
    }

    /// What the server has used, if it is known which process it is.
    pub fn server_usage(&self) -> Option<Usage> {
        usage::of(self.process?)
    }

    pub fn service_usage(&self) -> Option<Usage> {
        usage::of(self.service.0.id())
    }

    /// Bytes on disk of a sidecar of our own.
    pub fn disk_bytes(&self) -> Option<u64> {
        Some(bytes_below(self.directory.as_ref()?.path()))
    }

    /// Waits until the service has received so many messages.
    pub async fn received(&self, messages: u64, patience: Duration) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut caller = Caller::connect(&self.ingress).await?;
        loop {
            let received = received(&mut caller).await?;
            if received >= messages {
                return Ok(());
            }
            if begun.elapsed() > patience {
                let said = format!("{received} of {messages} messages came in {patience:?}");
                return Err(said.into());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Messages so far.
    pub async fn received_so_far(&self) -> Result<u64, Failure> {
        received(&mut Caller::connect(&self.ingress).await?).await
    }

    /// Ends the sidecar as an operator would.
    pub fn end(mut self) -> Result<(), Failure> {
        match &mut self.server {
            Some(server) => server.terminate(),
            None => Ok(()),
        }
    }
}

async fn received(caller: &mut Caller) -> Result<u64, Failure> {
    let answer = caller.post("/Bench/received", "", Bytes::new()).await?;
    Ok(serde_json::from_slice(&answer)?)
}

impl Running {
    fn terminate(&mut self) -> Result<(), Failure> {
        let process = libc::pid_t::try_from(self.0.id())?;
        // SAFETY: the child was not waited for yet, so the id is its own.
        unsafe { libc::kill(process, libc::SIGTERM) };
        let begun = Instant::now();
        while self.0.try_wait()?.is_none() {
            if begun.elapsed() > START_MAX {
                return Err(format!("the sidecar does not end within {START_MAX:?}").into());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Whoever has ended already cannot be ended again.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start_service(program: &Path) -> Result<(Running, String), Failure> {
    let mut command = Command::new(program);
    command.env("PORT", "0").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = spawn(command)?;
    let out = child.stdout.take().ok_or("no output")?;
    let running = Running(child);
    let said = |line: &str| line.trim().strip_prefix("listening on ").map(str::to_owned);
    let address = first(out, said)
        .ok_or_else(|| format!("{} did not say where it listens", program.display()))?;
    Ok((running, address))
}

fn start_server(
    program: &Path,
    directory: &Path,
    flags: &[String],
) -> Result<(Running, String, String), Failure> {
    let mut command = Command::new(program);
    command.args(["serve", "--log-format", "json", "--ingress", "127.0.0.1:0"]);
    command.args(["--admin", "127.0.0.1:0", "--data-dir"]).arg(directory).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let log = child.stderr.take().ok_or("no log")?;
    let running = Running(child);
    let doors = first(log, |line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let address = |name: &str| Some(line.get(name)?.as_str()?.to_owned());
        Some((address("ingress")?, address("admin")?))
    });
    let (ingress, admin) =
        doors.ok_or_else(|| format!("{} did not say where its doors are", program.display()))?;
    Ok((running, ingress, admin))
}

fn spawn(mut command: Command) -> Result<Child, Failure> {
    command.spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        format!("cannot start {program}: {error}").into()
    })
}

/// The first line in which something is found. What is written after it is read and forgotten, so
/// that nobody waits for a reader.
fn first<T: Send + 'static>(
    out: impl Read + Send + 'static,
    find: impl Fn(&str) -> Option<T> + Send + 'static,
) -> Option<T> {
    let (found, wanted) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        if let Some(it) = lines.find_map(|line| find(&line)) {
            // Whoever waited may have given up.
            let _ = found.send(it);
        }
        lines.for_each(drop);
    });
    wanted.recv_timeout(START_MAX).ok()
}

async fn register(admin: &str, service: &str) -> Result<(), Failure> {
    let body = json!({ "uri": service }).to_string();
    let begun = Instant::now();
    loop {
        let registered = async {
            let mut caller = Caller::connect(admin).await?;
            caller.post("/deployments", "application/json", body.clone().into()).await
        };
        match registered.await {
            Ok(_) => return Ok(()),
            Err(error) if begun.elapsed() > START_MAX / 3 => {
                return Err(format!("cannot register {service} with {admin}: {error}").into());
            }
            Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(it) if it.is_dir() => bytes_below(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
