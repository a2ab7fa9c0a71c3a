//! What is said in A2A 1.0, as plain values: messages, tasks, events, and what the operations take
//! and give. Neither JSON nor protobuf: the codecs know how each is written.

mod check;
mod cursor;
pub mod params;
mod size;
mod state;

pub use cursor::{BadCursor, Cursor};
pub use holdfast_machine::time::Timestamp;
pub use state::{Role, TaskState};

use bytes::Bytes;
use serde_json::{Map, Value};

/// Free facts beside a thing. Empty is the same as none.
pub type Struct = Map<String, Value>;

/// What a part holds: exactly one of these.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(String),
    Raw(Bytes),
    Url(String),
    /// Any JSON, `null` included.
    Data(Value),
}

/// One piece of a message or an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub content: Content,
    pub metadata: Struct,
    pub filename: String,
    pub media_type: String,
}

impl Part {
    pub fn of(content: Content) -> Part {
        Part {
            content,
            metadata: Struct::new(),
            filename: String::new(),
            media_type: String::new(),
        }
    }

    pub fn text(text: impl Into<String>) -> Part {
        Part::of(Content::Text(text.into()))
    }

    /// A value, told to be JSON.
    pub fn data(value: Value) -> Part {
        Part { media_type: "application/json".into(), ..Part::of(Content::Data(value)) }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub message_id: String,
    pub context_id: String,
    pub task_id: String,
    pub role: Role,
    pub parts: Vec<Part>,
    pub metadata: Struct,
    pub extensions: Vec<String>,
    pub reference_task_ids: Vec<String>,
}

/// Something that a task has made.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    pub artifact_id: String,
    pub name: String,
    pub description: String,
    pub parts: Vec<Part>,
    pub metadata: Struct,
    pub extensions: Vec<String>,
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStatus {
    pub state: TaskState,
    pub message: Option<Message>,
    pub timestamp: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    pub context_id: String,
    pub status: TaskStatus,
    pub artifacts: Vec<Artifact>,
    /// In the order in which they came. The message of the status is not among them.
    pub history: Vec<Message>,
    pub metadata: Struct,
}

/// A task stands somewhere else now.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub task_id: String,
    pub context_id: String,
    pub status: TaskStatus,
    pub metadata: Struct,
}

/// A task has made something, or more of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    pub task_id: String,
    pub context_id: String,
    pub artifact: Artifact,
    /// The parts come after those that the artifact has; else they replace it.
    pub append: bool,
    pub last_chunk: bool,
    pub metadata: Struct,
}

/// One event of a stream, and the body of a push notification.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamResponse {
    Task(Box<Task>),
    Message(Box<Message>),
    StatusUpdate(Box<StatusUpdate>),
    ArtifactUpdate(Box<ArtifactUpdate>),
}

/// What a message comes to: a task, or an answer at once.
#[derive(Debug, Clone, PartialEq)]
pub enum SendResponse {
    Task(Box<Task>),
    Message(Box<Message>),
}

/// Where the events of a task are to be posted.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct PushConfig {
    pub id: String,
    pub task_id: String,
    pub url: String,
    pub token: String,
    pub authentication: Option<Authentication>,
}

#[derive(Clone, PartialEq, Eq, Default)]
pub struct Authentication {
    pub scheme: String,
    pub credentials: String,
}

/// What is secret is not shown.
impl std::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("PushConfig");
        shown.field("id", &self.id).field("task_id", &self.task_id).field("url", &self.url);
        shown.finish_non_exhaustive()
    }
}

/// What is secret is not shown.
impl std::fmt::Debug for Authentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authentication").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// One page of tasks, the newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// Empty on the last page.
    pub next_page_token: String,
    /// The most that a page holds.
    pub page_size: i32,
    /// Tasks on all pages.
    pub total_size: i32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PushConfigPage {
    pub configs: Vec<PushConfig>,
    pub next_page_token: String,
}
