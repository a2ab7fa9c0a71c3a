//! Harness of the end-to-end tests: starts the real binary and the real example services, kills
//! them, and counts from outside what they really did. Never sleeps for a fixed time where it can
//! look, and never uses a port by number.

pub mod a2a;
pub mod effects;
pub mod gate;
pub mod grpc;
pub mod http;
pub mod process;
pub mod receiver;
pub mod sidecar;
pub mod sse;

use std::time::{Duration, Instant};

/// Longest time that `eventually` waits, unless it is told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(15);

/// Looks until `look` finds something, and panics with `what` when it does not in time.
#[track_caller]
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(PATIENCE, what, look)
}

/// As `eventually`, with a patience of its own.
#[track_caller]
pub fn eventually_within<T>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < patience, "did not happen within {patience:?}: {what}");
        std::thread::sleep(LOOK_AGAIN);
    }
}
