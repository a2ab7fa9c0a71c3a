//! Tasks: what those who follow an invocation are told is written in the turn in which it happens,
//! and what they say reaches the ask that it answers, or waits for the next one. Nothing here is
//! ever done for an invocation that is no task.

use super::{Turn, ask::TOO_MANY};
use crate::ask::Ask;
use crate::command::{Refusal, Reply};
use crate::effect::Effect;
use crate::id::{AskId, InvocationId};
use crate::kv::Fault;
use crate::model::*;
use crate::tables::codec::corrupt;
use crate::tables::invocation::Record;
use crate::tables::listing::{self, Listing, Place};
use crate::tables::task::{self, Known, Task};
use crate::tables::{TableId, ask, feed, push_config};
use crate::task::{
    Ended, Event, FEED_BYTES_MAX, FEED_ROWS_MAX, NewMessage, NewTask, State, Taken, Told,
    WAITING_MAX, What,
};
use bytes::Bytes;

/// Why nothing more is told.
pub(super) const FULL: &str = "the feed of the task is full (HF0215)";

impl Turn<'_, '_> {
    pub(super) fn start_task(&mut self, new: NewInvocation, kept: NewTask) -> Result<Reply, Fault> {
        let id = new.id;
        if let Some(record) = self.existing(id)? {
            if !record.is_task {
                return Ok(Reply::NoTask);
            }
            let task = self.task(id)?;
            let same = task.principal == kept.principal && task.digest == kept.digest;
            return Ok(match same && !kept.digest.is_empty() {
                true => Reply::Started { new: false, secret: task.secret },
                false => Reply::OtherRequest,
            });
        }
        let target = new.target.clone();
        let task = Task {
            secret: kept.secret,
            principal: kept.principal,
            context: kept.context,
            door: kept.door,
            meta: kept.meta,
            digest: kept.digest,
            state: State::Submitted,
            next: 1,
            updated: self.now,
            progress: None,
            cancel_wanted: false,
            waiting: vec![],
            failed_by: None,
            feed_bytes: 0,
            pushes: 0,
        };
        task::put(self.txn, self.here.partition, id, &task);
        for (name, config) in kept.pushes {
            self.put_push(id, &name, config)?;
        }
        self.tell(id, &target, Some(State::Submitted), What::State)?;
        if let Some(NewMessage { message, digest, .. }) = kept.message {
            let message_id = message.id.clone();
            let taken = Taken { message, answers: None, waiting: false };
            let sequence = self.tell(id, &target, None, What::Message(taken))?;
            self.remember(id, &message_id, digest, (sequence, None));
        }
        self.create_task(new)?;
        Ok(Reply::Started { new: true, secret: kept.secret })
    }

    pub(super) fn task(&self, id: InvocationId) -> Result<Task, Fault> {
        let task = task::get(self.txn, self.here.partition, id)?;
        task.ok_or_else(|| corrupt(TableId::Task, "the row of a task is missing"))
    }

    /// Appends a row to a feed and moves the task in its listing. `state` is the new one, if it
    /// changes. Nothing is said behind the end.
    pub(super) fn tell(
        &mut self,
        id: InvocationId,
        target: &Target,
        state: Option<State>,
        what: What,
    ) -> Result<Option<u64>, Fault> {
        let mut task = self.task(id)?;
        if task.state.is_terminal() {
            return Ok(None);
        }
        let sequence = task.next;
        let moves = !matches!(what, What::Artifact(_) | What::Message(_) | What::NotTaken { .. });
        let before = Place { updated: task.updated, task: id };
        task.next += 1;
        task.state = state.unwrap_or(task.state);
        match &what {
            What::Progress(progress) => task.progress = Some(progress.clone()),
            What::Ended(ended) => task.failed_by = ended.by,
            _ => {}
        }
        let partition = self.here.partition;
        if moves {
            task.updated = self.now;
            listing::delete(self.txn, partition, &task.principal, before);
            let place = Place { updated: task.updated, task: id };
            listing::put(self.txn, partition, &task.principal, place, &listed(&task, target));
        }
        if task.pushes > 0 {
            self.queue_pushes(id, sequence, &what)?;
        }
        let event = Event { sequence, at: self.now, state: task.state, what };
        task.feed_bytes += feed::put(self.txn, partition, id, &event);
        task::put(self.txn, partition, id, &task);
        self.effects.push(Effect::Told { task: id, sequence });
        Ok(Some(sequence))
    }

    /// Its first attempt begins.
    pub(super) fn task_began(&mut self, id: InvocationId) -> Result<(), Fault> {
        let Some(record) = self.record(id)? else {
            return Ok(());
        };
        self.tell(id, &record.target, Some(State::Working), What::State).map(drop)
    }

    /// Must be called while the journal is still there.
    pub(super) fn task_ended(
        &mut self,
        id: InvocationId,
        record: &Record,
        outcome: &Outcome,
        by: FailedBy,
    ) -> Result<(), Fault> {
        let cancelled = match outcome {
            Outcome::Failure(failure) => self.ended_as_asked(id, failure)?,
            Outcome::Success(_) => false,
        };
        let state = State::ended(outcome, by, cancelled);
        let by = matches!(outcome, Outcome::Failure(_)).then_some(by);
        let ended = Ended { outcome: outcome.clone(), by };
        self.tell(id, &record.target, Some(state), What::Ended(ended)).map(drop)
    }

    pub(super) fn task_cancelled(&mut self, id: InvocationId) -> Result<(), Fault> {
        let mut task = self.task(id)?;
        task.cancel_wanted = true;
        task::put(self.txn, self.here.partition, id, &task);
        Ok(())
    }

    /// A handler tells those who follow its root, if anybody can. What it hears.
    pub(super) fn told(&mut self, root: InvocationId, told: Told) -> Result<Outcome, Fault> {
        let heard = Outcome::Success(Bytes::from_static(b"null"));
        let Some(record) = self.record(root)?.filter(|record| record.is_task) else {
            return Ok(heard);
        };
        if self.feed_is_full(root)? {
            let message = format!("nothing more can be told: {FULL}");
            let failure = Failure { code: TOO_MANY, message, ..Failure::default() };
            return Ok(Outcome::Failure(failure));
        }
        let what = match told {
            Told::Progress(progress) => What::Progress(progress),
            Told::Artifact(artifact) => What::Artifact(artifact),
        };
        self.tell(root, &record.target, None, what)?;
        Ok(heard)
    }

    /// Whether only what must be told is told to those who follow a task.
    pub(super) fn feed_is_full(&self, id: InvocationId) -> Result<bool, Fault> {
        let task = self.task(id)?;
        Ok(task.next > FEED_ROWS_MAX || task.feed_bytes >= FEED_BYTES_MAX)
    }

    /// Something about the asks of a task.
    pub(super) fn tell_asks(
        &mut self,
        id: InvocationId,
        record: &Record,
        what: What,
    ) -> Result<Option<u64>, Fault> {
        self.tell(id, &record.target, Some(State::with_asks(record.asks)), what)
    }

    /// An ask was opened. A message that waits for one answers it at once, if it fits.
    pub(super) fn ask_of_task(&mut self, record: &Record, new: Ask) -> Result<(), Fault> {
        let root = new.root;
        while let Some(sequence) = self.first_waiting(root)? {
            let event = feed::get(self.txn, self.here.partition, root, sequence)?;
            let Some(What::Message(taken)) = event.map(|event| event.what) else {
                return Err(corrupt(TableId::Feed, "a message that waits is missing"));
            };
            let answer = taken.message.answer(&new);
            match answer.and_then(|answer| new.close(answer, self.now)) {
                Ok(closed) => {
                    let what = What::Asked(Box::new(new.clone()));
                    self.tell(root, &record.target, None, what)?;
                    return self.close_ask(new, closed, true).map(drop);
                }
                Err(why) => {
                    let (message, number) = (taken.message.id, new.number);
                    let what = What::NotTaken { message, number, why };
                    self.tell(root, &record.target, None, what)?;
                }
            }
        }
        self.tell_asks(root, record, What::Asked(Box::new(new))).map(drop)
    }

    /// The message that waits for longest; it waits no more.
    fn first_waiting(&mut self, id: InvocationId) -> Result<Option<u64>, Fault> {
        let mut task = self.task(id)?;
        if task.waiting.is_empty() {
            return Ok(None);
        }
        let first = task.waiting.remove(0);
        task::put(self.txn, self.here.partition, id, &task);
        Ok(Some(first))
    }

    /// Somebody says something to a task.
    pub(super) fn message_task(
        &mut self,
        id: InvocationId,
        new: NewMessage,
    ) -> Result<Reply, Fault> {
        let Some(record) = self.record(id)?.filter(|record| record.is_task) else {
            return Ok(Reply::Unknown);
        };
        let partition = self.here.partition;
        if let Some(digest) = &new.digest
            && let Some(known) = task::message(self.txn, partition, id, &new.message.id)?
        {
            let Known { sequence, answered, .. } = known;
            return Ok(match known.digest == digest {
                true => Reply::Messaged { sequence, repeated: true, answered },
                false => Reply::OtherMessage,
            });
        }
        if matches!(record.status, Status::Completed { .. }) {
            return Ok(Reply::Refused(Refusal::AlreadyCompleted));
        }
        if self.feed_is_full(id)? {
            return Ok(Reply::FeedFull);
        }
        let ask = match new.answers {
            Some(meant) => match self.ask_of(id, &record, meant)? {
                Some(Ask { closed: Some(closed), .. }) => return Ok(Reply::AskClosed(closed)),
                Some(open) => Some(open),
                None => return Ok(Reply::NoSuchAsk),
            },
            // The one that is open for longest.
            None => ask::open(self.txn, partition, id, record.asks)?.into_iter().next(),
        };
        match ask {
            Some(ask) => self.answer_by_message(id, &record, ask, new),
            None => self.keep_message(id, &record, new),
        }
    }

    /// The ask with that id, where it is one of this task.
    fn ask_of(
        &self,
        task: InvocationId,
        record: &Record,
        ask: AskId,
    ) -> Result<Option<Ask>, Fault> {
        let found = ask::find(self.txn, self.here.partition, ask)?;
        Ok(found.filter(|ask| ask.root == task && record.asks.has(ask.number)))
    }

    /// It waits for the next ask.
    fn keep_message(
        &mut self,
        id: InvocationId,
        record: &Record,
        new: NewMessage,
    ) -> Result<Reply, Fault> {
        let waiting = self.task(id)?.waiting.len();
        if waiting >= WAITING_MAX {
            return Ok(Reply::TooManyWait(waiting));
        }
        let message_id = new.message.id.clone();
        let taken = Taken { message: new.message, answers: None, waiting: true };
        let sequence = self.tell(id, &record.target, None, What::Message(taken))?;
        let sequence = sequence.expect("it has not ended");
        let mut task = self.task(id)?;
        task.waiting.push(sequence);
        task::put(self.txn, self.here.partition, id, &task);
        self.remember(id, &message_id, new.digest, (Some(sequence), None));
        Ok(Reply::Messaged { sequence, repeated: false, answered: None })
    }

    fn answer_by_message(
        &mut self,
        id: InvocationId,
        record: &Record,
        ask: Ask,
        new: NewMessage,
    ) -> Result<Reply, Fault> {
        let answer = new.message.answer(&ask);
        let closed = match answer.and_then(|answer| ask.close(answer, self.now)) {
            Ok(closed) => closed,
            Err(violation) => return Ok(Reply::Violation(violation)),
        };
        let (message_id, number) = (new.message.id.clone(), ask.number);
        let taken = Taken { message: new.message, answers: Some(number), waiting: false };
        let sequence = self.tell(id, &record.target, None, What::Message(taken))?;
        let sequence = sequence.expect("it has not ended");
        self.close_ask(ask, closed, true)?;
        self.remember(id, &message_id, new.digest, (Some(sequence), Some(number)));
        Ok(Reply::Messaged { sequence, repeated: false, answered: Some(number) })
    }

    /// Knows a message when it comes again.
    fn remember(
        &mut self,
        id: InvocationId,
        message: &str,
        digest: Option<Bytes>,
        (sequence, answered): (Option<u64>, Option<u32>),
    ) {
        if let (Some(digest), Some(sequence)) = (digest, sequence) {
            let known = Known { sequence, digest, answered };
            task::put_message(self.txn, self.here.partition, id, message, &known);
        }
    }

    /// Removes what is kept of a task, at most `max` rows of a kind; true where nothing is left.
    pub(super) fn remove_task(
        &mut self,
        id: InvocationId,
        record: &Record,
        max: u32,
    ) -> Result<bool, Fault> {
        if !record.is_task {
            return Ok(true);
        }
        let (partition, max) = (self.here.partition, max as usize);
        let gone = feed::delete_some(self.txn, partition, id, max)?
            && task::delete_some_messages(self.txn, partition, id, max)?;
        if let Some(task) = task::get(self.txn, partition, id)? {
            let place = Place { updated: task.updated, task: id };
            listing::delete(self.txn, partition, &task.principal, place);
            if task.pushes > 0 {
                push_config::delete_all(self.txn, partition, id)?;
            }
            task::delete(self.txn, partition, id);
        }
        Ok(gone)
    }
}

fn listed(task: &Task, target: &Target) -> Listing {
    Listing {
        state: task.state,
        context: task.context.clone(),
        service: target.service.clone(),
        handler: target.handler.clone(),
    }
}
