//! The book of places against a list that is looked through from its beginning each time.

use super::*;
use crate::clock::Manual;
use crate::registry::limit::{Origin, Subject};
use holdfast_machine::id::PartitionKey;
use holdfast_wire::manifest::HandlerType;
use proptest::prelude::*;

fn ticket(uuid: u128) -> Ticket {
    (InvocationId { partition_key: PartitionKey(0), uuid }, 1)
}

fn target(text: &str) -> Target {
    let (service, key, handler) = match text.split('/').collect::<Vec<_>>()[..] {
        [service, handler] => (service, None, handler),
        [service, key, handler] => (service, Some(key.to_owned()), handler),
        _ => panic!("{text}"),
    };
    Target { service: service.into(), key, handler: handler.into(), ty: HandlerType::Shared }
}

/// `S`, `S/h`, `S/a*`, `S/a*/h`.
fn limit(text: &str, concurrency: u32) -> Limit {
    let mut parts = text.split('/');
    let service = parts.next().unwrap().to_owned();
    let (mut handler, mut key_prefix) = (None, None);
    for part in parts {
        match part.strip_suffix('*') {
            Some(prefix) => key_prefix = Some(prefix.to_owned()),
            None => handler = Some(part.to_owned()),
        }
    }
    let subject = Subject { service, handler, key_prefix };
    assert_eq!(subject.to_string(), text);
    Limit { subject, concurrency, origin: Origin::Settings }
}

fn places(max: usize, limits: &[Limit]) -> Places {
    let places = Places::new(max, Arc::new(Manual::new(Timestamp(5))));
    assert_eq!(places.set(limits, Vec::new), (vec![], vec![]));
    places
}

impl Places {
    #[track_caller]
    fn ask(&self, uuid: u128, called: &str) -> Answer {
        let (answer, grants) = self.admit(ticket(uuid), Some(&target(called)));
        assert_eq!(grants, []);
        answer
    }

    #[track_caller]
    fn seat(&self, uuid: u128, called: &str) -> u64 {
        match self.ask(uuid, called) {
            Answer::Seat(seat) => seat,
            other => panic!("{other:?}"),
        }
    }

    /// Who begins instead.
    fn end(&self, seat: u64) -> Vec<u128> {
        self.give_back(seat).into_iter().map(|grant| grant.ticket.0.uuid).collect()
    }
}

#[test]
fn places_go_to_those_who_waited_longest() {
    let places = places(2, &[]);
    let first = places.seat(1, "S/h");
    let second = places.seat(2, "S/h");
    assert_eq!(places.admit(ticket(3), None), (Answer::Waits, vec![]));
    assert_eq!(places.admit(ticket(4), None), (Answer::Waits, vec![]));
    assert_eq!((places.standings().running, places.waiting()), (2, 2));
    assert_eq!(places.end(first), [3]);
    assert_eq!(places.end(second), [4]);
    assert_eq!((places.standings().running, places.waiting()), (2, 0));
}

#[test]
fn after_the_close_nobody_waits() {
    let places = places(1, &[limit("S", 1)]);
    let seat = places.seat(1, "S/h");
    assert_eq!(places.ask(2, "S/h"), Answer::Waits);
    places.close();
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    assert_eq!(places.end(seat), [0; 0]);
    assert_eq!((places.standings().running, places.waiting()), (0, 0));
}

#[test]
fn who_waits_for_a_full_limit_stands_in_nobodys_way() {
    let places = places(10, &[limit("S/h", 1), limit("O/eu-*", 1)]);
    assert_eq!(places.admit(ticket(1), None), (Answer::WhichTarget, vec![]));
    let first = places.seat(1, "S/h");
    assert_eq!(places.ask(2, "S/h"), Answer::Waits);
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    places.seat(4, "S/other");
    let eu = places.seat(5, "O/eu-1/h");
    assert_eq!(places.ask(6, "O/eu-2/h"), Answer::Waits);
    places.seat(7, "O/us-1/h");
    assert_eq!(places.end(first), [2]);
    assert_eq!(places.end(eu), [6]);
}

#[test]
fn one_end_may_let_two_begin() {
    let places = places(10, &[limit("O", 2), limit("O/a*", 1), limit("O/h", 1)]);
    let both = places.seat(1, "O/a/h");
    places.seat(2, "O/b/i");
    assert_eq!(places.ask(3, "O/a/i"), Answer::Waits);
    assert_eq!(places.ask(4, "O/b/h"), Answer::Waits);
    let (grants, _) = places.set(&[limit("O", 3), limit("O/a*", 1), limit("O/h", 1)], Vec::new);
    assert_eq!(grants, []);
    assert_eq!(places.end(both), [3, 4]);
}

#[test]
fn zero_lets_none_begin_and_a_higher_number_lets_them_in() {
    let places = places(10, &[limit("S", 0)]);
    for uuid in 1..=3 {
        assert_eq!(places.ask(uuid, "S/h"), Answer::Waits);
    }
    let (grants, again) = places.set(&[limit("S", 2)], Vec::new);
    let begun: Vec<_> = grants.iter().map(|grant| grant.ticket.0.uuid).collect();
    assert_eq!((begun, again), (vec![1, 2], vec![]));
    let (lowered, _) = places.set(&[limit("S", 1)], Vec::new);
    assert_eq!(lowered, []);
    assert_eq!(places.end(grants[0].seat), [0; 0], "one more than the limit ran");
    assert_eq!(places.end(grants[1].seat), [3]);
}

#[test]
fn who_waits_can_be_withdrawn_and_asks_once() {
    let places = places(1, &[]);
    let seat = places.seat(1, "S/h");
    for uuid in [2, 2, 3] {
        assert_eq!(places.ask(uuid, "S/h"), Answer::Waits);
    }
    assert_eq!(places.waiting(), 2);
    assert!(!places.withdraw((ticket(2).0, 9)), "that attempt does not wait");
    assert!(places.withdraw(ticket(2)));
    assert!(!places.withdraw(ticket(2)));
    let (later, earlier) = ((ticket(3).0, 7), ticket(3));
    assert_eq!(places.admit(later, None), (Answer::Waits, vec![]));
    assert_eq!(places.admit(earlier, None), (Answer::Waits, vec![]));
    assert_eq!(places.give_back(seat).iter().map(|it| it.ticket).collect::<Vec<_>>(), [later]);
    assert_eq!(places.waiting(), 0);
}

#[test]
fn what_runs_counts_under_new_limits_and_who_waits_keeps_its_turn() {
    let places = places(2, &[]);
    let (first, second) = (places.seat(1, "S/h"), places.seat(2, "T/h"));
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    assert_eq!(places.ask(4, "T/h"), Answer::Waits);
    let in_sight = || vec![(second, target("T/h"))];
    let (grants, again) = places.set(&[limit("S", 1), limit("T", 1)], in_sight);
    assert_eq!((grants, again), (vec![], vec![ticket(3), ticket(4)]));
    assert_eq!(places.recount(first, &target("S/h")), [], "was not in sight and is now");
    let running =
        |places: &Places| places.standings().limits.iter().map(|it| it.running).collect::<Vec<_>>();
    assert_eq!(running(&places), [1, 1]);
    assert_eq!(places.ask(4, "T/h"), Answer::Waits);
    assert_eq!(places.ask(5, "T/h"), Answer::Waits);
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    assert_eq!(places.end(second), [4]);
    assert_eq!(places.end(first), [3]);
    assert_eq!(running(&places), [1, 1]);
}

#[test]
fn who_comes_back_before_others_takes_no_turn_from_them() {
    let places = places(1, &[]);
    let only = places.seat(1, "T/h");
    assert_eq!(places.ask(2, "S/h"), Answer::Waits);
    let set = |of_service, of_handler| {
        places.set(&[limit("S", of_service), limit("S/h", of_handler)], Vec::new)
    };
    assert_eq!(set(0, 1), (vec![], vec![ticket(2)]));
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    assert_eq!(places.ask(4, "S/i"), Answer::Waits);
    // Now 3 is the next of the service, until it is not.
    assert_eq!(set(1, 1), (vec![], vec![]));
    assert_eq!(set(1, 0), (vec![], vec![]));
    assert_eq!(places.ask(2, "S/h"), Answer::Waits);
    assert_eq!(places.end(only), [4]);
}

#[test]
fn people_see_who_waits_for_what() {
    let places = places(3, &[limit("S", 2), limit("S/h", 1)]);
    places.seat(1, "S/h");
    assert_eq!(places.ask(2, "S/h"), Answer::Waits);
    assert_eq!(places.ask(3, "S/h"), Answer::Waits);
    places.seat(4, "S/i");
    assert_eq!(places.ask(5, "S/i"), Answer::Waits);
    places.seat(6, "T/h");
    assert_eq!(places.ask(7, "T/h"), Answer::Waits);
    let say = |uuid: u128| {
        let waits = places.waits(ticket(uuid).0)?;
        let ahead = places.ahead(ticket(uuid).0)?;
        let Waits { limit, running, concurrency, since } = waits;
        assert_eq!(since, Timestamp(5));
        Some(format!("{} {running}/{concurrency} {ahead}", limit.as_deref().unwrap_or("all")))
    };
    let said: Vec<_> = [1, 2, 3, 5, 7].into_iter().map(say).collect();
    let some = |text: &str| Some(text.to_owned());
    // The service is full too, and said first.
    let expected = [None, some("S 2/2 0"), some("S 2/2 1"), some("S 2/2 2"), some("all 3/3 0")];
    assert_eq!(said, expected);
    let standings = places.standings();
    assert_eq!((standings.max, standings.running, standings.waiting), (3, 3, 4));
    assert_eq!(standings.oldest, Some((ticket(7).0, Timestamp(5))));
    let of_handler = &standings.limits[1];
    assert_eq!((of_handler.running, of_handler.waiting), (1, 2));
    assert_eq!(of_handler.oldest, Some((ticket(2).0, Timestamp(5))));
}

#[test]
fn only_seats_that_somebody_waits_for_are_wanted() {
    let places = places(3, &[limit("S", 1), limit("Stopped", 0)]);
    let idle = |seat| IdleSeat { seat, for_all: true, for_limits: true };
    let (s, t) = (places.seat(1, "S/h"), places.seat(2, "T/h"));
    let wanted =
        |seats: &[u64]| places.wanted(&seats.iter().map(|seat| idle(*seat)).collect::<Vec<_>>());
    assert_eq!(wanted(&[s, t]), [false, false]);
    assert_eq!(places.ask(3, "Stopped/h"), Answer::Waits);
    assert_eq!(wanted(&[s, t]), [false, false], "it could not begin anyway");
    assert_eq!(places.ask(4, "S/h"), Answer::Waits);
    assert_eq!(wanted(&[t, s]), [false, true]);
    let too_short = IdleSeat { for_limits: false, ..idle(s) };
    assert_eq!(places.wanted(&[too_short]), [false]);
    let u = places.seat(5, "T/h");
    assert_eq!(places.ask(6, "T/h"), Answer::Waits);
    assert_eq!(wanted(&[t, u, s]), [true, false, true]);
    assert_eq!(places.wanted(&[too_short]), [true]);
}

/// What can happen to places.
#[derive(Debug, Clone)]
enum Act {
    Ask(usize),
    /// The attempt with this rank among those that run ends.
    End(usize),
    /// The one with this rank among those that wait is killed.
    Kill(usize),
    /// Other numbers for the same limits.
    Numbers(Vec<u32>),
    /// Only limits of these bits.
    Limits(u8),
    /// One that has to ask again does.
    Again(usize),
}

const TARGETS: [&str; 10] =
    ["S/h", "S/i", "T/h", "O/a1/h", "O/a2/i", "O/ab/h", "O/b/i", "O/b/h", "P/a/h", "U/h"];
const LIMITS: [&str; 8] = ["O", "O/a*", "O/ab*", "O/a*/h", "O/h", "S", "S/h", "T/h"];

fn act() -> impl Strategy<Value = Act> {
    let numbers = || proptest::collection::vec(0..4_u32, LIMITS.len());
    prop_oneof![
        8 => (0..TARGETS.len()).prop_map(Act::Ask),
        6 => any::<usize>().prop_map(Act::End),
        2 => any::<usize>().prop_map(Act::Kill),
        1 => numbers().prop_map(Act::Numbers),
        1 => any::<u8>().prop_map(Act::Limits),
        3 => any::<usize>().prop_map(Act::Again),
    ]
}

/// The plainest thing that keeps the rules.
struct Model {
    max: usize,
    limits: Vec<Limit>,
    running: Vec<(u64, Target)>,
    /// In the order in which they came; whether each may begin without asking again.
    waiting: Vec<(Ticket, Target, bool)>,
}

impl Model {
    fn counts(limit: &Limit, target: &Target) -> bool {
        let Subject { service, handler, key_prefix } = &limit.subject;
        let key = target.key.as_deref();
        *service == target.service
            && handler.as_ref().is_none_or(|handler| *handler == target.handler)
            && key_prefix
                .as_ref()
                .is_none_or(|prefix| key.is_some_and(|key| key.starts_with(prefix.as_str())))
    }

    fn running(&self, limit: &Limit) -> usize {
        self.running.iter().filter(|(_, target)| Model::counts(limit, target)).count()
    }

    fn has_room(&self, target: &Target) -> bool {
        let is_full = |limit: &&Limit| self.running(limit) >= limit.concurrency as usize;
        self.running.len() < self.max
            && !self
                .limits
                .iter()
                .filter(|limit| Model::counts(limit, target))
                .any(|it| is_full(&it))
    }

    /// Those who begin, in order.
    fn settle(&mut self, grants: &[Grant]) {
        let mut seats = grants.iter();
        while let Some(next) =
            self.waiting.iter().position(|(_, target, sorted)| *sorted && self.has_room(target))
        {
            let (ticket, target, _) = self.waiting.remove(next);
            let grant = seats.next().unwrap_or_else(|| panic!("{ticket:?} could begin"));
            assert_eq!(grant.ticket, ticket, "somebody else came before");
            self.running.push((grant.seat, target));
        }
        assert_eq!(seats.next(), None, "there was no room for it");
    }
}

/// The places, and what they should be like.
struct Play {
    places: Places,
    model: Model,
    /// Of all limits there could be.
    numbers: Vec<u32>,
}

impl Play {
    fn new(max: usize, numbers: Vec<u32>) -> Play {
        let limits = all_limits(&numbers);
        let places = places(max, &limits);
        Play { places, model: Model { max, limits, running: vec![], waiting: vec![] }, numbers }
    }

    fn act(&mut self, number: usize, act: Act) {
        let Model { running, waiting, .. } = &self.model;
        match act {
            Act::Ask(called) => self.ask(ticket(number as u128), target(TARGETS[called])),
            Act::End(rank) if !running.is_empty() => self.end(rank % running.len()),
            Act::Kill(rank) if !waiting.is_empty() => {
                let (ticket, ..) = self.model.waiting.remove(rank % waiting.len());
                assert!(self.places.withdraw(ticket));
            }
            Act::Numbers(numbers) => {
                self.numbers = numbers;
                let kept: Vec<_> = self.model.limits.iter().map(|it| it.subject.clone()).collect();
                self.set(all_limits(&self.numbers), |limit| kept.contains(&limit.subject));
            }
            Act::Limits(bits) => {
                let all = all_limits(&self.numbers);
                let subjects: Vec<_> = all.iter().map(|limit| limit.subject.clone()).collect();
                let at = |limit: &Limit| subjects.iter().position(|it| *it == limit.subject);
                self.set(all, |limit| bits & (1 << at(limit).unwrap()) != 0);
            }
            Act::Again(rank) => {
                let unsorted = self.model.waiting.iter().filter(|(.., sorted)| !sorted).count();
                if unsorted > 0 {
                    self.ask_again(rank % unsorted);
                }
            }
            Act::End(_) | Act::Kill(_) => {}
        }
        self.check();
    }

    fn ask(&mut self, ticket: Ticket, target: Target) {
        let model = &mut self.model;
        let room = model.has_room(&target);
        let told = (!model.limits.is_empty()).then_some(&target);
        match self.places.admit(ticket, told) {
            (Answer::Seat(seat), grants) if room && grants.is_empty() => {
                model.running.push((seat, target));
            }
            (Answer::Waits, grants) if !room && grants.is_empty() => {
                model.waiting.push((ticket, target, true));
            }
            other => panic!("{ticket:?}, room {room}: {other:?}"),
        }
    }

    fn end(&mut self, index: usize) {
        let (seat, _) = self.model.running.remove(index);
        self.model.settle(&self.places.give_back(seat));
    }

    fn set(&mut self, mut limits: Vec<Limit>, keep: impl Fn(&Limit) -> bool) {
        limits.retain(keep);
        let model = &mut self.model;
        let subjects = |limits: &[Limit]| -> Vec<_> {
            limits.iter().map(|limit| limit.subject.clone()).collect()
        };
        let others = subjects(&limits) != subjects(&model.limits);
        model.limits = limits;
        let (grants, again) = self.places.set(&model.limits, || model.running.clone());
        let expected: Vec<_> = match others {
            true => model.waiting.iter().map(|(ticket, ..)| *ticket).collect(),
            false => vec![],
        };
        assert_eq!(again, expected);
        if others {
            model.waiting.iter_mut().for_each(|(.., sorted)| *sorted = false);
        }
        model.settle(&grants);
    }

    /// The one with this rank among those who have to.
    fn ask_again(&mut self, rank: usize) {
        let mut unsorted = self.model.waiting.iter_mut().filter(|(.., sorted)| !sorted);
        let (ticket, target, sorted) = unsorted.nth(rank).unwrap();
        *sorted = true;
        let (answer, grants) = self.places.admit(*ticket, Some(target));
        assert_eq!(answer, Answer::Waits);
        self.model.settle(&grants);
    }

    fn check(&self) {
        let (places, model) = (self.places.standings(), &self.model);
        assert_eq!((places.running, places.waiting), (model.running.len(), model.waiting.len()));
        for (standing, limit) in places.limits.iter().zip(&model.limits) {
            assert_eq!((&standing.limit, standing.running), (limit, model.running(limit)));
        }
    }

    /// Nobody is forgotten: with room for one in each limit everybody begins and ends.
    fn finish(mut self) {
        let subjects: Vec<_> = self.model.limits.iter().map(|it| it.subject.clone()).collect();
        self.set(all_limits(&[1; LIMITS.len()]), |limit| subjects.contains(&limit.subject));
        while self.model.waiting.iter().any(|(.., sorted)| !sorted) {
            self.ask_again(0);
        }
        while !self.model.running.is_empty() {
            self.end(0);
        }
        assert_eq!(
            (self.places.standings().running, self.places.waiting()),
            (0, 0),
            "somebody was lost"
        );
    }
}

fn all_limits(numbers: &[u32]) -> Vec<Limit> {
    LIMITS.iter().zip(numbers).map(|(text, number)| limit(text, *number)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_book_does_what_a_list_would_do(
        max in 1..6_usize,
        numbers in proptest::collection::vec(0..4_u32, LIMITS.len()),
        acts in proptest::collection::vec(act(), 1..120),
    ) {
        let mut play = Play::new(max, numbers);
        for (number, act) in acts.into_iter().enumerate() {
            play.act(number, act);
        }
        play.finish();
    }
}
