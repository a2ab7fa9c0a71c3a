//! Tasks: invocations that were started by somebody who follows them, and their feeds. Pure values;
//! the rows are in `tables::task` and `tables::feed`, what becomes of them in `apply::task`.

use crate::ask::{Action, Answer, Ask, Asks, Closed};
use crate::id::AskId;
use crate::model::{FailedBy, Failure, Outcome};
use crate::tables::push_config::PushConfig;
use crate::time::Timestamp;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Receivers of one feed.
pub const PUSHES_MAX: u32 = 16;
/// Messages that may wait for an ask of one task.
pub const WAITING_MAX: usize = 64;
/// Rows of one feed, and bytes of them, behind which nothing is told any more but answers and the
/// end.
pub const FEED_ROWS_MAX: u64 = 100_000;
pub const FEED_BYTES_MAX: u64 = 256 << 20;
/// Longest text of a progress, in bytes.
const PROGRESS_BYTES_MAX: usize = 16 * 1024;
/// Longest id of an artifact, in bytes.
const ARTIFACT_ID_BYTES_MAX: usize = 1024;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waits for its time or for its key.
    Submitted,
    /// From the first attempt on, also while it waits for something else than a person.
    Working,
    /// Asks somebody something.
    InputRequired,
    /// Asks somebody for credentials or a consent, and nothing else.
    AuthRequired,
    Completed,
    Failed,
    /// The handler would not do it.
    Rejected,
    Cancelled,
}

impl State {
    pub const ALL: [State; 8] = [
        State::Submitted,
        State::Working,
        State::InputRequired,
        State::AuthRequired,
        State::Completed,
        State::Failed,
        State::Rejected,
        State::Cancelled,
    ];

    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Submitted => "submitted",
            State::Working => "working",
            State::InputRequired => "input-required",
            State::AuthRequired => "auth-required",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Rejected => "rejected",
            State::Cancelled => "cancelled",
        }
    }

    pub fn from_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Nothing will change any more.
    pub const fn is_terminal(self) -> bool {
        matches!(self, State::Completed | State::Failed | State::Rejected | State::Cancelled)
    }

    /// Somebody has to answer.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, State::InputRequired | State::AuthRequired)
    }

    /// Of a task that has begun and not ended.
    pub const fn with_asks(asks: Asks) -> State {
        match asks {
            Asks { input: 1.., .. } => State::InputRequired,
            Asks { auth: 1.., .. } => State::AuthRequired,
            Asks { .. } => State::Working,
        }
    }

    /// Of a task that ended. `cancelled`: somebody had asked for it.
    pub const fn ended(outcome: &Outcome, by: FailedBy, cancelled: bool) -> State {
        match (outcome, by) {
            (Outcome::Success(_), _) => State::Completed,
            (Outcome::Failure(_), FailedBy::Kill | FailedBy::Cancel) => State::Cancelled,
            (Outcome::Failure(Failure { code: 409, .. }), FailedBy::Handler) if cancelled => {
                State::Cancelled
            }
            (Outcome::Failure(Failure { code: 400 | 422, .. }), FailedBy::Handler) => {
                State::Rejected
            }
            (Outcome::Failure(_), _) => State::Failed,
        }
    }
}

/// What is kept of a task beside its invocation.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// 128 bits of chance.
    pub secret: u128,
    /// Who started it, and may see it.
    pub principal: String,
    /// What it belongs to.
    pub context: String,
    /// The door that it came by.
    pub door: String,
    /// The door's own.
    pub meta: Bytes,
    /// Of the request, where it may come again.
    pub digest: Bytes,
    /// The message that started it.
    pub message: Option<NewMessage>,
    /// Receivers of its feed from the first row on, by name; at most `PUSHES_MAX`.
    pub pushes: Vec<(String, PushConfig)>,
}

/// What somebody says to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    /// The door's own.
    pub body: Bytes,
    pub action: Action,
    /// A JSON object that is in it.
    pub content: Option<Bytes>,
    /// What is in it in words.
    pub text: Option<String>,
    pub by: Option<String>,
}

/// A message on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    pub message: Message,
    /// 32 bytes, where the same message may come again.
    pub digest: Option<Bytes>,
    /// The ask that it is meant for; without it, the one that is open for longest or the next one.
    pub answers: Option<AskId>,
}

impl Message {
    /// As an answer to an ask.
    ///
    /// # Errors
    /// A sentence: why it is none.
    pub fn answer(&self, ask: &Ask) -> Result<Answer, String> {
        let content = match (&self.action, &self.content, &self.text) {
            (Action::Decline | Action::Cancel, ..) => None,
            _ if ask.whole_message => Some(self.body.clone()),
            (Action::Accept, Some(content), _) => Some(content.clone()),
            (Action::Accept, None, Some(text)) => Some(ask.form.read_text(text)?),
            (Action::Accept, None, None) => None,
        };
        Ok(Answer { action: self.action, content, by: self.by.clone() })
    }
}

/// What a handler says about how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub message: String,
    pub progress: Option<f64>,
    pub total: Option<f64>,
    pub at: Timestamp,
}

/// Something that a handler gives before the end or beside the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// A JSON object: `artifactId`, `parts` and what else describes it.
    pub artifact: Bytes,
    /// Goes on with what was given before under the same id.
    pub append: bool,
    /// Nothing more comes under this id.
    pub last: bool,
}

/// One row of a feed.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// From 1, without gaps.
    pub sequence: u64,
    pub at: Timestamp,
    /// After it.
    pub state: State,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Nothing else but the state has changed.
    State,
    Progress(Progress),
    Artifact(Artifact),
    Asked(Box<Ask>),
    Answered {
        number: u32,
        closed: Closed,
    },
    Message(Taken),
    /// A message that had waited does not fit the ask that opened: it is used up, the ask stays.
    NotTaken {
        /// Its id.
        message: String,
        number: u32,
        why: String,
    },
    /// The last one.
    Ended(Ended),
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub message: Message,
    /// The number of the ask that it answers.
    pub answers: Option<u32>,
    /// It came early and waits for the next ask.
    pub waiting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub outcome: Outcome,
    /// Of a failure.
    pub by: Option<FailedBy>,
}

/// What a handler tells those who follow its root.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Progress(Progress),
    Artifact(Artifact),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgressParameter {
    message: String,
    #[serde(default)]
    progress: Option<f64>,
    #[serde(default)]
    total: Option<f64>,
}

impl Told {
    /// Reads what a handler sent to `holdfast.Task/{handler}`.
    ///
    /// # Errors
    /// A sentence: what is wrong with it.
    pub fn read(handler: &str, parameter: &Bytes, now: Timestamp) -> Result<Told, String> {
        match handler {
            "progress" => progress(parameter, now).map(Told::Progress),
            _ => artifact(parameter).map(Told::Artifact),
        }
    }
}

fn progress(parameter: &Bytes, at: Timestamp) -> Result<Progress, String> {
    let read: ProgressParameter =
        serde_json::from_slice(parameter).map_err(|error| error.to_string())?;
    if read.message.len() > PROGRESS_BYTES_MAX {
        return Err(format!("`message` has more than {PROGRESS_BYTES_MAX} bytes"));
    }
    let ProgressParameter { message, progress, total } = read;
    Ok(Progress { message, progress, total, at })
}

fn artifact(parameter: &Bytes) -> Result<Artifact, String> {
    let mut read: Map<String, Value> =
        serde_json::from_slice(parameter).map_err(|error| error.to_string())?;
    let id = read.get("artifactId").and_then(Value::as_str).unwrap_or_default();
    if id.is_empty() || id.len() > ARTIFACT_ID_BYTES_MAX {
        return Err(format!("`artifactId` is not a text of 1 to {ARTIFACT_ID_BYTES_MAX} bytes"));
    }
    let mut flag = |name: &str| match read.shift_remove(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(_) => Err(format!("`{name}` is neither true nor false")),
    };
    let (append, last) = (flag("append")?, flag("last")?);
    parts(read.get("parts"))?;
    for (name, is) in [
        ("name", Value::is_string as fn(&Value) -> bool),
        ("description", Value::is_string),
        ("metadata", Value::is_object),
        ("extensions", Value::is_array),
    ] {
        if read.get(name).is_some_and(|value| !value.is_null() && !is(value)) {
            return Err(format!("`{name}` has the wrong type"));
        }
    }
    read.retain(|_, value| !value.is_null());
    Ok(Artifact { artifact: Value::Object(read).to_string().into(), append, last })
}

/// Each part holds one thing: text, data, bytes in base64, or an address.
fn parts(parts: Option<&Value>) -> Result<(), String> {
    let parts = parts.and_then(Value::as_array).ok_or("`parts` is not an array")?;
    for (index, part) in parts.iter().enumerate() {
        let part = part.as_object().ok_or(format!("`parts[{index}]` is not an object"))?;
        let held = ["text", "data", "raw", "url"].iter().filter(|name| part.contains_key(**name));
        if held.count() != 1 {
            return Err(format!("`parts[{index}]` has not one of `text`, `data`, `raw` and `url`"));
        }
        for name in ["text", "raw", "url", "mediaType", "filename"] {
            if part.get(name).is_some_and(|value| !value.is_string()) {
                return Err(format!("`parts[{index}].{name}` is not a text"));
            }
        }
    }
    Ok(())
}
