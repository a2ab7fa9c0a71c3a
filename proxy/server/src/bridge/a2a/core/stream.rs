//! Streams: the task first, then everything that happens to it, read from its feed by whoever pulls.
//! Nothing waits in memory for a slow reader, and every reader is told the same.

use super::look::Until;
use super::send::Accepted;
use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{Cursor, Message, StreamResponse, Task, TaskState, params};
use crate::bridge::a2a::render::{Teller, split};
use crate::tasks::Feed;
use std::collections::VecDeque;

/// One event, and where in the stream it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub cursor: Cursor,
    pub payload: StreamResponse,
    /// The stream ends after it.
    pub last: bool,
}

/// The events of one stream. Dropping it ends nothing but the stream.
pub struct Events {
    ready: VecDeque<Event>,
    rest: Option<Rest>,
}

/// What is still to come.
struct Rest {
    task: String,
    feed: Feed,
    teller: Teller,
    /// Events up to it were told before.
    after: Cursor,
    ends_at_question: bool,
}

impl Events {
    /// A message alone.
    pub(super) fn one_message(message: Message) -> Events {
        let payload = StreamResponse::Message(Box::new(message));
        let event = Event { cursor: Cursor::default(), payload, last: true };
        Events { ready: [event].into(), rest: None }
    }

    /// The next event; `None` when the stream has come to its end. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let rest = self.rest.as_mut()?;
            match rest.feed.next().await {
                Ok(Some(rows)) => {
                    for row in &rows {
                        let payloads = rest.teller.tell(row).into_iter().flat_map(split);
                        let cursors = (0..).map(|part| Cursor { sequence: row.sequence, part });
                        let events = cursors.zip(payloads).filter(|(at, _)| *at > rest.after);
                        let ends_at_question = rest.ends_at_question;
                        self.ready.extend(events.map(|(cursor, payload)| {
                            let last = is_last(&payload, ends_at_question);
                            Event { cursor, payload, last }
                        }));
                    }
                    self.end_after_last();
                }
                Ok(None) => self.rest = None,
                Err(error) => {
                    let error = refused(&rest.task, error);
                    self.rest = None;
                    return Some(Err(error));
                }
            }
        }
    }

    fn end_after_last(&mut self) {
        if let Some(at) = self.ready.iter().position(|event| event.last) {
            self.ready.truncate(at + 1);
            self.rest = None;
        }
    }
}

/// Streams end with the task; one that a message has opened also where the client has to answer.
/// What is asked for out of band may come without the client, so there the stream stays.
fn is_last(payload: &StreamResponse, ends_at_question: bool) -> bool {
    match payload {
        StreamResponse::StatusUpdate(update) => {
            let state = update.status.state;
            state.is_terminal() || ends_at_question && state == TaskState::InputRequired
        }
        _ => false,
    }
}

/// The last row of which all was told; one that was told in part is read again for the rest.
fn row_before(after: Cursor) -> u64 {
    match after == Cursor::after(after.sequence) {
        true => after.sequence,
        false => after.sequence.saturating_sub(1),
    }
}

impl Core {
    /// SubscribeToTask.
    pub async fn subscribe(
        &self,
        agent: &Agent,
        caller: &Caller,
        to: params::Subscribe,
    ) -> Result<Events, Error> {
        agent.check_streaming()?;
        to.check()?;
        let found = self.find(agent, caller, &to.id).await?;
        // Who comes back for the rest of a stream is given it, also when the task has ended.
        let comes_back = to.after.filter(|after| after.sequence <= found.task.sequence);
        let fold = self.fold(agent, caller, &found.task, Until::Now).await?;
        if found.task.state.is_terminal() && comes_back.is_none_or(|after| after >= fold.last()) {
            let told = "the task has ended; ask for it by GetTask";
            return Err(Error::UnsupportedOperation(told.into()));
        }
        let task = fold.task();
        let (after, teller) = match comes_back {
            None => (Cursor::after(fold.sequence()), fold.into_teller()),
            Some(after) => {
                let until = Until::Row(row_before(after));
                let before = self.fold(agent, caller, &found.task, until).await?;
                (after, before.into_teller())
            }
        };
        self.events(caller, &found.id, task, after, teller, false).await
    }

    /// The stream of a message that was taken.
    pub(super) async fn follow_sent(
        &self,
        agent: &Agent,
        caller: &Caller,
        accepted: &Accepted,
        history_length: Option<i32>,
    ) -> Result<Events, Error> {
        let until = Until::Row(accepted.sequence);
        let fold = self.fold(agent, caller, &accepted.task, until).await?;
        let mut task = fold.task();
        super::look::cut(&mut task.history, history_length);
        let after = Cursor::after(fold.sequence());
        self.events(caller, &accepted.id, task, after, fold.into_teller(), true).await
    }

    async fn events(
        &self,
        caller: &Caller,
        id: &crate::tasks::TaskId,
        task: Task,
        after: Cursor,
        teller: Teller,
        ends_at_question: bool,
    ) -> Result<Events, Error> {
        let feed = self.tasks().follow(caller.principal.as_str(), *id, row_before(after)).await;
        let feed = feed.map_err(|error| refused(&task.id, error))?;
        let name = task.id.clone();
        let first =
            Event { cursor: after, payload: StreamResponse::Task(Box::new(task)), last: false };
        let rest = Rest { task: name, feed, teller, after, ends_at_question };
        Ok(Events { ready: [first].into(), rest: Some(rest) })
    }
}
