//! Logs that do not repeat.
//!
//! A replay runs the same lines of the handler again, and what they log was logged before. While a
//! handler replays, its logs and spans go nowhere. The handler may pass the end of its replay in
//! the middle of a poll; then [`lift`] lets the logs through from there on.

use std::cell::RefCell;
use tracing::dispatcher::{DefaultGuard, Dispatch, set_default};

thread_local! {
    static QUIET: RefCell<Option<DefaultGuard>> = const { RefCell::new(None) };
}

/// Runs a poll of a handler, quietly at first if it replays.
pub(crate) fn polling<R>(replaying: bool, poll: impl FnOnce() -> R) -> R {
    if !replaying {
        return poll();
    }
    QUIET.with(|quiet| *quiet.borrow_mut() = Some(set_default(&Dispatch::none())));
    let result = poll();
    lift();
    result
}

/// The replay is over: logs are heard again.
pub(crate) fn lift() {
    let guard = QUIET.with(|quiet| quiet.borrow_mut().take());
    drop(guard);
}
