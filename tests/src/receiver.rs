//! Somebody outside who is told: an HTTP/1.1 server that keeps what it gets and answers as it is
//! bid.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, Response, body::Incoming, server::conn::http1};
use hyper::{header::CONTENT_TYPE, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

/// What it answers to a path and a body: status, content type, body.
pub type Answer = dyn Fn(&str, &[u8]) -> (u16, &'static str, String) + Send + Sync;

/// One request that came.
#[derive(Debug, Clone)]
pub struct Got {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Got {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Listens until it is dropped.
pub struct Receiver {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    got: Arc<Mutex<Vec<Got>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Receiver {
    pub fn start(
        answer: impl Fn(&str, &[u8]) -> (u16, &'static str, String) + Send + Sync + 'static,
    ) -> Receiver {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let got = Arc::new(Mutex::new(vec![]));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(accept(listener, Arc::new(answer), got.clone()));
        Receiver { url, got, _runtime: runtime }
    }

    /// What came so far, in order.
    pub fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, answer: Arc<Answer>, got: Arc<Mutex<Vec<Got>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (answer, got) = (answer.clone(), got.clone());
        let service = service_fn(move |request| take(request, answer.clone(), got.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn take(
    request: Request<Incoming>,
    answer: Arc<Answer>,
    got: Arc<Mutex<Vec<Got>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    // Who asked may have been killed in the middle.
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let (status, content_type, text) = answer(&path, &body);
    got.lock().unwrap().push(Got { path, headers: head.headers, body });
    let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
    Ok(response.body(Full::new(text.into())).expect("a status and a type make a response"))
}
