//! The book of places: who has one, and who waits for which. Those who need a place in the same
//! limits are of one *kind*; of each kind only the one that came first can be next. A kind whose
//! first one finds a limit full is *parked* there, and looked at again when that limit has room:
//! so who waits for a full limit never stands in the way of who does not need it, and nothing
//! here looks at all who wait. Pure.

mod look;

use super::{Answer, Grant, Ticket, rules::Rules};
use crate::registry::Limit;
use foldhash::HashMap;
use holdfast_machine::{id::InvocationId, model::Target, time::Timestamp};
use std::collections::BTreeMap;

/// When one came, among all who came.
type Arrival = u64;
/// Index of a limit.
type At = usize;

#[derive(Debug)]
pub(super) struct Book {
    max: usize,
    taken: usize,
    seats: u64,
    arrivals: Arrival,
    closed: bool,
    rules: Rules,
    limits: Vec<Counted>,
    kinds: Vec<Kind>,
    by_limits: HashMap<Box<[At]>, u32>,
    /// Kinds whose first one found room in all its limits when it was looked at last, by its
    /// arrival. Where a limit has room and kinds are parked at it, one that needs it and came
    /// before all of them is here.
    ready: BTreeMap<Arrival, u32>,
    waiting: HashMap<InvocationId, Waiter>,
    /// What is held in limits; seats without any are not here.
    held: HashMap<u64, u32>,
}

#[derive(Debug)]
struct Counted {
    limit: Limit,
    running: usize,
    waiting: usize,
    /// Kinds whose first one waits for this limit at least, by its arrival.
    parked: BTreeMap<Arrival, u32>,
}

/// All who need a place in the same limits.
#[derive(Debug)]
struct Kind {
    limits: Box<[At]>,
    waiting: BTreeMap<Arrival, InvocationId>,
    stands: Stands,
}

#[derive(Debug, Clone, Copy)]
enum Stands {
    /// Nobody waits.
    Nowhere,
    Ready(Arrival),
    Parked(At, Arrival),
}

#[derive(Debug, Clone, Copy)]
struct Waiter {
    attempt: u32,
    /// `UNSORTED` until it has asked again.
    kind: u32,
    arrival: Arrival,
    since: Timestamp,
}

/// The kind of those who came under other limits.
const UNSORTED: u32 = u32::MAX;

impl Counted {
    fn is_full(&self) -> bool {
        self.running >= self.limit.concurrency as usize
    }
}

impl Book {
    pub(super) fn new(max: usize) -> Book {
        Book {
            max,
            taken: 0,
            seats: 0,
            arrivals: 0,
            closed: false,
            rules: Rules::default(),
            limits: Vec::new(),
            kinds: Vec::new(),
            by_limits: HashMap::default(),
            ready: BTreeMap::new(),
            waiting: HashMap::default(),
            held: HashMap::default(),
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn admit(
        &mut self,
        ticket: Ticket,
        target: Option<&Target>,
        now: impl FnOnce() -> Timestamp,
    ) -> (Answer, Vec<Grant>) {
        if self.closed {
            return (Answer::Waits, Vec::new());
        }
        let unlimited = self.rules.is_empty();
        if unlimited && self.taken < self.max && self.waiting.is_empty() {
            return (Answer::Seat(self.take(None)), Vec::new());
        }
        let limits = match target {
            _ if unlimited => Vec::new(),
            Some(target) => self.rules.of(target),
            None => return (Answer::WhichTarget, Vec::new()),
        };
        let kind = self.kind(limits);
        if self.waits_already(ticket, kind) {
            return (Answer::Waits, self.settle());
        }
        if self.taken < self.max && self.first_full(kind).is_none() {
            return (Answer::Seat(self.take(Some(kind))), Vec::new());
        }
        self.arrivals += 1;
        let (arrival, since) = (self.arrivals, now());
        self.waiting.insert(ticket.0, Waiter { attempt: ticket.1, kind, arrival, since });
        self.enter(kind, arrival, ticket.0);
        (Answer::Waits, Vec::new())
    }

    pub(super) fn give_back(&mut self, seat: u64) -> Vec<Grant> {
        self.taken -= 1;
        self.release(seat);
        self.settle()
    }

    pub(super) fn withdraw(&mut self, (invocation, attempt): Ticket) -> bool {
        let waits = self.waiting.get(&invocation).is_some_and(|waiter| waiter.attempt == attempt);
        if waits {
            self.leave(invocation);
        }
        waits
    }

    pub(super) fn set(
        &mut self,
        limits: &[Limit],
        running: impl FnOnce() -> Vec<(u64, Target)>,
    ) -> (Vec<Grant>, Vec<Ticket>) {
        let subjects = |limits: &mut dyn Iterator<Item = &Limit>| {
            limits.map(|limit| limit.subject.clone()).collect::<Vec<_>>()
        };
        let before = subjects(&mut self.limits.iter().map(|counted| &counted.limit));
        if before != subjects(&mut limits.iter()) {
            let again = self.rebuild(limits, running());
            return (self.settle(), again);
        }
        for (at, limit) in limits.iter().enumerate() {
            self.limits[at].limit = limit.clone();
            self.wake(at);
        }
        (self.settle(), Vec::new())
    }

    pub(super) fn recount(&mut self, seat: u64, target: &Target) -> Vec<Grant> {
        let kind = self.kind(self.rules.of(target));
        if self.held.get(&seat) != Some(&kind) {
            self.release(seat);
            self.hold(seat, kind);
        }
        self.settle()
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
        self.ready.clear();
        for counted in &mut self.limits {
            counted.waiting = 0;
            counted.parked.clear();
        }
        for kind in &mut self.kinds {
            kind.waiting.clear();
            kind.stands = Stands::Nowhere;
        }
    }

    /// Whoever can begin begins, first come, first served.
    fn settle(&mut self) -> Vec<Grant> {
        let mut grants = Vec::new();
        while self.taken < self.max
            && let Some((_, &kind)) = self.ready.first_key_value()
        {
            if self.first_full(kind).is_none() {
                let first = self.of(kind).waiting.first_key_value();
                let (_, &invocation) = first.expect("a kind that stands has one who waits");
                let attempt = self.waiting[&invocation].attempt;
                let seat = self.take(Some(kind));
                self.leave(invocation);
                grants.push(Grant { ticket: (invocation, attempt), seat });
            } else {
                self.stand(kind);
                self.wake_all(kind);
            }
        }
        grants
    }

    /// Takes a place.
    fn take(&mut self, kind: Option<u32>) -> u64 {
        self.taken += 1;
        self.seats += 1;
        if let Some(kind) = kind {
            self.hold(self.seats, kind);
        }
        self.seats
    }

    fn hold(&mut self, seat: u64, kind: u32) {
        let limits = &self.kinds[kind as usize].limits;
        if limits.is_empty() {
            return;
        }
        for at in limits {
            self.limits[*at].running += 1;
        }
        self.held.insert(seat, kind);
    }

    /// Gives back what the seat holds in limits.
    fn release(&mut self, seat: u64) {
        if self.held.is_empty() {
            return;
        }
        if let Some(kind) = self.held.remove(&seat) {
            for at in &self.kinds[kind as usize].limits {
                self.limits[*at].running -= 1;
            }
            self.wake_all(kind);
        }
    }

    /// Whether the ticket is known. One that had to ask again gets its old place in the line.
    fn waits_already(&mut self, (invocation, attempt): Ticket, kind: u32) -> bool {
        let Some(waiter) = self.waiting.get_mut(&invocation) else {
            return false;
        };
        if waiter.attempt < attempt {
            self.leave(invocation);
            return false;
        }
        if waiter.kind == UNSORTED {
            waiter.kind = kind;
            let arrival = waiter.arrival;
            self.enter(kind, arrival, invocation);
        }
        true
    }

    fn enter(&mut self, kind: u32, arrival: Arrival, invocation: InvocationId) {
        let entered = &mut self.kinds[kind as usize];
        entered.waiting.insert(arrival, invocation);
        for at in &entered.limits {
            self.limits[*at].waiting += 1;
        }
        if self.of(kind).waiting.first_key_value().is_some_and(|(first, _)| *first == arrival) {
            self.stand(kind);
            self.wake_all(kind);
        }
    }

    /// Forgets one who waits.
    fn leave(&mut self, invocation: InvocationId) {
        let Some(waiter) = self.waiting.remove(&invocation) else { return };
        if waiter.kind == UNSORTED {
            return;
        }
        let left = &mut self.kinds[waiter.kind as usize];
        left.waiting.remove(&waiter.arrival);
        for at in &left.limits {
            self.limits[*at].waiting -= 1;
        }
        self.stand(waiter.kind);
        self.wake_all(waiter.kind);
    }

    /// Puts a kind where its first one belongs now. Whoever calls it wakes the limits of the kind
    /// where it may have stood ready, since it may have been the next in them.
    fn stand(&mut self, kind: u32) {
        match self.of(kind).stands {
            Stands::Nowhere => {}
            Stands::Ready(arrival) => drop(self.ready.remove(&arrival)),
            Stands::Parked(at, arrival) => drop(self.limits[at].parked.remove(&arrival)),
        }
        let first = self.of(kind).waiting.first_key_value().map(|(arrival, _)| *arrival);
        let stands = match (first, self.first_full(kind)) {
            (None, _) => Stands::Nowhere,
            (Some(arrival), None) => {
                self.ready.insert(arrival, kind);
                Stands::Ready(arrival)
            }
            (Some(arrival), Some(at)) => {
                self.limits[at].parked.insert(arrival, kind);
                Stands::Parked(at, arrival)
            }
        };
        self.kinds[kind as usize].stands = stands;
    }

    /// A kind has moved, so that another may be next in its limits.
    fn wake_all(&mut self, kind: u32) {
        for index in 0..self.of(kind).limits.len() {
            self.wake(self.of(kind).limits[index]);
        }
    }

    /// Where the limit has room, the first who waits for nothing else stands ready.
    fn wake(&mut self, at: At) {
        while !self.limits[at].is_full()
            && let Some((_, &kind)) = self.limits[at].parked.first_key_value()
        {
            self.stand(kind);
            if matches!(self.of(kind).stands, Stands::Ready(_)) {
                return;
            }
        }
    }

    /// Counts anew. Gives who has to ask again, in order.
    fn rebuild(&mut self, limits: &[Limit], running: Vec<(u64, Target)>) -> Vec<Ticket> {
        let before = std::mem::replace(self, Book::new(self.max));
        let Book { taken, seats, arrivals, closed, .. } = before;
        let counted = |limit: &Limit| Counted {
            limit: limit.clone(),
            running: 0,
            waiting: 0,
            parked: BTreeMap::new(),
        };
        let (rules, limits) = (Rules::new(limits), limits.iter().map(counted).collect());
        *self = Book { taken, seats, arrivals, closed, rules, limits, ..Book::new(self.max) };
        // Who is on the way to its service counts where it counted, until it has arrived.
        let subjects: HashMap<_, _> =
            self.limits.iter().enumerate().map(|(at, it)| (it.limit.subject.clone(), at)).collect();
        for (seat, kind) in &before.held {
            let held = before.kinds[*kind as usize].limits.iter();
            let subject = |at: &At| subjects.get(&before.limits[*at].limit.subject).copied();
            let kind = self.kind(held.filter_map(subject).collect());
            self.hold(*seat, kind);
        }
        for (seat, target) in running {
            let kind = self.kind(self.rules.of(&target));
            self.release(seat);
            self.hold(seat, kind);
        }
        self.waiting = before.waiting;
        let unsorted = |(id, waiter): (&InvocationId, &mut Waiter)| {
            waiter.kind = UNSORTED;
            (waiter.arrival, (*id, waiter.attempt))
        };
        let mut again: Vec<_> = self.waiting.iter_mut().map(unsorted).collect();
        again.sort_unstable();
        again.into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// The kind of those who need these.
    fn kind(&mut self, limits: Vec<At>) -> u32 {
        if let Some(kind) = self.by_limits.get(limits.as_slice()) {
            return *kind;
        }
        let kind = u32::try_from(self.kinds.len()).expect("there are few ways to be limited");
        let limits: Box<[At]> = limits.into();
        let (waiting, stands) = (BTreeMap::new(), Stands::Nowhere);
        self.kinds.push(Kind { limits: limits.clone(), waiting, stands });
        self.by_limits.insert(limits, kind);
        kind
    }

    fn of(&self, kind: u32) -> &Kind {
        &self.kinds[kind as usize]
    }

    fn first_full(&self, kind: u32) -> Option<At> {
        self.of(kind).limits.iter().copied().find(|at| self.limits[*at].is_full())
    }
}
