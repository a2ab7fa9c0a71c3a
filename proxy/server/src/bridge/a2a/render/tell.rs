//! Rows of a feed, one after the other, as the events that those who follow are told.

use super::{ASK, Head, PROGRESS, SEQUENCE, facts, output, to_model};
use crate::bridge::a2a::json::{Fields, read};
use crate::bridge::a2a::model::*;
use crate::tasks::{self, Ask, AskKind, Ended, Progress, What};
use bytes::Bytes;
use holdfast_machine::model::Outcome;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The id of the artifact that a result becomes.
const RESULT: &str = "result";

/// Tells the rows of one task. Remembers only which questions are open.
#[derive(Debug, Clone)]
pub struct Teller {
    head: Head,
    asks: BTreeMap<u32, Ask>,
}

impl Teller {
    /// From the first row on.
    pub fn new(head: Head) -> Teller {
        Teller { head, asks: BTreeMap::new() }
    }

    /// From a moment on at which these were open.
    pub fn from(head: Head, open: impl IntoIterator<Item = Ask>) -> Teller {
        let asks = open.into_iter().map(|ask| (ask.number, ask)).collect();
        Teller { head, asks }
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The events that one row stands for, in order.
    pub fn tell(&mut self, row: &tasks::Event) -> Vec<StreamResponse> {
        match &row.what {
            What::State => vec![self.status(row, None)],
            What::Progress(progress) => vec![self.progress(row, progress)],
            What::Artifact(artifact) => {
                let told = self.artifact(&artifact.artifact);
                told.map(|it| self.update(row, it, artifact.append, artifact.last))
                    .into_iter()
                    .collect()
            }
            What::Asked(ask) => {
                self.asks.insert(ask.number, (**ask).clone());
                // Answered already by a message that waited, it interrupts nobody.
                let shown = row.state.is_interrupted();
                shown.then(|| self.question(row, None)).into_iter().collect()
            }
            What::Answered { number, .. } => {
                self.asks.remove(number);
                vec![self.question(row, None)]
            }
            What::NotTaken { message, why, .. } => {
                let told = format!("The message {message} is no answer to it: {why}");
                vec![self.question(row, Some(&told))]
            }
            What::Message(_) => vec![],
            What::Ended(ended) => self.ended(row, ended),
        }
    }

    fn status(&self, row: &tasks::Event, message: Option<Message>) -> StreamResponse {
        let state = to_model(row.state);
        StreamResponse::StatusUpdate(Box::new(StatusUpdate {
            task_id: self.head.id.clone(),
            context_id: self.head.context_id.clone(),
            status: TaskStatus { state, message, timestamp: row.at },
            metadata: sequence(row),
        }))
    }

    /// The question that is to be answered next, if one is open: answers go to the oldest.
    fn question(&self, row: &tasks::Event, before: Option<&str>) -> StreamResponse {
        let question = self.asks.values().next().map(|ask| {
            let mut parts: Vec<Part> = before.map(Part::text).into_iter().collect();
            parts.extend(question(ask));
            Message { metadata: facts(ASK, about(ask)), ..self.message(ask.id.to_string(), parts) }
        });
        self.status(row, question.filter(|_| row.state.is_interrupted()))
    }

    /// While somebody is asked, the question stays what the status says.
    fn progress(&self, row: &tasks::Event, progress: &Progress) -> StreamResponse {
        let told = numbers(progress);
        if row.state.is_interrupted() {
            let mut event = self.question(row, None);
            if let StreamResponse::StatusUpdate(update) = &mut event {
                update.metadata.insert(PROGRESS.into(), told);
            }
            return event;
        }
        let id = format!("{}-{}", self.head.id, row.sequence);
        let message = self.message(id, vec![Part::text(progress.message.as_str())]);
        let has_numbers = progress.progress.is_some() || progress.total.is_some();
        let metadata = if has_numbers { facts(PROGRESS, told) } else { Struct::new() };
        self.status(row, Some(Message { metadata, ..message }))
    }

    fn message(&self, message_id: String, parts: Vec<Part>) -> Message {
        Message {
            message_id,
            context_id: self.head.context_id.clone(),
            task_id: self.head.id.clone(),
            role: Role::Agent,
            parts,
            metadata: Struct::new(),
            extensions: vec![],
            reference_task_ids: vec![],
        }
    }

    /// What a handler gave, if it can be read: the row is not written otherwise.
    fn artifact(&self, artifact: &Bytes) -> Option<Artifact> {
        let value: Value = serde_json::from_slice(artifact).ok()?;
        let artifact = read::artifact(&Fields::top(&value).ok()?).ok()?;
        (!artifact.parts.is_empty()).then_some(artifact)
    }

    fn update(
        &self,
        row: &tasks::Event,
        artifact: Artifact,
        append: bool,
        last_chunk: bool,
    ) -> StreamResponse {
        StreamResponse::ArtifactUpdate(Box::new(ArtifactUpdate {
            task_id: self.head.id.clone(),
            context_id: self.head.context_id.clone(),
            artifact,
            append,
            last_chunk,
            metadata: sequence(row),
        }))
    }

    fn ended(&self, row: &tasks::Event, ended: &Ended) -> Vec<StreamResponse> {
        match &ended.outcome {
            Outcome::Success(output) => {
                if let Some(parts) = output::last_status(output, &self.head) {
                    let id = format!("{}-{}", self.head.id, row.sequence);
                    return vec![self.status(row, Some(self.message(id, parts)))];
                }
                let parts = output::parts(output, &self.head);
                let result = (!parts.is_empty()).then(|| result(parts));
                let result = result.map(|result| self.update(row, result, false, true));
                result.into_iter().chain([self.status(row, None)]).collect()
            }
            Outcome::Failure(failure) => {
                let id = format!("{}-{}", self.head.id, row.sequence);
                let message = self.message(id, vec![Part::text(failure.message.as_str())]);
                let mut code = Map::new();
                code.insert("code".into(), failure.code.into());
                for (name, value) in &failure.metadata {
                    code.insert(name.clone(), value.as_str().into());
                }
                let metadata = facts("urn:holdfast:failure", Value::Object(code));
                vec![self.status(row, Some(Message { metadata, ..message }))]
            }
        }
    }
}

fn result(parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: RESULT.into(),
        name: RESULT.into(),
        description: String::new(),
        parts,
        metadata: Struct::new(),
        extensions: vec![],
    }
}

fn sequence(row: &tasks::Event) -> Struct {
    facts(SEQUENCE, row.sequence.into())
}

/// The question in words, where to go, and what the answer has to look like.
fn question(ask: &Ask) -> Vec<Part> {
    let mut parts = vec![Part::text(ask.message.as_str())];
    parts.extend(ask.url.as_ref().map(|url| Part::of(Content::Url(url.clone()))));
    let form = ask.form.to_json();
    let has_fields =
        form.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty());
    if has_fields {
        parts.push(Part {
            media_type: "application/schema+json".into(),
            ..Part::of(Content::Data(form))
        });
    }
    parts
}

fn about(ask: &Ask) -> Value {
    let kind = match ask.kind {
        AskKind::Input => "input",
        AskKind::Auth => "auth",
    };
    let mut about = json!({ "id": ask.id.to_string(), "number": ask.number, "kind": kind });
    if let Some(to) = &ask.to {
        about["to"] = to.as_str().into();
    }
    if let Some(at) = ask.expires_at {
        about["expiresAt"] = at.rfc3339().into();
    }
    about
}

fn numbers(progress: &Progress) -> Value {
    let mut numbers = json!({ "message": progress.message });
    if let Some(done) = progress.progress {
        numbers["progress"] = done.into();
    }
    if let Some(total) = progress.total {
        numbers["total"] = total.into();
    }
    numbers
}
