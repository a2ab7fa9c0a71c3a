//! What the operations take. The tenant is not here: a binding uses it up to find the agent.

use super::{Cursor, Message, PushConfig, Struct, TaskState, Timestamp};

#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    pub message: Message,
    pub configuration: Configuration,
    pub metadata: Struct,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    pub accepted_output_modes: Vec<String>,
    /// Registered with the task that the message makes or names.
    pub push: Option<PushConfig>,
    /// As `Get::history_length`.
    pub history_length: Option<i32>,
    pub return_immediately: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Get {
    pub id: String,
    /// The last so many messages; all where it is left out.
    pub history_length: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct List {
    /// Empty: of any context.
    pub context_id: String,
    pub status: Option<TaskState>,
    pub page_size: Option<i32>,
    /// Empty: the first page.
    pub page_token: String,
    pub history_length: Option<i32>,
    /// Not before.
    pub status_timestamp_after: Option<Timestamp>,
    pub include_artifacts: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cancel {
    pub id: String,
    pub metadata: Struct,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subscribe {
    pub id: String,
    /// Only what came after it, once the task was told.
    pub after: Option<Cursor>,
}

/// Names one push configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PushConfigOf {
    pub task_id: String,
    pub id: String,
}

/// Names all push configurations of a task.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PushConfigsOf {
    pub task_id: String,
    /// 0: as many as fit.
    pub page_size: i32,
    pub page_token: String,
}
