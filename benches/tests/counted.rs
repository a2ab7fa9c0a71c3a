//! What a call costs in things that can be counted, held against bounds: system calls and fsyncs of the
//! real sidecar, commits, instructions of a decision. Not in time, which says as much about the
//! machine. Each bound is the measured value with some slack; it is lowered when something got
//! cheaper, and raised only for a reason.

mod common;

use benches::trace::Trace;
use common::{Service, caller, hold};
use std::process::Command;
use std::sync::{Barrier, Mutex, PoisonError};
use tests::sidecar::Sidecar;

/// Calls before anything counts, and calls that count.
const WARM_UP: u64 = 50;
const COUNTED: u64 = 150;
/// Callers at once, and what each calls.
const CALLERS: u64 = 32;
const COUNTED_OF_EACH: u64 = 60;

/// One caller: kind of call, system calls, fsyncs. On a machine that does other things besides, more
/// turns are taken by the partition's own thread, which is woken for them: up to 28 system calls for
/// an echo. The bounds leave room for that.
const AT_ONE_CALLER: [(&str, f64, f64); 5] = [
    ("echo", 31.0, 2.2),      // measured: 18.8 to 20.3, 2.0
    ("steps", 64.0, 5.3),     // measured: 39.7, 5.0
    ("counter", 31.0, 2.2),   // measured: 19.0 to 20.1, 2.0
    ("chain", 62.0, 4.3),     // measured: 37.6, 4.0
    ("awakeable", 62.0, 4.3), // measured: 38.3, 4.0
];

/// One test at a time, so that none disturbs another.
static ALONE: Mutex<()> = Mutex::new(());

/// Commits of an echo with 32 callers at once, each of which waits for the disk. Measured: 0.39 on a
/// busy machine; without sharing it would be 2.
const COMMITS_AT_32_CALLERS: f64 = 0.8;

/// Instructions of operations in memory, in the profile `quick`.
const INSTRUCTIONS: [(&str, f64); 3] = [
    ("echo: accepted and completed", 30_000.0), // measured: 24,984
    ("three steps: accepted to completed", 118_000.0), // measured: 98,633
    ("64 frames in one piece: decoded", 18_500.0), // measured: 15,223
];

#[test]
fn system_calls_and_fsyncs_of_one_caller() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let (mut sidecar, service) = (Sidecar::start(folder.path(), &[]), Service::start());
    sidecar.register(&service.address);
    let mut callers: Vec<_> =
        AT_ONE_CALLER.iter().map(|(name, ..)| caller(&sidecar.ingress, name)).collect();
    for caller in &mut callers {
        (0..WARM_UP).for_each(|_| caller.call());
    }
    let trace = match Trace::attach(sidecar.id()) {
        Ok(trace) => trace,
        Err(error) => return skipped("system calls and fsyncs", &error),
    };
    let mut over = vec![];
    for ((name, calls, fsyncs), caller) in AT_ONE_CALLER.iter().zip(&mut callers) {
        caller.call();
        let before = trace.counts();
        (0..COUNTED).for_each(|_| caller.call());
        let made = trace.counts().since(&before);
        println!("{name}: {}", made.told(COUNTED));
        let each = |count: u64| count as f64 / COUNTED as f64;
        over.extend(hold(&format!("{name}: system calls"), each(made.all()), *calls).err());
        over.extend(hold(&format!("{name}: fsyncs"), each(made.fsyncs()), *fsyncs).err());
    }
    sidecar.kill9();
    trace.join();
    assert!(over.is_empty(), "{over:#?}");
}

#[test]
fn callers_at_once_share_commits() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let (sidecar, service) = (Sidecar::start(folder.path(), &[]), Service::start());
    sidecar.register(&service.address);
    let commits = || {
        let metrics = tests::http::get(&format!("{}/metrics", sidecar.admin)).unwrap().text();
        let name = "holdfast_partition_commit_seconds_count";
        let line = metrics.lines().find(|line| line.starts_with(name)).expect("it is counted");
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let warm = Barrier::new(CALLERS as usize + 1);
    let begin = Barrier::new(CALLERS as usize + 1);
    let before = std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let mut caller = caller(&sidecar.ingress, "echo");
                (0..WARM_UP / 5).for_each(|_| caller.call());
                warm.wait();
                begin.wait();
                (0..COUNTED_OF_EACH).for_each(|_| caller.call());
            });
        }
        warm.wait();
        let before = commits();
        begin.wait();
        before
    });
    let each = (commits() - before) / (CALLERS * COUNTED_OF_EACH) as f64;
    hold("echo, 32 callers: commits", each, COMMITS_AT_32_CALLERS).unwrap();
}

#[test]
fn instructions_of_decisions() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    if cfg!(debug_assertions) {
        return skipped("instructions", &"the bounds are those of an optimized profile");
    }
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        return skipped("instructions", &format!("valgrind cannot be started: {error}"));
    }
    let over: Vec<_> = INSTRUCTIONS
        .iter()
        .filter_map(|(name, bound)| {
            let (few, many) = (200, 1200);
            let each = (instructions(name, many) - instructions(name, few)) / (many - few) as f64;
            hold(&format!("{name}: instructions"), each, *bound).err()
        })
        .collect();
    assert!(over.is_empty(), "{over:#?}");
}

/// Of a program that does an operation so often, in all.
fn instructions(name: &str, count: u64) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_micro"))
        .args([name, &count.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    collected.expect("callgrind says it").1.trim().parse().unwrap()
}

/// Says what could not be looked at here.
fn skipped(what: &str, why: &dyn std::fmt::Display) {
    eprintln!("skipped: {what}: {why}");
}
