//! Processes that end with the test that started them.

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

/// A child process whose stderr is kept line by line.
pub struct Process {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub fn start(mut command: Command) -> Process {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {:?}: {error}", command.get_program()));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let stderr = child.stderr.take().expect("it is piped");
        let reader = Some(std::thread::spawn({
            let lines = lines.clone();
            move || keep_lines(stderr, &lines)
        }));
        Process { child, lines, reader }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to stderr so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// SIGKILL: it gets no chance to do anything.
    pub fn kill9(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.join();
    }

    /// SIGTERM, and waits for its end.
    pub fn terminate(&mut self) -> ExitStatus {
        let id = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the child was not waited for yet, so the id is its own.
        unsafe { libc::kill(id, libc::SIGTERM) };
        let status = crate::eventually("a process ends after SIGTERM", || self.has_ended());
        self.join();
        status
    }

    fn join(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- stderr of process {}:", self.child.id());
            for line in self.lines() {
                eprintln!("    {line}");
            }
        }
    }
}

fn keep_lines(stderr: impl Read, lines: &Mutex<Vec<String>>) {
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        lines.lock().unwrap().push(line);
    }
}

/// The binary under test: `HOLDFAST_BIN`, else beside the test's own binary.
pub fn holdfast() -> PathBuf {
    from_env_or("HOLDFAST_BIN", "holdfast")
}

/// A service under test: in `HOLDFAST_EXAMPLES`, else where `make` puts them.
pub fn example(name: &str) -> PathBuf {
    match std::env::var_os("HOLDFAST_EXAMPLES") {
        Some(directory) => PathBuf::from(directory).join(name),
        None => target().join("../foreign/release").join(name),
    }
}

/// A program of this workspace: beside the test's own binary.
pub fn beside(name: &str) -> PathBuf {
    target().join(name)
}

fn from_env_or(variable: &str, name: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| target().join(name), PathBuf::from)
}

/// `target/PROFILE`, which `target/PROFILE/deps/THIS-TEST` is in.
fn target() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(|deps| deps.parent()).expect("tests run from target/PROFILE/deps").into()
}

/// A port that was free a moment ago, for programs that take theirs from `PORT`.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
