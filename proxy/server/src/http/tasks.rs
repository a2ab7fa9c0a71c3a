//! Lets hyper start its tasks where their parent waits for them.

use std::future::Future;
use tokio_util::task::TaskTracker;

/// Starts hyper's tasks on a tracker.
#[derive(Debug, Clone)]
pub struct Tracked(pub TaskTracker);

impl<F> hyper::rt::Executor<F> for Tracked
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}
