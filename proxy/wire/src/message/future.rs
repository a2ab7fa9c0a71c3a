//! What a suspended attempt waits for, whatever version said it.
//!
//! Here the two forms become one; whether the wait is over is decided by the machine.

use super::pb::{CombinatorType, Future, Suspension};

impl Suspension {
    /// What is waited for, as a tree. The flat lists of versions 5 and 6 mean *any of these*, which
    /// is a tree of one node.
    pub fn into_future(self) -> Future {
        self.awaiting_on.unwrap_or(Future {
            waiting_completions: self.waiting_completions,
            waiting_signals: self.waiting_signals,
            waiting_named_signals: self.waiting_named_signals,
            nested_futures: vec![],
            combinator_type: CombinatorType::FirstCompleted.into(),
        })
    }
}

impl Future {
    /// Whether nothing is waited for: no id in it, at any depth. Such a wait would never end.
    pub fn is_empty(&self) -> bool {
        self.waiting_completions.is_empty()
            && self.waiting_signals.is_empty()
            && self.waiting_named_signals.is_empty()
            && self.nested_futures.iter().all(Future::is_empty)
    }
}
