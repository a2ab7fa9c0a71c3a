//! All that a double keeps, and how it goes on.

use super::invocation::{Attempt, Invocation, Sink, Status};
use super::{Event, Script};
use crate::attempt::Target;
use crate::endpoint::Endpoint;
use bytes::Bytes;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::pb::start::StateEntry;
use holdfast_wire::message::{MessageType, pb, pb::Notification};
use holdfast_wire::version::Version;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::task::{Context, Poll};

/// Service, key, name.
pub(super) type StateKey = (String, String, Bytes);

/// Attempts that may fail one after the other.
const FAILED_MAX: u32 = 50;
const FIRST_AWAKEABLE: u32 = 17;

/// A run that came to its end.
pub(super) struct Finished {
    pub(super) outcome: Result<Bytes, pb::Failure>,
    pub(super) state: BTreeMap<StateKey, Bytes>,
    /// All entries of all journals, in their order.
    pub(super) entries: Vec<String>,
}

/// What a timer does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// Ends a sleep.
    Sleep { invocation: usize, completion: u32 },
    /// Begins an invocation.
    Begin { invocation: usize },
}

/// A promise of a workflow.
#[derive(Default)]
pub(super) struct Promise {
    pub(super) result: Option<Outcome>,
    pub(super) waiting: Vec<(usize, u32)>,
}

pub(super) struct World {
    endpoint: Endpoint,
    pub(super) script: Script,
    events: VecDeque<Event>,
    pub(super) invocations: Vec<Invocation>,
    pub(super) state: BTreeMap<StateKey, Bytes>,
    pub(super) promises: HashMap<(String, String, String), Promise>,
    /// By their time, then by when they were set.
    pub(super) timers: BTreeSet<(u64, u32, Due)>,
    locks: HashMap<(String, String), VecDeque<usize>>,
    entries: Vec<String>,
    crash_after: Option<u32>,
    /// The invocation that crashes now.
    crashing: Option<usize>,
    /// Attempts get no news, and state only when they ask.
    suspending: bool,
    /// Why the run is over without an outcome.
    pub(super) problem: Option<String>,
}

impl World {
    pub(super) fn new(
        endpoint: Endpoint,
        script: Script,
        crash_after: Option<u32>,
        suspending: bool,
    ) -> World {
        let state = script.state.iter().map(|(service, key, name, value)| {
            ((service.clone(), key.clone(), name.clone()), value.clone())
        });
        World {
            state: state.collect(),
            events: script.events.iter().cloned().collect(),
            endpoint,
            script,
            invocations: vec![],
            promises: HashMap::new(),
            timers: BTreeSet::new(),
            locks: HashMap::new(),
            entries: vec![],
            crash_after,
            crashing: None,
            suspending,
            problem: None,
        }
    }

    pub(super) fn begin_first(&mut self, target: Target) -> Result<(), String> {
        let first = self.invocation(target)?;
        self.begin(first);
        self.crash();
        Ok(())
    }

    /// A new invocation that has not begun.
    pub(super) fn invocation(&mut self, target: Target) -> Result<usize, String> {
        let Some(ty) = self.endpoint.handler_type(&target.service, &target.handler) else {
            return Err(format!(
                "there is no handler `{}/{}` in this test; bind its service, or say with `answer` \
                 what it answers",
                target.service, target.handler
            ));
        };
        let number = self.invocations.len();
        let exclusive = matches!(ty, HandlerType::Exclusive);
        self.invocations.push(Invocation::new(number, target, exclusive));
        self.counted(number, MessageType::INPUT);
        Ok(number)
    }

    /// Begins it, or lets it wait for its key.
    pub(super) fn begin(&mut self, number: usize) {
        if self.invocations[number].exclusive {
            let queue = self.locks.entry(self.invocations[number].owner()).or_default();
            queue.push_back(number);
            if queue.front() != Some(&number) {
                return;
            }
        }
        self.attempt(number);
    }

    /// Calls the handler with its journal.
    fn attempt(&mut self, number: usize) {
        let invocation = &self.invocations[number];
        let Target { service, handler, key, .. } = &invocation.target;
        let Some(mut drive) = self.endpoint.open(service, handler, Version::V7) else {
            return;
        };
        let owner = invocation.owner();
        let state = self.state.iter().filter(|((service, key, _), _)| {
            !self.suspending && (service, key) == (&owner.0, &owner.1)
        });
        let start = pb::Start {
            id: invocation.id.clone(),
            debug_id: Invocation::name(number),
            known_entries: u32::try_from(invocation.journal.len()).unwrap_or(u32::MAX),
            state_map: state
                .map(|((_, _, key), value)| StateEntry { key: key.clone(), value: value.clone() })
                .collect(),
            partial_state: self.suspending,
            key: key.clone(),
            retry_count_since_last_stored_entry: invocation.failed,
            random_seed: number as u64,
            ..pb::Start::default()
        };
        drive.handle_bytes(Frame::of(MessageType::START, &start).encode());
        for entry in &invocation.journal {
            drive.handle_bytes(entry.encode());
        }
        if self.suspending {
            drive.handle_end();
        }
        let attempt = Attempt { drive, decoder: Decoder::new(u32::MAX) };
        let invocation = &mut self.invocations[number];
        invocation.replayed = invocation.journal.len();
        invocation.status = Status::Running(Box::new(attempt));
    }

    /// Goes on until the first invocation is done and nothing more happens by itself.
    pub(super) fn turn(&mut self, task: &mut Context<'_>) -> Poll<Result<Finished, String>> {
        loop {
            let mut moved = false;
            for number in 0..self.invocations.len() {
                moved |= self.advance(number, task);
            }
            if let Some(problem) = self.problem.take() {
                return Poll::Ready(Err(problem));
            }
            if moved {
                continue;
            }
            if self.invocations.iter().any(is_executing) {
                return Poll::Pending;
            }
            if let Status::Done(outcome) = &self.invocations[0].status {
                return Poll::Ready(Ok(Finished {
                    outcome: outcome.clone(),
                    state: std::mem::take(&mut self.state),
                    entries: std::mem::take(&mut self.entries),
                }));
            }
            if !self.next_event() && !self.next_timer() {
                return Poll::Ready(Err(self.stuck()));
            }
            self.crash();
        }
    }

    /// Lets an attempt go on, and does what it says. Says whether it said something.
    fn advance(&mut self, number: usize, task: &mut Context<'_>) -> bool {
        let Status::Running(attempt) = &mut self.invocations[number].status else {
            return false;
        };
        attempt.drive.advance(task.waker());
        let output = attempt.drive.take_output();
        attempt.decoder.push(output);
        let mut moved = false;
        while let Some(frame) = self.heard(number) {
            moved = true;
            self.handle(number, frame);
            if self.crash() == Some(number) {
                break;
            }
        }
        moved
    }

    /// Cuts off the attempt that is to crash, if there is one, and begins the next one.
    fn crash(&mut self) -> Option<usize> {
        let crashing = self.crashing.take()?;
        if matches!(self.invocations[crashing].status, Status::Running(_)) {
            self.attempt(crashing);
        }
        Some(crashing)
    }

    fn heard(&mut self, number: usize) -> Option<Frame> {
        match &mut self.invocations[number].status {
            Status::Running(attempt) => attempt.decoder.next().ok().flatten(),
            _ => None,
        }
    }

    fn handle(&mut self, number: usize, frame: Frame) {
        match frame.ty {
            ty if ty.is_command() => {
                self.invocations[number].failed = 0;
                self.append(number, frame.clone());
                self.effect(number, frame);
            }
            MessageType::PROPOSE_RUN_COMPLETION => self.proposed(number, frame),
            MessageType::AWAITING_ON => {
                let awaiting = read::<pb::AwaitingOn>(frame).awaiting_on;
                self.invocations[number].awaiting = awaiting.unwrap_or_default();
            }
            MessageType::SUSPENSION => {
                let awaiting = read::<pb::Suspension>(frame).into_future();
                self.suspended(number, awaiting);
            }
            MessageType::ERROR => self.failed(number, read(frame)),
            MessageType::END => self.ended(number),
            _ => {}
        }
    }

    /// An entry is in the journal; here it may crash.
    fn append(&mut self, number: usize, frame: Frame) {
        let ty = frame.ty;
        self.invocations[number].journal.push(frame);
        self.counted(number, ty);
    }

    fn counted(&mut self, number: usize, ty: MessageType) {
        let position = self.invocations[number].journal.len();
        let label = self.invocations[number].label();
        self.entries.push(format!("entry {position} ({}) of {label}", ty.kind()));
        if self.crash_after == Some(u32::try_from(self.entries.len()).unwrap_or(u32::MAX)) {
            self.crashing = Some(number);
        }
    }

    /// A notification: into the journal, and to whoever listens.
    pub(super) fn notify(&mut self, number: usize, ty: MessageType, notification: Notification) {
        if matches!(self.invocations[number].status, Status::Done(_)) {
            return;
        }
        let frame = Frame::of(ty, &notification);
        self.append(number, frame.clone());
        let invocation = &mut self.invocations[number];
        match &mut invocation.status {
            Status::Running(attempt) if !self.suspending => {
                attempt.drive.handle_bytes(frame.encode());
            }
            Status::Suspended => self.attempt(number),
            _ => {}
        }
    }

    pub(super) fn complete(
        &mut self,
        number: usize,
        ty: MessageType,
        completion: u32,
        outcome: Outcome,
    ) {
        self.notify(number, ty, Notification::completion(completion, outcome));
    }

    /// The result of a step is recorded; who proposed it gets a mere acknowledgement.
    fn proposed(&mut self, number: usize, frame: Frame) {
        use pb::propose_run_completion::Result::{Failure, Value};
        let proposed: pb::ProposeRunCompletion = read(frame);
        let outcome = match proposed.result {
            Some(Value(value)) => Outcome::value(value),
            Some(Failure(failure)) => Outcome::Failure(failure),
            None => Outcome::void(),
        };
        let completion = proposed.result_completion_id;
        let notification = Notification::completion(completion, outcome);
        self.append(number, Frame::of(MessageType::RUN_COMPLETION, &notification));
        let ack = pb::ProposeRunCompletionAck { completion_id: completion };
        let ack = Frame::of(MessageType::PROPOSE_RUN_COMPLETION_ACK, &ack);
        if let Status::Running(attempt) = &mut self.invocations[number].status
            && !self.suspending
        {
            attempt.drive.handle_bytes(ack.encode());
        }
    }

    /// What came since the attempt began wakes it at once. What was there before does not: the
    /// attempt was told, and waits nevertheless, for the next signal of a name perhaps.
    fn suspended(&mut self, number: usize, awaiting: pb::Future) {
        let invocation = &mut self.invocations[number];
        let came = invocation.journal[invocation.replayed..].iter().any(|entry| {
            entry.ty.is_notification() && waits_for(&awaiting, &read::<Notification>(entry.clone()))
        });
        invocation.awaiting = awaiting;
        invocation.status = Status::Suspended;
        if came {
            self.attempt(number);
        }
    }

    fn failed(&mut self, number: usize, error: pb::Error) {
        let invocation = &mut self.invocations[number];
        invocation.failed += 1;
        let label = invocation.label();
        let hopeless = error.code == 570 || error.behavior != 0;
        if hopeless || invocation.failed > FAILED_MAX {
            let message = error.message;
            let count = invocation.failed;
            self.problem = Some(format!("{label} failed {count} times in a row: {message}"));
            return;
        }
        self.attempt(number);
    }

    fn ended(&mut self, number: usize) {
        let invocation = &mut self.invocations[number];
        let outcome = invocation.output.take().unwrap_or_else(|| Ok(Bytes::new()));
        invocation.status = Status::Done(outcome.clone());
        let sinks: Vec<Sink> = std::mem::take(&mut invocation.sinks);
        for (sink, completion, ty) in sinks {
            self.complete(sink, ty, completion, told(&outcome));
        }
        if self.invocations[number].exclusive {
            let owner = self.invocations[number].owner();
            let next = self.locks.get_mut(&owner).and_then(|queue| {
                queue.pop_front();
                queue.front().copied()
            });
            if let Some(next) = next {
                self.attempt(next);
            }
        }
    }

    /// The next thing from outside, if it can come.
    fn next_event(&mut self) -> bool {
        let Some(event) = self.events.front().cloned() else {
            return false;
        };
        match event {
            Event::Signal(name, value) => {
                let signal = Notification::named_signal(name, Outcome::value(value));
                self.notify(0, MessageType::SIGNAL, signal);
            }
            Event::Cancel => self.notify(0, MessageType::SIGNAL, Notification::cancel()),
            Event::Awakeable(result) => {
                let Some((number, index)) = self.awaited_awakeable() else {
                    return false;
                };
                let outcome = result.map_or_else(Outcome::Failure, Outcome::value);
                let signal = Notification::signal(index, outcome);
                self.notify(number, MessageType::SIGNAL, signal);
            }
        }
        self.events.pop_front();
        true
    }

    fn awaited_awakeable(&self) -> Option<(usize, u32)> {
        let mut all = self.invocations.iter().enumerate();
        all.find_map(|(number, invocation)| {
            let live = matches!(invocation.status, Status::Running(_) | Status::Suspended);
            let index = first_awakeable(&invocation.awaiting)?;
            live.then_some((number, index))
        })
    }

    fn next_timer(&mut self) -> bool {
        let Some((_, _, due)) = self.timers.pop_first() else {
            return false;
        };
        match due {
            Due::Sleep { invocation, completion } => {
                let ty = MessageType::SLEEP_COMPLETION;
                self.complete(invocation, ty, completion, Outcome::void());
            }
            Due::Begin { invocation } => self.begin(invocation),
        }
        true
    }

    fn stuck(&self) -> String {
        let waiting = self.invocations.iter().filter(|invocation| {
            matches!(invocation.status, Status::Suspended | Status::Running(_))
        });
        let waiting: Vec<String> = waiting.map(Invocation::label).collect();
        format!(
            "nothing more will happen, and {} still waits; say what comes from outside with \
             `awakeable`, `signal` or `cancel`",
            waiting.join(", ")
        )
    }
}

pub(super) fn told(outcome: &Result<Bytes, pb::Failure>) -> Outcome {
    match outcome {
        Ok(value) => Outcome::value(value.clone()),
        Err(failure) => Outcome::Failure(failure.clone()),
    }
}

pub(super) fn read<M: prost::Message + Default>(frame: Frame) -> M {
    M::decode(frame.payload).expect("the SDK writes what it can read")
}

fn is_executing(invocation: &Invocation) -> bool {
    match &invocation.status {
        Status::Running(attempt) => attempt.drive.is_executing(),
        _ => false,
    }
}

fn first_awakeable(future: &pb::Future) -> Option<u32> {
    let own = future.waiting_signals.iter().copied().find(|index| *index >= FIRST_AWAKEABLE);
    own.or_else(|| future.nested_futures.iter().find_map(first_awakeable))
}

fn waits_for(future: &pb::Future, notification: &Notification) -> bool {
    use pb::notification::Id;
    let own = match &notification.id {
        Some(Id::CompletionId(id)) => future.waiting_completions.contains(id),
        Some(Id::SignalIndex(index)) => future.waiting_signals.contains(index),
        Some(Id::SignalName(name)) => future.waiting_named_signals.contains(name),
        None => false,
    };
    own || future.nested_futures.iter().any(|nested| waits_for(nested, notification))
}
