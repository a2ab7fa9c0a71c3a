//! The outside world: an HTTP counter that remembers every effect that a service really had.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// Values by who asked and which step, in the order in which they came.
type Seen = HashMap<(String, String), Vec<String>>;

/// Counts until it is dropped.
pub struct Effects {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
    _runtime: tokio::runtime::Runtime,
}

impl Effects {
    pub fn start() -> Effects {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let seen = Arc::new(Mutex::new(Seen::new()));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/effects", listener.local_addr().unwrap());
        runtime.spawn(accept(listener, seen.clone()));
        Effects { url, seen, _runtime: runtime }
    }

    /// The values that executions of `step` for `id` made, also those whose result was lost.
    pub fn of(&self, id: &str, step: &str) -> Vec<String> {
        let key = (id.to_owned(), step.to_owned());
        self.seen.lock().unwrap().get(&key).cloned().unwrap_or_default()
    }

    /// Who asked and which step, of all effects, in order.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = self.seen.lock().unwrap().keys().cloned().collect();
        all.sort();
        all
    }

    /// How many effects there were in all.
    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().values().map(Vec::len).sum()
    }
}

async fn accept(listener: TcpListener, seen: Arc<Mutex<Seen>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let seen = seen.clone();
        let service = service_fn(move |request| remember(request, seen.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn remember(
    request: Request<Incoming>,
    seen: Arc<Mutex<Seen>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let status = match request.into_body().collect().await {
        Ok(body) => {
            let effect: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
            let field = |name: &str| effect[name].as_str().unwrap().to_owned();
            let mut seen = seen.lock().unwrap();
            seen.entry((field("id"), field("step"))).or_default().push(field("value"));
            200
        }
        // The service was killed while it asked.
        Err(_) => 400,
    };
    Ok(Response::builder().status(status).body(Full::default()).expect("a status is enough"))
}
