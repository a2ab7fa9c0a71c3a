//! Threads for the connections of a listener that are more than a few. Few are carried best by the
//! threads that do everything else, because each more only has to be woken; many give work to all
//! cores. Never started before there are many.

use std::sync::OnceLock;
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
        let started = builder.build();
        let started = started.inspect_err(|error| {
            tracing::warn!(%error, "cannot start more threads for many connections");
        });
        started.ok()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Whoever drops it may be one of the threads of a runtime, which must not wait for another.
        if let Some(Some(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
