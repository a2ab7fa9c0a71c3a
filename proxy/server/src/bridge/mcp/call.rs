//! Calls of tools: what is checked before anything is made, the task that is made of one, and the
//! wait for its end of clients that cannot follow it. Every call is a task, so that all of them can
//! be looked at, answered and cancelled alike.

use super::{Mcp, error::Error, headers, meta::Meta, task, tool};
use crate::guard::Caller;
use crate::registry::exposure::{Exposed, TaskSupport};
use crate::tasks::{self, Idempotency, NewTask, Task, TaskId};
use bytes::Bytes;
use http::HeaderMap;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{fmt::Write, sync::Arc};

/// The name of this door.
const DOOR: &str = "mcp";
/// What stands before a task in the state that a client hands back.
const STATE: &str = "hf1.";

/// A call that was read and found good.
pub(super) struct Call {
    pub exposed: Arc<Exposed>,
    pub caller: Caller,
    pub meta: Meta,
    /// What a client was told to hand back.
    state: Option<String>,
    responses: Map<String, Value>,
    arguments: Option<Map<String, Value>>,
    digest: [u8; 32],
}

/// What is kept with a task, for this door.
#[derive(Serialize, Deserialize)]
struct Kept {
    tool: String,
    /// Of the arguments, so that nobody goes on with others.
    arguments: String,
}

/// What becomes of a call at once.
pub(super) enum Begun {
    /// It goes on.
    Task(Box<Task>),
    /// The tool does not take these arguments: a sentence for the model.
    Refused(String),
}

impl Call {
    /// Reads the parameters of a call; `sight` says which tools there are.
    pub fn read(
        mcp: &Mcp,
        sight: tool::Sight<'_>,
        caller: Caller,
        meta: Meta,
        params: &Map<String, Value>,
    ) -> Result<Call, Error> {
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Error::Params("`name` is missing".to_owned()))?;
        let unknown = || Error::Params(format!("Unknown tool: {}", shown(name)));
        let catalogue = mcp.exposure.catalogue();
        let exposed = tool::find(&catalogue, sight, name).ok_or_else(unknown)?.clone();
        let arguments = object(params, "arguments")?;
        let responses = object(params, "inputResponses")?.unwrap_or_default();
        let state = match params.get("requestState") {
            None | Some(Value::Null) => None,
            Some(Value::String(state)) => Some(state.clone()),
            Some(_) => return Err(Error::Params("`requestState` is no text".to_owned())),
        };
        let digest = digest_of(arguments.as_ref());
        Ok(Call { exposed, caller, meta, state, responses, arguments, digest })
    }

    /// Whether the headers say the same as the arguments.
    pub fn check_headers(&self, headers: &HeaderMap) -> Result<(), Error> {
        headers::same_arguments(headers, &self.exposed.input_schema, self.arguments.as_ref())
    }

    /// Whether the client is capable of what the tool needs.
    pub fn check_capabilities(&self) -> Result<(), Error> {
        let capabilities = &self.meta.capabilities;
        if let Some(lacking) = self.exposed.requires.iter().find(|name| !capabilities.has(name)) {
            return Err(Error::Capability(json!({ lacking: {} })));
        }
        let can_ask = capabilities.form || capabilities.url;
        let follows = capabilities.tasks;
        match self.exposed.tasks {
            TaskSupport::Required if !follows => Err(Error::tasks_required()),
            _ if self.exposed.asks && !follows && !can_ask => Err(Error::tasks_required()),
            _ => Ok(()),
        }
    }

    /// Whether the client is given a task, and does not wait.
    pub fn makes_a_task(&self) -> bool {
        self.meta.capabilities.tasks && self.exposed.tasks != TaskSupport::Forbidden
    }

    /// Whether the client is asked before it is given a task.
    pub fn begins_with_questions(&self) -> bool {
        let capabilities = &self.meta.capabilities;
        self.exposed.asks_first && (capabilities.form || capabilities.url)
    }

    /// Whether somebody else may count on it when the client goes away.
    pub fn outlives_its_client(&self) -> bool {
        self.meta.idempotency_key.is_some()
    }

    fn kept(&self) -> Kept {
        Kept { tool: self.exposed.tool.clone(), arguments: hex(&self.digest) }
    }
}

/// A parameter that is an object, where it is there.
pub(super) fn object(
    params: &Map<String, Value>,
    name: &str,
) -> Result<Option<Map<String, Value>>, Error> {
    match params.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields.clone())),
        Some(_) => Err(Error::Params(format!("`{name}` is not an object"))),
    }
}

/// How much of a name an error repeats.
const NAME_CHARS_SHOWN: usize = 200;

fn shown(name: &str) -> String {
    name.chars().take(NAME_CHARS_SHOWN).collect()
}

impl Mcp {
    /// Makes the task of a call, or finds the one that the client goes on with. Durable when it
    /// returns.
    pub(super) async fn begin(&self, call: &Call) -> Result<Begun, Error> {
        match &call.state {
            Some(state) => self.go_on(call, state).await,
            None => self.create(call).await,
        }
    }

    async fn create(&self, call: &Call) -> Result<Begun, Error> {
        let made = match call.exposed.call(call.arguments.as_ref()) {
            Ok(made) => made,
            Err(refused) => return Ok(Begun::Refused(refused.to_string())),
        };
        let mut headers = call.meta.trace.clone();
        if let Some(content_type) = made.content_type {
            headers.push(("content-type".to_owned(), content_type));
        }
        let scope = format!("{DOOR}/{}", call.exposed.tool);
        let key = call.meta.idempotency_key.clone();
        let idempotency = key.map(|key| Idempotency { scope, key, digest: call.digest });
        let meta = serde_json::to_vec(&call.kept()).expect("texts are JSON");
        let new = NewTask {
            service: call.exposed.service.name.clone(),
            handler: call.exposed.handler.clone(),
            key: made.key,
            body: made.body,
            headers,
            principal: call.caller.principal.as_str().to_owned(),
            context: None,
            door: DOOR.to_owned(),
            meta: Bytes::from(meta),
            idempotency,
            message: None,
            pushes: vec![],
        };
        match self.tasks.create(new).await {
            Ok(created) => Ok(Begun::Task(Box::new(created.task))),
            Err(tasks::Error::Exists) => Ok(Begun::Refused(
                "it was started for this key already, and runs once for each key".to_owned(),
            )),
            Err(tasks::Error::Key(reason)) => Ok(Begun::Refused(reason)),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the answers to what the call asked the last time.
    async fn go_on(&self, call: &Call, state: &str) -> Result<Begun, Error> {
        let wrong = || Error::Params("`requestState` is not one of this call".to_owned());
        let id: TaskId =
            state.strip_prefix(STATE).and_then(|id| id.parse().ok()).ok_or_else(wrong)?;
        let principal = call.caller.principal.as_str();
        let found = self.tasks.get(principal, id).await.map_err(|error| match error {
            tasks::Error::NotFound => wrong(),
            error => error.into(),
        })?;
        let kept: Kept = serde_json::from_slice(&found.meta).map_err(|_| wrong())?;
        let expected = call.kept();
        if kept.tool != expected.tool || kept.arguments != expected.arguments {
            return Err(wrong());
        }
        self.answer(principal, &found, &call.responses).await?;
        Ok(Begun::Task(Box::new(self.tasks.get(principal, id).await?)))
    }
}

/// What the client of a call is to hand back with the answers.
pub(super) fn state(task: &Task) -> String {
    format!("{STATE}{}", task.id)
}

/// The answer that asks for answers.
pub(super) fn asking(task: &Task, call: &Call) -> Value {
    json!({
        "resultType": "input_required",
        "inputRequests": task::questions(task, &call.meta.capabilities),
        "requestState": state(task),
    })
}

/// The same for arguments that differ in the order of their fields only.
fn digest_of(arguments: Option<&Map<String, Value>>) -> [u8; 32] {
    let mut text = String::new();
    write_sorted(&arguments.cloned().unwrap_or_default().into(), &mut text);
    digest(&SHA256, text.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// The depth is bounded by that of the JSON reader.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (name, value) in fields {
                let name = Value::from(name.as_str());
                write!(out, "{name}:").expect("a text can be written to");
                write_sorted(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => write!(out, "{other}").expect("a text can be written to"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl From<tasks::Error> for Error {
    fn from(error: tasks::Error) -> Error {
        match error {
            tasks::Error::NotFound => Error::task_not_found(),
            tasks::Error::Unavailable(unavailable) => Error::NotNow(unavailable.to_string()),
            tasks::Error::Fault(fault) => {
                tracing::error!(fault, "a task cannot be read or written");
                Error::Internal("the task cannot be read or written; the log says why".to_owned())
            }
            tasks::Error::OtherRequest => Error::Params(
                "this idempotency key was used with other arguments; use another key".to_owned(),
            ),
            other => Error::Params(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_makes_no_difference() {
        let digest = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            hex(&digest_of(value.as_object()))
        };
        assert_eq!(
            digest(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#),
            digest(r#"{"b":{"d":null,"c":[1,2]},"a":1}"#)
        );
        assert_eq!(digest("{}"), digest("null"));
        for other in [r#"{"a":2}"#, r#"{"a":[1]}"#, r#"{"a":"1"}"#, r#"{"a":1,"b":null}"#, "{}"] {
            assert_ne!(digest(r#"{"a":1}"#), digest(other), "{other}");
        }
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
    }
}
