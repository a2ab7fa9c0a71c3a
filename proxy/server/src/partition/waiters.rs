//! Who waits for which outcome. Owned by the partition; never asks the store.

use super::{Ended, Waited};
use foldhash::HashMap;
use holdfast_machine::{command::Reply, id::InvocationId, model::Outcome};
use tokio::sync::oneshot;

/// Hears the reply of an accepted command, within the turn.
pub(super) type Accepted = Box<dyn FnOnce(&Reply) + Send>;

/// One who waits. The id is unique within the partition.
pub(super) struct Waiter {
    pub id: u64,
    /// Called with the reply, if the invocation is accepted or was before.
    pub accepted: Option<Accepted>,
    pub told: oneshot::Sender<Waited>,
}

impl Waiter {
    /// Takes the reply. Gives the waiter back if it has to wait for more.
    pub(super) fn reply(mut self, reply: Reply) -> Option<Waiter> {
        if matches!(reply, Reply::Accepted { .. })
            && let Some(accepted) = self.accepted.take()
        {
            accepted(&reply);
        }
        let waited = match reply {
            Reply::Accepted { new: true, .. } | Reply::Pending => return Some(self),
            Reply::Completed { outcome, expires_at } => {
                Waited::Ended(Ended { outcome, expires_at })
            }
            other => Waited::Reply(other),
        };
        // Who has gone in the meantime need not be told.
        let _ = self.told.send(waited);
        None
    }
}

/// Everybody who waits for an invocation of this partition.
#[derive(Default)]
pub(super) struct Waiters(HashMap<InvocationId, Vec<Waiter>>);

impl Waiters {
    pub(super) fn enter(&mut self, invocation: InvocationId, waiter: Waiter) {
        if !waiter.told.is_closed() {
            self.0.entry(invocation).or_default().push(waiter);
        }
    }

    pub(super) fn leave(&mut self, invocation: InvocationId, waiter: u64) {
        let Some(waiters) = self.0.get_mut(&invocation) else {
            return;
        };
        waiters.retain(|other| other.id != waiter);
        if waiters.is_empty() {
            self.0.remove(&invocation);
        }
    }

    /// Tells all who wait for `invocation`, and forgets them.
    pub(super) fn tell(&mut self, invocation: InvocationId, outcome: &Outcome) {
        for waiter in self.0.remove(&invocation).into_iter().flatten() {
            let ended = Ended { outcome: outcome.clone(), expires_at: None };
            // Who has gone in the meantime need not be told.
            let _ = waiter.told.send(Waited::Ended(ended));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn all_who_wait_are_told_once_and_none_is_left_behind() {
        let id = InvocationId::random("s", None, 0, 7);
        let mut waiters = Waiters::default();
        let mut told: Vec<_> = (0..3)
            .map(|id_of_waiter| {
                let (told, heard) = oneshot::channel();
                waiters.enter(id, Waiter { id: id_of_waiter, accepted: None, told });
                heard
            })
            .collect();
        waiters.leave(id, 1);
        waiters.tell(id, &Outcome::Success(Bytes::from_static(b"x")));
        assert!(told[0].try_recv().is_ok());
        assert!(told[1].try_recv().is_err());
        assert!(told[2].try_recv().is_ok());
        assert_eq!(waiters.len(), 0);
    }

    #[test]
    fn who_left_before_the_answer_does_not_enter() {
        let id = InvocationId::random("s", None, 0, 7);
        let mut waiters = Waiters::default();
        let (told, heard) = oneshot::channel();
        drop(heard);
        waiters.enter(id, Waiter { id: 1, accepted: None, told });
        assert_eq!(waiters.len(), 0);
        waiters.leave(id, 1);
    }
}
