//! Who may run: a bounded number of places, and those who wait for one, first come, first served.
//! Never looks at an invocation.

use holdfast_machine::id::InvocationId;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard},
};

/// One attempt of one invocation.
pub(super) type Ticket = (InvocationId, u32);

/// The places of all attempts. Who waits is also in the tables (it is *running* there), so losing
/// this list in a crash loses nothing; and because each entry is 40 bytes, it needs no bound of
/// its own beside the number of invocations.
#[derive(Debug)]
pub(super) struct Places {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    waiting: VecDeque<Ticket>,
    closed: bool,
}

impl Places {
    pub(super) fn new(max: usize) -> Places {
        Places { max: max.max(1), state: Mutex::default() }
    }

    /// Takes a place, or remembers that `ticket` wants one.
    pub(super) fn admit(&self, ticket: Ticket) -> bool {
        let mut state = self.state();
        if state.closed {
            return false;
        }
        if state.taken < self.max {
            state.taken += 1;
            return true;
        }
        state.waiting.push_back(ticket);
        false
    }

    /// Gives back one place. It goes to the ticket returned, if somebody waited.
    #[must_use = "the place belongs to this ticket now"]
    pub(super) fn give_back(&self) -> Option<Ticket> {
        let mut state = self.state();
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.taken -= 1;
        }
        next
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    pub(super) fn taken(&self) -> usize {
        self.state().taken
    }

    /// Nobody is admitted any more, and nobody waits.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding the lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::id::PartitionKey;

    fn ticket(uuid: u128) -> Ticket {
        (InvocationId { partition_key: PartitionKey(0), uuid }, 1)
    }

    #[test]
    fn places_go_to_those_who_waited_longest() {
        let places = Places::new(2);
        assert!(places.admit(ticket(1)));
        assert!(places.admit(ticket(2)));
        assert!(!places.admit(ticket(3)));
        assert!(!places.admit(ticket(4)));
        assert_eq!((places.taken(), places.waiting()), (2, 2));
        assert_eq!(places.give_back(), Some(ticket(3)));
        assert_eq!(places.give_back(), Some(ticket(4)));
        assert_eq!(places.give_back(), None);
        assert_eq!((places.taken(), places.waiting()), (1, 0));
        assert!(places.admit(ticket(5)));
    }

    #[test]
    fn after_the_close_nobody_waits() {
        let places = Places::new(1);
        assert!(places.admit(ticket(1)));
        assert!(!places.admit(ticket(2)));
        places.close();
        assert!(!places.admit(ticket(3)));
        assert_eq!(places.give_back(), None);
        assert_eq!(places.taken(), 0);
    }
}
