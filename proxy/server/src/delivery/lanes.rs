//! Which letter goes out next. Pure: is told the time and what happened, and never sends anything.

use super::{Letter, Terms};
use holdfast_machine::{id::PartitionId, retry::Next, time::Timestamp};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

/// How long a receiver has to have failed, at least, before anything is given up: letters may be
/// old because the sidecar was away, and a first try may meet a bad moment.
const SURE_AFTER: Duration = Duration::from_secs(15 * 60);

/// The letters that are held, by receiver. A receiver is forgotten with its last letter.
pub(super) struct Lanes<T> {
    terms: Terms,
    lanes: BTreeMap<String, Lane<T>>,
    index: Index,
    /// Letters on their way.
    sent: usize,
}

/// What would else be looked for in all lanes, and there can be as many as letters for a host that
/// is down. A lane goes out of it before it changes, and comes in again afterwards.
#[derive(Default)]
struct Index {
    /// Lanes of which a letter may go out, by when.
    healthy: BTreeSet<(Timestamp, String)>,
    failing: BTreeSet<(Timestamp, String)>,
    /// Lanes without letters, by when there is nothing left to remember.
    empty: BTreeSet<(Timestamp, String)>,
    /// Lanes with letters, by when their first one was written.
    firsts: BTreeSet<(Timestamp, String)>,
    /// Lanes of receivers that fail, and of these, those with a letter on its way.
    failing_lanes: usize,
    failing_sent: usize,
    /// Letters for receivers that do not fail.
    moving: usize,
}

/// The letters for one receiver.
struct Lane<T> {
    waiting: BTreeMap<PartitionId, VecDeque<Letter<T>>>,
    /// The source whose first letter is on its way.
    sent: Option<PartitionId>,
    /// Tries in a row that came to nothing.
    failures: u32,
    /// When the first of them did.
    failing_since: Timestamp,
    /// Not before.
    next_at: Timestamp,
}

/// Which receivers may be tried now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    ForAll,
    ForHealthy,
}

/// What became of the offer of a letter.
#[derive(Debug, PartialEq)]
pub(super) enum Offered {
    Held,
    /// As many as may be are held; offer it again when some of them are settled.
    Full,
    /// It is too old for a receiver that keeps failing.
    TooLate,
}

/// What follows from a try that came to nothing.
#[derive(Debug, PartialEq)]
pub(super) struct Setback<T> {
    pub next_at: Timestamp,
    /// Letters that have waited for too long; they are not held any more.
    pub given_up: Vec<Letter<T>>,
}

impl<T: Clone> Lanes<T> {
    pub(super) fn new(terms: Terms) -> Lanes<T> {
        Lanes { terms, lanes: BTreeMap::new(), index: Index::default(), sent: 0 }
    }

    /// No lane that is there is changed in another way.
    fn change<R>(&mut self, to: &str, change: impl FnOnce(&mut Lane<T>) -> R) -> Option<R> {
        let lane = self.lanes.get_mut(to)?;
        self.index.set(to, lane, false);
        let changed = change(lane);
        self.index.set(to, lane, true);
        Some(changed)
    }

    pub(super) fn offer(&mut self, now: Timestamp, letter: &Letter<T>) -> Offered {
        let terms = self.terms;
        if !self.lanes.contains_key(&letter.to) {
            let lane = Lane::new(now);
            self.index.set(&letter.to, &lane, true);
            self.lanes.insert(letter.to.clone(), lane);
        }
        let offered = self.change(&letter.to, |lane| {
            if lane.keeps_failing(&terms, now) && is_late(&terms, now, letter) {
                return Offered::TooLate;
            }
            let queue = lane.waiting.entry(letter.source).or_default();
            if queue.len() >= terms.held_max.max(1) {
                return Offered::Full;
            }
            queue.push_back(letter.clone());
            Offered::Held
        });
        offered.expect("the lane was made if it was not there")
    }

    /// The next letter to send, if one may go out now. It is on its way from then on, until
    /// `taken` or `failed`.
    pub(super) fn next(&mut self, now: Timestamp) -> Option<Letter<T>> {
        self.forget_empty(now);
        let (_, to) = self.idle().filter(|(at, _)| *at <= now)?.clone();
        let letter = self.change(&to, |lane| {
            let letter = lane.first().cloned().expect("its first letter is to go out");
            lane.sent = Some(letter.source);
            letter
        })?;
        self.sent += 1;
        Some(letter)
    }

    fn forget_empty(&mut self, now: Timestamp) {
        while let Some((_, to)) = self.index.empty.first().filter(|(at, _)| *at <= now).cloned() {
            let lane = self.lanes.remove(&to).expect("what is in the index is there");
            self.index.set(&to, &lane, false);
        }
    }

    /// The lane whose letter is to go out next, and when.
    fn idle(&self) -> Option<&(Timestamp, String)> {
        let (healthy, failing) = (self.index.healthy.first(), self.index.failing.first());
        match self.places()? {
            Places::ForAll => healthy.into_iter().chain(failing).min(),
            Places::ForHealthy => healthy,
        }
    }

    /// When `next` will have something, if nothing else happens until then.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.idle().map(|(at, _)| *at)
    }

    /// Whose letters may go out; `None`: nobody's. Tries for receivers that fail, which may take
    /// as long as a try can, take half of the places at most.
    fn places(&self) -> Option<Places> {
        let most = self.terms.concurrent_max.max(1);
        match self.sent {
            sent if sent >= most => None,
            sent if sent < most / 2 => Some(Places::ForAll),
            _ if self.index.failing_sent < most.div_ceil(2) => Some(Places::ForAll),
            _ => Some(Places::ForHealthy),
        }
    }

    /// The letter on its way to `to` is settled.
    pub(super) fn taken(&mut self, now: Timestamp, to: &str) {
        let was_sent = self.change(to, |lane| {
            let sent = lane.sent.take();
            if let Some(queue) = sent.and_then(|source| lane.waiting.get_mut(&source)) {
                queue.pop_front();
            }
            lane.failures = 0;
            lane.next_at = now;
            sent.is_some()
        });
        self.sent -= usize::from(was_sent == Some(true));
    }

    /// The letter on its way to `to` was not taken. `chance` is for the jitter.
    pub(super) fn failed(&mut self, now: Timestamp, to: &str, chance: u64) -> Setback<T> {
        let terms = self.terms;
        let failed = self.change(to, |lane| {
            let was_sent = lane.sent.take().is_some();
            (was_sent, lane.failed(&terms, now, chance))
        });
        let nothing = Setback { next_at: now, given_up: vec![] };
        let (was_sent, setback) = failed.unwrap_or((false, nothing));
        self.sent -= usize::from(was_sent);
        setback
    }

    /// Lets go of all letters that are not on their way, and lets every receiver be tried at once.
    pub(super) fn clear(&mut self) -> Vec<Letter<T>> {
        let mut cleared = vec![];
        self.index = Index::default();
        for (to, lane) in &mut self.lanes {
            for (source, queue) in &mut lane.waiting {
                let keep = usize::from(lane.sent == Some(*source));
                cleared.extend(queue.drain(keep..));
            }
            lane.next_at = Timestamp(0);
            self.index.set(to, lane, true);
        }
        cleared
    }

    /// Letters of `source` that are held for `to`.
    pub(super) fn held(&self, to: &str, source: PartitionId) -> usize {
        let queue = self.lanes.get(to).and_then(|lane| lane.waiting.get(&source));
        queue.map_or(0, VecDeque::len)
    }

    pub(super) fn fails(&self, to: &str) -> bool {
        self.lanes.get(to).is_some_and(|lane| lane.failures > 0)
    }

    /// Letters for receivers that do not fail.
    pub(super) fn moving(&self) -> usize {
        self.index.moving
    }

    /// Receivers that did not take the last letter.
    pub(super) fn failing(&self) -> usize {
        self.index.failing_lanes
    }

    /// When the oldest letter was written that is held.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.index.firsts.first().map(|(written_at, _)| *written_at)
    }
}

impl Index {
    /// Takes a lane in, as it is, or out.
    fn set<T>(&mut self, to: &str, lane: &Lane<T>, present: bool) {
        let place = |set: &mut BTreeSet<_>, at: Timestamp| match present {
            true => set.insert((at, to.to_owned())),
            false => set.remove(&(at, to.to_owned())),
        };
        let count = |number: &mut usize, by: usize| match present {
            true => *number += by,
            false => *number -= by,
        };
        let (fails, sent) = (lane.failures > 0, lane.sent.is_some());
        let first = lane.first();
        if let Some(first) = first {
            place(&mut self.firsts, first.written_at);
        }
        match (sent, first, fails) {
            (true, ..) => {}
            (false, None, _) => drop(place(&mut self.empty, lane.next_at)),
            (false, Some(_), false) => drop(place(&mut self.healthy, lane.next_at)),
            (false, Some(_), true) => drop(place(&mut self.failing, lane.next_at)),
        }
        count(&mut self.failing_lanes, usize::from(fails));
        count(&mut self.failing_sent, usize::from(fails && sent));
        if !fails {
            count(&mut self.moving, lane.waiting.values().map(VecDeque::len).sum());
        }
    }
}

impl<T> Lane<T> {
    fn new(now: Timestamp) -> Lane<T> {
        let waiting = BTreeMap::new();
        Lane { waiting, sent: None, failures: 0, failing_since: now, next_at: now }
    }

    fn keeps_failing(&self, terms: &Terms, now: Timestamp) -> bool {
        let long_enough = SURE_AFTER.min(terms.give_up_after);
        self.failures > 0 && now.since(self.failing_since) >= long_enough
    }

    fn first(&self) -> Option<&Letter<T>> {
        let firsts = self.waiting.values().filter_map(VecDeque::front);
        firsts.min_by_key(|letter| (letter.written_at, letter.source))
    }

    fn failed(&mut self, terms: &Terms, now: Timestamp, chance: u64) -> Setback<T> {
        if self.failures == 0 {
            self.failing_since = now;
        }
        self.failures = self.failures.saturating_add(1);
        self.next_at = now.plus(match terms.retry.after(self.failures, chance) {
            Next::After(pause) => pause,
            Next::Exhausted => terms.retry.max_interval,
        });
        let mut given_up = vec![];
        let sure = self.keeps_failing(terms, now);
        for queue in self.waiting.values_mut().filter(|_| sure) {
            while queue.front().is_some_and(|letter| is_late(terms, now, letter)) {
                given_up.extend(queue.pop_front());
            }
        }
        Setback { next_at: self.next_at, given_up }
    }
}

fn is_late<T>(terms: &Terms, now: Timestamp, letter: &Letter<T>) -> bool {
    now.since(letter.written_at) >= terms.give_up_after
}

#[cfg(test)]
mod tests;
