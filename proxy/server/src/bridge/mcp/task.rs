//! Tasks in the words of MCP: statuses, questions, results. One function makes a task's whole form,
//! for whoever asks and for whoever listens. Pure.

use super::{config::Config, meta::Capabilities};
use crate::registry::exposure::Exposed;
use crate::tasks::{Ask, AskKind, State, Task};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use holdfast_machine::{
    model::{FailedBy, Failure, Outcome},
    time::Timestamp,
};
use serde_json::{Map, Value, json};

/// What stands before the number of a question in its key.
const KEY: &str = "ask-";
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

/// What is said of a task when it is made; also where that was long ago.
pub(super) fn handle(
    task: &Task,
    exposed: Option<&Exposed>,
    config: &Config,
) -> Map<String, Value> {
    let mut handle = head(task, end(task, exposed, true).map_or("working", |end| end.status()));
    handle.insert("pollIntervalMs".into(), json!(config.poll_interval_ms));
    handle
}

/// The whole task as a client with these capabilities sees it. `exposed` is its handler, where that
/// is still there.
pub(super) fn view(
    task: &Task,
    exposed: Option<&Exposed>,
    capabilities: &Capabilities,
    config: &Config,
) -> Map<String, Value> {
    let questions = questions(task, capabilities);
    let end = end(task, exposed, true);
    let status = match &end {
        Some(end) => end.status(),
        None if questions.is_empty() => "working",
        None => "input_required",
    };
    let mut view = head(task, status);
    let said = match &end {
        Some(End::Failed(message)) => Some(message.clone()),
        Some(_) => task.progress.as_ref().map(|progress| progress.message.clone()),
        None => status_message(task),
    };
    if let Some(message) = said.filter(|it| !it.is_empty()) {
        view.insert("statusMessage".into(), json!(message));
    }
    if end.is_none() {
        let interval = match task.asks.is_empty() {
            true => config.poll_interval_ms,
            false => config.poll_interval_asking_ms,
        };
        view.insert("pollIntervalMs".into(), json!(interval.max(1)));
    }
    match end {
        Some(End::Result(result)) => drop(view.insert("result".into(), result)),
        Some(End::Failed(message)) => {
            view.insert("error".into(), json!({ "code": -32603, "message": message }));
        }
        None if !questions.is_empty() => {
            view.insert("inputRequests".into(), questions.into());
        }
        Some(End::Cancelled) | None => {}
    }
    view
}

fn head(task: &Task, status: &str) -> Map<String, Value> {
    let ttl = task.expires_at.filter(|_| task.ended.is_some());
    let ttl = ttl.map(|at| at.0.saturating_sub(task.created_at.0).max(1));
    let mut head = Map::new();
    head.insert("taskId".into(), json!(task.id.to_string()));
    head.insert("status".into(), json!(status));
    head.insert("createdAt".into(), json!(rfc3339(task.created_at)));
    head.insert("lastUpdatedAt".into(), json!(rfc3339(task.updated_at)));
    head.insert("ttlMs".into(), json!(ttl));
    head
}

fn status_message(task: &Task) -> Option<String> {
    if task.cancel_wanted {
        return Some("cancelling".to_owned());
    }
    if let Some(ask) = task.asks.first() {
        let question: String = ask.message.chars().take(QUESTION_CHARS_MAX).collect();
        return Some(format!("waiting for an answer: {question}"));
    }
    let told = task.progress.as_ref().map(|progress| progress.message.clone());
    told.or_else(|| task.waits.clone())
}

// --- questions

/// The open questions that a client with these capabilities can put to a human, by their keys.
pub(super) fn questions(task: &Task, capabilities: &Capabilities) -> Map<String, Value> {
    if task.cancel_wanted || task.ended.is_some() {
        return Map::new();
    }
    let asks = task.asks.iter();
    asks.filter_map(|ask| Some((key(ask.number), question(ask, capabilities)?))).collect()
}

pub(super) fn key(number: u32) -> String {
    format!("{KEY}{number}")
}

/// The number of the question with that key.
pub(super) fn number(key: &str) -> Option<u32> {
    let number = key.strip_prefix(KEY)?.parse().ok()?;
    (self::key(number) == key).then_some(number)
}

fn question(ask: &Ask, capabilities: &Capabilities) -> Option<Value> {
    let params = match (&ask.kind, &ask.url) {
        (AskKind::Auth, Some(url)) if capabilities.url => {
            json!({ "mode": "url", "message": ask.message, "url": url })
        }
        (AskKind::Auth, Some(_)) => return None,
        _ if capabilities.form => json!({
            "mode": "form", "message": ask.message, "requestedSchema": ask.form.to_json(),
        }),
        _ => return None,
    };
    Some(json!({ "method": "elicitation/create", "params": params }))
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
    if output.is_empty() {
        return result(vec![], None, false, is_modern);
    }
    let stated = exposed.and_then(|it| it.handler.output.content_type.as_deref());
    let ty = stated.unwrap_or("application/json").split(';').next().unwrap_or_default().trim();
    let is_json = ty == "application/json" || ty.ends_with("+json");
    match serde_json::from_slice::<Value>(output).ok().filter(|_| is_json) {
        Some(value) => of_json(value, is_modern),
        None => result(vec![block(output, ty)], None, false, is_modern),
    }
}

fn of_json(value: Value, is_modern: bool) -> Value {
    let shown = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // Older protocols know only objects.
    let fits = is_modern || value.is_object();
    result(vec![text(&shown)], fits.then_some(value), false, is_modern)
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
