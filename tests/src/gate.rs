//! A gate in the outside world: whoever asks is inside until it is let through or goes away, and
//! the gate knows how many were inside at once.

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
use tokio::{net::TcpListener, sync::Semaphore};

/// Stands until it is dropped.
pub struct Gate {
    pub url: String,
    inside: Arc<Mutex<Inside>>,
    passes: Arc<Semaphore>,
    _runtime: tokio::runtime::Runtime,
}

/// Ids by step.
#[derive(Default)]
struct Inside {
    now: HashMap<String, Vec<String>>,
    most: HashMap<String, usize>,
}

impl Gate {
    /// A closed one.
    pub fn start() -> Gate {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (inside, passes) = (Arc::default(), Arc::new(Semaphore::new(0)));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}/gate", listener.local_addr().unwrap());
        runtime.spawn(accept(listener, Arc::clone(&inside), passes.clone()));
        Gate { url, inside, passes, _runtime: runtime }
    }

    /// Lets so many through, now or when they come.
    pub fn let_pass(&self, count: usize) {
        self.passes.add_permits(count);
    }

    /// Who is inside at `step` now.
    pub fn inside(&self, step: &str) -> Vec<String> {
        self.inside.lock().unwrap().now.get(step).cloned().unwrap_or_default()
    }

    /// How many were inside at once, at most.
    pub fn most(&self, step: &str) -> usize {
        self.inside.lock().unwrap().most.get(step).copied().unwrap_or_default()
    }
}

async fn accept(listener: TcpListener, inside: Arc<Mutex<Inside>>, passes: Arc<Semaphore>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (inside, passes) = (inside.clone(), passes.clone());
        let service = service_fn(move |request| pass(request, inside.clone(), passes.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass(
    request: Request<Incoming>,
    inside: Arc<Mutex<Inside>>,
    passes: Arc<Semaphore>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::default());
    let Ok(body) = request.into_body().collect().await else {
        // It was killed while it asked.
        *response.status_mut() = hyper::StatusCode::BAD_REQUEST;
        return Ok(response);
    };
    let visitor: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
    let field = |name: &str| visitor[name].as_str().unwrap().to_owned();
    let visit = Visit::begin(inside, field("step"), field("id"));
    passes.acquire().await.expect("it is never closed").forget();
    // Outside again before the one who asked knows it.
    drop(visit);
    Ok(response)
}

/// Ends when it is dropped, also because the connection was.
struct Visit {
    inside: Arc<Mutex<Inside>>,
    step: String,
    id: String,
}

impl Visit {
    fn begin(inside: Arc<Mutex<Inside>>, step: String, id: String) -> Visit {
        {
            let mut inside = inside.lock().unwrap();
            let now = inside.now.entry(step.clone()).or_default();
            now.push(id.clone());
            let count = now.len();
            let most = inside.most.entry(step.clone()).or_default();
            *most = count.max(*most);
        }
        Visit { inside, step, id }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut inside = self.inside.lock().unwrap();
        let now = inside.now.get_mut(&self.step).expect("the visit began");
        let at = now.iter().position(|id| *id == self.id).expect("the visit began");
        now.remove(at);
    }
}
