//! What an attempt wants done, until it is polled. Keeps what is said in order and in as few
//! pieces as the bound allows. Never decides whether the conversation goes on.

use super::{Output, SAID_MAX};
use crate::{
    command::{AttemptEnd, Said},
    model::Awaiting,
};
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Outbox {
    queue: VecDeque<Output>,
    /// What the service waits for, where that was not polled yet. After all else: the last wins.
    hint: Option<Awaiting>,
    last_hint: Option<Awaiting>,
}

impl Outbox {
    pub(super) fn poll(&mut self) -> Option<Output> {
        self.queue.pop_front().or_else(|| self.hint.take().map(Output::AwaitingOn))
    }

    pub(super) fn push(&mut self, output: Output) {
        self.last_hint = None; // Something goes on: who looks on forgets what it waited for.
        self.queue.push_back(output);
    }

    pub(super) fn say(&mut self, new: Said) {
        self.last_hint = None;
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
    }
}
