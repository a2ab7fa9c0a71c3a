//! The admin listener of a running sidecar, seen from a terminal.

use super::Failure;
use crate::http::{
    client::{self, Client, Protocol},
    full,
};
use http_body_util::BodyExt;
use hyper::{Method, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Answers larger than this are refused, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One sidecar. Every call is a round trip that blocks.
pub struct Admin {
    base: String,
    client: Client,
    runtime: tokio::runtime::Runtime,
}

/// A status that is not a success, in the words of the server.
#[derive(Debug, thiserror::Error)]
#[error("{message} ({status})")]
pub struct Refused {
    pub status: StatusCode,
    pub message: String,
}

impl Admin {
    pub fn new(url: &str) -> Result<Admin, Failure> {
        let base = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: hyper::Uri = base
            .parse()
            .map_err(|_| format!("`{url}` is not an address; write http://HOST:PORT"))?;
        if uri.authority().is_none() {
            return Err(format!("`{url}` has no host; write http://HOST:PORT").into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = {
            let _inside = runtime.enter();
            Client::new(client::Config::default(), tokio_util::sync::CancellationToken::new())?
        };
        Ok(Admin { base: base.trim_end_matches('/').to_owned(), client, runtime })
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, None)
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.call(Method::POST, path, Some(body))
    }

    pub fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Failure> {
        self.call(Method::PUT, path, Some(body))
    }

    /// A PATCH whose answer may be empty.
    pub fn patch(&self, path: &str) -> Result<Value, Failure> {
        self.call(Method::PATCH, path, None)
    }

    pub fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.call(Method::DELETE, path, None)
    }

    fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Failure> {
        let (status, bytes) = self.runtime.block_on(self.round_trip(method, path, body))?;
        if !status.is_success() {
            return Err(Refused { status, message: refusal(&bytes) }.into());
        }
        let text: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        serde_json::from_slice(text).map_err(|error| {
            format!("{} answered something else than expected: {error}", self.base).into()
        })
    }

    async fn round_trip(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, bytes::Bytes), Failure> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = request.body(full(body))?;
        let response = self.client.send(Protocol::Http1, request).await.map_err(|error| {
            format!("no sidecar answers at {}: {error}; start one with `holdfast serve`, or say where it is with --admin", self.base)
        })?;
        let status = response.status();
        let limited = http_body_util::Limited::new(response.into_body(), ANSWER_BYTES_MAX);
        let bytes =
            limited.collect().await.map_err(|error| format!("the answer broke off: {error}"))?;
        Ok((status, bytes.to_bytes()))
    }
}

/// The sentence in an error answer: `{"message": …}`, or the text as it is.
fn refusal(bytes: &[u8]) -> String {
    let message = serde_json::from_slice::<Value>(bytes)
        .ok()
        .and_then(|value| Some(value.get("message")?.as_str()?.to_owned()));
    message.unwrap_or_else(|| String::from_utf8_lossy(bytes).trim().to_owned())
}

/// `text` as one path segment or query value.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
