//! Invocations come in: by a door, or as a call that an invocation makes. The same id twice is the
//! same invocation: the second time nothing is started.

use super::Turn;
use crate::ask::Asks;
use crate::command::Reply;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::tables::invocation::{JournalSummary, Record, Retries, Sink, SinkKind, Span, Times};
use crate::tables::message::Message;
use crate::tables::timer::{Timer, TimerKind};
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::{MessageType, pb};
use prost::Message as _;

const NOT_FOUND: u32 = 404;
const CONFLICT: u32 = 409;

impl Turn<'_, '_> {
    /// A door asks.
    pub(super) fn invoke(&mut self, new: NewInvocation) -> Result<(), Fault> {
        let invocation = new.id;
        if let Some(record) = self.existing(invocation)? {
            let start_at = record.times.start_at;
            self.reply(Reply::Accepted { invocation, new: false, start_at });
            return Ok(());
        }
        let start_at = new.start_at.filter(|start_at| *start_at > self.now);
        self.reply(Reply::Accepted { invocation, new: true, start_at });
        self.create(new, None)
    }

    /// An invocation asks; the sink is missing where it does not wait for the outcome.
    pub(super) fn called(&mut self, new: NewInvocation, sink: Option<Sink>) -> Result<(), Fault> {
        let existing = self.existing(new.id)?;
        let Some(sink) = sink else {
            return if existing.is_some() { Ok(()) } else { self.create(new, None) };
        };
        if new.target.ty == HandlerType::Workflow && existing.is_some() {
            return self.refuse(sink, "the workflow method was already invoked");
        }
        if let Some(endless) = self.endless(sink.caller, new.id, &new.target, existing.as_ref())? {
            return self.send(Message::Respond { sink, outcome: Some(endless.outcome()) });
        }
        match existing {
            Some(record) => self.latch(new.id, record, sink),
            None => self.create(new, Some(sink)),
        }
    }

    fn refuse(&mut self, sink: Sink, sentence: &str) -> Result<(), Fault> {
        let failure = Failure { code: CONFLICT, message: sentence.into(), ..Failure::default() };
        self.send(Message::Respond { sink, outcome: Some(Outcome::Failure(failure)) })
    }

    /// An invocation wants to be told the outcome of another.
    pub(super) fn attach(&mut self, id: InvocationId, sink: Sink) -> Result<(), Fault> {
        match self.record(id)? {
            Some(record) => {
                let waits = sink.kind == SinkKind::Attach;
                let endless = self.endless(sink.caller, id, &record.target, Some(&record))?;
                match endless.filter(|_| waits) {
                    None => self.latch(id, record, sink),
                    Some(endless) => {
                        let outcome = Some(endless.outcome());
                        self.send(Message::Respond { sink, outcome })
                    }
                }
            }
            None => {
                let failure =
                    Failure { code: NOT_FOUND, message: "not found".into(), ..Failure::default() };
                self.send(Message::Respond { sink, outcome: Some(Outcome::Failure(failure)) })
            }
        }
    }

    /// Tells the sink the outcome, now or when it is there.
    fn latch(&mut self, id: InvocationId, mut record: Record, sink: Sink) -> Result<(), Fault> {
        match &record.status {
            Status::Completed { outcome } => {
                let outcome = Some(outcome.clone());
                self.send(Message::Respond { sink, outcome })
            }
            _ if sink.kind == SinkKind::Output => {
                self.send(Message::Respond { sink, outcome: None })
            }
            _ => {
                if !record.sinks.contains(&sink) {
                    record.sinks.push(sink);
                    self.store(id, &mut record);
                }
                Ok(())
            }
        }
    }

    /// A door wants the outcome.
    pub(super) fn tell_outcome(&mut self, id: InvocationId) -> Result<(), Fault> {
        let reply = match self.record(id)? {
            None => Reply::Unknown,
            Some(record) => {
                let expires_at = record.expires_at();
                match record.status {
                    Status::Completed { outcome } => Reply::Completed { outcome, expires_at },
                    _ => Reply::Pending,
                }
            }
        };
        self.reply(reply);
        Ok(())
    }

    fn create(&mut self, mut new: NewInvocation, sink: Option<Sink>) -> Result<(), Fault> {
        let id = new.id;
        let input = input(&mut new);
        let mut record = self.new_record(new);
        record.sinks.extend(sink);
        self.append(id, &mut record, MessageType::INPUT, input);
        self.admit(id, &mut record)
    }

    /// As `create`, for an invocation that somebody follows.
    pub(super) fn create_task(&mut self, mut new: NewInvocation) -> Result<(), Fault> {
        let id = new.id;
        let input = input(&mut new);
        let mut record = Record { is_task: true, ..self.new_record(new) };
        self.append(id, &mut record, MessageType::INPUT, input);
        self.admit(id, &mut record)
    }

    /// The row of an invocation without a journal, not yet stored; its status is a stand-in.
    pub(super) fn new_record(&self, new: NewInvocation) -> Record {
        Record {
            target: new.target,
            status: Status::Paused,
            source: new.source,
            root: new.root,
            idempotency_key: new.idempotency_key,
            retention: new.retention,
            lazy_state: new.lazy_state,
            random_seed: new.random_seed,
            pin: None,
            sinks: vec![],
            attempt: 0,
            pause_wanted: false,
            journal: JournalSummary::default(),
            retries: Retries::default(),
            events: Span::default(),
            times: Times {
                created: self.now,
                start_at: new.start_at.filter(|start_at| *start_at > self.now),
                ..Times::default()
            },
            is_task: false,
            asks: Asks::default(),
            asked: false,
        }
    }

    /// Lets an invocation with an input wait for its time, for its key, or run.
    pub(super) fn admit(&mut self, id: InvocationId, record: &mut Record) -> Result<(), Fault> {
        let Some(start_at) = record.times.start_at else {
            return self.begin(id, record);
        };
        record.status = Status::Scheduled { start_at };
        record.times.scheduled = Some(self.now);
        self.set_timer(Timer::new(start_at, TimerKind::Start, id));
        self.store(id, record);
        Ok(())
    }

    /// Its time has come.
    pub(super) fn begin(&mut self, id: InvocationId, record: &mut Record) -> Result<(), Fault> {
        if record.is_exclusive() && !self.lock(id, record)? {
            self.store(id, record);
            return Ok(());
        }
        self.start_fresh(id, record);
        self.store(id, record);
        Ok(())
    }
}

/// The input as the entry that every attempt begins with. Takes the headers and the argument.
fn input(new: &mut NewInvocation) -> Bytes {
    let headers = std::mem::take(&mut new.headers).into_iter();
    let input = pb::InputCommand {
        headers: headers.map(|(key, value)| pb::Header { key, value }).collect(),
        value: Some(pb::Value { content: std::mem::take(&mut new.argument) }),
        ..pb::InputCommand::default()
    };
    input.encode_to_vec().into()
}
