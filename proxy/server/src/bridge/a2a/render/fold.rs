//! All that a task was told and has told, as the task.

use super::{Head, SEQUENCE, Teller};
use crate::bridge::a2a::json::read;
use crate::bridge::a2a::model::*;
use crate::tasks::{self, Closed, Closing, Taken, What};
use serde_json::Value;

/// Messages beside those that are wanted which a fold keeps: a question that is asked again comes
/// out of the history.
const HISTORY_SLACK: usize = 64;

/// How much of a task is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    pub artifacts: bool,
    /// The last so many messages; all where it is left out.
    pub history: Option<i32>,
}

impl Shown {
    /// With all artifacts.
    pub fn with_history(history: Option<i32>) -> Shown {
        Shown { artifacts: true, history }
    }

    fn messages(self) -> Option<usize> {
        self.history.and_then(|length| usize::try_from(length).ok())
    }
}

/// A task, built row by row.
pub struct Fold {
    teller: Teller,
    shown: Shown,
    status: TaskStatus,
    /// The row that the status comes from.
    since: u64,
    /// Each with the row that it comes from.
    history: Vec<(u64, Message)>,
    artifacts: Vec<Artifact>,
    /// Questions whose answers were messages.
    answered: Vec<u32>,
    sequence: u64,
    last: Cursor,
}

impl Fold {
    pub fn new(head: Head, created_at: Timestamp) -> Fold {
        let status =
            TaskStatus { state: TaskState::Submitted, message: None, timestamp: created_at };
        Fold {
            teller: Teller::new(head),
            shown: Shown::with_history(None),
            status,
            since: 0,
            history: vec![],
            artifacts: vec![],
            answered: vec![],
            sequence: 0,
            last: Cursor::default(),
        }
    }

    /// Keeps no more than is wanted while rows are taken. There can be a little more history in
    /// the task than that.
    pub fn only(self, shown: Shown) -> Fold {
        Fold { shown, ..self }
    }

    /// Takes the next row, and gives the events that it stands for.
    pub fn take(&mut self, row: &tasks::Event) -> Vec<StreamResponse> {
        self.sequence = row.sequence;
        self.said_by_users(row);
        let (told, before) = (self.teller.tell(row), self.status.timestamp);
        for event in &told {
            match event {
                StreamResponse::StatusUpdate(update) => self.status(row.sequence, &update.status),
                StreamResponse::ArtifactUpdate(update) => self.artifact(update),
                StreamResponse::Task(_) | StreamResponse::Message(_) => {}
            }
        }
        let events: u32 = told.iter().map(super::split::count).sum();
        if let Some(part) = events.checked_sub(1) {
            self.last = Cursor { sequence: row.sequence, part };
        }
        self.forget();
        if matches!(row.what, What::NotTaken { .. }) {
            // By this time tasks are listed, and that row does not move them.
            self.status.timestamp = before;
        }
        told
    }

    /// Messages, and answers that came without one, by another door.
    fn said_by_users(&mut self, row: &tasks::Event) {
        let message = match &row.what {
            What::Message(taken) => {
                self.answered.extend(taken.answers);
                self.users(taken)
            }
            What::Answered { number, closed } if closed.how == Closing::Answered => {
                if let Some(at) = self.answered.iter().position(|it| it == number) {
                    self.answered.swap_remove(at);
                    return;
                }
                let id = format!("{}-{}", self.teller.head().id, row.sequence);
                self.answer_of_another_door(id, closed)
            }
            _ => return,
        };
        self.history.push((row.sequence, message));
    }

    /// The status before goes into the history, to where it was said; a question that is asked
    /// again comes out of it.
    fn status(&mut self, sequence: u64, status: &TaskStatus) {
        let before = std::mem::replace(&mut self.status, status.clone());
        let now = self.status.message.as_ref().map(|message| message.message_id.as_str());
        if let Some(message) = before.message.filter(|it| now != Some(it.message_id.as_str())) {
            let at = self.history.partition_point(|(said, _)| *said < self.since);
            self.history.insert(at, (self.since, message));
        }
        if let Some(now) = now {
            self.history
                .retain(|(_, message)| message.message_id != now || message.role == Role::User);
        }
        self.since = sequence;
    }

    /// Lets go of messages that are older than those that are wanted.
    fn forget(&mut self) {
        if let Some(wanted) = self.shown.messages() {
            let most = wanted.saturating_add(HISTORY_SLACK);
            self.history.drain(..self.history.len().saturating_sub(most));
        }
    }

    fn artifact(&mut self, update: &ArtifactUpdate) {
        if !self.shown.artifacts {
            return;
        }
        let artifact = &update.artifact;
        let known = self.artifacts.iter_mut().find(|it| it.artifact_id == artifact.artifact_id);
        match known {
            Some(known) if update.append => {
                known.parts.extend(artifact.parts.iter().cloned());
                known.metadata.extend(artifact.metadata.clone());
            }
            Some(known) => known.clone_from(artifact),
            None => self.artifacts.push(artifact.clone()),
        }
    }

    /// A message of a user, with the ids that it was given here.
    fn users(&self, taken: &Taken) -> Message {
        let head = self.teller.head();
        let read = || {
            let value: Value = serde_json::from_slice(&taken.message.body).ok()?;
            read::params(&value, read::message).ok()
        };
        let message = read().unwrap_or_else(|| self.of_another_door(taken));
        Message { task_id: head.id.clone(), context_id: head.context_id.clone(), ..message }
    }

    /// What was said by another door, in what A2A can show of it.
    fn of_another_door(&self, taken: &Taken) -> Message {
        let said = &taken.message;
        let content = said.content.as_ref().and_then(|it| serde_json::from_slice(it).ok());
        let part = match (content, &said.text) {
            (Some(content), _) => Part::data(content),
            (None, Some(text)) => Part::text(text.as_str()),
            (None, None) => Part::text(said.action.as_str()),
        };
        self.of_user(said.id.clone(), part)
    }

    fn answer_of_another_door(&self, id: String, closed: &Closed) -> Message {
        let part = match serde_json::from_slice(&closed.content) {
            Ok(content) => Part::data(content),
            Err(_) => Part::text(closed.action.as_str()),
        };
        self.of_user(id, part)
    }

    fn of_user(&self, message_id: String, part: Part) -> Message {
        let head = self.teller.head();
        Message {
            message_id,
            context_id: head.context_id.clone(),
            task_id: head.id.clone(),
            role: Role::User,
            parts: vec![part],
            metadata: Struct::new(),
            extensions: vec![],
            reference_task_ids: vec![],
        }
    }

    /// The task as of the last row taken.
    pub fn task(&self) -> Task {
        let head = self.teller.head();
        Task {
            id: head.id.clone(),
            context_id: head.context_id.clone(),
            status: self.status.clone(),
            artifacts: self.artifacts.clone(),
            history: self.history.iter().map(|(_, message)| message.clone()).collect(),
            metadata: super::facts(SEQUENCE, self.sequence.into()),
        }
    }

    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Where the last event stands.
    pub fn last(&self) -> Cursor {
        self.last
    }

    /// What comes next is told by it.
    pub fn into_teller(self) -> Teller {
        self.teller
    }
}
