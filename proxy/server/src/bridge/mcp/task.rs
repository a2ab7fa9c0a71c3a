//! Tasks in the words of MCP: statuses, questions, results. One function makes a task's whole form,
//! for whoever asks and for whoever listens. Pure.

use super::{config::Config, meta::Capabilities, tool};
use crate::registry::exposure::Exposed;
use crate::schema;
use crate::tasks::{Ask, AskKind, State, Task};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use holdfast_machine::{
    model::{FailedBy, Failure, Outcome},
    time::Timestamp,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What stands before the number of a question in its key.
const KEY: &str = "ask-";
const WORKING: &str = "working";
/// How much of a question a status line repeats.
const QUESTION_CHARS_MAX: usize = 200;

/// How a task ended.
pub(super) enum End {
    /// The result of a tool, also where the handler failed.
    Result(Value),
    /// Not the handler, but whatever had to run it.
    Failed(String),
    Cancelled,
}

impl End {
    fn status(&self) -> &'static str {
        match self {
            End::Result(_) => "completed",
            End::Failed(_) => "failed",
            End::Cancelled => "cancelled",
        }
    }
}

/// A task as clients see it: what is said of it is left out where it is nothing.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View<'t> {
    task_id: String,
    pub status: &'static str,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<Cow<'t, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Questions::is_empty")]
    input_requests: Questions<'t>,
}

/// What is said of a task when it is made; also where that was long ago.
pub(super) fn handle<'t>(task: &'t Task, exposed: Option<&Exposed>, config: &Config) -> View<'t> {
    let status = end(task, exposed, true).map_or(WORKING, |end| end.status());
    View { poll_interval_ms: Some(config.poll_interval_ms), ..head(task, status) }
}

/// The whole task as a client with these capabilities sees it. `exposed` is the handler of one that
/// has ended, where that is still there.
pub(super) fn view<'t>(
    task: &'t Task,
    exposed: Option<&Exposed>,
    capabilities: &Capabilities,
    config: &Config,
) -> View<'t> {
    match end(task, exposed, true) {
        Some(end) => ended(task, end),
        None => going_on(task, capabilities, config),
    }
}

fn going_on<'t>(task: &'t Task, capabilities: &Capabilities, config: &Config) -> View<'t> {
    let input_requests = questions(task, capabilities);
    let status = if input_requests.is_empty() { WORKING } else { "input_required" };
    let interval = match task.asks.is_empty() {
        true => config.poll_interval_ms,
        false => config.poll_interval_asking_ms,
    };
    View {
        status_message: status_message(task).filter(|it| !it.is_empty()),
        poll_interval_ms: Some(interval.max(1)),
        input_requests,
        ..head(task, status)
    }
}

fn ended(task: &Task, end: End) -> View<'_> {
    let head = head(task, end.status());
    let told = task.progress.as_ref().map(|progress| progress.message.as_str());
    let status_message = told.filter(|it| !it.is_empty()).map(Cow::from);
    match end {
        End::Result(result) => View { status_message, result: Some(result), ..head },
        End::Failed(message) => View {
            error: Some(json!({ "code": -32603, "message": message })),
            status_message: Some(message.into()),
            ..head
        },
        End::Cancelled => View { status_message, ..head },
    }
}

fn head<'t>(task: &Task, status: &'static str) -> View<'t> {
    let ttl = task.expires_at.filter(|_| task.ended.is_some());
    View {
        task_id: task.id.to_string(),
        status,
        created_at: rfc3339(task.created_at),
        last_updated_at: rfc3339(task.updated_at),
        ttl_ms: ttl.map(|at| at.0.saturating_sub(task.created_at.0).max(1)),
        status_message: None,
        poll_interval_ms: None,
        result: None,
        error: None,
        input_requests: Questions(vec![]),
    }
}

fn status_message(task: &Task) -> Option<Cow<'_, str>> {
    if task.cancel_wanted {
        return Some("cancelling".into());
    }
    if let Some(ask) = task.asks.first() {
        let question: String = ask.message.chars().take(QUESTION_CHARS_MAX).collect();
        return Some(format!("waiting for an answer: {question}").into());
    }
    let told = task.progress.as_ref().map(|progress| progress.message.as_str());
    told.or(task.waits.as_deref()).map(Cow::from)
}

// --- questions

/// Open questions, as an object by their keys.
#[derive(Debug, PartialEq)]
pub(super) struct Questions<'t>(Vec<Question<'t>>);

/// What a client is to put to a human.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Question<'t> {
    #[serde(skip)]
    pub number: u32,
    method: &'static str,
    params: Params<'t>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "mode", rename_all = "camelCase")]
enum Params<'t> {
    Url {
        message: &'t str,
        url: &'t str,
    },
    #[serde(rename_all = "camelCase")]
    Form {
        message: &'t str,
        requested_schema: Value,
    },
}

impl<'t> Questions<'t> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Question<'t>> {
        self.0.iter()
    }
}

impl Serialize for Questions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|question| (key(question.number), question)))
    }
}

/// The open questions that a client with these capabilities can put to a human.
pub(super) fn questions<'t>(task: &'t Task, capabilities: &Capabilities) -> Questions<'t> {
    if task.cancel_wanted || task.ended.is_some() {
        return Questions(vec![]);
    }
    Questions(task.asks.iter().filter_map(|ask| question(ask, capabilities)).collect())
}

pub(super) fn key(number: u32) -> String {
    format!("{KEY}{number}")
}

/// The number of the question with that key.
pub(super) fn number(key: &str) -> Option<u32> {
    let number = key.strip_prefix(KEY)?.parse().ok()?;
    (self::key(number) == key).then_some(number)
}

fn question<'t>(ask: &'t Ask, capabilities: &Capabilities) -> Option<Question<'t>> {
    let message = &ask.message;
    let params = match (&ask.kind, &ask.url) {
        (AskKind::Auth, Some(url)) if capabilities.url => Params::Url { message, url },
        (AskKind::Auth, Some(_)) => return None,
        _ if capabilities.form => Params::Form { message, requested_schema: ask.form.to_json() },
        _ => return None,
    };
    Some(Question { number: ask.number, method: "elicitation/create", params })
}

// --- the end

/// How a task ended, where it has.
pub(super) fn end(task: &Task, exposed: Option<&Exposed>, is_modern: bool) -> Option<End> {
    let ended = task.ended.as_ref()?;
    Some(match &ended.outcome {
        Outcome::Success(output) => End::Result(success(output, exposed, is_modern)),
        Outcome::Failure(_) if task.state == State::Cancelled => End::Cancelled,
        Outcome::Failure(failure) => match ended.by {
            Some(FailedBy::Retries | FailedBy::Service | FailedBy::Endless) => {
                End::Failed(message(failure))
            }
            _ => End::Result(failed(&message(failure), is_modern)),
        },
    })
}

fn message(failure: &Failure) -> String {
    match failure.message.as_str() {
        "" => format!("failed with code {}", failure.code),
        message => message.to_owned(),
    }
}

/// The result of a tool that failed, with words that the model can act on.
pub(super) fn failed(message: &str, is_modern: bool) -> Value {
    let content = vec![text(message)];
    result(content, None, true, is_modern)
}

fn success(output: &Bytes, exposed: Option<&Exposed>, is_modern: bool) -> Value {
    let stated = exposed.and_then(|it| it.handler.output.content_type.as_deref());
    let ty = stated.unwrap_or("application/json").split(';').next().unwrap_or_default().trim();
    let is_json = ty == "application/json" || ty.ends_with("+json");
    let value = serde_json::from_slice::<Value>(output).ok().filter(|_| is_json);
    let content = match &value {
        _ if output.is_empty() => vec![],
        Some(Value::String(said)) => vec![text(said)],
        Some(other) => vec![text(&other.to_string())],
        None => vec![block(output, ty)],
    };
    match exposed.and_then(|exposed| tool::output_schema(exposed, is_modern)) {
        Some(schema) => of_schema(schema, value, content, output.is_empty(), is_modern),
        // Older protocols know only objects.
        None => result(content, value.filter(|it| is_modern || it.is_object()), false, is_modern),
    }
}

/// The result of a tool that says what its results are. One that is something else is told as an
/// error, with all that the handler gave: its work is done, and must not be asked for again in vain.
fn of_schema(
    schema: &Value,
    value: Option<Value>,
    content: Vec<Value>,
    is_empty: bool,
    is_modern: bool,
) -> Value {
    let value = value.or(is_empty.then_some(Value::Null));
    let checked = match &value {
        Some(value) => schema::check(schema, value).map_err(|wrong| wrong.to_string()),
        None => Err("the value is not JSON".to_owned()),
    };
    match checked {
        Ok(()) => result(content, value, false, is_modern),
        Err(wrong) => {
            let why = format!(
                "the tool has done its work, but what it gave is not what its schema says: {wrong}; \
                 what it gave follows"
            );
            let content = [text(&why)].into_iter().chain(content).collect();
            result(content, None, true, is_modern)
        }
    }
}

/// What is no JSON.
fn block(output: &Bytes, ty: &str) -> Value {
    if let Ok(shown) = std::str::from_utf8(output)
        && !ty.starts_with("image/")
        && !ty.starts_with("audio/")
    {
        return text(shown);
    }
    let data = STANDARD.encode(output);
    match ty.split('/').next() {
        Some(kind @ ("image" | "audio")) => json!({ "type": kind, "data": data, "mimeType": ty }),
        _ => json!({
            "type": "resource",
            "resource": { "uri": "holdfast:output", "mimeType": ty, "blob": data },
        }),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn result(
    content: Vec<Value>,
    structured: Option<Value>,
    is_error: bool,
    is_modern: bool,
) -> Value {
    let mut result = Map::new();
    if is_modern {
        result.insert("resultType".into(), json!("complete"));
    }
    result.insert("content".into(), content.into());
    if let Some(structured) = structured {
        result.insert("structuredContent".into(), structured);
    }
    result.insert("isError".into(), json!(is_error));
    result.into()
}

/// The end of time where `at` is after it.
fn rfc3339(at: Timestamp) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
    format!("{at:.3}")
}

#[cfg(test)]
mod tests;
