//! Clients of agents: the operations over JSON-RPC and over HTTP+JSON, and the agents of
//! `tests/conformance/src/bin/a2a_agents.rs` behind a sidecar.

use crate::{
    eventually,
    http::{self, Answer},
    process::{self, Process},
    sidecar::Sidecar,
    sse::{Event, Stream},
};
use holdfast_wire::percent::escaped;
use hyper::Method;
use serde_json::{Map, Value, json};
use std::process::Command;
use tempfile::TempDir;

/// Which way a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    JsonRpc,
    HttpJson,
}

pub const BINDINGS: [Binding; 2] = [Binding::JsonRpc, Binding::HttpJson];
const JSON: (&str, &str) = ("content-type", "application/json");
const VERSION: (&str, &str) = ("a2a-version", "1.0");

/// A sidecar with the agents behind it.
pub struct Agents {
    pub sidecar: Sidecar,
    _service: Process,
    _directory: TempDir,
}

/// What an operation came to, whatever the binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The code of JSON-RPC, or the status of HTTP.
    pub code: i64,
    /// Of the `ErrorInfo`.
    pub reason: Option<String>,
    pub message: String,
    pub violations: Vec<String>,
}

impl Agents {
    /// With further flags of the sidecar.
    pub fn start(flags: &[&str]) -> Agents {
        let directory = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::start(&directory.path().join("data"), flags);
        let port = process::free_port();
        let mut command = Command::new(process::beside("a2a_agents"));
        command.env("PORT", port.to_string());
        let service = Process::start(command);
        eventually("the agents listen", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
        sidecar.register(&format!("http://127.0.0.1:{port}"));
        Agents { sidecar, _service: service, _directory: directory }
    }

    pub fn client(&self, agent: &str, binding: Binding) -> Client {
        Client { url: format!("{}/a2a/{agent}", self.sidecar.ingress), binding, headers: vec![] }
    }
}

/// A client of one agent.
#[derive(Debug, Clone)]
pub struct Client {
    pub url: String,
    pub binding: Binding,
    /// Sent with each request.
    pub headers: Vec<(String, String)>,
}

/// One request, as HTTP.
#[derive(Debug, Clone)]
pub struct Wire {
    pub method: Method,
    pub url: String,
    pub body: String,
}

impl Client {
    pub fn with(mut self, name: &str, value: &str) -> Client {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// An operation by its name of JSON-RPC and its parameters, as this binding sends it.
    pub fn wire(&self, operation: &str, params: &Value) -> Wire {
        match self.binding {
            Binding::JsonRpc => {
                let call =
                    json!({ "jsonrpc": "2.0", "id": 7, "method": operation, "params": params });
                Wire { method: Method::POST, url: self.url.clone(), body: call.to_string() }
            }
            Binding::HttpJson => self.rest(operation, params),
        }
    }

    fn rest(&self, operation: &str, params: &Value) -> Wire {
        let id = params["id"].as_str().unwrap_or_default();
        let task = params["taskId"].as_str().unwrap_or_default();
        let configs = format!("/tasks/{task}/pushNotificationConfigs");
        let (method, path, body) = match operation {
            "SendMessage" => (Method::POST, "/message:send".to_owned(), Some(params)),
            "SendStreamingMessage" => (Method::POST, "/message:stream".to_owned(), Some(params)),
            "GetTask" => (Method::GET, format!("/tasks/{id}{}", query(params, &["id"])), None),
            "ListTasks" => (Method::GET, format!("/tasks{}", query(params, &[])), None),
            "CancelTask" => (Method::POST, format!("/tasks/{id}:cancel"), None),
            "SubscribeToTask" => (Method::POST, format!("/tasks/{id}:subscribe"), None),
            "CreateTaskPushNotificationConfig" => (Method::POST, configs, Some(params)),
            "ListTaskPushNotificationConfigs" => (Method::GET, configs, None),
            "GetTaskPushNotificationConfig" => (Method::GET, format!("{configs}/{id}"), None),
            "DeleteTaskPushNotificationConfig" => (Method::DELETE, format!("{configs}/{id}"), None),
            "GetExtendedAgentCard" => (Method::GET, "/extendedAgentCard".to_owned(), None),
            other => panic!("no path for {other}"),
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        Wire { method, url: format!("{}{path}", self.url), body }
    }

    fn sent_headers(&self) -> Vec<(&str, &str)> {
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let said = |name: &str| self.headers.iter().any(|(own, _)| own == name);
        let usual = [JSON, VERSION].into_iter().filter(|(name, _)| !said(name));
        own.chain(usual).collect()
    }

    /// The whole response of an operation.
    pub fn answer(&self, operation: &str, params: &Value) -> Answer {
        let wire = self.wire(operation, params);
        http::request(wire.method, &wire.url, &self.sent_headers(), &wire.body).unwrap()
    }

    /// What an operation gives, or how it is refused.
    pub fn call(&self, operation: &str, params: Value) -> Result<Value, Refused> {
        self.read(&self.answer(operation, &params))
    }

    /// Takes an answer of this binding apart.
    pub fn read(&self, answer: &Answer) -> Result<Value, Refused> {
        let body = answer.json();
        match self.binding {
            Binding::JsonRpc => {
                assert_eq!(body["jsonrpc"], "2.0", "{body}");
                match body.get("error") {
                    None => Ok(body["result"].clone()),
                    Some(error) => Err(refused(error, &error["data"])),
                }
            }
            Binding::HttpJson if answer.status == 200 => Ok(body),
            Binding::HttpJson => {
                let error = &body["error"];
                assert_eq!(error["code"], answer.status, "{body}");
                Err(refused(error, &error["details"]))
            }
        }
    }

    /// The task that a message comes to.
    pub fn send(&self, params: Value) -> Result<Value, Refused> {
        Ok(self.call("SendMessage", params)?["task"].clone())
    }

    pub fn get(&self, id: &str) -> Value {
        self.call("GetTask", json!({ "id": id })).unwrap()
    }

    /// The task, once it is in that state.
    #[track_caller]
    pub fn wait_for(&self, id: &str, state: &str) -> Value {
        eventually(&format!("the task is {state}"), || {
            let task = self.get(id);
            (task["status"]["state"] == state).then_some(task)
        })
    }

    /// Opens a stream; a refusal where there is none.
    pub async fn stream(
        &self,
        operation: &str,
        params: &Value,
        after: Option<&str>,
    ) -> Result<Stream, Refused> {
        let wire = self.wire(operation, params);
        let mut headers = self.sent_headers();
        headers.extend(after.map(|after| ("last-event-id", after)));
        let opened = Stream::open(wire.method, &wire.url, &headers, &wire.body).await;
        let stream = opened.unwrap();
        let is_stream =
            stream.headers.get("content-type").is_some_and(|ty| ty == "text/event-stream");
        if is_stream {
            return Ok(stream);
        }
        let (status, headers) = (stream.status, stream.headers.clone());
        let body = stream.whole().await.unwrap().to_string().into();
        Err(self.read(&Answer { status, headers, body }).unwrap_err())
    }

    /// What is in an event of this binding.
    pub fn payload(&self, event: &Event) -> Value {
        match self.binding {
            Binding::JsonRpc => event.data["result"].clone(),
            Binding::HttpJson => event.data.clone(),
        }
    }
}

fn refused(error: &Value, details: &Value) -> Refused {
    let details = details.as_array().cloned().unwrap_or_default();
    let of = |ty: &str| {
        details.iter().find(|it| it["@type"].as_str().is_some_and(|it| it.ends_with(ty)))
    };
    let violations = of("google.rpc.BadRequest").map(|it| it["fieldViolations"].clone());
    let violations = violations.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    Refused {
        code: error["code"].as_i64().unwrap(),
        reason: of("google.rpc.ErrorInfo").and_then(|it| Some(it["reason"].as_str()?.to_owned())),
        message: error["message"].as_str().unwrap_or_default().to_owned(),
        violations: violations
            .iter()
            .map(|it| it["field"].as_str().unwrap_or_default().to_owned())
            .collect(),
    }
}

fn query(params: &Value, without: &[&str]) -> String {
    let none = Map::new();
    let params = params.as_object().unwrap_or(&none).iter();
    let params = params.filter(|(name, _)| !without.contains(&name.as_str()));
    let pairs: Vec<String> = params
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}={}", escaped(text)),
            other => format!("{name}={other}"),
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// A message with a data part.
pub fn data(id: &str, data: Value) -> Value {
    let part = json!({ "data": data, "mediaType": "application/json" });
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [part] } })
}

/// A message with a text part.
pub fn text(id: &str, text: &str) -> Value {
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

/// The same for a task that is there.
pub fn to(mut params: Value, task: &Value) -> Value {
    params["message"]["taskId"] = task["id"].clone();
    params
}

/// The same, not waited for.
pub fn at_once(mut params: Value) -> Value {
    params["configuration"] = json!({ "returnImmediately": true });
    params
}

/// Waits for a future.
pub fn block<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(future)
}

/// An event in short: what it is, and what it says.
pub fn told(payload: &Value) -> String {
    if let Some(task) = payload.get("task") {
        return format!("task {}", state(&task["status"]));
    }
    if let Some(message) = payload.get("message") {
        return format!("message {}", parts(&message["parts"]));
    }
    if let Some(update) = payload.get("statusUpdate") {
        let said = &update["status"]["message"]["parts"];
        let said = if said.is_null() { String::new() } else { format!(" {}", parts(said)) };
        return format!("status {}{said}", state(&update["status"]));
    }
    let update = &payload["artifactUpdate"];
    let flag = |name: &str| if update[name] == true { format!(" {name}") } else { String::new() };
    let artifact = &update["artifact"];
    let id = artifact["artifactId"].as_str().unwrap_or("?");
    format!("artifact {id}{}{} {}", flag("append"), flag("lastChunk"), parts(&artifact["parts"]))
}

fn state(status: &Value) -> String {
    let state = status["state"].as_str().unwrap_or("?");
    state.trim_start_matches("TASK_STATE_").to_lowercase()
}

/// Texts as they are, data as JSON; schemas are left out.
fn parts(parts: &Value) -> String {
    let shown = parts.as_array().into_iter().flatten();
    let shown = shown.filter(|part| part["mediaType"] != "application/schema+json");
    let shown: Vec<String> = shown
        .map(|part| match (part.get("text"), part.get("data"), part.get("url")) {
            (Some(text), ..) => text.as_str().unwrap_or("?").to_owned(),
            (_, Some(data), _) => data.to_string(),
            (.., Some(url)) => url.to_string(),
            _ => part.to_string(),
        })
        .collect();
    shown.join(" + ")
}
