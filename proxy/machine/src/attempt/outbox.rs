//! What an attempt wants done, until it is polled. Keeps what is said in order and in as few
//! pieces as the bound allows. Never decides whether the conversation goes on.

use super::{Output, SAID_MAX};
use crate::{
    command::{AttemptEnd, Said},
    model::Awaiting,
    time::Timestamp,
};
use holdfast_wire::message::MessageType;
use std::{collections::VecDeque, time::Duration};

/// What the service goes on after by itself, and nothing else, is told after this long: mostly what it
/// leads to comes before, the result of a run or the output, and all of it costs one commit.
const HELD_MAX: Duration = Duration::from_millis(5);

#[derive(Default)]
pub(super) struct Outbox {
    queue: VecDeque<Output>,
    /// What the service waits for, where that was not polled yet. After all else: the last wins.
    hint: Option<Awaiting>,
    last_hint: Option<Awaiting>,
    /// Until then nothing is polled that nobody waits for.
    held_until: Option<Timestamp>,
}

impl Outbox {
    pub(super) fn poll(&mut self) -> Option<Output> {
        // A hint stays behind what it comes after: what goes on later would erase it.
        if self.held_until.is_some() && self.is_held_back() {
            return None;
        }
        self.held_until = None;
        self.queue.pop_front().or_else(|| self.hint.take().map(Output::AwaitingOn))
    }

    /// When there is more to poll, if nothing comes before.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.held_until
    }

    /// `deadline` has passed, perhaps.
    pub(super) fn handle_deadline(&mut self, now: Timestamp) {
        self.held_until = self.held_until.filter(|until| now < *until);
    }

    /// Nobody waits for what there is to poll.
    fn is_held_back(&self) -> bool {
        match self.queue.as_slices() {
            ([Output::Say { said, end: None }], []) => said.iter().all(waits_for_nobody),
            _ => false,
        }
    }

    pub(super) fn push(&mut self, output: Output) {
        // Something goes on: who looks on forgets what it waited for.
        (self.hint, self.last_hint) = (None, None);
        self.queue.push_back(output);
    }

    pub(super) fn say(&mut self, now: Timestamp, new: Said) {
        self.last_hint = None;
        if waits_for_nobody(&new) && self.queue.is_empty() {
            self.held_until = Some(now.plus(HELD_MAX));
        }
        match self.queue.back_mut() {
            Some(Output::Say { said, end: None }) if said.len() < SAID_MAX => said.push(new),
            _ => self.push(Output::Say { said: vec![new], end: None }),
        }
    }

    /// Goes out together with what was said last. A hint is of no use after it.
    pub(super) fn say_end(&mut self, new: AttemptEnd) {
        match self.queue.back_mut() {
            Some(Output::Say { end: end @ None, .. }) => *end = Some(new),
            _ => self.push(Output::Say { said: vec![], end: Some(new) }),
        }
        self.hint = None;
    }

    /// SDKs repeat themselves; only what is new since anything else went on is told.
    pub(super) fn hint(&mut self, awaiting: Awaiting) {
        if self.last_hint.as_ref() != Some(&awaiting) {
            self.hint = Some(awaiting.clone());
            self.last_hint = Some(awaiting);
        }
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.hint = None;
        self.held_until = None;
    }
}

/// A run that begins, or state that is changed or was known already: the service does not wait, and
/// nobody outside of the invocation is told.
fn waits_for_nobody(said: &Said) -> bool {
    const ALONE: [MessageType; 6] = [
        MessageType::RUN,
        MessageType::SET_STATE,
        MessageType::CLEAR_STATE,
        MessageType::CLEAR_ALL_STATE,
        MessageType::GET_EAGER_STATE,
        MessageType::GET_EAGER_STATE_KEYS,
    ];
    matches!(said, Said::Command { ty, .. } if ALONE.contains(ty))
}
