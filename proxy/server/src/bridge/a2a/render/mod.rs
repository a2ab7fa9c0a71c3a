//! Rows of a feed as events of A2A, and all events of a task as the task. What a stream says and
//! what a task shows are made by the same hands, so that they cannot disagree.

mod fold;
mod output;
mod split;
mod state;
mod tell;
#[cfg(test)]
mod tests;

pub use fold::{Fold, Shown};
pub use output::direct_message;
pub use split::split;
pub use state::{from_model, to_model};
pub use tell::Teller;

use super::model::Struct;
use crate::registry::exposure::Exposed;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Metadata of handlers: `message` where what they return may be a message, or a last status.
pub const ANSWERS: &str = "holdfast.answers";
/// What `ANSWERS` and its like are set to.
pub const MESSAGE: &str = "message";

/// Under this name stands the place of a row in the feed of its task.
pub const SEQUENCE: &str = "urn:holdfast:sequence";
/// Under this name stand facts about a task that A2A has no field for.
pub const TASK: &str = "urn:holdfast:task";
/// Under this name stand facts about the question in a message.
pub const ASK: &str = "urn:holdfast:ask";
/// Under this name stands how much is done.
pub const PROGRESS: &str = "urn:holdfast:progress";

/// What every event of a task has to say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    pub id: String,
    pub context_id: String,
    /// The type of what the handler returns; unset where nobody knows.
    pub output_type: Option<String>,
    /// The client reads text and no JSON.
    pub text_only: bool,
    /// What the handler returns may say how it is to be shown.
    pub says_how: bool,
}

impl Head {
    /// Of a task that `exposed` works on; unset where that is registered no more.
    pub fn of(id: String, context_id: String, meta: &Bytes, exposed: Option<&Exposed>) -> Head {
        let output = exposed.and_then(|exposed| exposed.handler.output.content_type.clone());
        Head {
            id,
            context_id,
            output_type: output,
            text_only: Meta::read(meta).text_only,
            says_how: exposed.is_some_and(|it| it.setting(ANSWERS) == Some(MESSAGE)),
        }
    }
}

/// What this door remembers of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    pub skill: String,
    /// The client speaks 0.3.
    #[serde(rename = "old")]
    pub is_old: bool,
    /// The client reads text and no JSON.
    #[serde(rename = "text")]
    pub text_only: bool,
    /// Extensions that were activated.
    pub extensions: Vec<String>,
}

impl Meta {
    /// Of a task; nothing where it came by another door.
    pub fn read(meta: &Bytes) -> Meta {
        serde_json::from_slice(meta).unwrap_or_default()
    }
}

fn facts(name: &str, value: Value) -> Struct {
    let Value::Object(facts) = json!({ name: value }) else {
        unreachable!("an object was written");
    };
    facts
}
