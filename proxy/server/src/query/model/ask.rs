//! Asks as JSON: what is shown, and what somebody answers.

use holdfast_machine::ask;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Answer of `GET /holdfast/asks`: those first that have waited for longest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asks {
    pub asks: Vec<Ask>,
    /// There are more than `limit` that match.
    pub more: bool,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub id: String,
    /// Among those of its invocation, from 1.
    pub number: u32,
    pub status: AskStatus,
    /// `input` or `auth`.
    pub kind: String,
    pub message: String,
    /// A flat JSON Schema of the content.
    pub schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The invocation at the top, which all wait for.
    pub invocation: String,
    /// The invocation that asks; often the same.
    pub asked_by: String,
    /// The handler that asks.
    pub target: String,
    pub opened_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answered>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskStatus {
    Pending,
    Answered,
    /// Its time was over.
    Expired,
    /// Nobody waits for the answer any more.
    Withdrawn,
}

/// What an ask came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    pub at: String,
}

/// Body of `POST /holdfast/asks/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub action: Action,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Accept,
    Decline,
    Cancel,
}

/// Body of the answer to who answers too late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Late {
    pub message: String,
    /// What counts.
    pub answer: Answered,
    pub restate_code: Option<String>,
}

impl AskStatus {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            AskStatus::Pending => "pending",
            AskStatus::Answered => "answered",
            AskStatus::Expired => "expired",
            AskStatus::Withdrawn => "withdrawn",
        }
    }

    pub fn of(ask: &ask::Ask) -> AskStatus {
        match ask.closed.as_ref().map(|closed| closed.how) {
            None => AskStatus::Pending,
            Some(ask::Closing::Answered) => AskStatus::Answered,
            Some(ask::Closing::Expired) => AskStatus::Expired,
            Some(ask::Closing::Withdrawn) => AskStatus::Withdrawn,
        }
    }
}

impl From<&ask::Ask> for Ask {
    fn from(ask: &ask::Ask) -> Ask {
        Ask {
            id: ask.id.to_string(),
            number: ask.number,
            status: AskStatus::of(ask),
            kind: ask.kind.as_str().into(),
            message: ask.message.clone(),
            schema: ask.form.to_json(),
            to: ask.to.clone(),
            url: ask.url.clone(),
            invocation: ask.root.to_string(),
            asked_by: ask.caller.to_string(),
            target: crate::query::target(&ask.asked_by),
            opened_at: ask.opened_at.rfc3339(),
            expires_at: ask.expires_at.map(holdfast_machine::time::Timestamp::rfc3339),
            answer: ask.closed.as_ref().map(Answered::from),
        }
    }
}

impl From<&ask::Closed> for Answered {
    fn from(closed: &ask::Closed) -> Answered {
        let accepted = closed.action == ask::Action::Accept;
        Answered {
            action: closed.action.as_str().into(),
            content: accepted.then(|| serde_json::from_slice(&closed.content).ok()).flatten(),
            by: closed.by.clone(),
            at: closed.at.rfc3339(),
        }
    }
}

impl From<Answer> for ask::Answer {
    fn from(answer: Answer) -> ask::Answer {
        ask::Answer {
            action: match answer.action {
                Action::Accept => ask::Action::Accept,
                Action::Decline => ask::Action::Decline,
                Action::Cancel => ask::Action::Cancel,
            },
            content: answer.content.map(|content| content.to_string().into()),
            by: answer.by,
        }
    }
}
