//! A service that answers discovery as a test wants it, and a registry over memory that asks it.

use crate::clock::{Clock, Manual};
use crate::http::{
    client::{self, Client},
    empty, full,
    testing::{Manner, Server},
};
use crate::registry::{Config, Discovery, Registry};
use crate::store::memory::Memory;
use holdfast_machine::{id::Partitions, time::Timestamp};
use hyper::Response;
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

pub const V4: &str = "application/vnd.restate.endpointmanifest.v4+json";

/// What the service answers to every request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
    /// Sends the head and then nothing.
    pub hangs: bool,
}

pub struct Endpoint {
    pub server: Server,
    answer: Arc<Mutex<Answer>>,
    asked: Arc<AtomicUsize>,
}

impl Endpoint {
    pub async fn start(answer: Answer) -> Endpoint {
        Endpoint::start_at("127.0.0.1:0".parse().unwrap(), answer).await
    }

    pub async fn start_at(address: SocketAddr, answer: Answer) -> Endpoint {
        let answer = Arc::new(Mutex::new(answer));
        let asked = Arc::new(AtomicUsize::new(0));
        let (now, count) = (answer.clone(), asked.clone());
        let serve = move |request: hyper::Request<hyper::body::Incoming>| {
            count.fetch_add(1, SeqCst);
            assert!(request.uri().path().ends_with("/discover"), "{}", request.uri());
            let answer = now.lock().unwrap().clone();
            async move {
                let body = match answer.hangs {
                    true => crate::http::body::channel(1).keep(),
                    false if answer.body.is_empty() => empty(),
                    false => full(answer.body),
                };
                Response::builder()
                    .status(answer.status)
                    .header("content-type", answer.content_type)
                    .header("x-restate-server", "restate-sdk-test/1.0")
                    .body(body)
                    .unwrap()
            }
        };
        let server = Server::start_at(address, Manner::default(), serve).await;
        Endpoint { server, answer, asked }
    }

    pub async fn offering(services: &str) -> Endpoint {
        Endpoint::start(manifest(services)).await
    }

    pub fn uri(&self) -> String {
        format!("http://{}", self.server.address)
    }

    pub fn answer(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }
}

/// A body whose writer is never dropped, so that it never ends.
trait Keep {
    fn keep(self) -> crate::http::Body;
}

impl Keep for (crate::http::body::BodyWriter, crate::http::Body) {
    fn keep(self) -> crate::http::Body {
        std::mem::forget(self.0);
        self.1
    }
}

/// The answer of an SDK whose services are the given JSON list.
pub fn manifest(services: &str) -> Answer {
    let body = format!(
        r#"{{"protocolMode":"BIDI_STREAM","minProtocolVersion":5,"maxProtocolVersion":7,"services":{services}}}"#
    );
    Answer { status: 200, content_type: V4, body, hangs: false }
}

pub const GREETER: &str = r#"[{"name":"Greeter","ty":"SERVICE","handlers":[{"name":"greet"}]}]"#;

pub fn discovery(config: &Config) -> Discovery {
    Discovery {
        client: Client::new(client::Config::default(), CancellationToken::new()).unwrap(),
        signer: None,
        config: config.discovery.clone(),
        cluster_name: config.cluster_name.clone(),
    }
}

/// With times short enough for tests.
pub fn config() -> Config {
    let mut config = Config { watch_interval_ms: 100, ..Config::default() };
    config.discovery.timeout_ms = 2_000;
    config.discovery.retry_initial_ms = 1;
    config.discovery.retry_max_ms = 2;
    config
}

pub fn memory() -> Memory {
    Memory::new(Partitions(1))
}

pub fn open(store: Memory) -> Registry {
    let config = config();
    let discovery = discovery(&config);
    let clock: Arc<dyn Clock> = Arc::new(Manual::new(Timestamp(1_800_000_000_000)));
    Registry::open(config, Arc::new(store), discovery, clock).unwrap()
}

/// Answers HTTP/1.1 and nothing else.
pub async fn old_server(listener: TcpListener, answer: Answer) {
    let Answer { content_type, body, .. } = answer;
    let length = body.len();
    let head = format!("content-type: {content_type}\r\ncontent-length: {length}\r\n");
    let good = format!("HTTP/1.1 200 OK\r\n{head}connection: close\r\n\r\n{body}");
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let read = stream.read(&mut head).await.unwrap_or(0);
        let answer = match head[..read].starts_with(b"PRI") {
            true => "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n",
            false => good.as_str(),
        };
        // Who does not like the answer may hang up.
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}
