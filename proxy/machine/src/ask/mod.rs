//! Questions to people: what a handler may ask, what may be answered, and what the handler gets.
//! Pure values; the rows are in `tables::ask`, what becomes of them in `apply::ask`.

mod check;
mod form;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod text;

pub use form::Form;

use crate::id::{AskId, InvocationId};
use crate::model::{Callee, Retention, Target};
use crate::tables::invocation::Sink;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The service whose handler `ask` asks a person.
pub const HUMAN: &str = "holdfast.Human";
/// The service whose handlers tell those who follow a task.
pub const TASK: &str = "holdfast.Task";
/// Asks that may be open under one root.
pub const OPEN_MAX: u32 = 1_000;
/// What the names of services of ours begin with.
const OURS: &str = "holdfast.";

/// A question, pending until it is closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The callee of the call that asks.
    pub id: AskId,
    /// Among the asks of its root, from 1; never given twice. 0 until it is opened.
    pub number: u32,
    pub root: InvocationId,
    /// The invocation that asks.
    pub caller: InvocationId,
    /// The handler that asks.
    pub asked_by: Target,
    pub kind: AskKind,
    pub message: String,
    pub form: Form,
    /// Who is asked; free text.
    pub to: Option<String>,
    /// Where a person has to go.
    pub url: Option<String>,
    pub opened_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// The content of the answer is the whole message that answers.
    pub whole_message: bool,
    /// The completion that the answer fills.
    pub sink: Option<Sink>,
    /// `None`: pending.
    pub closed: Option<Closed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskKind {
    /// Wants to know something.
    Input,
    /// Wants credentials or a consent.
    Auth,
}

/// How an ask came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub at: Timestamp,
    pub how: Closing,
    pub action: Action,
    pub by: Option<String>,
    /// JSON; empty unless it was accepted.
    pub content: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    Answered,
    /// Its time was over.
    Expired,
    /// Nobody waits for the answer any more.
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Accept,
    Decline,
    /// Put aside.
    Cancel,
}

/// What a person says to an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub action: Action,
    /// A JSON object, of what is accepted.
    pub content: Option<Bytes>,
    pub by: Option<String>,
}

/// The asks under a root, as its row counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asks {
    /// The number that the last one got.
    pub opened: u32,
    /// Open ones of kind input.
    pub input: u32,
    /// Open ones of kind auth.
    pub auth: u32,
    /// Up to this number an earlier invocation of the same id asked: those are nobody's here, and
    /// not among the open ones.
    pub left: u32,
}

/// What a handler wants to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub kind: AskKind,
    pub message: String,
    pub form: Form,
    pub to: Option<String>,
    pub url: Option<String>,
    pub expires_after: Option<Duration>,
    pub whole_message: bool,
}

impl AskKind {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            AskKind::Input => "input",
            AskKind::Auth => "auth",
        }
    }
}

impl Closing {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Closing::Answered => "answered",
            Closing::Expired => "expired",
            Closing::Withdrawn => "withdrawn",
        }
    }
}

impl Action {
    const ALL: [Action; 3] = [Action::Accept, Action::Decline, Action::Cancel];

    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Accept => "accept",
            Action::Decline => "decline",
            Action::Cancel => "cancel",
        }
    }

    pub fn from_name(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

impl Asks {
    /// How many are open.
    pub fn open(self) -> u32 {
        self.input + self.auth
    }

    /// Whether the ask of that number is of this invocation and what it called.
    pub fn has(self, number: u32) -> bool {
        (self.left + 1..=self.opened).contains(&number)
    }

    pub fn of_kind(&mut self, kind: AskKind) -> &mut u32 {
        match kind {
            AskKind::Input => &mut self.input,
            AskKind::Auth => &mut self.auth,
        }
    }
}

impl Ask {
    /// What the ask comes to with that answer.
    ///
    /// # Errors
    /// A sentence: what of the content is not as the form says.
    pub fn close(&self, answer: Answer, at: Timestamp) -> Result<Closed, String> {
        let content = match answer.action {
            Action::Accept => self.accepted(answer.content)?,
            Action::Decline | Action::Cancel => Bytes::new(),
        };
        let how = Closing::Answered;
        Ok(Closed { at, how, action: answer.action, by: answer.by, content })
    }

    fn accepted(&self, content: Option<Bytes>) -> Result<Bytes, String> {
        let fields = match &content {
            None => Map::new(),
            Some(content) => match serde_json::from_slice(content) {
                Ok(Value::Object(fields)) => fields,
                Ok(Value::Null) => Map::new(),
                Ok(_) => return Err("the content is not a JSON object".into()),
                Err(error) => return Err(format!("the content is not JSON: {error}")),
            },
        };
        if self.whole_message {
            return Ok(content.unwrap_or_else(|| Bytes::from_static(b"{}")));
        }
        self.form.check(&fields)?;
        Ok(self.form.content(content))
    }
}

impl Closed {
    /// What the handler gets.
    pub fn result(&self) -> Bytes {
        let mut result = Map::new();
        result.insert("action".to_owned(), json!(self.action.as_str()));
        if self.action == Action::Accept {
            let content = serde_json::from_slice(&self.content).unwrap_or(Value::Null);
            result.insert("content".to_owned(), content);
        }
        if let Some(by) = &self.by {
            result.insert("by".to_owned(), json!(by));
        }
        result.insert("at".to_owned(), json!(self.at.rfc3339()));
        Value::Object(result).to_string().into()
    }
}

/// Whether a service of that name is ours.
pub fn is_ours(service: &str) -> bool {
    service.starts_with(OURS)
}

/// What is to be known about the handlers that the sidecar itself has; `None` for all others.
pub fn built_in(service: &str, handler: &str) -> Option<Callee> {
    if !is_ours(service) {
        return None;
    }
    let callee = Callee {
        ty: HandlerType::Service,
        retention: Retention::default(),
        idempotent_retention: Retention::default(),
        lazy_state: true,
    };
    let known = matches!((service, handler), (HUMAN, "ask") | (TASK, "progress" | "artifact"));
    known.then_some(callee)
}
