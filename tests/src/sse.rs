//! Server-sent events, read as they come, over a connection of their own.

use crate::http::NoAnswer;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Method, Request, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::{net::TcpStream, task::JoinHandle};

/// Longest time that one event may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A response that goes on.
pub struct Stream {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    buffer: Vec<u8>,
    connection: JoinHandle<()>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: Option<String>,
    pub event: Option<String>,
    pub data: Value,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

fn lost(error: impl std::fmt::Display) -> NoAnswer {
    NoAnswer(error.to_string())
}

impl Stream {
    /// Sends a request, and waits for the head of its response.
    pub async fn open(
        method: Method,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Stream, NoAnswer> {
        let uri: hyper::Uri = url.parse().map_err(lost)?;
        let authority = uri.authority().expect("tests write whole URLs").clone();
        let stream = TcpStream::connect(authority.as_str()).await.map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
        let connection = tokio::spawn(async move {
            // How it ended shows in the body.
            let _ = connection.await;
        });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request =
            Request::builder().method(method).uri(path).header("host", authority.as_str());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).map_err(lost)?;
        let answer = tokio::time::timeout(TIMEOUT, sender.send_request(request)).await;
        let (head, body) = answer.map_err(lost)?.map_err(lost)?.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Ok(Stream { status, headers, body, buffer: vec![], connection })
    }

    /// The next event; `None` where the stream ended in good order.
    pub async fn next(&mut self) -> Result<Option<Event>, NoAnswer> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let text = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
                self.buffer.drain(..end + 2);
                if let Some(event) = parse(&text) {
                    return Ok(Some(event));
                }
                continue;
            }
            let frame = tokio::time::timeout(TIMEOUT, self.body.frame()).await;
            match frame.map_err(lost)? {
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err(lost("the stream ended in the middle of an event")),
                Some(frame) => {
                    if let Ok(data) = frame.map_err(lost)?.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    /// Everything up to the end.
    pub async fn rest(&mut self) -> Result<Vec<Event>, NoAnswer> {
        let mut events = vec![];
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }

    /// What is no stream, whole.
    pub async fn whole(mut self) -> Result<Value, NoAnswer> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame.map_err(lost)?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
        serde_json::from_slice(&self.buffer).map_err(lost)
    }
}

/// `None`: a comment.
fn parse(text: &str) -> Option<Event> {
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let lines: Vec<&str> = lines.collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    let data = field("data")?;
    let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
    Some(Event { id: field("id"), event: field("event"), data })
}
