//! A plain HTTP/1.1 client for tests: one request, one connection, and it blocks.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;

/// Longest time that one request may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Why there was no answer: refused, cut off, too late.
#[derive(Debug)]
pub struct NoAnswer(pub String);

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: hyper::HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error} in the answer {}: {}", self.status, self.text())
        })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// One request as a future, for tests that make many at once.
pub async fn send(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Result<Answer, NoAnswer> {
    let exchange = exchange(method, url, headers, body);
    match tokio::time::timeout(TIMEOUT, exchange).await {
        Ok(answer) => answer.map_err(|error| NoAnswer(error.to_string())),
        Err(_) => Err(NoAnswer(format!("no answer within {TIMEOUT:?}"))),
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Result<Answer, BoxError> {
    let uri: hyper::Uri = url.parse()?;
    let authority = uri.authority().expect("tests write whole URLs").clone();
    let stream = TcpStream::connect(authority.as_str()).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request =
        Request::builder().method(method).uri(path).header("host", authority.as_str());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body))?;
    let ask = async {
        let response = sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
    };
    tokio::select! {
        answer = ask => answer,
        ended = connection => Err(match ended {
            Ok(()) => "the connection ended without an answer".into(),
            Err(error) => error.into(),
        }),
    }
}

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub fn get(url: &str) -> Result<Answer, NoAnswer> {
    block(send(Method::GET, url, &[], Bytes::new()))
}

pub fn post_json(url: &str, body: &Value) -> Result<Answer, NoAnswer> {
    request(Method::POST, url, &[("content-type", "application/json")], &body.to_string())
}

pub fn request(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Answer, NoAnswer> {
    block(send(method, url, headers, Bytes::from(body.to_owned())))
}
