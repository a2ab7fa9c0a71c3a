//! Asks: a handler asks a person by a call of ours, and the answer is what the call comes to. The
//! row lives with the root of whoever asks; the first answer counts, and a question that nobody
//! waits for any more is withdrawn.

use super::Turn;
use super::cancel::aborted;
use super::task::FULL;
use crate::ask::{Action, Answer, Ask, Asks, Closed, Closing, HUMAN, OPEN_MAX};
use crate::command::{Refusal, Reply};
use crate::id::{AskId, InvocationId};
use crate::kv::Fault;
use crate::model::{Failure, Outcome};
use crate::tables::ask;
use crate::tables::invocation::Record;
use crate::tables::message::Message;
use crate::tables::timer::{self, Timer};
use crate::task::What;
use bytes::Bytes;

/// Of who asks or tells too much.
pub(super) const TOO_MANY: u32 = 429;

impl Turn<'_, '_> {
    /// An ask arrives at its root, which may have ended: who asks waits for the answer all the same.
    pub(super) fn open_ask(&mut self, mut new: Ask) -> Result<(), Fault> {
        let mut root = self.record(new.root)?;
        let (mut asks, kept) = match &root {
            Some(record) if record.asks.opened > 0 => (record.asks, 0),
            // The first one, but for what an earlier invocation of the same id has left.
            _ => self.asks_left(new.root)?,
        };
        // Of a root that is gone nothing counts them, and only open ones are kept.
        let open = if root.is_some() { asks.open() } else { kept };
        if open >= OPEN_MAX {
            return self.refuse_ask(&new, &format!("{OPEN_MAX} questions are open (HF0214)"));
        }
        if root.as_ref().is_some_and(|record| record.is_task) && self.feed_is_full(new.root)? {
            return self.refuse_ask(&new, FULL);
        }
        asks.opened += 1;
        *asks.of_kind(new.kind) += 1;
        new.number = asks.opened;
        new.opened_at = self.now;
        if let Some(record) = &mut root {
            record.asks = asks;
            self.store(new.root, record);
        }
        ask::put(self.txn, self.here.partition, &new);
        if let Some(expires_at) = new.expires_at {
            self.set_timer(Timer::ask(expires_at, new.root, new.number));
        }
        match root.filter(|record| record.is_task) {
            Some(record) => self.ask_of_task(&record, new),
            None => Ok(()),
        }
    }

    /// Nobody is asked. Who waits for the answer hears why.
    fn refuse_ask(&mut self, ask: &Ask, why: &str) -> Result<(), Fault> {
        let Some(sink) = ask.sink else {
            return Ok(());
        };
        let message = format!("`{HUMAN}/ask` cannot be done: {why}");
        let failure = Failure { code: TOO_MANY, message, ..Failure::default() };
        self.send(Message::Respond { sink, outcome: Some(Outcome::Failure(failure)) })
    }

    /// Where the numbers begin that were not given under an earlier invocation of that id, and how
    /// many of those are kept.
    fn asks_left(&self, root: InvocationId) -> Result<(Asks, u32), Fault> {
        let (mut last, mut kept) = (0, 0);
        ask::scan_root(self.txn, self.here.partition, root, 0, &mut |ask| {
            (last, kept) = (ask.number, kept + 1);
            true
        })?;
        Ok((Asks { opened: last, left: last, ..Asks::default() }, kept))
    }

    /// A person answers.
    pub(super) fn answer_ask(
        &mut self,
        root: InvocationId,
        number: u32,
        id: AskId,
        answer: Answer,
    ) -> Result<Reply, Fault> {
        let found = ask::get(self.txn, self.here.partition, root, number)?;
        let Some(ask) = found.filter(|ask| ask.id == id) else {
            return Ok(Reply::Unknown);
        };
        if let Some(closed) = ask.closed {
            return Ok(Reply::AskClosed(closed));
        }
        match ask.close(answer, self.now) {
            Err(violation) => Ok(Reply::Violation(violation)),
            Ok(closed) => {
                let sequence = self.close_ask(ask, closed, true)?;
                Ok(Reply::Answered { sequence })
            }
        }
    }

    /// Ends a question; `tell` who waits. Gives the row of the feed that says so.
    pub(super) fn close_ask(
        &mut self,
        mut ask: Ask,
        closed: Closed,
        tell: bool,
    ) -> Result<Option<u64>, Fault> {
        assert!(ask.closed.is_none(), "the first answer counts");
        let (root, partition) = (ask.root, self.here.partition);
        if let Some(due) = ask.expires_at {
            timer::delete(self.txn, partition, &Timer::ask(due, root, ask.number));
        }
        if let Some(sink) = ask.sink.filter(|_| tell) {
            let outcome = match closed.how {
                Closing::Answered | Closing::Expired => Outcome::Success(closed.result()),
                Closing::Withdrawn => aborted("canceled"),
            };
            self.send(Message::Respond { sink, outcome: Some(outcome) })?;
        }
        let Some(mut record) = self.record(root)? else {
            ask::delete(self.txn, partition, &ask);
            return Ok(None);
        };
        if record.asks.opened == 0 {
            (record.asks, _) = self.asks_left(root)?; // So that what is kept of it goes with this one.
        }
        let own = record.asks.has(ask.number);
        if own {
            *record.asks.of_kind(ask.kind) -= 1;
        }
        self.store(root, &mut record);
        ask.closed = Some(closed.clone());
        ask::put(self.txn, partition, &ask);
        let what = What::Answered { number: ask.number, closed };
        if own && record.is_task { self.tell_asks(root, &record, what) } else { Ok(None) }
    }

    /// The time of an ask is over.
    pub(super) fn ask_expired(&mut self, timer: Timer) -> Result<(), Fault> {
        let (root, number) = (timer.invocation, timer.completion);
        let ask = ask::get(self.txn, self.here.partition, root, number)?;
        let Some(ask) = ask.filter(|it| it.closed.is_none() && it.expires_at == Some(timer.due))
        else {
            return Ok(());
        };
        let closed = self.closed_by_nobody(Closing::Expired);
        self.close_ask(ask, closed, true).map(drop)
    }

    fn closed_by_nobody(&self, how: Closing) -> Closed {
        Closed { at: self.now, how, action: Action::Cancel, by: None, content: Bytes::new() }
    }

    /// What an invocation asked is wanted no more.
    pub(super) fn withdraw_asked(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        tell: bool,
    ) -> Result<(), Fault> {
        if !std::mem::take(&mut record.asked) {
            return Ok(());
        }
        self.send(Message::Withdraw { root: record.root, caller: id, tell })
    }

    /// Nobody is to answer for what was asked to end.
    pub(super) fn withdraw_on_cancel(
        &mut self,
        id: InvocationId,
        record: &Record,
    ) -> Result<(), Fault> {
        if record.asks.open() > 0 {
            self.withdraw(id, None, true)?;
        }
        if record.asked && record.root != id {
            self.send(Message::Withdraw { root: record.root, caller: id, tell: true })?;
        }
        Ok(())
    }

    pub(super) fn withdraw(
        &mut self,
        root: InvocationId,
        caller: Option<InvocationId>,
        tell: bool,
    ) -> Result<(), Fault> {
        let open = match caller {
            Some(caller) => ask::open_of(self.txn, self.here.partition, root, caller)?,
            None => {
                let asks = self.record(root)?.map_or(Asks::default(), |record| record.asks);
                ask::open(self.txn, self.here.partition, root, asks)?
            }
        };
        for ask in open {
            let closed = self.closed_by_nobody(Closing::Withdrawn);
            self.close_ask(ask, closed, tell)?;
        }
        Ok(())
    }

    /// Somebody wants to end what is called under an id that is no invocation's: perhaps an ask.
    pub(super) fn withdraw_called(&mut self, id: InvocationId) -> Result<Reply, Fault> {
        let Some(ask) = ask::find(self.txn, self.here.partition, AskId::of(id))? else {
            return Ok(Reply::Unknown);
        };
        if ask.closed.is_some() {
            return Ok(Reply::Refused(Refusal::AlreadyCompleted));
        }
        let closed = self.closed_by_nobody(Closing::Withdrawn);
        self.close_ask(ask, closed, true)?;
        Ok(Reply::Done)
    }

    /// Forgets closed asks under a root that is forgotten itself; at most `max` rows are looked at.
    /// True where none is left. What is open stays: somebody waits for the answer.
    pub(super) fn remove_asks(
        &mut self,
        root: InvocationId,
        record: &Record,
        max: u32,
    ) -> Result<bool, Fault> {
        if record.asks.opened == 0 {
            return Ok(true);
        }
        let (mut closed, mut more) = (vec![], false);
        ask::scan_root(self.txn, self.here.partition, root, 0, &mut |ask| {
            more = closed.len() == max as usize;
            closed.extend((!more && ask.closed.is_some()).then_some(ask));
            !more
        })?;
        for ask in closed {
            ask::delete(self.txn, self.here.partition, &ask);
        }
        Ok(!more)
    }
}
