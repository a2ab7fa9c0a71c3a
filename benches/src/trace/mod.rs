//! Counting the system calls of a process that runs already, by tracing it, so that no tool has to be
//! installed. Tracing slows a process down a lot: count with it, never time.

#[cfg(target_os = "linux")]
mod linux;

use crate::Failure;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

/// Numbers of system calls are lower.
const NUMBERS: usize = 1024;

/// A process under observation. Ends by itself when the process does.
pub struct Trace {
    counts: Arc<Vec<AtomicU64>>,
    thread: Option<JoinHandle<()>>,
}

/// How often each system call was made, by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<i64, u64>);

impl Trace {
    /// Observes all threads of a process of this user, and those that it begins.
    ///
    /// # Errors
    /// When this is not allowed here.
    pub fn attach(process: u32) -> Result<Trace, Failure> {
        let counts: Arc<Vec<AtomicU64>> = Arc::new((0..NUMBERS).map(|_| 0.into()).collect());
        let (attached, wait) = sync_channel(1);
        // All that is asked of a traced thread has to be asked by one and the same thread.
        let thread = std::thread::spawn({
            let counts = counts.clone();
            move || observe(process, &counts, &attached)
        });
        wait.recv()??;
        Ok(Trace { counts, thread: Some(thread) })
    }

    pub fn counts(&self) -> Counts {
        let made = self.counts.iter().map(|count| count.load(Ordering::SeqCst));
        Counts((0..).zip(made).filter(|(_, count)| *count > 0).collect())
    }

    /// Waits until the process has ended.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            // It does not panic, and if it did there would be nothing to do.
            let _ = thread.join();
        }
    }
}

impl Counts {
    /// What was made since `before`.
    pub fn since(&self, before: &Counts) -> Counts {
        let earlier = |number: &i64| before.0.get(number).copied().unwrap_or_default();
        let left = self.0.iter().map(|(number, count)| (*number, count - earlier(number)));
        Counts(left.filter(|(_, count)| *count > 0).collect())
    }

    pub fn all(&self) -> u64 {
        self.0.values().sum()
    }

    /// Calls that wait until data is on the disk.
    pub fn fsyncs(&self) -> u64 {
        self.of("fsync") + self.of("fdatasync")
    }

    /// Of one kind, by its name.
    fn of(&self, wanted: &str) -> u64 {
        let of_name = self.0.iter().filter(|(number, _)| name(**number) == wanted);
        of_name.map(|(_, count)| count).sum()
    }

    /// The most frequent ones for each of `calls`, for people.
    pub fn told(&self, calls: u64) -> String {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let each = |(number, count): &(&i64, &u64)| {
            format!("{} {:.2}", name(**number), **count as f64 / calls as f64)
        };
        sorted.iter().take(8).map(each).collect::<Vec<_>>().join(", ")
    }
}

type Attached = std::sync::mpsc::SyncSender<Result<(), std::io::Error>>;

#[cfg(target_os = "linux")]
fn observe(process: u32, counts: &[AtomicU64], attached: &Attached) {
    let seized = linux::seize(process);
    let watching = seized.is_ok();
    // Whoever asked waits for this.
    let _ = attached.send(seized);
    if watching {
        linux::watch(process, counts);
    }
}

#[cfg(not(target_os = "linux"))]
fn observe(_: u32, _: &[AtomicU64], attached: &Attached) {
    // Whoever asked waits for this.
    let _ = attached.send(Err(std::io::Error::other("only Linux can be asked so")));
}

#[cfg(target_os = "linux")]
use linux::name;

#[cfg(not(target_os = "linux"))]
fn name(number: i64) -> String {
    format!("call {number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn the_system_calls_of_a_process_are_counted() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut from = BufReader::new(from);
        let mut line = String::new();
        let mut echo = |count: usize| {
            for _ in 0..count {
                to.write_all(b"a line\n").unwrap();
                from.read_line(&mut line).unwrap();
            }
        };
        echo(1);
        match Trace::attach(child.id()) {
            Err(error) => eprintln!("skipped: tracing is not allowed here: {error}"),
            Ok(trace) => {
                echo(1);
                let before = trace.counts();
                echo(50);
                let made = trace.counts().since(&before);
                assert!((45..=60).contains(&made.of("read")), "{made:?}");
                assert!((45..=60).contains(&made.of("write")), "{made:?}");
                assert_eq!(made.fsyncs(), 0);
                drop(to);
                trace.join();
            }
        }
        // It may have ended.
        let _ = child.kill();
        assert!(child.wait().is_ok(), "its end is left to its parent");
    }
}
