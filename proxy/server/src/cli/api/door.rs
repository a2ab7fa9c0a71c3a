//! One listener: where it is, how it is asked, and what is said where nobody answers.

use super::Refused;
use crate::cli::Failure;
use crate::http::{
    client::{self, Client, Protocol},
    full,
};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tokio::{sync::Semaphore, task::JoinSet};

/// Answers larger than this are refused, in bytes.
const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Most requests at the same time.
const ASKS_MAX: usize = 16;
/// A person waits no longer for a connection, in ms.
const CONNECT_MS_MAX: u64 = 3_000;

/// A listener of a running sidecar.
pub struct Door {
    base: String,
    /// The option that says where it is.
    option: &'static str,
    client: Client,
    runtime: tokio::runtime::Runtime,
}

/// A request.
#[derive(Debug)]
pub struct Ask {
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    base: String,
}

impl Ask {
    pub fn new(method: Method, path: impl Into<String>) -> Ask {
        Ask { method, path: path.into(), headers: vec![], body: Bytes::new() }
    }

    pub fn json(method: Method, path: &str, body: Option<&Value>) -> Ask {
        let ask = Ask::new(method, path);
        match body {
            Some(body) => {
                ask.header("content-type", "application/json").body(body.to_string().into())
            }
            None => ask,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn body(mut self, body: Bytes) -> Ask {
        self.body = body;
        self
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Itself, if it is a success.
    pub fn success(self) -> Result<Answer, Failure> {
        if self.status.is_success() {
            return Ok(self);
        }
        Err(Refused { status: self.status, message: self.message() }.into())
    }

    /// Its body as JSON; null where there is none.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let text: &[u8] = if self.body.is_empty() { b"null" } else { &self.body };
        serde_json::from_slice(text).map_err(|error| {
            let base = &self.base;
            format!("{base} answered something else than a sidecar does: {error}").into()
        })
    }

    /// The sentence in an error: `{"message": …}`, or the text as it is.
    pub fn message(&self) -> String {
        let message = serde_json::from_slice::<Value>(&self.body)
            .ok()
            .and_then(|value| Some(value.get("message")?.as_str()?.to_owned()));
        message.unwrap_or_else(|| match String::from_utf8_lossy(&self.body).trim() {
            "" => format!("{} refused it without a word", self.base),
            text => text.to_owned(),
        })
    }
}

impl Door {
    pub fn new(url: &str, option: &'static str) -> Result<Door, Failure> {
        let base = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: hyper::Uri = base
            .parse()
            .map_err(|_| format!("`{url}` is not an address; write {option} http://HOST:PORT"))?;
        if uri.authority().is_none() {
            return Err(format!("`{url}` has no host; write {option} http://HOST:PORT").into());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = {
            let _inside = runtime.enter();
            let config =
                client::Config { connect_timeout_ms: CONNECT_MS_MAX, ..client::Config::default() };
            Client::new(config, tokio_util::sync::CancellationToken::new())?
        };
        Ok(Door { base: base.trim_end_matches('/').to_owned(), option, client, runtime })
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub fn ask(&self, ask: Ask) -> Result<Answer, Failure> {
        let exchange = exchange(self.client.clone(), self.base.clone(), self.option, ask);
        Ok(self.runtime.block_on(exchange)?)
    }

    /// Many at the same time; answers in their order.
    pub fn ask_each(&self, asks: Vec<Ask>) -> Vec<Result<Answer, Failure>> {
        let places = Arc::new(Semaphore::new(ASKS_MAX));
        let mut answers: Vec<Result<Answer, Failure>> = vec![];
        answers.resize_with(asks.len(), || Err("it was not asked".into()));
        self.runtime.block_on(async {
            let mut asking = JoinSet::new();
            for (index, ask) in asks.into_iter().enumerate() {
                let exchange = exchange(self.client.clone(), self.base.clone(), self.option, ask);
                let places = places.clone();
                asking.spawn(async move {
                    let _place = places.acquire().await;
                    (index, exchange.await)
                });
            }
            while let Some(asked) = asking.join_next().await {
                let (index, answer) = asked.expect("an exchange does not panic");
                answers[index] = answer.map_err(Failure::from);
            }
        });
        answers
    }
}

async fn exchange(
    client: Client,
    base: String,
    option: &'static str,
    ask: Ask,
) -> Result<Answer, String> {
    let mut request = Request::builder().method(ask.method).uri(format!("{base}{}", ask.path));
    for (name, value) in &ask.headers {
        request = request.header(name, value);
    }
    let request = request.body(full(ask.body)).map_err(|error| error.to_string())?;
    let sent = client.send(Protocol::Http1, request).await;
    let response = sent.map_err(|error| nobody(&base, option, &error))?;
    let (head, body) = response.into_parts();
    let limited = http_body_util::Limited::new(body, ANSWER_BYTES_MAX);
    let body = limited.collect().await.map_err(|error| format!("the answer broke off: {error}"))?;
    let (status, headers) = (head.status, head.headers);
    Ok(Answer { status, headers, body: body.to_bytes(), base })
}

fn nobody(base: &str, option: &str, error: &client::Error) -> String {
    let variable = if option == "--admin" { "HOLDFAST_ADMIN" } else { "HOLDFAST_INGRESS" };
    format!(
        "no sidecar answers at {base}: {error}; start one with `holdfast serve`, or say where it \
         is with {option} or {variable}"
    )
}
