//! What is said to a task: an answer, a message, the wish to end it.

use super::error::unexpected;
use super::{Action, Answer, Answered, Ask, AskId, Error, State, TaskId, Tasks};
use bytes::Bytes;
use holdfast_machine::{
    command::{Command, Refusal, Reply},
    task,
};

/// What somebody says to a task, which answers an ask of it or waits for the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    pub id: String,
    /// The door's own, kept as it is.
    pub body: Bytes,
    /// Of the message, where the same may come again under its id.
    pub digest: Option<[u8; 32]>,
    /// The ask that it is meant for; without it, the one that is open for longest or the next one.
    pub answers: Option<AskId>,
    pub action: Action,
    /// A JSON object that is in it.
    pub content: Option<Bytes>,
    /// What is in it in words; read where there is no content.
    pub text: Option<String>,
    pub by: Option<String>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messaged {
    /// Its row in the feed.
    pub sequence: u64,
    /// It had been taken before, and nothing has happened now.
    pub repeated: bool,
    /// The number of the ask that it answered.
    pub answered: Option<u32>,
}

/// What became of the wish to end a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// The handler will see it, and may take its time.
    Asked,
    /// It has ended.
    Now,
    /// It had ended before.
    AlreadyEnded(State),
}

impl NewMessage {
    pub(super) fn into_machine(self) -> task::NewMessage {
        let digest = self.digest.map(|digest| Bytes::copy_from_slice(&digest));
        let NewMessage { id, body, answers, action, content, text, by, .. } = self;
        let message = task::Message { id, body, action, content, text, by };
        task::NewMessage { message, digest, answers }
    }
}

impl Tasks {
    /// Asks for the end of a task; what it asks people is withdrawn at once.
    ///
    /// # Errors
    /// As `get`, and `Unavailable`.
    pub async fn cancel(&self, principal: &str, id: TaskId) -> Result<Cancelled, Error> {
        let task = self.get(principal, id).await?;
        if task.state.is_terminal() {
            return Ok(Cancelled::AlreadyEnded(task.state));
        }
        let invocation = id.invocation();
        match self.router.of(invocation).call(Command::Cancel { invocation }).await? {
            Reply::Done => Ok(Cancelled::Now),
            Reply::Appended => Ok(Cancelled::Asked),
            Reply::Refused(Refusal::AlreadyCompleted) => {
                let state = self.get(principal, id).await?.state;
                Ok(Cancelled::AlreadyEnded(state))
            }
            Reply::Unknown => Err(Error::NotFound),
            reply => Err(unexpected(&reply)),
        }
    }

    /// Answers one ask of a task: one that `get` gave. Another that got its number since is not
    /// taken for it.
    ///
    /// # Errors
    /// As `get`; `NoSuchAsk`; `Violation` where the answer does not fit, and nothing has happened.
    pub async fn answer(
        &self,
        principal: &str,
        id: TaskId,
        ask: &Ask,
        answer: Answer,
    ) -> Result<Answered, Error> {
        self.get(principal, id).await?;
        if ask.root != id.invocation() {
            return Err(Error::NoSuchAsk);
        }
        self.answer_of(ask, answer).await
    }

    /// Says something to a task.
    ///
    /// # Errors
    /// As `get`; `Ended`, `OtherMessage`, `NoSuchAsk`, `Late`, `Violation`, `Full`, `FeedFull`:
    /// nothing has happened then.
    pub async fn message(
        &self,
        principal: &str,
        id: TaskId,
        message: NewMessage,
    ) -> Result<Messaged, Error> {
        self.get(principal, id).await?;
        let message = Box::new(message.into_machine());
        let task = id.invocation();
        match self.router.of(task).call(Command::MessageTask { task, message }).await? {
            Reply::Messaged { sequence, repeated, answered } => {
                Ok(Messaged { sequence, repeated, answered })
            }
            Reply::OtherMessage => Err(Error::OtherMessage),
            Reply::NoSuchAsk => Err(Error::NoSuchAsk),
            Reply::AskClosed(closed) => Err(Error::Late(closed)),
            Reply::FeedFull => Err(Error::FeedFull),
            Reply::Violation(violation) => Err(Error::Violation(violation)),
            Reply::TooManyWait(count) => Err(Error::Full(format!(
                "{count} messages wait for the next question already; wait for it"
            ))),
            Reply::Refused(_) => Err(Error::Ended(self.get(principal, id).await?.state)),
            Reply::Unknown => Err(Error::NotFound),
            reply => Err(unexpected(&reply)),
        }
    }
}
