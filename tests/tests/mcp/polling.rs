//! What many waiting tasks cost while clients poll them: time of the processor by the books of the
//! operating system, and memory that does not grow with what waits.

use super::{stage, yes};
use serde_json::json;
use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The targets are 5,000 tasks, 50 clients and a tenth of a core; `HOLDFAST_POLL_TASKS` sets the
/// number of tasks. A build without optimisation may take several times as long.
const TASKS: usize = 400;
const CLIENTS: usize = 50;
/// How often each client polls, as it is told to while a task waits for a human.
const EVERY: Duration = Duration::from_secs(5);
const FOR: Duration = Duration::from_secs(10);

#[test]
fn waiting_tasks_cost_next_to_nothing() {
    let stage = stage("");
    let tasks = std::env::var("HOLDFAST_POLL_TASKS").ok().and_then(|it| it.parse().ok());
    let count: usize = tasks.unwrap_or(TASKS);
    let made: Vec<String> = {
        let next = AtomicUsize::new(0);
        let work = || {
            let client = stage.client();
            let mut made = vec![];
            while next.fetch_add(1, Relaxed) < count {
                let task = client.call("refund", json!({ "orderId": "o", "amount": 3 }));
                made.push(task["taskId"].as_str().unwrap().to_owned());
            }
            made
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
        })
    };
    assert_eq!(made.len(), count);
    let client = stage.client();
    for task in &made {
        client.see(task, "input_required");
    }
    let id = stage.sidecar.id();
    let memory = resident(id);
    let (polls, spent) = poll(&stage, &made, id);
    let share = spent.as_secs_f64() / FOR.as_secs_f64();
    let grown = resident(id).saturating_sub(memory);
    println!(
        "{count} tasks, {CLIENTS} clients, {polls} polls in {FOR:?}: {:.1} percent of a core, \
         {memory} KiB resident, {grown} KiB more after it",
        share * 100.0
    );
    let limit = if cfg!(debug_assertions) { 0.6 } else { 0.1 };
    assert!(share < limit, "{:.1} percent of a core", share * 100.0);
    assert!(grown < 16 << 10, "memory grows with polls: {grown} KiB");
    client.update(&made[0], yes());
    client.see(&made[0], "completed");
}

/// Polls from all clients, each at its own pace; how many polls that were, and what they cost.
fn poll(stage: &super::Stage, tasks: &[String], id: u32) -> (usize, Duration) {
    let polls = AtomicUsize::new(0);
    let before = processor_time(id);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let polls = &polls;
            scope.spawn(move || {
                let client = stage.client();
                // Not all at the same moment.
                let mut due = began + EVERY * u32::try_from(number).unwrap() / 50;
                let mut turn = number;
                while due < began + FOR {
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let seen = client.get(&tasks[turn % tasks.len()]);
                    assert_eq!(seen["status"], "input_required", "{seen}");
                    polls.fetch_add(1, Relaxed);
                    (turn, due) = (turn + CLIENTS, due + EVERY);
                }
            });
        }
    });
    std::thread::sleep((began + FOR).saturating_duration_since(Instant::now()));
    (polls.into_inner(), processor_time(id) - before)
}

/// What a process has used of the processor so far.
fn processor_time(id: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // SAFETY: a question about a constant of the system.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Duration::from_secs_f64(ticks as f64 / per_second as f64)
}

/// Memory of a process, in KiB.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}
