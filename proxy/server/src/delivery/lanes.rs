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
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use holdfast_machine::retry::RetryPolicy;
    use std::{fmt::Write, time::Duration};

    /// Two at once, two held, given up after 50 s, pauses of 1 s to 4 s.
    fn terms() -> Terms {
        Terms {
            timeout: Duration::from_secs(1),
            retry: RetryPolicy {
                initial_interval: Duration::from_secs(1),
                max_interval: Duration::from_secs(4),
                max_attempts: None,
                ..RetryPolicy::default()
            },
            give_up_after: Duration::from_secs(50),
            concurrent_max: 2,
            held_max: 2,
            held_all_max: 9,
        }
    }

    /// One event a line, `<ms> <words>`: `offer NAME RECEIVER [SOURCE [WRITTEN]]`, `taken
    /// RECEIVER`, `failed RECEIVER`, `clear`, `look`. After each, what goes out.
    #[track_caller]
    fn check(script: &str, expected: Expect) {
        let mut lanes = Lanes::new(terms());
        let mut text = String::new();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split(' ').collect();
            let now = Timestamp(words[0].parse().unwrap());
            let told = event(&mut lanes, now, &words[1..]);
            write!(text, "{line}").unwrap();
            let sent = std::iter::from_fn(|| lanes.next(now)).map(|letter| letter.what);
            let sent: Vec<_> = sent.collect();
            for part in [told, sent.join(" ")].iter().filter(|part| !part.is_empty()) {
                write!(text, " => {part}").unwrap();
            }
            match lanes.deadline() {
                Some(at) => writeln!(text, " (next at {})", at.0).unwrap(),
                None => writeln!(text).unwrap(),
            }
        }
        expected.assert_eq(&text);
    }

    fn event(lanes: &mut Lanes<&'static str>, now: Timestamp, words: &[&str]) -> String {
        let names = |letters: Vec<Letter<&str>>| {
            letters.into_iter().map(|letter| letter.what).collect::<Vec<_>>().join(",")
        };
        match words {
            ["offer", what, to, more @ ..] => {
                let source = more.first().map_or(0, |source| source.parse().unwrap());
                let written_at = more.get(1).map_or(now, |at| Timestamp(at.parse().unwrap()));
                let what = ["a", "b", "c", "d", "e"].into_iter().find(|it| it == what).unwrap();
                let (to, source) = ((*to).to_owned(), PartitionId(source));
                let offered = lanes.offer(now, &Letter { to, source, written_at, what });
                if offered == Offered::Held { String::new() } else { format!("{offered:?}") }
            }
            ["taken", to] => {
                lanes.taken(now, to);
                String::new()
            }
            ["failed", to] => {
                let given_up = names(lanes.failed(now, to, 0).given_up);
                if given_up.is_empty() { given_up } else { format!("gives up {given_up}") }
            }
            ["clear"] => format!("clears {}", names(lanes.clear())),
            ["look"] => format!("{} fail, oldest {:?}", lanes.failing(), lanes.oldest()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_at_a_time_for_each_receiver_in_order() {
        check(
            "
            0 offer a x
            1 offer b x
            2 offer c y
            3 taken y
            4 taken x
            5 taken x
            6 look
            ",
            expect![[r#"
                0 offer a x => a
                1 offer b x
                2 offer c y => c
                3 taken y
                4 taken x => b
                5 taken x
                6 look => 0 fail, oldest None
            "#]],
        );
    }

    #[test]
    fn pauses_grow_and_end_with_a_success() {
        check(
            "
            0 offer a x
            10 failed x
            500 offer b x
            1013 look
            1020 failed x
            3023 look
            3030 failed x
            7033 look
            7040 failed x
            11043 look
            11050 taken x
            11060 failed x
            ",
            expect![[r#"
                0 offer a x => a
                10 failed x (next at 1013)
                500 offer b x (next at 1013)
                1013 look => 1 fail, oldest Some(Timestamp(0)) => a
                1020 failed x (next at 3023)
                3023 look => 1 fail, oldest Some(Timestamp(0)) => a
                3030 failed x (next at 7033)
                7033 look => 1 fail, oldest Some(Timestamp(0)) => a
                7040 failed x (next at 11043)
                11043 look => 1 fail, oldest Some(Timestamp(0)) => a
                11050 taken x => b
                11060 failed x (next at 12063)
            "#]],
        );
    }

    #[test]
    fn a_failing_receiver_holds_up_nobody_and_takes_no_place() {
        check(
            "
            0 offer a x
            1 failed x
            2 offer b y
            3 offer c z
            4 offer d w
            5 taken z
            6 taken y
            ",
            expect![[r#"
                0 offer a x => a
                1 failed x (next at 1004)
                2 offer b y => b (next at 1004)
                3 offer c z => c
                4 offer d w
                5 taken z => d
                6 taken y (next at 1004)
            "#]],
        );
    }

    #[test]
    fn tries_for_failing_receivers_leave_places_to_others() {
        check(
            "
            0 offer a x
            0 offer b y
            1 failed x
            1 failed y
            2000 look
            2001 offer c z
            2002 failed x
            2003 taken z
            2004 taken y
            ",
            expect![[r#"
                0 offer a x => a
                0 offer b y => b
                1 failed x (next at 1004)
                1 failed y (next at 1004)
                2000 look => 2 fail, oldest Some(Timestamp(0)) => a
                2001 offer c z => c
                2002 failed x => b
                2003 taken z
                2004 taken y (next at 4005)
            "#]],
        );
    }

    #[test]
    fn sources_have_their_own_room_and_the_oldest_goes_first() {
        check(
            "
            0 offer a x 1
            1 offer b x 1
            2 offer c x 1
            3 offer d x 0
            4 taken x
            5 offer c x 1
            6 taken x
            7 taken x
            8 taken x
            ",
            expect![[r#"
                0 offer a x 1 => a
                1 offer b x 1
                2 offer c x 1 => Full
                3 offer d x 0
                4 taken x => b
                5 offer c x 1
                6 taken x => d
                7 taken x => c
                8 taken x
            "#]],
        );
    }

    #[test]
    fn what_is_old_is_given_up_only_when_the_receiver_keeps_failing() {
        check(
            "
            0 offer a x
            1 offer b x
            60000 taken x
            60001 failed x
            61004 look
            110000 failed x
            110001 offer c x 0 61000
            112004 look
            112005 failed x
            112006 offer d x 0 10
            112007 offer e y 0 10
            112008 taken y
            ",
            expect![[r#"
                0 offer a x => a
                1 offer b x
                60000 taken x => b
                60001 failed x (next at 61004)
                61004 look => 1 fail, oldest Some(Timestamp(1)) => b
                110000 failed x (next at 112003)
                110001 offer c x 0 61000 (next at 112003)
                112004 look => 1 fail, oldest Some(Timestamp(1)) => b
                112005 failed x => gives up b,c
                112006 offer d x 0 10 => TooLate
                112007 offer e y 0 10 => e
                112008 taken y
            "#]],
        );
    }

    /// A host that is down has as many lanes as it has letters.
    #[test]
    fn many_failing_receivers_cost_no_more_than_few() {
        const RECEIVERS: usize = 30_000;
        let mut lanes = Lanes::new(terms());
        for number in 0..RECEIVERS {
            let (to, source) = (format!("task {number}"), PartitionId(0));
            let letter = Letter { to, source, written_at: Timestamp(number as u64), what: number };
            assert_eq!(lanes.offer(Timestamp(0), &letter), Offered::Held);
        }
        let mut now = Timestamp(0);
        for _ in 0..3 * RECEIVERS {
            let letter = loop {
                match lanes.next(now) {
                    Some(letter) => break letter,
                    None => now = lanes.deadline().expect("all wait for their next try"),
                }
            };
            lanes.failed(now, &letter.to, letter.what as u64);
        }
        assert_eq!((lanes.failing(), lanes.moving()), (RECEIVERS, 0));
        assert_eq!(lanes.oldest(), Some(Timestamp(0)));
        for number in 0..RECEIVERS {
            lanes.taken(now, &format!("task {number}"));
        }
        // Nothing was on its way: the letters are still there, and nobody fails any more.
        assert_eq!((lanes.failing(), lanes.moving()), (0, RECEIVERS));
        while let Some(letter) = lanes.next(now) {
            lanes.taken(now, &letter.to);
        }
        assert_eq!((lanes.oldest(), lanes.failing(), lanes.moving()), (None, 0, 0));
        assert_eq!(lanes.lanes.len(), 0);
    }

    #[test]
    fn clearing_keeps_what_is_on_its_way() {
        check(
            "
            0 offer a x
            1 offer b x
            2 failed x
            2 offer c y
            3 offer d y
            4 clear
            5 offer b x
            6 taken y
            7 taken x
            8 look
            ",
            expect![[r#"
                0 offer a x => a
                1 offer b x
                2 failed x (next at 1005)
                2 offer c y => c (next at 1005)
                3 offer d y (next at 1005)
                4 clear => clears a,b,d
                5 offer b x => b
                6 taken y
                7 taken x
                8 look => 0 fail, oldest None
            "#]],
        );
    }
}
