//! Waits that could never end. Who waits for itself, or for what cannot begin before it has ended,
//! is told at once. A longer circle is looked for when the last of it begins to wait, among those
//! that live in this partition, and the one that closed it is told. Never takes for a circle what
//! could go on by anything but a cancellation.

use super::Turn;
use super::state::owner;
use crate::awaiting;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::inbox::{self, What};
use crate::tables::invocation::{Record, Sink, SinkKind};
use crate::tables::lock;
use crate::tables::notified::NotificationId;
use std::collections::{BTreeMap, BTreeSet};

const CONFLICT: u32 = 409;
/// Invocations that are looked at for one circle; a larger one is not found.
const WAITING_MAX: usize = 64;

/// Why a wait would never end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endless {
    Itself,
    /// The caller holds the key that the target needs to begin.
    OwnKey,
    Circle,
}

impl Endless {
    /// What the waiting invocation is told.
    pub(super) fn outcome(self) -> Outcome {
        let sentence = match self {
            Endless::Itself => {
                "an invocation cannot wait for its own outcome; call another target, or call \
                 one-way (HF0095)"
            }
            Endless::OwnKey => {
                "what this invocation would wait for needs the key that it holds, and could never \
                 begin; call another key, or call one-way (HF0095)"
            }
            Endless::Circle => {
                "this invocation waits for one that waits for this one in turn, so that neither \
                 could end; call another key, or call one-way (HF0095)"
            }
        };
        let message = sentence.to_owned();
        Outcome::Failure(Failure { code: CONFLICT, message, ..Failure::default() })
    }
}

/// Who waits for the end of one invocation, directly or through others.
struct Waiting {
    /// In the order in which they were found; the first is the one whose end is waited for.
    found: Vec<InvocationId>,
    known: BTreeSet<InvocationId>,
    /// The completions of each that one of these would bring.
    dead: BTreeMap<InvocationId, BTreeSet<u32>>,
    /// By which of them, and in which completion, the first is to be told an outcome.
    closing: Vec<(InvocationId, Sink)>,
}

impl Turn<'_, '_> {
    /// Whether `caller`, which runs, would wait in vain for a target with or without a row.
    pub(super) fn endless(
        &self,
        caller: InvocationId,
        id: InvocationId,
        target: &Target,
        existing: Option<&Record>,
    ) -> Result<Option<Endless>, Fault> {
        if id == caller {
            return Ok(Some(Endless::Itself));
        }
        if target.ty != holdfast_wire::manifest::HandlerType::Exclusive || has_begun(existing) {
            return Ok(None);
        }
        let held = self.lock_of(target)?.is_some_and(|lock| lock.holder == caller);
        Ok(held.then_some(Endless::OwnKey))
    }

    /// Looks whether the wait of a suspended invocation closes a circle. If so, the wait ends there.
    pub(super) fn break_circle(&mut self, id: InvocationId) -> Result<(), Fault> {
        let record = self.record(id)?;
        if !record.is_some_and(|record| matches!(record.status, Status::Suspended { .. })) {
            return Ok(());
        }
        let waiting = self.waiting_for(id)?;
        let Some(awaiting) = self.waits_in_vain(id, &waiting)? else {
            return Ok(());
        };
        let awaited = |sink: &Sink| awaiting::names(&awaiting, sink.completion);
        let Some((of, sink)) = waiting.closing.into_iter().find(|(_, sink)| awaited(sink)) else {
            return Ok(());
        };
        self.waiting.push_back(id); // It may wait for more of the kind.
        let Some(mut record) = self.record(of)? else {
            return Ok(());
        };
        let outcome = Endless::Circle.outcome();
        let called =
            matches!(record.source, Source::Service { invocation, .. } if invocation == id);
        if called && !has_begun(Some(&record)) && record.sinks == [sink] {
            // It was called for this outcome alone, and never began.
            return self.complete_unstarted(of, record, outcome, FailedBy::Endless);
        }
        record.sinks.retain(|other| *other != sink);
        self.store(of, &mut record);
        self.respond(sink, Some(outcome))
    }

    fn waiting_for(&self, id: InvocationId) -> Result<Waiting, Fault> {
        let mut waiting =
            Waiting { found: vec![id], known: [id].into(), dead: BTreeMap::new(), closing: vec![] };
        let mut looked_at = 0;
        while let Some(next) = waiting.found.get(looked_at).copied() {
            looked_at += 1;
            if let Some(record) = self.record(next)? {
                self.add_callers(next, &record, &mut waiting)?;
                self.add_queued(next, &record, &mut waiting)?;
            }
        }
        Ok(waiting)
    }

    /// Those that want to be told the outcome and can do nothing else.
    fn add_callers(
        &self,
        id: InvocationId,
        record: &Record,
        waiting: &mut Waiting,
    ) -> Result<(), Fault> {
        for sink in record.sinks.iter().filter(|sink| sink.kind != SinkKind::Output) {
            waiting.dead.entry(sink.caller).or_default().insert(sink.completion);
            if sink.caller == waiting.found[0] {
                waiting.closing.push((id, *sink));
            } else if self.waits_in_vain(sink.caller, waiting)?.is_some() {
                waiting.add(sink.caller);
            }
        }
        Ok(())
    }

    /// Those that wait for the key that it holds.
    fn add_queued(
        &self,
        id: InvocationId,
        record: &Record,
        waiting: &mut Waiting,
    ) -> Result<(), Fault> {
        let (true, Some(owner)) = (record.is_exclusive(), owner(&record.target)) else {
            return Ok(());
        };
        let partition = self.here.partition;
        let Some(lock) = lock::get(self.txn, partition, owner)?.filter(|lock| lock.holder == id)
        else {
            return Ok(());
        };
        inbox::scan_key(self.txn, partition, owner, (lock.head, lock.tail), &mut |queued| {
            if let What::Invocation(queued) = queued.what {
                waiting.add(queued);
            }
            waiting.found.len() < WAITING_MAX
        })
    }

    /// What a suspended invocation waits for, if it could only go on by completions that never come.
    fn waits_in_vain(
        &self,
        id: InvocationId,
        waiting: &Waiting,
    ) -> Result<Option<Awaiting>, Fault> {
        let Some(dead) = waiting.dead.get(&id) else {
            return Ok(None);
        };
        let Some(Record { status: Status::Suspended { awaiting }, .. }) = self.record(id)? else {
            return Ok(None);
        };
        let comes = |leaf: &NotificationId| match leaf {
            NotificationId::Completion(id) => !dead.contains(id),
            NotificationId::Signal(name) => *name != super::cancel::SIGNAL,
        };
        Ok(Some(awaiting).filter(|awaiting| !awaiting::can_end(awaiting, &comes)))
    }
}

impl Waiting {
    fn add(&mut self, id: InvocationId) {
        if self.found.len() < WAITING_MAX && self.known.insert(id) {
            self.found.push(id);
        }
    }
}

fn has_begun(record: Option<&Record>) -> bool {
    record.is_some_and(|record| {
        !matches!(record.status, Status::Scheduled { .. } | Status::Inboxed { .. })
    })
}
