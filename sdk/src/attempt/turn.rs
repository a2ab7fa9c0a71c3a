//! How an attempt goes on when the handler can do nothing more: the next notification is told, a
//! step may begin, or one waits, suspends or fails.

use super::ending::{waits_instead, waits_unrecorded};
use super::{At, Attempt, Cancel, Leaf, Step};
use holdfast_wire::message::pb::notification::{Id, Result as Outcome};
use holdfast_wire::message::pb::send_signal_command::{Result as Signalled, SignalId};
use holdfast_wire::message::{CANCEL_SIGNAL_INDEX, MessageType, pb};
use holdfast_wire::version::Feature;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Let the handler go on.
    Poll,
    /// Wait for the sidecar, or for what the handler executes.
    Wait,
    /// The handler waits for something that is neither in its journal nor within a step.
    Stray,
    /// The attempt is over.
    Closed,
}

/// What of the future that is waited for by nothing but its cancellation.
pub(crate) struct Cancelled;

impl Attempt {
    /// The handler can do nothing more: everything it waits for has left its mark.
    pub(crate) fn handle_blocked(&mut self) -> Turn {
        if self.is_closed() {
            return Turn::Closed;
        }
        if matches!(self.cancel, Cancel::Fails(_)) {
            self.cancel = Cancel::No;
        }
        if self.waits.recorded().next().is_none() {
            return self.without_recorded_waits();
        }
        if self.tell_next() {
            return self.go_on();
        }
        if let Cancel::Came = self.cancel {
            return self.wait_for_ids();
        }
        if self.is_closed() {
            return Turn::Closed;
        }
        let executing = self.waits.has(Step::Executing);
        if let Some(held) = self.replay.left.front() {
            if executing {
                return Turn::Wait;
            }
            let at = self.waits.recorded().next().map(|waiting| waiting.at);
            let held = (held.ty, &held.payload);
            let failed = waits_instead(self.replay.index, held, at);
            self.fail(failed);
            return Turn::Closed;
        }
        if self.waits.has(Step::Held) {
            return self.go_on();
        }
        if !executing && !self.may_wait() {
            return self.suspend(None);
        }
        self.say_what_is_awaited();
        Turn::Wait
    }

    /// The handler was woken by something that is neither in its journal nor within a step.
    pub(crate) fn handle_stray(&mut self, places: Option<&str>) {
        self.fail(waits_unrecorded(places));
    }

    /// Whether a step whose result is not known may be executed: nothing that may still be told
    /// could make it needless.
    pub(crate) fn may_execute(&self) -> bool {
        !self.is_closed()
            && self.replay.left.is_empty()
            && self.news.all_told()
            && matches!(self.cancel, Cancel::No)
    }

    /// The result for a leaf, once it was told.
    pub(crate) fn poll_leaf(&mut self, leaf: &Leaf) -> Option<Result<Outcome, Cancelled>> {
        if self.is_closed() {
            return None;
        }
        if let Cancel::Fails(leaves) = &self.cancel
            && leaves.contains(leaf)
        {
            return Some(Err(Cancelled));
        }
        self.news.take(leaf).map(Ok)
    }

    /// Nothing is waited for that the journal could end. While something is executed that was said
    /// to be unrecorded, notifications have to stay untold: a replay comes by here too.
    fn without_recorded_waits(&mut self) -> Turn {
        if self.waits.has(Step::Executing) { Turn::Wait } else { Turn::Stray }
    }

    /// Whether the attempt may stay where it is until more comes.
    fn may_wait(&self) -> bool {
        self.input_open && !self.draining
    }

    fn go_on(&mut self) -> Turn {
        for waker in self.waits.foreign_wakers() {
            waker.wake();
        }
        Turn::Poll
    }

    /// Tells notifications up to one that is waited for. Says whether there was one.
    fn tell_next(&mut self) -> bool {
        loop {
            if matches!(self.cancel, Cancel::Came) {
                return self.cancel_children();
            }
            match self.news.next() {
                None => return false,
                Some((Id::SignalIndex(CANCEL_SIGNAL_INDEX), _)) => self.cancel = Cancel::Came,
                Some((id, outcome)) => {
                    if self.tell(id, outcome) {
                        return true;
                    }
                }
            }
        }
    }

    /// Tells one notification. Says whether it is waited for.
    fn tell(&mut self, id: Id, outcome: Outcome) -> bool {
        let leaf = self.news.tell(id, outcome);
        if let Leaf::Completion(id) = leaf {
            self.children.retain(|child| child.result != id);
        }
        self.waits.contains(&leaf)
    }

    /// Cancels the calls that are under way, then whatever the handler waits for. Says whether it
    /// was possible: the ids of all the calls are needed. They are told ahead of everything else, so
    /// that nothing else happens meanwhile.
    fn cancel_children(&mut self) -> bool {
        let ids: Vec<u32> = self.children.iter().map(|child| child.invocation).collect();
        let known = ids.iter().filter(|id| self.news.tell_invocation_early(**id)).count();
        if known < ids.len() {
            return false;
        }
        for id in ids {
            let Some(target) = self.news.invocation(id).map(str::to_owned) else {
                continue;
            };
            self.record(
                pb::SendSignalCommand {
                    target_invocation_id: target,
                    entry_name: String::new(),
                    signal_id: Some(SignalId::Idx(CANCEL_SIGNAL_INDEX)),
                    result: Some(Signalled::Void(pb::Void {})),
                },
                here(),
            );
        }
        self.children.clear();
        let leaves = self.waits.recorded().map(|waiting| waiting.leaf.clone()).collect();
        self.cancel = Cancel::Fails(leaves);
        !self.is_closed()
    }

    /// The ids of calls to be cancelled along have not come.
    fn wait_for_ids(&mut self) -> Turn {
        if self.may_wait() || self.waits.has(Step::Executing) {
            return Turn::Wait;
        }
        let missing = self.children.iter().map(|child| child.invocation);
        let missing = missing.filter(|id| self.news.invocation(*id).is_none()).collect();
        self.suspend(Some(pb::Future {
            waiting_completions: missing,
            combinator_type: pb::CombinatorType::FirstCompleted.into(),
            ..pb::Future::default()
        }))
    }

    fn suspend(&mut self, only: Option<pb::Future>) -> Turn {
        let future = only.unwrap_or_else(|| self.awaited());
        let suspension = match self.version.supports(Feature::FutureTree) {
            true => pb::Suspension { awaiting_on: Some(future), ..pb::Suspension::default() },
            false => pb::Suspension {
                waiting_completions: future.waiting_completions,
                waiting_signals: future.waiting_signals,
                waiting_named_signals: future.waiting_named_signals,
                awaiting_on: None,
            },
        };
        self.close(MessageType::SUSPENSION, &suspension);
        Turn::Closed
    }

    /// What is waited for, the wish to cancel included, as this version of the protocol says it.
    fn awaited(&self) -> pb::Future {
        let mut future = match self.version.supports(Feature::FutureTree) {
            true => self.waits.tree(),
            false => self.waits.list(),
        };
        future.waiting_signals.push(CANCEL_SIGNAL_INDEX);
        future
    }

    /// Tells the sidecar, if that is news to it. Not while a step is executed: then the answer to
    /// its proposal follows anyway.
    fn say_what_is_awaited(&mut self) {
        let tells = self.version.supports(Feature::AwaitingOn)
            && self.may_wait()
            && !self.waits.has(Step::Executing)
            && !self.news.only_proposed(self.waits.recorded().map(|waiting| &waiting.leaf));
        if !tells {
            return;
        }
        let future = self.awaited();
        if self.last_awaiting.as_ref() != Some(&future) {
            let awaiting =
                pb::AwaitingOn { awaiting_on: Some(future.clone()), executing_side_effects: false };
            self.write(MessageType::AWAITING_ON, &awaiting);
            self.last_awaiting = Some(future);
        }
    }
}

#[track_caller]
fn here() -> At {
    std::panic::Location::caller()
}
