//! What an attempt knows of the state of its key without asking.
//!
//! The sidecar sends what there is along with the start. Reads and writes of the handler keep this
//! view true, so that most reads ask nobody. Must never answer for a key it was told nothing of.

use bytes::Bytes;
use std::collections::BTreeMap;

/// The state of the key, or as much of it as was sent.
#[derive(Debug, Default)]
pub(super) struct StateView {
    /// `None` stands for a key that was cleared.
    known: BTreeMap<Bytes, Option<Bytes>>,
    /// Whether a key that is not known is one that is not set.
    complete: bool,
}

/// What the view says of a key.
pub(super) enum Known {
    Value(Bytes),
    Missing,
    /// The sidecar has to be asked.
    No,
}

impl StateView {
    pub(super) fn new(entries: impl Iterator<Item = (Bytes, Bytes)>, partial: bool) -> StateView {
        let known = entries.map(|(key, value)| (key, Some(value))).collect();
        StateView { known, complete: !partial }
    }

    pub(super) fn get(&self, key: &Bytes) -> Known {
        match self.known.get(key) {
            Some(Some(value)) => Known::Value(value.clone()),
            Some(None) => Known::Missing,
            None if self.complete => Known::Missing,
            None => Known::No,
        }
    }

    /// All keys in order, if they are known.
    pub(super) fn keys(&self) -> Option<Vec<Bytes>> {
        let set = self.known.iter().filter(|(_, value)| value.is_some());
        self.complete.then(|| set.map(|(key, _)| key.clone()).collect())
    }

    pub(super) fn set(&mut self, key: Bytes, value: Bytes) {
        self.known.insert(key, Some(value));
    }

    pub(super) fn clear(&mut self, key: Bytes) {
        self.known.insert(key, None);
    }

    pub(super) fn clear_all(&mut self) {
        self.known.clear();
        self.complete = true;
    }
}
