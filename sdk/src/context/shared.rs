//! What all futures of one attempt share: the attempt, who runs, and who woke it.

use crate::attempt::{At, Attempt, Failed, Leaf, Random, Step, Waiting};
use crate::error::Terminal;
use crate::quiet;
use crate::wake::Wakeup;
use bytes::Bytes;
use holdfast_wire::message::pb::notification::Result as Outcome;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;

use super::saga::Undo;

/// Who runs, and with what.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The 24 raw bytes of the id.
    pub(crate) id: Bytes,
    pub(crate) invocation: String,
    pub(crate) service: Arc<str>,
    pub(crate) handler: Arc<str>,
    pub(crate) key: String,
    pub(crate) headers: Vec<(String, String)>,
}

/// One attempt, as its futures see it.
pub(crate) struct Shared {
    attempt: Mutex<Attempt>,
    pub(crate) wakeup: Arc<Wakeup>,
    pub(crate) facts: OnceLock<Facts>,
    pub(crate) random: Mutex<Random>,
    /// What to undo if the handler fails, in the order in which it was said.
    pub(crate) undo: Mutex<Vec<Undo>>,
}

impl Shared {
    pub(crate) fn new(attempt: Attempt) -> Shared {
        Shared {
            attempt: Mutex::new(attempt),
            wakeup: Arc::default(),
            facts: OnceLock::new(),
            random: Mutex::new(Random::seeded(0)),
            undo: Mutex::default(),
        }
    }

    pub(crate) fn attempt(&self) -> MutexGuard<'_, Attempt> {
        self.attempt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.facts.get().expect("a handler is begun with its facts")
    }

    /// Lets the handler act; after the end of its replay its logs are heard.
    pub(crate) fn act<R>(&self, act: impl FnOnce(&mut Attempt) -> R) -> R {
        let mut attempt = self.attempt();
        let result = act(&mut attempt);
        if !attempt.is_replaying() {
            drop(attempt);
            quiet::lift();
        }
        result
    }

    /// The attempt cannot go on. Nothing that the handler awaits becomes ready any more.
    pub(crate) fn fail(&self, failed: Failed) {
        self.attempt().fail(failed);
    }

    /// The result for a leaf; if there is none, it is waited for.
    pub(crate) fn poll_leaf(
        &self,
        leaf: &Leaf,
        step: Step,
        at: At,
        task: &std::task::Context<'_>,
    ) -> Poll<Result<Outcome, Terminal>> {
        let mut attempt = self.attempt();
        match attempt.poll_leaf(leaf) {
            Some(Ok(outcome)) => Poll::Ready(Ok(outcome)),
            Some(Err(_)) => Poll::Ready(Err(Terminal::cancelled())),
            None => {
                let waker = task.waker();
                let between = (!self.wakeup.is_handlers(waker)).then_some(waker);
                let waiting = Waiting { leaf: leaf.clone(), step, at };
                self.wakeup.keeping(|| attempt.waits.wait(waiting, between));
                Poll::Pending
            }
        }
    }

    /// A future is done with, so nobody waits for its leaf.
    pub(crate) fn forget(&self, leaf: &Leaf) {
        self.attempt().waits.forget(leaf);
    }
}
