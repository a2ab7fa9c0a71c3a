//! Threads for the connections of a listener that are more than a few. Few are carried best by the
//! threads that do everything else, because each more only has to be woken; many give work to all
//! cores. Never started before there are many.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that are started for the first of many.
#[derive(Debug)]
pub struct Crowd {
    threads: usize,
    /// `None` inside where it could not be started.
    runtime: OnceLock<Option<Runtime>>,
}

impl Crowd {
    /// So many threads, once they are needed; with 0 never.
    pub fn new(threads: usize) -> Self {
        Crowd { threads, runtime: OnceLock::new() }
    }

    /// Where to carry a connection where there are `open` with it. `None`: by the threads that do
    /// everything else.
    pub(super) fn handle_of(&self, open: usize, few: usize) -> Option<&Handle> {
        if few == 0 || open <= few {
            return None;
        }
        let runtime = self.runtime.get_or_init(|| self.start());
        runtime.as_ref().map(Runtime::handle)
    }

    fn start(&self) -> Option<Runtime> {
        if self.threads == 0 {
            return None;
        }
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().worker_threads(self.threads).thread_name("holdfast-crowd");
        started(&mut builder)
    }
}

/// `None` where the system gives no more threads, which is no reason for anything to end.
fn started(builder: &mut Builder) -> Option<Runtime> {
    // The runtime panics where its first thread cannot be started.
    let built = catch_unwind(AssertUnwindSafe(|| builder.build()));
    let reason = match built {
        Ok(Ok(runtime)) => return Some(runtime),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the system has no more of them".to_owned(),
    };
    tracing::warn!(reason, "cannot start more threads for many connections");
    None
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Whoever drops it may be one of the threads of a runtime, which must not wait for another.
        if let Some(Some(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn threads_that_cannot_be_started_are_done_without() {
        let mut builder = Builder::new_multi_thread();
        // No system has room for such a stack.
        builder.worker_threads(2).thread_stack_size(1 << 60);
        assert!(started(&mut builder).is_none());
    }
}
