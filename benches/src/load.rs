//! Load. Closed: so many callers, each makes its next call when it has the answer to the last. Open:
//! calls are due at a rate, whoever answers or not, and their latency counts from when they were due,
//! so that a server that stands still is seen to stand still.

use crate::Failure;
use crate::call::Caller;
use crate::histogram::Histogram;
use crate::scenario::{Request, Scenario};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Callers that share the calls of an open loop; a call waits where all of them wait.
const OPEN_CALLERS: u32 = 256;

/// A run that fails this often is broken, not slow.
const FAILED_MAX: u64 = 100;

/// How long, and how long before anything counts.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub warm_up: Duration,
    pub measured: Duration,
}

/// What came of it.
#[derive(Clone)]
pub struct Measured {
    /// In nanoseconds.
    pub latencies: Histogram,
    pub failed: u64,
    /// The measured time.
    pub lasted: Duration,
    /// Calls that were answered, those of the warm-up included.
    pub answered: u64,
    /// When the warm-up began.
    pub begun: Instant,
}

/// What all callers of a run share.
struct Run {
    scenario: Scenario,
    /// Calls that begin before do not count.
    counts_from: Instant,
    until: Instant,
    begun: Instant,
    answered: AtomicU64,
    failed: AtomicU64,
    first_failure: Mutex<Option<Failure>>,
}

impl Run {
    fn new(scenario: Scenario, times: Times) -> Arc<Run> {
        let begun = Instant::now();
        let counts_from = begun + times.warm_up;
        Arc::new(Run {
            scenario,
            begun,
            answered: AtomicU64::new(0),
            counts_from,
            until: counts_from + times.measured,
            failed: AtomicU64::new(0),
            first_failure: Mutex::new(None),
        })
    }

    /// One call, and a look at its answer.
    async fn call(&self, caller: &mut Caller, request: Request) -> Result<(), Failure> {
        let Request { path, content_type, body } = request;
        let answer = caller.post(&path, content_type, body).await?;
        match self.scenario.expected_bytes() {
            Some(bytes) if bytes != answer.len() => {
                Err(format!("{path} answered {} bytes, expected {bytes}", answer.len()).into())
            }
            _ => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    fn note(&self, failure: Failure) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first_failure.lock().expect("nobody panics with it");
        first.get_or_insert(failure);
    }

    /// Who calls on after a failure; nobody where there is no connection any more.
    async fn after(&self, failure: Failure, ingress: &str) -> Option<Caller> {
        self.note(failure);
        Caller::connect(ingress).await.ok()
    }

    fn is_broken(&self) -> bool {
        self.failed.load(Ordering::Relaxed) > FAILED_MAX
    }

    fn over(&self) -> bool {
        Instant::now() >= self.until || self.is_broken()
    }

    /// Waits until the measured time begins, then until it ends.
    async fn around<T>(&self, look: impl Fn() -> T) -> (T, T) {
        tokio::time::sleep_until(self.counts_from.into()).await;
        let before = look();
        tokio::time::sleep_until(self.until.into()).await;
        (before, look())
    }

    fn result(&self, latencies: Histogram) -> Result<Measured, Failure> {
        let failed = self.failed.load(Ordering::Relaxed);
        if self.is_broken() || (latencies.total() == 0 && failed > 0) {
            let first = self.first_failure.lock().expect("nobody panics with it").take();
            let why = first.map_or_else(String::new, |failure| failure.to_string());
            return Err(format!("{}: {failed} calls failed: {why}", self.scenario.name()).into());
        }
        Ok(Measured {
            latencies,
            failed,
            lasted: self.until - self.counts_from,
            answered: self.answered.load(Ordering::Relaxed),
            begun: self.begun,
        })
    }
}

/// So many callers at once. `look` is called when the measured time begins and when it ends.
pub async fn closed<T>(
    ingress: &str,
    scenario: Scenario,
    callers: u32,
    times: Times,
    look: impl Fn() -> T,
) -> Result<(Measured, (T, T)), Failure> {
    let run = Run::new(scenario, times);
    let mut tasks = JoinSet::new();
    for number in 0..callers {
        let caller = Caller::connect(ingress).await?;
        tasks.spawn(again_and_again(run.clone(), ingress.to_owned(), caller, number));
    }
    let looked = run.around(look).await;
    let mut latencies = Histogram::default();
    while let Some(of_one) = tasks.join_next().await {
        latencies.add(&of_one?);
    }
    Ok((run.result(latencies)?, looked))
}

async fn again_and_again(
    run: Arc<Run>,
    ingress: String,
    mut caller: Caller,
    number: u32,
) -> Histogram {
    let mut latencies = Histogram::default();
    let mut calls = 0;
    while !run.over() {
        let request = run.scenario.request(number, calls);
        calls += 1;
        let begun = Instant::now();
        match run.call(&mut caller, request).await {
            Ok(()) if begun >= run.counts_from && Instant::now() <= run.until => {
                latencies.record(nanos(begun.elapsed()));
            }
            Ok(()) => {}
            Err(failure) => {
                let Some(next) = run.after(failure, &ingress).await else {
                    return latencies;
                };
                caller = next;
            }
        }
    }
    latencies
}

/// Calls that are due and not taken.
struct Due {
    times: Mutex<VecDeque<Instant>>,
    there: Semaphore,
    ended: AtomicBool,
}

/// So many calls for each second, evenly spread.
pub async fn open<T>(
    ingress: &str,
    scenario: Scenario,
    rate: f64,
    times: Times,
    look: impl Fn() -> T,
) -> Result<(Measured, (T, T)), Failure> {
    let mut callers = vec![];
    for _ in 0..OPEN_CALLERS {
        callers.push(Caller::connect(ingress).await?);
    }
    let run = Run::new(scenario, times);
    let due = Arc::new(Due {
        times: Mutex::default(),
        there: Semaphore::new(0),
        ended: AtomicBool::new(false),
    });
    let mut tasks = JoinSet::new();
    for (number, caller) in (0..).zip(callers) {
        tasks.spawn(whenever_due(run.clone(), due.clone(), ingress.to_owned(), caller, number));
    }
    let clock = std::thread::spawn({
        let (run, due) = (run.clone(), due.clone());
        move || tick(&run, &due, rate)
    });
    let looked = run.around(look).await;
    let mut latencies = Histogram::default();
    while let Some(of_one) = tasks.join_next().await {
        latencies.add(&of_one?);
    }
    clock.join().map_err(|_| "the clock of the open loop ended badly")?;
    Ok((run.result(latencies)?, looked))
}

/// Says when calls are due. A thread of its own, since timers of the runtime are a millisecond coarse.
fn tick(run: &Run, due: &Due, rate: f64) {
    let begun = Instant::now();
    for number in 0u64.. {
        let at = begun + Duration::from_secs_f64(number as f64 / rate);
        if at >= run.until || run.is_broken() {
            break;
        }
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        due.times.lock().expect("nobody panics with it").push_back(at);
        due.there.add_permits(1);
    }
    due.ended.store(true, Ordering::SeqCst);
    due.there.add_permits(OPEN_CALLERS as usize);
}

async fn whenever_due(
    run: Arc<Run>,
    due: Arc<Due>,
    ingress: String,
    mut caller: Caller,
    number: u32,
) -> Histogram {
    let mut latencies = Histogram::default();
    for calls in 0.. {
        if let Ok(permit) = due.there.acquire().await {
            permit.forget();
        }
        let at = due.times.lock().expect("nobody panics with it").pop_front();
        let Some(at) = at else {
            if due.ended.load(Ordering::SeqCst) {
                break;
            }
            continue;
        };
        match run.call(&mut caller, run.scenario.request(number, calls)).await {
            Ok(()) if at >= run.counts_from => latencies.record(nanos(at.elapsed())),
            Ok(()) => {}
            Err(failure) => {
                let Some(next) = run.after(failure, &ingress).await else {
                    return latencies;
                };
                caller = next;
            }
        }
    }
    latencies
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
