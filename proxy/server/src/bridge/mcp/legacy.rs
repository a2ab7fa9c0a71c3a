//! Older protocols (2025-11-25, 2025-06-18, 2025-03-26) on the same path: a handshake, calls that
//! the client waits for, and questions that are put to the client on the stream of its call. What
//! such a question is about stands in its id, so that the answer finds its way whatever happened
//! in between.

use super::{
    Mcp,
    call::{Begun, Call},
    envelope::{self, Answer, Message},
    error::Error,
    failure, headers, message,
    meta::{Capabilities, LEGACY, Meta, SUPPORTED},
    modern, not_allowed,
    session::Session,
    sse::{self, Events, Gone},
    taken, task, tool,
    wait::{Teller, Wait, Waited},
};
use crate::guard::Caller;
use crate::http::{Body, read_body};
use crate::registry::exposure::TaskSupport;
use crate::tasks::{Task, TaskId};
use http::{HeaderValue, Response, StatusCode, request::Parts};
use serde_json::{Map, Value, json};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// Messages in one batch.
const BATCH_MAX: usize = 50;
/// Bytes of one answer in a batch.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The client of a request, as far as it is known.
struct Client {
    version: &'static str,
    /// The id of its session.
    session: Option<String>,
    capabilities: Capabilities,
}

/// Calls that clients wait for, so that they can take them back.
#[derive(Default)]
pub(super) struct Calls(Mutex<HashMap<CallId, TaskId>>);

/// Session and id of a request.
type CallId = (String, String);

/// A call that a client can take back while this is kept.
struct Listed<'c> {
    calls: &'c Calls,
    id: Option<CallId>,
}

impl Calls {
    fn list(&self, client: &Client, request: &Value, task: TaskId) -> Listed<'_> {
        let id = client.session.clone().map(|session| (session, request.to_string()));
        if let Some(id) = &id {
            self.lock().insert(id.clone(), task);
        }
        Listed { calls: self, id }
    }

    fn find(&self, session: &str, request: &Value) -> Option<TaskId> {
        self.lock().get(&(session.to_owned(), request.to_string())).copied()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<CallId, TaskId>> {
        self.0.lock().expect("nobody panics while holding it")
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.calls.lock().remove(id);
        }
    }
}

impl Mcp {
    pub(super) async fn legacy(
        self: &Arc<Self>,
        head: &Parts,
        caller: Caller,
        request: envelope::Request,
    ) -> Response<Body> {
        if request.method == "initialize" {
            return initialize(&request, &self.config.instructions);
        }
        let client = match self.client(head) {
            Ok(client) => client,
            Err(error) => return failure(&error, Some(&request.id)),
        };
        let id = request.id.clone();
        let result = match request.method.as_str() {
            "ping" => Ok(json!({})),
            "tools/list" => self.legacy_tools(head, &caller, &request),
            "tools/call" => match self.legacy_call(head, caller, client, request).await {
                Ok(response) => return response,
                Err(error) => Err(error),
            },
            other => Err(Error::Method(other.chars().take(200).collect())),
        };
        answer(&id, result)
    }

    /// What is known of the client of a request.
    fn client(&self, head: &Parts) -> Result<Client, Error> {
        if let Some(id) = headers::single(&head.headers, &headers::SESSION)? {
            let session = Session::parse(id).filter(|_| !self.ended_sessions.has(id));
            let Session { version, form, url } = session.ok_or(Error::Session)?;
            let capabilities = Capabilities::asking(form, url);
            return Ok(Client { version, session: Some(id.to_owned()), capabilities });
        }
        let stated = headers::single(&head.headers, &headers::VERSION)?;
        let stated = stated.unwrap_or(LEGACY[2]);
        let version = LEGACY.into_iter().find(|it| *it == stated);
        let unknown = || Error::Version {
            requested: stated.chars().take(40).collect(),
            supported: &SUPPORTED,
        };
        let capabilities = Capabilities::default();
        Ok(Client { version: version.ok_or_else(unknown)?, session: None, capabilities })
    }

    fn legacy_tools(
        &self,
        head: &Parts,
        caller: &Caller,
        request: &envelope::Request,
    ) -> Result<Value, Error> {
        let sight = self.sight(head, caller, false);
        let cursor = request.params.get("cursor");
        let catalogue = self.exposure.catalogue();
        let (tools, next) = tool::page(&catalogue, sight, cursor, self.config.tools_page_max)?;
        let mut list = json!({ "tools": tools });
        if let Some(next) = next {
            list["nextCursor"] = json!(next);
        }
        Ok(list)
    }

    async fn legacy_call(
        self: &Arc<Self>,
        head: &Parts,
        caller: Caller,
        client: Client,
        request: envelope::Request,
    ) -> Result<Response<Body>, Error> {
        let sight = self.sight(head, &caller, false);
        let meta = Meta::common(&request.params, &head.headers)?;
        let meta = Meta { capabilities: client.capabilities.clone(), ..meta };
        let mut params = request.params;
        // These mean something else, or nothing, in older protocols.
        for name in ["requestState", "inputResponses"] {
            params.remove(name);
        }
        let call = Call::read(self, sight, caller, meta, &params)?;
        let id = request.id;
        let can_ask = client.capabilities.form || client.capabilities.url;
        let needs = match call.exposed.tasks {
            TaskSupport::Required => Some("the extension for tasks of MCP 2026-07-28"),
            _ if call.exposed.asks && !can_ask => Some(
                "a client that can ask its user (elicitation), or follow tasks of MCP 2026-07-28",
            ),
            _ => None,
        };
        if let Some(needs) = needs {
            let why = format!("this tool needs {needs}");
            return Ok(answer(&id, Ok(task::failed(&why, false))));
        }
        // Before anything begins: who is told to come again later must not have begun it.
        let streams = can_ask || call.meta.progress_token.is_some();
        let place = streams.then(|| self.stream_place()).transpose()?;
        let begun = match self.begin(&call).await? {
            Begun::Task(task) => *task,
            Begun::Refused(why) => return Ok(answer(&id, Ok(task::failed(&why, false)))),
        };
        if let Some(place) = place {
            return Ok(self.legacy_stream(call, client, begun, id, place));
        }
        let _listed = self.calls.list(&client, &id, begun.id);
        let result = self.legacy_finished(&call, &client, begun, None).await;
        Ok(answer(&id, result))
    }

    fn legacy_stream(
        self: &Arc<Self>,
        call: Call,
        client: Client,
        begun: Task,
        id: Value,
        place: OwnedSemaphorePermit,
    ) -> Response<Body> {
        let mcp = self.clone();
        sse::stream(move |events| async move {
            let listed = mcp.calls.list(&client, &id, begun.id);
            let result = mcp.legacy_finished(&call, &client, begun, Some(&events)).await;
            drop(listed);
            let last = match result {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(error) => error.message(Some(&id)),
            };
            // Whoever went away can call again with the same idempotency key.
            let _ = events.send(&last).await;
            drop(place);
        })
    }

    /// Waits for the end, and puts questions to the client meanwhile.
    async fn legacy_finished(
        &self,
        call: &Call,
        client: &Client,
        begun: Task,
        events: Option<&Events>,
    ) -> Result<Value, Error> {
        let token = call.meta.progress_token.clone();
        let mut wait = Wait {
            principal: call.caller.principal.as_str(),
            capabilities: &client.capabilities,
            deadline: Instant::now() + Duration::from_millis(self.config.call_wait_ms),
            asked: HashSet::new(),
            teller: events.map(|events| Teller::new(events.clone(), token)),
        };
        let mut task = begun;
        loop {
            match (self.wait(task, &mut wait).await?, events) {
                (Waited::Ended(ended), _) => return self.result(&ended, false),
                (Waited::Asks(asking), Some(events)) => {
                    let asked = put(&asking, client, &mut wait.asked, events).await;
                    if asked == Err(Gone) {
                        return Ok(Value::Null);
                    }
                    task = *asking;
                }
                (Waited::Late(task) | Waited::Asks(task), _) => {
                    return Ok(task::failed(&modern::late(&task), false));
                }
                (Waited::Gone, _) => return Ok(Value::Null),
            }
        }
    }

    /// The answer to a question of ours.
    pub(super) async fn answered(
        &self,
        head: &Parts,
        caller: &Caller,
        id: &Value,
        answer: Answer,
    ) -> Response<Body> {
        if let Err(error) = self.client(head) {
            return failure(&error, None);
        }
        let Some((id, number)) = question(id) else {
            let nobody = Error::Request("nobody has asked that".to_owned());
            return failure(&nobody, None);
        };
        let response = match answer {
            Answer::Result(result) => result,
            // The client could not ask its user.
            Answer::Error => json!({ "action": "cancel" }),
        };
        let mut responses = Map::new();
        responses.insert(task::key(number), response);
        let principal = caller.principal.as_str();
        let stored = match self.tasks.get(principal, id).await {
            Ok(task) => self.answer(principal, &task, &responses).await,
            Err(error) => Err(error.into()),
        };
        match stored {
            Ok(()) => taken(),
            Err(error) => {
                let mut response = failure(&error, None);
                *response.status_mut() = StatusCode::BAD_REQUEST;
                response
            }
        }
    }

    pub(super) async fn notified(
        &self,
        head: &Parts,
        caller: &Caller,
        method: &str,
        params: &Map<String, Value>,
    ) -> Response<Body> {
        let session = headers::single(&head.headers, &headers::SESSION);
        let (Ok(Some(session)), "notifications/cancelled") = (session, method) else {
            return taken();
        };
        let request = params.get("requestId").unwrap_or(&Value::Null);
        if let Some(task) = self.calls.find(session, request) {
            let cancelled = self.tasks.cancel(caller.principal.as_str(), task).await;
            if let Err(error) = cancelled {
                return failure(&error.into(), None);
            }
        }
        taken()
    }

    pub(super) fn end_session(&self, head: &Parts) -> Response<Body> {
        let Ok(Some(id)) = headers::single(&head.headers, &headers::SESSION) else {
            return not_allowed();
        };
        if Session::parse(id).is_none() || self.ended_sessions.has(id) {
            return failure(&Error::Session, None);
        }
        self.ended_sessions.add(id);
        let mut response = Response::new(crate::http::empty());
        *response.status_mut() = StatusCode::OK;
        response
    }

    /// Several messages in one, which the oldest protocol allows.
    pub(super) async fn batch(
        self: &Arc<Self>,
        head: &Parts,
        caller: Caller,
        messages: Vec<Value>,
    ) -> Response<Body> {
        let version = self.client(head).map(|client| client.version);
        if version != Ok(LEGACY[2]) || messages.is_empty() || messages.len() > BATCH_MAX {
            let error = "a body is one message here, not a batch";
            return failure(&Error::Request(error.to_owned()), None);
        }
        let mut answers = vec![];
        for message in messages {
            let response = match Message::read(message) {
                Err(malformed) => failure(&malformed.error, malformed.id.as_ref()),
                Ok(Message::Request(request)) if request.method == "initialize" => {
                    let error = Error::Request("`initialize` is no part of a batch".to_owned());
                    failure(&error, Some(&request.id))
                }
                Ok(Message::Request(request)) => {
                    Box::pin(self.legacy(head, caller.clone(), request)).await
                }
                Ok(Message::Notification { method, params }) => {
                    self.notified(head, &caller, &method, &params).await
                }
                Ok(Message::Response { id, answer }) => {
                    self.answered(head, &caller, &id, answer).await
                }
            };
            answers.extend(json_of(response).await);
        }
        if answers.is_empty() { taken() } else { message(StatusCode::OK, &answers.into()) }
    }
}

/// The message in a response; of a stream, its last one.
async fn json_of(response: Response<Body>) -> Option<Value> {
    let body = read_body(response.into_body(), ANSWER_BYTES_MAX).await.ok()?;
    let text = std::str::from_utf8(&body).ok()?;
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    serde_json::from_str(last.unwrap_or(text)).ok()
}

fn answer(id: &Value, result: Result<Value, Error>) -> Response<Body> {
    match result {
        Ok(result) => {
            message(StatusCode::OK, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        }
        // Errors are in the body alone.
        Err(error) => {
            let mut response = failure(&error, Some(id));
            *response.status_mut() = StatusCode::OK;
            response
        }
    }
}

fn initialize(request: &envelope::Request, instructions: &str) -> Response<Body> {
    let wished = request.params.get("protocolVersion").and_then(Value::as_str);
    let Some(wished) = wished else {
        let error = Error::Params("`protocolVersion` is missing".to_owned());
        return answer(&request.id, Err(error));
    };
    let version = LEGACY.into_iter().find(|it| *it == wished).unwrap_or(LEGACY[0]);
    let none = Map::new();
    let stated = request.params.get("capabilities").and_then(Value::as_object).unwrap_or(&none);
    let session = Session::new(version, &Capabilities::of(stated));
    let mut response = answer(
        &request.id,
        Ok(json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": modern::server_info(),
            "instructions": instructions,
        })),
    );
    let id = HeaderValue::try_from(session.id()).expect("a session id is visible ASCII");
    response.headers_mut().insert(headers::SESSION, id);
    response
}

// --- questions

/// Puts the questions to the client that it was not asked yet.
async fn put(
    task: &Task,
    client: &Client,
    asked: &mut HashSet<u32>,
    events: &Events,
) -> Result<(), Gone> {
    for question in task::questions(task, &client.capabilities).iter() {
        let number = question.number;
        if !asked.insert(number) {
            continue;
        }
        let mut question = json!(question);
        // Before 2025-11-25 there was only one mode, which had no name.
        if client.version < LEGACY[0]
            && let Some(params) = question["params"].as_object_mut()
        {
            params.remove("mode");
        }
        question["jsonrpc"] = json!("2.0");
        question["id"] = json!(format!("{}/{number}", task.id));
        events.send(&question).await?;
    }
    Ok(())
}

/// What a question was about, by its id.
fn question(id: &Value) -> Option<(TaskId, u32)> {
    let (task, number) = id.as_str()?.split_once('/')?;
    Some((task.parse().ok()?, number.parse().ok()?))
}
