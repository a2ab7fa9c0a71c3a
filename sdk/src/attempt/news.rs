//! Notifications: those that came and those that the handler has been told.
//!
//! They are told one by one, each only when the handler can do nothing without it. So what the
//! handler sees depends on their order in the journal and on nothing else, and a replay, which has
//! them all at once, takes the same turns as the first time. Must never tell two at once.

use super::waits::Leaf;
use holdfast_wire::message::pb::Notification;
use holdfast_wire::message::pb::notification::{Id, Result as Outcome};
use std::collections::{HashMap, VecDeque};

/// What came from the sidecar.
#[derive(Debug, Default)]
pub(super) struct News {
    untold: VecDeque<(Id, Outcome)>,
    /// Told, and not yet taken by a future.
    completions: HashMap<u32, Outcome>,
    signals: HashMap<u32, VecDeque<Outcome>>,
    named: HashMap<String, VecDeque<Outcome>>,
    /// Results of steps that were proposed and are not acknowledged.
    proposed: HashMap<u32, Outcome>,
    /// Who runs under the calls that were made. May be asked more than once.
    invocations: HashMap<u32, String>,
}

impl News {
    /// A notification came; whoever sends one without id or result breaks the protocol.
    pub(super) fn came(&mut self, notification: Notification) -> Result<(), &'static str> {
        let id = notification.id.ok_or("a notification without id")?;
        let outcome = notification.result.ok_or("a notification without result")?;
        self.untold.push_back((id, outcome));
        Ok(())
    }

    /// The result of a step was proposed and is kept here until it is acknowledged.
    pub(super) fn proposed(&mut self, completion: u32, outcome: Outcome) {
        self.proposed.insert(completion, outcome);
    }

    /// An acknowledgement came: it stands where the notification with the result would.
    pub(super) fn acknowledged(&mut self, completion: u32) -> Result<(), &'static str> {
        let outcome = self.proposed.remove(&completion);
        let outcome = outcome.ok_or("an acknowledgement of a step that was not proposed")?;
        self.untold.push_back((Id::CompletionId(completion), outcome));
        Ok(())
    }

    pub(super) fn all_told(&self) -> bool {
        self.untold.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<(Id, Outcome)> {
        self.untold.pop_front()
    }

    /// Tells one: it can be taken from now on.
    pub(super) fn tell(&mut self, id: Id, outcome: Outcome) -> Leaf {
        match (id, outcome) {
            (Id::CompletionId(id), Outcome::InvocationId(invocation)) => {
                self.invocations.insert(id, invocation);
                Leaf::Completion(id)
            }
            (Id::CompletionId(id), outcome) => {
                self.completions.insert(id, outcome);
                Leaf::Completion(id)
            }
            (Id::SignalIndex(index), outcome) => {
                self.signals.entry(index).or_default().push_back(outcome);
                Leaf::Signal(index)
            }
            (Id::SignalName(name), outcome) => {
                let leaf = Leaf::Named(name.as_str().into());
                self.named.entry(name).or_default().push_back(outcome);
                leaf
            }
        }
    }

    /// The result that was told for a leaf, if there is one. It is taken once.
    pub(super) fn take(&mut self, leaf: &Leaf) -> Option<Outcome> {
        match leaf {
            Leaf::Completion(id) => self
                .completions
                .remove(id)
                .or_else(|| self.invocations.get(id).cloned().map(Outcome::InvocationId)),
            Leaf::Signal(index) => self.signals.get_mut(index)?.pop_front(),
            Leaf::Named(name) => self.named.get_mut(&**name)?.pop_front(),
            Leaf::Unrecorded(_) => None,
        }
    }

    /// Who runs under a call, as far as it was told.
    pub(super) fn invocation(&self, completion: u32) -> Option<&str> {
        self.invocations.get(&completion).map(String::as_str)
    }

    /// Tells who runs under a call ahead of all else, if it came.
    pub(super) fn tell_invocation_early(&mut self, completion: u32) -> bool {
        let sought = Id::CompletionId(completion);
        if let Some(at) = self.untold.iter().position(|(id, _)| *id == sought)
            && let Some((id, outcome)) = self.untold.remove(at)
        {
            self.tell(id, outcome);
        }
        self.invocations.contains_key(&completion)
    }

    /// Whether all these wait for nothing but an acknowledgement.
    pub(super) fn only_proposed<'a>(&self, mut leaves: impl Iterator<Item = &'a Leaf>) -> bool {
        leaves.all(|leaf| matches!(leaf, Leaf::Completion(id) if self.proposed.contains_key(id)))
    }
}
