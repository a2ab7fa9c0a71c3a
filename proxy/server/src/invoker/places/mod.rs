//! Who may run: an attempt needs one of a bounded number of places, and one in each limit that
//! counts its target; those who wait come in the order in which they asked. Who waits is also in
//! the tables (it is *running* there), so losing the list in a crash loses nothing; and because an
//! entry is about 200 bytes, whatever the invocation holds, it needs no bound of its own beside the
//! number of invocations. Never looks at an invocation, and never tells anybody anything.

mod book;
mod rules;
#[cfg(test)]
mod tests;

use crate::clock::Clock;
use crate::registry::Limit;
use book::Book;
use holdfast_machine::{id::InvocationId, model::Target, time::Timestamp};
use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicBool, Ordering::SeqCst},
};

/// One attempt of one invocation.
pub(super) type Ticket = (InvocationId, u32);

/// The places of all attempts.
pub(super) struct Places {
    clock: Arc<dyn Clock>,
    /// Whether any limit is in force, for whoever would take the lock only to find out.
    limited: AtomicBool,
    book: Mutex<Book>,
}

/// What who asks for a place is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Its number.
    Seat(u64),
    Waits,
    /// There are limits, and they depend on it.
    WhichTarget,
}

/// A place for one who waited. It is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grant {
    pub ticket: Ticket,
    pub seat: u64,
}

/// The seat of an attempt that has nothing to do but wait, and for whom it should make room.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdleSeat {
    pub seat: u64,
    /// For those who wait for a place among all.
    pub for_all: bool,
    pub for_limits: bool,
}

/// One limit, as it is at this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub limit: Limit,
    pub running: usize,
    pub waiting: usize,
    /// Who waits longest, and since when.
    pub oldest: Option<(InvocationId, Timestamp)>,
}

/// All places, as they are at this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// Of all attempts together.
    pub max: usize,
    pub running: usize,
    /// For whatever they wait.
    pub waiting: usize,
    /// Those of them who wait for no limit, but for one of `max`.
    pub waiting_for_all: usize,
    /// Who of these waits longest, and since when.
    pub oldest: Option<(InvocationId, Timestamp)>,
    pub limits: Vec<Standing>,
}

/// What an attempt that waits for a place needs most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// The full limit; `None`: all attempts together are too many.
    pub limit: Option<String>,
    pub running: usize,
    pub concurrency: usize,
    pub since: Timestamp,
}

impl Places {
    pub(super) fn new(max: usize, clock: Arc<dyn Clock>) -> Places {
        let book = Mutex::new(Book::new(max.max(1)));
        Places { clock, limited: AtomicBool::new(false), book }
    }

    /// Takes a place, or remembers that `ticket` wants one. The grants are for others.
    pub(super) fn admit(&self, ticket: Ticket, target: Option<&Target>) -> (Answer, Vec<Grant>) {
        self.book().admit(ticket, target, || self.clock.now())
    }

    /// The place is free; it may let several begin who waited.
    #[must_use = "the places belong to these tickets now"]
    pub(super) fn give_back(&self, seat: u64) -> Vec<Grant> {
        self.book().give_back(seat)
    }

    /// `ticket` wants no place any more. False: it did not wait.
    pub(super) fn withdraw(&self, ticket: Ticket) -> bool {
        self.book().withdraw(ticket)
    }

    /// These limits count from now on, for what `running` gives too: seats and what is called.
    /// Gives who has a place now, and who has to ask again because it may count elsewhere.
    #[must_use = "the places belong to these tickets now"]
    pub(super) fn set(
        &self,
        limits: &[Limit],
        running: impl FnOnce() -> Vec<(u64, Target)>,
    ) -> (Vec<Grant>, Vec<Ticket>) {
        let mut book = self.book();
        self.limited.store(!limits.is_empty(), SeqCst);
        book.set(limits, running)
    }

    /// Counts an attempt that runs where it belongs by now, whether there is room or not. An
    /// attempt calls this once it is among those that `set` is told of.
    #[must_use = "the places belong to these tickets now"]
    pub(super) fn recount(&self, seat: u64, target: &Target) -> Vec<Grant> {
        match self.limited.load(SeqCst) {
            true => self.book().recount(seat, target),
            false => Vec::new(),
        }
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.book().waiting()
    }

    /// Which of these seats would let somebody begin if they were given back.
    pub(super) fn wanted(&self, seats: &[IdleSeat]) -> Vec<bool> {
        self.book().wanted(seats)
    }

    pub(super) fn standings(&self) -> Standings {
        self.book().standings()
    }

    pub(super) fn waits(&self, invocation: InvocationId) -> Option<Waits> {
        self.book().waits(invocation)
    }

    /// How many wait for the same and came before.
    pub(super) fn ahead(&self, invocation: InvocationId) -> Option<usize> {
        self.book().ahead(invocation)
    }

    /// Nobody is admitted any more, and nobody waits.
    pub(super) fn close(&self) {
        self.book().close();
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics while holding the lock")
    }
}
