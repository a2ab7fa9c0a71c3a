//! What many waiting tasks cost while clients poll them: time of the processor by the books of the
//! operating system, and memory that does not grow with what waits.

use super::client::Poller;
use super::{stage, yes};
use serde_json::json;
use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// The targets are 5,000 tasks, 50 clients and a tenth of a core; `HOLDFAST_POLL_TASKS` sets the
/// number of tasks.
const TASKS: usize = 400;
const CLIENTS: usize = 50;
/// How often each client polls each of its tasks, as it is told to while they wait for a human.
const EVERY: Duration = Duration::from_secs(5);
const ROUNDS: u32 = 2;
/// Most that a poll may cost, with all that the sidecar does beside. It is a tenth of that where
/// the machine does nothing else; the rest is for machines that do.
const POLL_COSTS_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 3 });

#[test]
fn waiting_tasks_cost_next_to_nothing() {
    let stage = stage("");
    let tasks = std::env::var("HOLDFAST_POLL_TASKS").ok().and_then(|it| it.parse().ok());
    let count: usize = tasks.unwrap_or(TASKS);
    let made = make(&stage, count);
    let id = stage.sidecar.id();
    // What is warm after the first round is not what waits.
    let (polls, _) = poll(&stage, &made, id, 1);
    assert_eq!(polls, count);
    let memory = resident(id);
    let (polls, spent) = poll(&stage, &made, id, ROUNDS);
    assert_eq!(polls, count * ROUNDS as usize, "every client walks through all its tasks");
    let took = EVERY * ROUNDS;
    let each = spent / u32::try_from(polls).unwrap();
    let grown = resident(id).saturating_sub(memory);
    println!(
        "{count} tasks, {CLIENTS} clients, {polls} polls in {took:?}: {:.1} percent of a core, \
         {each:?} each; {memory} KiB resident, {grown} KiB more after it",
        spent.as_secs_f64() / took.as_secs_f64() * 100.0
    );
    assert!(each < POLL_COSTS_MAX, "{each:?} of a processor for each poll");
    assert!(grown < 16 << 10, "memory grows with polls: {grown} KiB");
    let client = stage.client();
    client.update(&made[0], yes());
    client.see(&made[0], "completed");
}

/// Tasks that wait for a human.
fn make(stage: &super::Stage, count: usize) -> Vec<String> {
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
    let made: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(made.len(), count);
    let client = stage.client();
    for task in &made {
        client.see(task, "input_required");
    }
    made
}

/// Polls from all clients, each its own tasks in turn at its own pace, over a connection that it
/// keeps; how many polls that were, and what they cost the process `id`.
fn poll(stage: &super::Stage, tasks: &[String], id: u32, rounds: u32) -> (usize, Duration) {
    let polls = AtomicUsize::new(0);
    let before = processor_time(id);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let polls = &polls;
            scope.spawn(move || {
                let mut poller: Poller = stage.client().poller();
                let own: Vec<&String> = tasks.iter().skip(number).step_by(CLIENTS).collect();
                let turns = own.len() as u32 * rounds;
                let pace = EVERY / (own.len() as u32).max(1);
                // Not all at the same moment.
                let first = began + pace * u32::try_from(number).unwrap() / CLIENTS as u32;
                for turn in 0..turns {
                    let due = first + pace * turn;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let task = own[turn as usize % own.len()];
                    assert!(poller.asks_a_human(task), "{task} waits for a human");
                    polls.fetch_add(1, Relaxed);
                }
            });
        }
    });
    let end = began + EVERY * rounds;
    std::thread::sleep(end.saturating_duration_since(Instant::now()));
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
