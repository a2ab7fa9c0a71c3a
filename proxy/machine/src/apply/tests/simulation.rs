//! Random lives on one to three partitions: handlers that run, sleep, call, wait and fail, people
//! who cancel, kill, pause and resume, schedules that come and go, and crashes that lose everything
//! but the tables. Whatever happens, what was recorded stays as it is, and every invocation ends.
//!
//! A failure prints the seed and the partitions; put them into `a_life` in a test to repeat it.

mod asks;
mod handler;
mod invariants;
mod schedules;

use self::handler::callee;
use self::invariants::{hold, told, written};
use super::words::{pin, target};
use crate::apply::{Here, apply};
use crate::command::*;
use crate::effect::Effect;
use crate::id::{InvocationId, PartitionId, PartitionKey, Partitions};
use crate::kv::{Kv, MemoryKv, Txn, Writes};
use crate::model::*;
use crate::recover::recover;
use crate::replay;
use crate::retry::RetryPolicy;
use crate::tables::invocation::{self, Record};
use crate::tables::{TableId, journal, lock, notice::Notice, queue, running, timer};
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::pb::notification::{Id, Result as Content};
use holdfast_wire::message::{MessageType, pb};
use proptest::prelude::*;
use prost::Message as _;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

const STEPS: u32 = 300;
const RETENTION_MS: u64 = 1_000_000;
const DEPTH_MAX: u64 = 3;

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_everything_ends(seed: u64, partitions in 1u16..=3) {
        a_life(seed, partitions);
    }
}

/// A simulation in which nothing happens would prove nothing.
#[test]
fn lives_are_eventful() {
    let mut seen = BTreeMap::new();
    for seed in 0..16 {
        for (what, count) in a_life(seed, 3) {
            *seen.entry(what).or_insert(0) += count;
        }
    }
    let least = [
        ("Invoke", 500),
        ("Ended", 200),
        ("Notify", 100),
        ("Send", 100),
        ("Abort", 5),
        ("Suspend", 5),
        ("WakeAt", 200),
        ("crash", 3),
        ("paused", 4),
        ("restarted", 2),
        ("scheduled", 50),
        ("skipped", 20),
        ("Notice", 20),
        ("told", 20),
        ("Told", 200),
        ("followed", 20),
        ("answered", 20),
        ("messaged", 10),
    ];
    for (what, least) in least {
        let count = seen.get(what).copied().unwrap_or(0);
        assert!(count >= least, "{what}: {count}, at least {least} of {seen:?}");
    }
}

/// Lives, and tells what was seen how often.
fn a_life(seed: u64, partitions: u16) -> BTreeMap<&'static str, u32> {
    let mut world = World::new(seed, partitions);
    for _ in 0..STEPS {
        world.step();
    }
    world.calm_down();
    world.forget();
    world.seen
}

struct World {
    chance: Chance,
    partitions: Partitions,
    stores: Vec<MemoryKv>,
    now: u64,
    /// Attempts that were asked for, by number.
    attempts: Vec<(InvocationId, u32)>,
    /// What attempts say a little later.
    sayings: VecDeque<AttemptSaid>,
    mail: BTreeMap<(PartitionId, PartitionId), VecDeque<(u64, Bytes)>>,
    receipts: VecDeque<(PartitionId, PartitionId, u64)>,
    /// The partitions that said that they have notices.
    notices: BTreeSet<PartitionId>,
    known: BTreeSet<InvocationId>,
    calm: bool,
    seen: BTreeMap<&'static str, u32>,
}

impl World {
    fn new(seed: u64, partitions: u16) -> Self {
        World {
            chance: Chance(seed),
            partitions: Partitions(partitions),
            stores: vec![MemoryKv::default(); usize::from(partitions)],
            now: 1,
            attempts: vec![],
            sayings: VecDeque::new(),
            mail: BTreeMap::new(),
            receipts: VecDeque::new(),
            notices: BTreeSet::new(),
            known: BTreeSet::new(),
            calm: false,
            seen: BTreeMap::new(),
        }
    }

    fn here(&self, partition: PartitionId) -> Here {
        let notices = NoticesWanted { paused: true, failed: FailuresWanted::All };
        Here { notices, ..Here::new(partition, self.partitions) }
    }

    fn store(&self, partition: PartitionId) -> &MemoryKv {
        &self.stores[usize::from(partition.0)]
    }

    fn home(&self, id: InvocationId) -> PartitionId {
        self.partitions.of(id.partition_key)
    }

    fn step(&mut self) {
        match self.chance.below(24) {
            0..=2 => self.invoke(),
            3..=7 => self.attempt(),
            8..=10 => self.say(),
            11..=13 => self.carry(),
            14 => {
                self.receipt();
                self.tell();
            }
            15 | 16 => self.pass_time(),
            17 => self.meddle(),
            18 => self.complete_awakeable(),
            19 | 20 => self.schedule(),
            21 => self.follow(),
            22 => self.speak(),
            _ if self.chance.below(8) == 0 => {
                self.saw("crash");
                self.crash();
            }
            _ => self.say(),
        }
    }

    fn invoke(&mut self) {
        let target = callee(0, &mut self.chance);
        let idempotency_key = (target.ty != HandlerType::Workflow && self.chance.below(3) == 0)
            .then(|| self.chance.below(5).to_string());
        let (service, key) = (target.service.clone(), target.key.clone());
        let id = match (&key, &idempotency_key) {
            (Some(key), None) if target.ty == HandlerType::Workflow => {
                InvocationId::workflow(&service, key)
            }
            (_, Some(idempotent)) => {
                InvocationId::idempotent(&service, key.as_deref(), &target.handler, idempotent)
            }
            _ => InvocationId {
                partition_key: key
                    .as_deref()
                    .map_or(PartitionKey(self.chance.next()), PartitionKey::of_key),
                uuid: u128::from(self.chance.next()),
            },
        };
        let kept = idempotency_key.is_some() || target.ty == HandlerType::Workflow;
        let new = NewInvocation {
            id,
            target,
            argument: Bytes::from_static(b"x"),
            headers: vec![],
            idempotency_key,
            source: Source::Ingress,
            root: id,
            start_at: (self.chance.below(5) == 0)
                .then(|| Timestamp(self.now + self.chance.below(300))),
            retention: self.retention(kept),
            lazy_state: false,
            random_seed: self.chance.next(),
        };
        self.apply(self.home(id), Command::Invoke(Box::new(new)));
    }

    fn retention(&mut self, kept: bool) -> Retention {
        let completion = if kept { RETENTION_MS } else { self.chance.below(2) * RETENTION_MS };
        let journal = completion / (1 + self.chance.below(2));
        let duration = Duration::from_millis;
        Retention { completion: duration(completion), journal: duration(journal) }
    }

    fn attempt(&mut self) {
        if self.attempts.is_empty() {
            return;
        }
        let index = usize::try_from(self.chance.below(self.attempts.len() as u64)).unwrap();
        let (id, attempt) = self.attempts.swap_remove(index);
        let home = self.home(id);
        let start = replay::start(self.store(home), self.here(home), id, usize::MAX).unwrap();
        let Some(start) = start.filter(|start| start.attempt == attempt) else {
            return;
        };
        self.converse(&start);
    }

    fn say(&mut self) {
        if let Some(said) = self.sayings.pop_front() {
            self.apply(self.home(said.invocation), Command::Attempt(Box::new(said)));
        }
    }

    /// Takes a message to another partition, now and then twice.
    fn carry(&mut self) {
        let routes: Vec<_> = self
            .mail
            .iter()
            .filter(|(_, mail)| !mail.is_empty())
            .map(|(route, _)| *route)
            .collect();
        if routes.is_empty() {
            return;
        }
        let route = routes[usize::try_from(self.chance.below(routes.len() as u64)).unwrap()];
        let (from, to) = route;
        let (sequence, message) = self.mail.get_mut(&route).unwrap().pop_front().unwrap();
        if !self.calm && self.chance.below(8) == 0 {
            let message = message.clone();
            self.apply(to, Command::Deliver { from, sequence, message });
        }
        self.apply(to, Command::Deliver { from, sequence, message });
        self.receipts.push_back((from, to, sequence));
    }

    fn receipt(&mut self) {
        if let Some((from, to, sequence)) = self.receipts.pop_front() {
            self.apply(from, Command::Delivered { to, sequence });
        }
    }

    /// Tells somebody outside what one partition has to tell, now and then twice.
    fn tell(&mut self) {
        let Some(partition) = self.notices.pop_first() else {
            return;
        };
        let mut sequences = vec![];
        queue::scan::<Notice>(self.store(partition), partition, 0, &mut |sequence, _| {
            sequences.push(sequence);
            true
        })
        .unwrap();
        for sequence in sequences {
            self.saw("told");
            self.apply(partition, Command::Noticed { sequence });
            if self.chance.below(8) == 0 {
                self.apply(partition, Command::Noticed { sequence });
            }
        }
    }

    fn pass_time(&mut self) {
        self.now += self.chance.below(200);
        self.fire();
    }

    fn fire(&mut self) {
        for partition in self.partitions.all() {
            let now = Timestamp(self.now);
            let due = timer::due(self.store(partition), partition, Timestamp(0), now, 100).unwrap();
            for key in due {
                let callee = self.registered(partition, &key);
                self.apply(partition, Command::TimerDue { key, callee });
            }
        }
    }

    fn anyone(&mut self) -> Option<InvocationId> {
        let known: Vec<_> = self.known.iter().copied().collect();
        let index = self.chance.below(known.len().max(1) as u64);
        known.get(usize::try_from(index).unwrap()).copied()
    }

    fn meddle(&mut self) {
        let Some(invocation) = self.anyone() else {
            return;
        };
        let command = match self.chance.below(10) {
            0 => Command::Kill { invocation },
            1 => Command::Cancel { invocation },
            2 => Command::Pause { invocation },
            3 if self.now.is_multiple_of(2) => {
                let completed = self.completed(invocation);
                Command::Forget { invocation, completed: completed.unwrap_or(Timestamp(7)) }
            }
            3 => Command::Purge { invocation },
            4 => Command::PurgeJournal { invocation },
            5..=8 => Command::RestartAsNew {
                invocation,
                new: InvocationId { uuid: u128::from(self.chance.next()), ..invocation },
                from: u32::try_from(self.chance.below(4)).unwrap(),
                pin: None,
            },
            _ => Command::Resume { invocation, pin: None },
        };
        self.apply(self.home(invocation), command);
    }

    fn completed(&self, id: InvocationId) -> Option<Timestamp> {
        let home = self.home(id);
        invocation::get(self.store(home), home, id).unwrap()?.times.completed
    }

    fn complete_awakeable(&mut self) {
        let Some(invocation) = self.anyone() else {
            return;
        };
        let signal = SignalName::Index(17 + u32::try_from(self.chance.below(4)).unwrap());
        let value = SignalValue::Success(Bytes::from_static(b"yes"));
        self.apply(self.home(invocation), Command::Signal { invocation, signal, value });
    }

    /// The process dies: nothing is left but the tables.
    fn crash(&mut self) {
        self.attempts.clear();
        self.sayings.clear();
        self.mail.clear();
        self.receipts.clear();
        self.notices.clear();
        for partition in self.partitions.all() {
            for effect in recover(self.store(partition), self.here(partition)).unwrap() {
                self.effect(partition, effect);
            }
        }
    }

    fn apply(&mut self, partition: PartitionId, command: Command) {
        let here = self.here(partition);
        let mut txn = Txn::new(self.store(partition));
        let effects = apply(&mut txn, here, Timestamp(self.now), command.clone())
            .unwrap_or_else(|fault| panic!("{fault} after {command:?}"));
        let writes = txn.into_writes();
        let before = written(self.store(partition), &writes);
        self.stores[usize::from(partition.0)].apply(writes.clone());
        hold(&before, self.store(partition), partition, &writes);
        told(&before, self.store(partition), partition, &writes);
        for effect in effects {
            self.effect(partition, effect);
        }
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn effect(&mut self, partition: PartitionId, effect: Effect) {
        self.saw(match &effect {
            Effect::Invoke { .. } => "Invoke",
            Effect::Notify { .. } => "Notify",
            Effect::Suspend { .. } => "Suspend",
            Effect::Abort { .. } => "Abort",
            Effect::Reply(Reply::Restarted { .. }) => "restarted",
            Effect::Reply(Reply::Started { new: true, .. }) => "followed",
            Effect::Reply(Reply::Answered { .. }) => "answered",
            Effect::Reply(Reply::Messaged { .. }) => "messaged",
            Effect::Reply(_) => "Reply",
            Effect::Ended { .. } => "Ended",
            Effect::WakeAt(_) => "WakeAt",
            Effect::Notice { .. } => "Notice",
            Effect::Told { .. } => "Told",
            Effect::Push { .. } => "Push",
            Effect::Send { .. } => "Send",
        });
        match effect {
            Effect::Invoke { invocation, attempt } => {
                self.known.insert(invocation);
                self.attempts.push((invocation, attempt));
            }
            Effect::Notice { .. } => {
                self.notices.insert(partition);
            }
            Effect::Send { to, sequence, message } => {
                self.mail.entry((partition, to)).or_default().push_back((sequence, message));
            }
            _ => {}
        }
    }

    /// Nobody meddles any more: what was accepted has to end.
    fn calm_down(&mut self) {
        self.calm = true;
        self.pause_schedules();
        for round in 0.. {
            assert!(round < 2000, "it does not come to an end: {:?}", self.unfinished());
            self.crash();
            for _ in 0..200 {
                self.attempt();
                self.say();
                self.carry();
                self.receipt();
            }
            self.now += 100;
            self.fire();
            let unfinished = self.unfinished();
            if unfinished.is_empty() && self.mail.values().all(VecDeque::is_empty) {
                break;
            }
            self.answer_all();
            for (invocation, status) in unfinished {
                self.help(invocation, &status);
            }
        }
        self.end_schedules();
    }

    fn help(&mut self, invocation: InvocationId, status: &Status) {
        let home = self.home(invocation);
        match status {
            Status::Paused => {
                self.saw("paused");
                self.apply(home, Command::Resume { invocation, pin: None });
            }
            Status::Suspended { awaiting } => {
                for signal in awaiting.signals.clone() {
                    if signal != SignalName::Index(1) {
                        let value = SignalValue::Void;
                        self.apply(home, Command::Signal { invocation, signal, value });
                    }
                }
            }
            _ => {}
        }
    }

    fn unfinished(&self) -> Vec<(InvocationId, Status)> {
        let mut unfinished = vec![];
        for partition in self.partitions.all() {
            invocation::scan(self.store(partition), partition, None, &mut |id, record| {
                if !matches!(record.status, Status::Completed { .. }) {
                    unfinished.push((id, record.status));
                }
                true
            })
            .unwrap();
        }
        unfinished
    }

    /// After all retentions nothing is left but the state of objects and the counters.
    fn forget(&mut self) {
        self.now += 2 * RETENTION_MS;
        for _ in 0..50 {
            self.fire();
        }
        // Of the partitions that have notices the last crash reminded.
        while !self.notices.is_empty() {
            self.tell();
        }
        for store in &self.stores {
            for key in store.0.keys() {
                let table = TableId::of_key(key).unwrap();
                let stays = [TableId::State, TableId::Meta, TableId::Dedup];
                assert!(stays.contains(&table), "left behind in {}: {key:?}", table.name());
            }
        }
    }
}

/// Chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
