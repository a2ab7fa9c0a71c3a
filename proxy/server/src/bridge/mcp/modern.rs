//! The modern protocol (2026-07-28): no handshake, no sessions, everything stands in the request.

use super::{
    Mcp, body,
    call::{self, Begun, Call},
    envelope,
    error::{Error, TASKS},
    failure, headers, message, meta,
    meta::{Capabilities, MODERN, Meta, SUPPORTED},
    remembered, sse, task, tool,
    wait::{Abandon, Teller, Wait, Waited},
};
use crate::guard::Caller;
use crate::http::Body;
use crate::tasks::{Task, TaskId};
use http::{Response, StatusCode, request::Parts};
use serde::Serialize;
use serde_json::{Map, Value, json, value::to_raw_value};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// How long the first question of a tool that begins with one is waited for.
const FIRST_QUESTION: Duration = Duration::from_secs(20);
/// Lists that are always empty here, and the name of what they would hold.
const EMPTY_LISTS: [(&str, &str); 3] = [
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// A request that passed the checks that all have in common.
pub(super) struct Asked {
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
    pub meta: Meta,
    pub caller: Caller,
}

/// What a request comes to.
enum Answer {
    Result(Map<String, Value>),
    Response(Response<Body>),
}

impl Mcp {
    pub(super) async fn modern(
        self: &Arc<Self>,
        head: &Parts,
        caller: Caller,
        request: envelope::Request,
    ) -> Response<Body> {
        let id = request.id.clone();
        let asked = match checked(head, caller, request) {
            Ok(asked) => asked,
            Err(error) => return failure(&error, Some(&id)),
        };
        match self.carry_out(head, asked).await {
            Ok(Answer::Result(result)) => message(StatusCode::OK, &response(&id, result)),
            Ok(Answer::Response(response)) => response,
            Err(error) => failure(&error, Some(&id)),
        }
    }

    async fn carry_out(self: &Arc<Self>, head: &Parts, asked: Asked) -> Result<Answer, Error> {
        let result = match asked.method.as_str() {
            "server/discover" => self.discover(),
            "tools/list" => self.tools(head, &asked)?,
            "tools/call" => return self.tool_call(head, asked).await,
            "tasks/get" => return self.task_get(&asked).await.map(Answer::Response),
            "tasks/update" => self.task_update(&asked).await?,
            "tasks/cancel" => self.task_cancel(&asked).await?,
            "subscriptions/listen" => {
                return self.listen(asked).await.map(Answer::Response);
            }
            "resources/read" => return Err(nothing("resource", asked.params.get("uri"))),
            "prompts/get" => return Err(nothing("prompt", asked.params.get("name"))),
            other => match EMPTY_LISTS.iter().find(|(method, _)| *method == other) {
                Some((_, what)) => cached(json!({ *what: [] }), 0, "public"),
                None => return Err(Error::Method(other.chars().take(200).collect())),
            },
        };
        Ok(Answer::Result(result))
    }

    fn discover(&self) -> Map<String, Value> {
        let discovered = json!({
            "supportedVersions": SUPPORTED,
            "capabilities": {
                "tools": { "listChanged": true },
                "prompts": {},
                "resources": {},
                "extensions": { TASKS: {} },
            },
            "instructions": self.config.instructions,
        });
        cached(discovered, 60_000, "public")
    }

    fn tools(&self, head: &Parts, asked: &Asked) -> Result<Map<String, Value>, Error> {
        let sight = self.sight(head, &asked.caller, true);
        let catalogue = self.exposure.catalogue();
        let cursor = asked.params.get("cursor");
        let (tools, next) = tool::page(&catalogue, sight, cursor, self.config.tools_page_max)?;
        let mut list = json!({ "tools": tools });
        if let Some(next) = next {
            list["nextCursor"] = json!(next);
        }
        Ok(cached(list, self.config.tools_fresh_ms, "private"))
    }

    // --- tasks

    /// The task that a request names, after the client was found capable of tasks.
    fn named_task(&self, asked: &Asked) -> Result<TaskId, Error> {
        let id = asked.params.get("taskId").and_then(Value::as_str);
        let id = id.ok_or_else(|| Error::Params("`taskId` is missing".to_owned()))?;
        if !asked.meta.capabilities.tasks {
            return Err(Error::tasks_required());
        }
        id.parse().map_err(|_| Error::task_not_found())
    }

    /// What most requests ask for.
    async fn task_get(&self, asked: &Asked) -> Result<Response<Body>, Error> {
        let task = self.named_task(asked)?;
        let principal = asked.caller.principal.as_str();
        let Capabilities { form, url, .. } = asked.meta.capabilities;
        let poll = remembered::Asked { task, form, url };
        let known = self.remembered.find(&poll).filter(|known| known.principal == principal);
        let answer = match known {
            Some(known) if self.tasks.is_still(task, &known.trace)? => known,
            _ => self.look(principal, poll, &asked.meta.capabilities).await?,
        };
        self.metrics.shown(answer.status);
        let result = &*answer.result;
        Ok(body(StatusCode::OK, &Reply { jsonrpc: "2.0", id: &asked.id, result }))
    }

    /// The answer to a poll as things are now. It is remembered while more can become of the task.
    async fn look(
        &self,
        principal: &str,
        poll: remembered::Asked,
        capabilities: &Capabilities,
    ) -> Result<Arc<remembered::Answer>, Error> {
        let (task, trace) = self.tasks.get_traced(principal, poll.task).await?;
        let view = self.view(&task, capabilities);
        let status = view.status;
        let result = Shown { result_type: "complete", view, meta: Signed::default() };
        let result = to_raw_value(&result).expect("what is shown is JSON");
        let principal = principal.to_owned();
        let answer = Arc::new(remembered::Answer { principal, trace, status, result });
        // What a result looks like is also for the schema of its handler to say, which may change.
        if task.ended.is_none() {
            self.remembered.put(poll, answer.clone());
        }
        Ok(answer)
    }

    pub(super) fn view<'t>(&self, task: &'t Task, capabilities: &Capabilities) -> task::View<'t> {
        if task.ended.is_none() {
            return task::view(task, None, capabilities, &self.config);
        }
        let catalogue = self.exposure.catalogue();
        let exposed = catalogue.of_handler(&task.target.service, &task.target.handler);
        task::view(task, exposed.map(|it| &**it), capabilities, &self.config)
    }

    async fn task_update(&self, asked: &Asked) -> Result<Map<String, Value>, Error> {
        let id = self.named_task(asked)?;
        let missing = || Error::Params("`inputResponses` is missing".to_owned());
        let responses = call::object(&asked.params, "inputResponses")?.ok_or_else(missing)?;
        let principal = asked.caller.principal.as_str();
        let task = self.tasks.get(principal, id).await?;
        self.answer(principal, &task, &responses).await?;
        Ok(complete(Map::new()))
    }

    async fn task_cancel(&self, asked: &Asked) -> Result<Map<String, Value>, Error> {
        let id = self.named_task(asked)?;
        self.tasks.cancel(asked.caller.principal.as_str(), id).await?;
        Ok(complete(Map::new()))
    }

    // --- calls

    async fn tool_call(self: &Arc<Self>, head: &Parts, asked: Asked) -> Result<Answer, Error> {
        let sight = self.sight(head, &asked.caller, true);
        let Asked { id, params, meta, caller, .. } = asked;
        let call = Call::read(self, sight, caller, meta, &params)?;
        call.check_headers(&head.headers)?;
        call.check_capabilities()?;
        let goes_on = params.contains_key("requestState");
        // Before anything begins: who is told to come again later must not have begun it.
        let streams = !call.makes_a_task() && call.meta.progress_token.is_some();
        let place = streams.then(|| self.stream_place()).transpose()?;
        let begun = match self.begin(&call).await? {
            Begun::Task(task) => *task,
            Begun::Refused(why) => return Ok(Answer::Result(as_map(task::failed(&why, true)))),
        };
        if call.makes_a_task() && !call.begins_with_questions() {
            // As it is stored: whoever asks for it later is told the same times.
            let stored = self.tasks.get(call.caller.principal.as_str(), begun.id).await?;
            return Ok(Answer::Result(self.handle(&stored)));
        }
        if call.makes_a_task() {
            return self.ask_first(&call, begun, goes_on).await.map(Answer::Result);
        }
        match (call.meta.progress_token.clone(), place) {
            (Some(token), Some(place)) => {
                Ok(Answer::Response(self.streamed(call, begun, id, token, place)))
            }
            _ => {
                let principal = call.caller.principal.as_str();
                let gone = Abandon::new(self, principal, begun.id, !call.outlives_its_client());
                let result = self.finished(&call, begun, None).await;
                gone.disarm();
                result.map(Answer::Result)
            }
        }
    }

    fn handle(&self, task: &Task) -> Map<String, Value> {
        let catalogue = self.exposure.catalogue();
        let exposed = catalogue.of_handler(&task.target.service, &task.target.handler);
        let handle = task::handle(task, exposed.map(|it| &**it), &self.config);
        let mut handle = as_map(json!(handle));
        handle.insert("resultType".into(), json!("task"));
        with_server(handle)
    }

    /// A tool that begins with a question asks it in the answer to the call; with the answers the
    /// caller gets the task.
    async fn ask_first(
        &self,
        call: &Call,
        begun: Task,
        goes_on: bool,
    ) -> Result<Map<String, Value>, Error> {
        let limit = if goes_on { Duration::ZERO } else { FIRST_QUESTION };
        let mut wait = self.waiting(call, None);
        wait.deadline = Instant::now() + limit;
        Ok(match self.wait(begun, &mut wait).await? {
            Waited::Asks(task) => as_map(call::asking(&task, call)),
            Waited::Ended(task) if !goes_on => self.ended(&task)?,
            Waited::Ended(task) | Waited::Late(task) => self.handle(&task),
            Waited::Gone => Map::new(),
        })
    }

    fn waiting<'c>(&self, call: &'c Call, teller: Option<Teller>) -> Wait<'c> {
        Wait {
            principal: call.caller.principal.as_str(),
            capabilities: &call.meta.capabilities,
            deadline: Instant::now() + Duration::from_millis(self.config.call_wait_ms),
            asked: HashSet::new(),
            teller,
        }
    }

    /// The answer to who waits for the end.
    async fn finished(
        &self,
        call: &Call,
        begun: Task,
        teller: Option<Teller>,
    ) -> Result<Map<String, Value>, Error> {
        let mut wait = self.waiting(call, teller);
        Ok(match self.wait(begun, &mut wait).await? {
            Waited::Asks(task) => as_map(call::asking(&task, call)),
            Waited::Ended(task) => self.ended(&task)?,
            Waited::Late(task) => as_map(task::failed(&late(&task), true)),
            Waited::Gone => Map::new(),
        })
    }

    fn ended(&self, task: &Task) -> Result<Map<String, Value>, Error> {
        self.result(task, true).map(as_map)
    }

    /// What a call comes to whose task has ended.
    pub(super) fn result(&self, task: &Task, is_modern: bool) -> Result<Value, Error> {
        let catalogue = self.exposure.catalogue();
        let exposed = catalogue.of_handler(&task.target.service, &task.target.handler);
        match task::end(task, exposed.map(|it| &**it), is_modern) {
            Some(task::End::Result(result)) => Ok(result),
            Some(task::End::Failed(why)) => Err(Error::Internal(why)),
            Some(task::End::Cancelled) => Ok(task::failed("the call was cancelled", is_modern)),
            None => Err(Error::Internal("the call has not ended".to_owned())),
        }
    }

    /// As `finished`, for who wants to hear how it goes.
    fn streamed(
        self: &Arc<Self>,
        call: Call,
        begun: Task,
        id: Value,
        token: Value,
        place: OwnedSemaphorePermit,
    ) -> Response<Body> {
        let mcp = self.clone();
        sse::stream(move |events| async move {
            let armed = !call.outlives_its_client();
            let gone = Abandon::new(&mcp, call.caller.principal.as_str(), begun.id, armed);
            let teller = Teller::new(events.clone(), Some(token));
            let answer = match mcp.finished(&call, begun, Some(teller)).await {
                Ok(result) => response(&id, result),
                Err(error) => error.message(Some(&id)),
            };
            // Nobody reads it: then the task is not wanted, and `gone` says so.
            if events.send(&answer).await.is_ok() {
                gone.disarm();
            }
            drop(place);
        })
    }
}

/// There are none of these; which one was asked for is told in the data of the error.
fn nothing(what: &str, name: Option<&Value>) -> Error {
    match name.and_then(Value::as_str) {
        Some(name) => Error::Absent { what: what.to_owned(), name: name.to_owned() },
        None => Error::Params(format!("it is not said which {what}")),
    }
}

/// What a client is told that cannot wait any longer.
pub(super) fn late(task: &Task) -> String {
    let invocation = task.invocation;
    format!(
        "the call takes longer than this server lets a client wait; it goes on as invocation \
         {invocation}, whose result is at GET /restate/invocation/{invocation}/attach"
    )
}

/// The checks that all modern requests have in common, in their order.
fn checked(head: &Parts, caller: Caller, request: envelope::Request) -> Result<Asked, Error> {
    let envelope::Request { id, method, params } = request;
    let stated = meta::version(&params).ok_or_else(|| {
        Error::Meta("`_meta` lacks `io.modelcontextprotocol/protocolVersion`, a text".to_owned())
    })?;
    headers::same_version(&head.headers, stated)?;
    if stated != MODERN {
        return Err(Error::Version { requested: stated.to_owned(), supported: &SUPPORTED });
    }
    headers::same_call(&head.headers, &method, &params)?;
    let meta = Meta::read(&params, &head.headers)?;
    Ok(Asked { id, method, params, meta, caller })
}

/// An answer.
#[derive(Serialize)]
struct Reply<'a, R> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: R,
}

/// The result that is a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'t> {
    result_type: &'static str,
    #[serde(flatten)]
    view: task::View<'t>,
    #[serde(rename = "_meta")]
    meta: Signed,
}

/// Who answers.
#[derive(Default, Serialize)]
struct Signed {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: Server,
}

#[derive(Serialize)]
struct Server {
    name: &'static str,
    title: &'static str,
    version: &'static str,
}

impl Default for Server {
    fn default() -> Self {
        Server { name: "holdfast", title: "Holdfast", version: env!("CARGO_PKG_VERSION") }
    }
}

pub(super) fn response(id: &Value, result: Map<String, Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": with_server(result) })
}

fn complete(mut result: Map<String, Value>) -> Map<String, Value> {
    result.insert("resultType".into(), json!("complete"));
    result
}

/// A result that clients may keep.
fn cached(result: Value, fresh_ms: u64, scope: &str) -> Map<String, Value> {
    let mut result = complete(as_map(result));
    result.insert("ttlMs".into(), json!(fresh_ms));
    result.insert("cacheScope".into(), json!(scope));
    result
}

fn with_server(mut result: Map<String, Value>) -> Map<String, Value> {
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/serverInfo"] = server_info();
    result
}

pub(super) fn server_info() -> Value {
    json!(Server::default())
}

pub(super) fn as_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
