//! What time it is. Never goes backwards within a process, so that what was due stays due.

use holdfast_machine::time::Timestamp;
use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Where the partitions and the doors read the time.
pub trait Clock: Send + Sync + 'static {
    /// Now, or the latest answer given so far if the machine's clock was set back.
    fn now(&self) -> Timestamp;

    /// How long it is until `now` answers `due`; zero if it does already.
    fn until(&self, due: Timestamp) -> Duration;

    /// Calls `wake` whenever the time was set by hand, for whoever sleeps until some moment.
    fn when_set(&self, wake: Box<dyn Fn() + Send + Sync>);
}

/// The machine's clock.
#[derive(Debug, Default)]
pub struct System {
    latest_ms: AtomicU64,
}

impl System {
    pub fn new() -> Self {
        System::default()
    }
}

impl Clock for System {
    fn now(&self) -> Timestamp {
        let now = u64::try_from(since_epoch().as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.latest_ms.fetch_max(now, Relaxed).max(now))
    }

    /// To the nanosecond: rounding up to the next millisecond would make every timer late by one.
    fn until(&self, due: Timestamp) -> Duration {
        match due <= self.now() {
            true => Duration::ZERO,
            false => Duration::from_millis(due.0).saturating_sub(since_epoch()),
        }
    }

    /// The machine's clock tells nobody when it is set; who sleeps looks again from time to time.
    fn when_set(&self, _wake: Box<dyn Fn() + Send + Sync>) {}
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// A clock that stands until it is set, for tests.
#[derive(Default)]
pub struct Manual {
    now_ms: AtomicU64,
    sleepers: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
}

impl Manual {
    pub fn new(now: Timestamp) -> Self {
        Manual { now_ms: AtomicU64::new(now.0), sleepers: Mutex::default() }
    }

    /// Lets `by` pass.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).expect("tests do not last for eons");
        self.now_ms.fetch_add(by, Relaxed);
        for wake in self.sleepers.lock().expect("wakers do not panic").iter() {
            wake();
        }
    }
}

impl Clock for Manual {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_ms.load(Relaxed))
    }

    fn until(&self, due: Timestamp) -> Duration {
        due.since(self.now())
    }

    fn when_set(&self, wake: Box<dyn Fn() + Send + Sync>) {
        self.sleepers.lock().expect("wakers do not panic").push(wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_never_goes_back() {
        let clock = System::new();
        let ahead = clock.now().plus(Duration::from_secs(3600));
        clock.latest_ms.store(ahead.0, Relaxed);
        assert_eq!(clock.now(), ahead);
        assert_eq!(clock.until(ahead), Duration::ZERO);
    }

    #[test]
    fn until_ends_when_now_answers_the_moment() {
        let clock = System::new();
        let due = clock.now().plus(Duration::from_millis(3));
        let until = clock.until(due);
        assert!(until <= Duration::from_millis(3));
        std::thread::sleep(until);
        assert!(clock.now() >= due);
    }

    #[test]
    fn setting_a_manual_clock_wakes() {
        let clock = Manual::new(Timestamp(5));
        let (woken, seen) = std::sync::mpsc::channel();
        clock.when_set(Box::new(move || woken.send(()).unwrap()));
        clock.advance(Duration::from_millis(2));
        assert_eq!(seen.try_recv(), Ok(()));
        assert_eq!(clock.now(), Timestamp(7));
    }
}
