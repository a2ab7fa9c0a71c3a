//! The world outside of service and sidecar: it carries out effects, counts them and can make one
//! wait. It lives in the demo's own process, which nobody kills. Must never forget a call, also
//! not one whose caller died before its answer.

use crate::Seen;
use crate::process::until;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// An effect is a few short strings.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// One effect that somebody asked for.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Call {
    pub id: String,
    pub step: String,
    pub value: String,
    #[serde(skip)]
    pub fate: Fate,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fate {
    #[default]
    Waiting,
    CarriedOut,
    /// Its caller went away while it waited: nothing was carried out.
    Abandoned,
}

/// The calls so far, in order of arrival, and the step that has to wait, if any.
struct Ledger {
    calls: Mutex<Vec<Call>>,
    held: watch::Sender<Option<&'static str>>,
}

/// The running world; stops when dropped.
pub struct Outside {
    ledger: Arc<Ledger>,
    url: String,
    _server: JoinSet<()>,
}

impl Outside {
    /// Starts it on a free port of loopback.
    pub async fn start() -> Seen<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/effects", listener.local_addr()?);
        let ledger = Arc::new(Ledger { calls: Mutex::default(), held: watch::channel(None).0 });
        let mut server = JoinSet::new();
        server.spawn(accept(listener, Arc::clone(&ledger)));
        Ok(Self { ledger, url, _server: server })
    }

    /// Where effects go.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on calls of `step` wait.
    pub fn hold(&self, step: &'static str) {
        self.ledger.held.send_replace(Some(step));
    }

    /// Nothing waits any more.
    pub fn release(&self) {
        self.ledger.held.send_replace(None);
    }

    /// All calls for an invocation so far.
    pub fn calls(&self, id: &str) -> Vec<Call> {
        self.ledger.calls().iter().filter(|call| call.id == id).cloned().collect()
    }

    /// Waits for the first call of all; whose it is.
    pub async fn first(&self) -> Seen<String> {
        let look = || async { self.ledger.calls().first().map(|call| call.id.clone()) };
        until("the handler to be entered", look).await
    }

    /// Waits for a call of `step` that has met `fate`.
    pub async fn see(&self, id: &str, step: &str, fate: Fate) -> Seen<Call> {
        let look = || async {
            self.calls(id).into_iter().find(|call| call.step == step && call.fate == fate)
        };
        until(&format!("step {step} to be {fate:?}"), look).await
    }
}

impl Ledger {
    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().expect("no holder of this lock panics")
    }

    async fn carry_out(self: Arc<Self>, call: Call) {
        let mut held = self.held.subscribe();
        let step = call.step.clone();
        let entry = Entry::new(&self, call);
        let free = held.wait_for(|held| *held != Some(step.as_str())).await;
        free.expect("the ledger holds the sender");
        entry.set(Fate::CarriedOut);
    }
}

/// A call's line in the ledger while it is waiting: marked as abandoned if dropped before its end.
struct Entry<'a> {
    ledger: &'a Ledger,
    index: usize,
}

impl<'a> Entry<'a> {
    fn new(ledger: &'a Ledger, call: Call) -> Self {
        let mut calls = ledger.calls();
        calls.push(call);
        Self { ledger, index: calls.len() - 1 }
    }

    fn set(&self, fate: Fate) {
        self.ledger.calls()[self.index].fate = fate;
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let fate = self.ledger.calls()[self.index].fate;
        if fate == Fate::Waiting {
            self.set(Fate::Abandoned);
        }
    }
}

async fn accept(listener: TcpListener, ledger: Arc<Ledger>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, Arc::clone(&ledger)));
        while connections.try_join_next().is_some() {}
    }
}

async fn converse(stream: TcpStream, ledger: Arc<Ledger>) {
    let service = service_fn(move |request| answer(request, Arc::clone(&ledger)));
    // A caller that was killed breaks its connection: the ledger has it, there is nothing to add.
    let _broken = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(request: Request<Incoming>, ledger: Arc<Ledger>) -> Seen<Response<Full<Bytes>>> {
    let body = Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await?.to_bytes();
    let mut response = Response::new(Full::default());
    match serde_json::from_slice(&body) {
        Ok(call) => ledger.carry_out(call).await,
        Err(_) => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    Ok(response)
}
