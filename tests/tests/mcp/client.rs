//! A client of MCP that shows what is on the wire: both generations of the protocol, one request at
//! a time, and streams line by line.

use hyper::Method;
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};
use tests::{eventually, http};

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
const TASKS: &str = "io.modelcontextprotocol/tasks";

static IDS: AtomicU64 = AtomicU64::new(1);

#[derive(Clone)]
pub struct Client {
    url: String,
    headers: Vec<(String, String)>,
    capabilities: Value,
    meta: Value,
    /// Of an older protocol.
    version: Option<&'static str>,
}

impl Client {
    /// A modern one that follows tasks and asks its user.
    pub fn new(url: &str) -> Client {
        Client {
            url: url.to_owned(),
            headers: vec![],
            capabilities: json!({ "elicitation": { "form": {} }, "extensions": { TASKS: {} } }),
            meta: json!({}),
            version: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Client {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn token(self, token: &str) -> Client {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn capabilities(mut self, capabilities: Value) -> Client {
        self.capabilities = capabilities;
        self
    }

    pub fn meta(mut self, meta: Value) -> Client {
        self.meta = meta;
        self
    }

    /// The same client after the handshake of an older protocol.
    pub fn initialize(mut self, version: &'static str, capabilities: Value) -> Client {
        self.version = Some(version);
        let hello = json!({ "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" } });
        let answer = self.raw("initialize", hello);
        assert_eq!(answer.json()["result"]["protocolVersion"], version, "{}", answer.text());
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let client =
            self.header("mcp-session-id", &session).header("mcp-protocol-version", version);
        client.notify("notifications/initialized", json!({}));
        client
    }

    fn message(&self, method: &str, mut params: Value) -> Value {
        if self.version.is_none() {
            let mut meta = self.meta.clone();
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            params["_meta"] = meta;
        }
        let id = IDS.fetch_add(1, Relaxed);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    fn headers(&self, message: &Value) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        if self.version.is_none() {
            let (method, params) = (&message["method"], &message["params"]);
            let name = params.get("name").or(params.get("taskId")).and_then(Value::as_str);
            headers.push(("mcp-protocol-version".to_owned(), MODERN.to_owned()));
            headers.push(("mcp-method".to_owned(), method.as_str().unwrap_or_default().to_owned()));
            headers.extend(name.map(|name| ("mcp-name".to_owned(), name.to_owned())));
        }
        headers.extend(self.headers.clone());
        headers
    }

    fn post(&self, message: &Value) -> http::Answer {
        let headers = self.headers(message);
        let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        http::request(Method::POST, &self.url, &headers, &message.to_string()).unwrap()
    }

    /// The whole answer to one request.
    pub fn raw(&self, method: &str, params: Value) -> http::Answer {
        self.post(&self.message(method, params))
    }

    /// The result of one request.
    #[track_caller]
    pub fn request(&self, method: &str, params: Value) -> Value {
        let answer = self.raw(method, params);
        let json = answer.json();
        let result = json.get("result").unwrap_or_else(|| panic!("{method}: {json}"));
        assert!(result.get("resultType").is_some(), "{method}: {result}");
        result.clone()
    }

    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    #[track_caller]
    pub fn get(&self, task: &str) -> Value {
        self.request("tasks/get", json!({ "taskId": task }))
    }

    #[track_caller]
    pub fn update(&self, task: &str, responses: Value) -> Value {
        self.request("tasks/update", json!({ "taskId": task, "inputResponses": responses }))
    }

    /// Asks until the task has that status.
    #[track_caller]
    pub fn see(&self, task: &str, status: &str) -> Value {
        eventually(&format!("the task is {status}"), || {
            Some(self.get(task)).filter(|seen| seen["status"] == status)
        })
    }

    // --- older protocols

    /// The result of one request; of a stream, its last message.
    #[track_caller]
    pub fn legacy(&self, method: &str, params: Value) -> Value {
        let answer = self.raw(method, params);
        let text = answer.text();
        let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let json: Value = serde_json::from_str(last.unwrap_or(&text)).unwrap();
        json.get("result").unwrap_or_else(|| panic!("{method}: {json}")).clone()
    }

    pub fn notify(&self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(self.post(&message).status, 202);
    }

    /// Answers a question of the server.
    pub fn answer(&self, id: &Value, result: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let answer = self.post(&message);
        assert_eq!(answer.status, 202, "{}", answer.text());
    }

    /// Ends the session.
    pub fn end(&self) -> http::Answer {
        let headers: Vec<_> = self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        http::request(Method::DELETE, &self.url, &headers, "").unwrap()
    }

    // --- streams

    /// Sends a request and hangs up as soon as it is being worked on.
    pub fn send_and_leave(&self, method: &str, params: Value) {
        let message = self.message(method, params);
        let stream = self.connect(&message);
        std::thread::sleep(Duration::from_millis(300));
        drop(stream);
    }

    /// The answer to one request, message by message.
    pub fn stream(&self, method: &str, params: Value) -> Stream {
        let message = self.message(method, params);
        let mut reader = BufReader::new(self.connect(&message));
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        Stream { reader, id: message["id"].clone() }
    }

    fn connect(&self, message: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(self.place().0).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(self.written(message).as_bytes()).unwrap();
        stream
    }

    /// Authority and path.
    fn place(&self) -> (&str, &str) {
        self.url.trim_start_matches("http://").split_once('/').unwrap()
    }

    /// A request as it goes over the wire.
    fn written(&self, message: &Value) -> String {
        let ((authority, path), body) = (self.place(), message.to_string());
        let mut text = format!("POST /{path} HTTP/1.1\r\nhost: {authority}\r\n");
        for (name, value) in self.headers(message) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text + &format!("content-length: {}\r\n\r\n{body}", body.len())
    }

    /// One that polls over a connection of its own.
    pub fn poller(&self) -> Poller {
        let stream = TcpStream::connect(self.place().0).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Poller { client: self.clone(), reader: BufReader::new(stream) }
    }
}

/// A client that keeps its connection, and does next to nothing itself.
pub struct Poller {
    client: Client,
    reader: BufReader<TcpStream>,
}

impl Poller {
    /// Polls a task; whether that waits for a human.
    pub fn asks_a_human(&mut self, task: &str) -> bool {
        let message = self.client.message("tasks/get", json!({ "taskId": task }));
        self.reader.get_mut().write_all(self.client.written(&message).as_bytes()).unwrap();
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "the connection is kept");
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).unwrap();
        std::str::from_utf8(&body).unwrap().contains(r#""status":"input_required""#)
    }
}

/// A stream of events.
pub struct Stream {
    reader: BufReader<TcpStream>,
    /// Of the request.
    pub id: Value,
}

impl Stream {
    /// The next message; `None` at the end.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 || line == "0\r\n" {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}
