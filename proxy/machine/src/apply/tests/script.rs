//! Scripts: one command a line, `<time> <words>`.
//!
//! ```text
//! 0 invoke a Greeter/greet hi [idem=K] [at=MS] [keep=MS] [journal=MS] [lazy]
//! 1 a#1 run 1; ran 1 value; output done; end       what attempt 1 of `a` says
//! 5 due                                            all timers up to now
//! 6 cancel a | kill a | pause a | resume a [pin=N] | purge a | purge-journal a | attach a | …
//! 6 put n Greeter/greet cron=0_9_*_*_* [tz=Europe/Berlin] [catch-up=skip] [overlap=skip]
//! 6 delete n | hold n | release n | trigger n      schedules; a service `Gone…` is not registered
//! 6 forget a completed=MS
//! 6 follow a Greeter/greet hi [by=ada] [digest=D] [message=M] [keep=MS]   starts a task
//! 6 say a m1 {"x":1} [digest=D] [text=yes] [decline] [ask=A]              a message to it, or to its ask A
//! 6 answer a 1 accept {"x":1} [by=ada] [ask=A]       its first ask, or A where it is the first
//! 7 route                                          messages between partitions, until none is left
//! 8 recover                                        the effects that the tables call for
//! 9 dump                                           all rows
//! 9 notices paused roots | paused all | …          what is wanted to be told from now on
//! 9 noticed 1                                      the first partition's notice 1 was delivered
//! ```
//!
//! Ids are one letter; an id that the machine derived is named `A`, `B`, … when it is first seen.
//! A target has two parts for a service, three for an object; objects named `Wf…` are workflows,
//! handlers named `get` are shared.

use super::words::*;
use super::{show, statements};
use crate::apply::{Here, apply};
use crate::command::*;
use crate::effect::Effect;
use crate::id::{AskId, InvocationId, PartitionId, PartitionKey, Partitions, ScheduleId};
use crate::kv::{MemoryKv, Txn};
use crate::model::*;
use crate::recover::recover;
use crate::tables::{ask, schedule, timer};
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use std::collections::{BTreeMap, VecDeque};

pub fn run(partitions: u16, script: &str) -> String {
    World::after(partitions, script).transcript
}

/// A call by a door of that target, with nothing else about it.
pub fn new_invocation(id: InvocationId, called: &str) -> NewInvocation {
    NewInvocation {
        id,
        target: target(called),
        argument: Bytes::new(),
        headers: vec![],
        idempotency_key: None,
        source: Source::Ingress,
        root: id,
        start_at: None,
        retention: Retention::default(),
        lazy_state: false,
        random_seed: 7,
    }
}

pub struct World {
    partitions: Partitions,
    pub stores: Vec<MemoryKv>,
    pub names: Names,
    now: Timestamp,
    notices: NoticesWanted,
    on_the_way: VecDeque<(PartitionId, PartitionId, u64, Bytes)>,
    transcript: String,
}

/// Ids and what they are called here.
pub struct Names {
    partitions: u16,
    by_id: BTreeMap<InvocationId, String>,
    derived: u32,
}

impl Names {
    pub fn of(&mut self, id: InvocationId) -> String {
        if let Some(name) = self.by_id.get(&id) {
            return name.clone();
        }
        let name = match u8::try_from(self.derived) {
            Ok(number @ 0..26) => char::from(b'A' + number).to_string(),
            _ => format!("A{}", self.derived),
        };
        self.derived += 1;
        self.by_id.insert(id, name.clone());
        name
    }

    /// The id of that name; one that is new is spread over the partitions: `a` is in the first,
    /// `b` in the second and so on.
    pub fn known(&mut self, name: &str) -> InvocationId {
        if let Some((id, _)) = self.by_id.iter().find(|(_, known)| *known == name) {
            return *id;
        }
        let number = u64::from(name.as_bytes()[0]);
        let partition_key = match self.partitions {
            1 => number,
            count => {
                let step = u64::MAX / u64::from(count) + 1;
                (number - u64::from(b'a')) % u64::from(count) * step + number
            }
        };
        let partition_key = PartitionKey(partition_key);
        let id = InvocationId { partition_key, uuid: u128::from(number) };
        self.insert(id, name);
        id
    }

    fn insert(&mut self, id: InvocationId, name: &str) {
        self.by_id.entry(id).or_insert_with(|| name.into());
    }
}

impl World {
    /// What is there when a script has run.
    pub fn after(partitions: u16, script: &str) -> World {
        let mut world = World::new(partitions);
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            world.line(line);
        }
        world
    }

    fn new(partitions: u16) -> Self {
        World {
            partitions: Partitions(partitions),
            stores: vec![MemoryKv::default(); usize::from(partitions)],
            names: Names { partitions, by_id: BTreeMap::new(), derived: 0 },
            now: Timestamp(0),
            notices: NoticesWanted::default(),
            on_the_way: VecDeque::new(),
            transcript: String::new(),
        }
    }

    fn here(&self, partition: PartitionId) -> Here {
        Here { notices: self.notices, ..Here::new(partition, self.partitions) }
    }

    fn line(&mut self, line: &str) {
        self.transcript += &format!("{line}\n");
        let (time, rest) = line.split_once(' ').expect("a time, then words");
        self.now = Timestamp(time.parse().expect("a time"));
        let (word, words) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "due" => self.due(),
            "route" => self.route(),
            "recover" => self.recover(),
            "notices" => self.notices = notices(Words::new(words)),
            "noticed" => {
                let sequence = words.parse().expect("a sequence");
                self.apply(PartitionId(0), Command::Noticed { sequence });
            }
            "pushed" => {
                let sequence = words.parse().expect("a sequence");
                self.apply(PartitionId(0), Command::Pushed { sequence });
            }
            "dump" => self.transcript += &show::rows(&self.stores, &mut self.names),
            _ if word.contains('#') => self.attempt(word, words),
            _ => self.door(word, Words::new(words)),
        }
    }

    fn apply(&mut self, partition: PartitionId, command: Command) {
        let store = &self.stores[usize::from(partition.0)];
        let mut txn = Txn::new(store);
        let here = self.here(partition);
        let effects = match apply(&mut txn, here, self.now, command) {
            Ok(effects) => effects,
            Err(fault) => {
                self.transcript += &format!("  fault: {fault}\n");
                return;
            }
        };
        let writes = txn.into_writes();
        self.stores[usize::from(partition.0)].apply(writes);
        for effect in effects {
            self.effect(partition, effect);
        }
    }

    fn effect(&mut self, partition: PartitionId, effect: Effect) {
        let shown = show::effect(&effect, &mut self.names);
        self.transcript += &format!("  {shown}\n");
        if let Effect::Send { to, sequence, message } = effect {
            self.on_the_way.push_back((partition, to, sequence, message));
        }
    }

    fn due(&mut self) {
        for partition in self.partitions.all() {
            let store = &self.stores[usize::from(partition.0)];
            let due = timer::due(store, partition, Timestamp(0), self.now, usize::MAX).unwrap();
            for key in due {
                let store = &self.stores[usize::from(partition.0)];
                let schedule = schedule::of_timer(store, &key).unwrap();
                let callee = schedule.and_then(|schedule| registered(&schedule.plan));
                self.apply(partition, Command::TimerDue { key, callee });
            }
        }
    }

    fn route(&mut self) {
        while let Some((from, to, sequence, message)) = self.on_the_way.pop_front() {
            self.transcript += &format!("  partition {} takes {}.{sequence}\n", to.0, from.0);
            self.apply(to, Command::Deliver { from, sequence, message });
            self.apply(from, Command::Delivered { to, sequence });
        }
    }

    /// As after a crash: what was on the way is lost.
    fn recover(&mut self) {
        self.on_the_way.clear();
        for partition in self.partitions.all() {
            let store = &self.stores[usize::from(partition.0)];
            for effect in recover(store, self.here(partition)).unwrap() {
                self.effect(partition, effect);
            }
        }
    }

    pub fn id(&mut self, name: &str) -> InvocationId {
        self.names.known(name)
    }

    /// What further lines come to.
    pub fn then(&mut self, script: &str) -> &str {
        let before = self.transcript.len();
        script.trim().lines().for_each(|line| self.line(line.trim()));
        &self.transcript[before..]
    }

    /// The ask of that number; of one that is not there, an id that none has.
    fn asked(&self, root: InvocationId, number: u32) -> AskId {
        let partition = self.partitions.of(root.partition_key);
        let store = &self.stores[usize::from(partition.0)];
        let found = ask::get(store, partition, root, number).unwrap();
        found.map_or(AskId::of(root), |ask| ask.id)
    }

    fn door(&mut self, word: &str, mut words: Words<'_>) {
        match word {
            "patch" => return self.patch(words),
            "put" | "delete" | "hold" | "release" | "trigger" => return self.schedule(word, words),
            _ => {}
        }
        let name = words.next().to_owned();
        let mut invocation = self.id(&name);
        let command = match word {
            "invoke" => {
                let new = self.new_invocation(invocation, words);
                invocation = new.id;
                Command::Invoke(Box::new(new))
            }
            "follow" => {
                let task = Box::new(new_task(&words));
                let new = self.new_invocation(invocation, words);
                invocation = new.id;
                Command::StartTask { new: Box::new(new), task }
            }
            "say" => {
                let mut message = Box::new(new_message(&mut words));
                message.answers = words.text("ask").map(|name| AskId::of(self.id(&name)));
                Command::MessageTask { task: invocation, message }
            }
            "answer" => {
                let number = words.number();
                let ask = match words.text("ask") {
                    Some(name) => AskId::of(self.id(&name)),
                    None => self.asked(invocation, number),
                };
                let answer = Box::new(answer(words));
                Command::AnswerAsk { root: invocation, number, ask, answer }
            }
            "push" => {
                let (name, config) = (words.next().to_owned(), Box::new(push_config()));
                Command::PutPush { invocation, name, config }
            }
            "unpush" => Command::DeletePush { invocation, name: words.next().to_owned() },
            "attach" => Command::Attach { invocation },
            "output" => Command::Output { invocation },
            "signal" => Command::Signal {
                invocation,
                signal: signal_name(words.next()),
                value: SignalValue::Success(words.bytes()),
            },
            "cancel" => Command::Cancel { invocation },
            "kill" => Command::Kill { invocation },
            "pause" => Command::Pause { invocation },
            "resume" => Command::Resume { invocation, pin: words.ms("pin").map(pin) },
            "purge" => Command::Purge { invocation },
            "purge-journal" => Command::PurgeJournal { invocation },
            "forget" => {
                let completed = Timestamp(words.ms("completed").unwrap());
                Command::Forget { invocation, completed }
            }
            "restart" => {
                let new = words.next();
                let new_id = InvocationId {
                    partition_key: invocation.partition_key,
                    uuid: u128::from(new.as_bytes()[0]),
                };
                self.names.insert(new_id, new);
                let from = u32::try_from(words.ms("from").unwrap_or(0)).unwrap();
                Command::RestartAsNew {
                    invocation,
                    new: new_id,
                    from,
                    pin: words.ms("pin").map(pin),
                }
            }
            _ => panic!("`{word}` is no command"),
        };
        let partition = self.partitions.of(invocation.partition_key);
        self.apply(partition, command);
    }

    /// The id is the one given, or for idempotent and workflow targets the derived one, which
    /// then goes by that name.
    fn new_invocation(&mut self, id: InvocationId, mut words: Words<'_>) -> NewInvocation {
        let called = words.next();
        let target = target(called);
        let idempotency_key = words.text("idem");
        let lazy_state = words.has("lazy");
        let derived = match (&target.key, &idempotency_key) {
            (Some(key), _) if target.ty == HandlerType::Workflow => {
                Some(InvocationId::workflow(&target.service, key))
            }
            (key, Some(idem)) => Some(InvocationId::idempotent(
                &target.service,
                key.as_deref(),
                &target.handler,
                idem,
            )),
            (Some(key), None) => {
                Some(InvocationId { partition_key: PartitionKey::of_key(key), ..id })
            }
            _ => None,
        };
        let id = match derived {
            Some(derived) => {
                let name = self.names.by_id.remove(&id).expect("it was just named");
                self.names.insert(derived, &name);
                derived
            }
            None => id,
        };
        NewInvocation {
            argument: words.bytes(),
            headers: vec![("x".into(), "y".into())],
            idempotency_key,
            start_at: words.ms("at").map(Timestamp),
            retention: retention(&words),
            lazy_state,
            ..new_invocation(id, called)
        }
    }

    fn patch(&mut self, mut words: Words<'_>) {
        let (service, key) = words.next().split_once('/').unwrap();
        let version = words.named.remove("version").map(str::to_owned);
        let state = words.named.iter().map(|(key, value)| {
            (Bytes::copy_from_slice(key.as_bytes()), Bytes::copy_from_slice(value.as_bytes()))
        });
        let command = Command::PatchState {
            service: service.into(),
            key: key.into(),
            version,
            state: state.collect(),
        };
        self.apply(self.partitions.of(PartitionKey::of_key(key)), command);
    }

    fn schedule(&mut self, word: &str, mut words: Words<'_>) {
        let name = words.next();
        let schedule = ScheduleId::of(name);
        self.names.insert(schedule.row(), name);
        let partition = self.partitions.of(schedule.row().partition_key);
        let command = match word {
            "put" => Command::PutSchedule(Box::new(plan(name, words))),
            "delete" => Command::DeleteSchedule { schedule },
            "hold" => Command::PauseSchedule { schedule },
            "release" => Command::ResumeSchedule { schedule },
            _ => {
                let store = &self.stores[usize::from(partition.0)];
                let row = schedule::get(store, partition, schedule).unwrap();
                let plan = row.map_or_else(|| plan(name, Words::new("a/b")), |row| row.plan);
                let called = words.text("called").unwrap_or(plan.service.clone());
                let callee = registered(&plan).expect("the door looked");
                Command::TriggerSchedule { schedule, called: (called, plan.handler), callee }
            }
        };
        self.apply(partition, command);
    }

    fn attempt(&mut self, who: &str, statements: &str) {
        let (name, attempt) = who.split_once('#').unwrap();
        let invocation = self.id(name);
        let mut said = AttemptSaid {
            invocation,
            attempt: attempt.parse().unwrap(),
            pin: Some(pin(1)),
            said: vec![],
            end: None,
        };
        for statement in statements.split(';').map(str::trim) {
            statements::add(statement, &mut said, &mut self.names);
        }
        let partition = self.partitions.of(invocation.partition_key);
        self.apply(partition, Command::Attempt(Box::new(said)));
    }
}
