//! An admin listener in front of everything it needs.

use crate::admin::{Admin, Config, Parts};
use crate::clock::{Clock, Manual};
use crate::http::{
    client::{self, Client, Protocol},
    empty, full, read_body,
    testing::{Manner, Server, until},
};
use crate::partition::{self, Admission, Admitted, Hands, Router};
use crate::query::{
    Attempt, Live, Query, Waits,
    model::{Limit, Limits, Places},
    sql::{self, Sql},
};
use crate::registry::{self, Discovery, Registry};
use crate::store::{Store, memory::Memory};
use crate::tasks::{Tasks, desk::Desk};
use crate::telemetry;
use holdfast_machine::{
    id::{InvocationId, Partitions},
    model::{Callee, Target},
    time::Timestamp,
};
use hyper::{HeaderMap, Request, Response};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

pub struct Bench {
    pub router: Router,
    client: Client,
    address: SocketAddr,
    shutdown: CancellationToken,
    tasks: JoinSet<std::io::Result<()>>,
    _running: partition::Running,
}

/// There is never a place.
struct Busy;

impl Hands for Busy {
    fn admit(&self, _: InvocationId, _: u32, _: Option<&Target>) -> Admission {
        Admission::Waits
    }

    fn start(&self, _: Admitted) {}

    fn withdraw(&self, _: InvocationId, _: u32) -> bool {
        true
    }

    fn callee(&self, _: &str, _: &str) -> Option<Callee> {
        None
    }
}

impl Live for Busy {
    fn attempt(&self, _: InvocationId) -> Option<Attempt> {
        None
    }

    fn waits(&self, _: InvocationId) -> Option<Waits> {
        Some(Waits { limit: Some("Svc/run".into()), running: 2, concurrency: 2 })
    }

    fn ahead(&self, _: InvocationId) -> Option<usize> {
        Some(3)
    }

    fn limits(&self) -> Limits {
        let oldest = (InvocationId::random("Svc", None, 1, 2), Timestamp(1_800_000_000_000));
        let limit = Limit {
            limit: "Svc/run".into(),
            service: "Svc".into(),
            handler: Some("run".into()),
            key_prefix: None,
            from: "metadata".into(),
            places: Places::new(2, (2, 4), Some(oldest)),
        };
        Limits { attempts: Places::new(1_000, (2, 0), None), limits: vec![limit] }
    }
}

impl Bench {
    pub async fn start() -> Bench {
        let store: Arc<dyn Store> = Arc::new(Memory::new(Partitions(2)));
        let clock: Arc<dyn Clock> = Arc::new(Manual::new(Timestamp(1_800_000_000_000)));
        let telemetry = Arc::new(telemetry::Metrics::new());
        let metrics = partition::Metrics::new(&telemetry);
        let config = partition::Config::default();
        let (router, waiting) =
            partition::start(config, store.clone(), clock.clone(), metrics).unwrap();
        let running = waiting.run(Arc::new(Busy)).unwrap();
        let client = Client::new(client::Config::default(), CancellationToken::new()).unwrap();
        let admin = Admin::new(Parts {
            config: Config { body_bytes_max: 4_096, ..Config::default() },
            registry: registry(&client, store.clone(), clock.clone()),
            router: router.clone(),
            query: Query::new(store.clone(), Arc::new(Busy)),
            sql: Sql::new(store, Arc::new(Busy), sql::Config::default()),
            asks: Desk::new(Tasks::new(router.clone(), clock.clone())),
            clock,
            metrics: Arc::new(move || telemetry.encode()),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        until(|| router.all().iter().all(|partition| partition.is_ready())).await;
        let (shutdown, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(admin.run(listener, shutdown.clone()));
        Bench { router, client, address, shutdown, tasks, _running: running }
    }

    /// Status and body.
    pub async fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(if body.is_empty() { empty() } else { full(body.to_owned()) })
            .unwrap();
        let response = self.client.send(Protocol::Http1, request).await.unwrap();
        let status = response.status().as_u16();
        let body = read_body(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Head and body of a GET with one header.
    pub async fn ask(&self, path: &str, name: &str, value: &str) -> (HeaderMap, Vec<u8>) {
        let request = Request::builder()
            .uri(format!("http://{}{path}", self.address))
            .header(name, value)
            .body(empty())
            .unwrap();
        let response = self.client.send(Protocol::Http1, request).await.unwrap();
        let (head, body) = response.into_parts();
        (head.headers, read_body(body, 1 << 20).await.unwrap().to_vec())
    }

    pub async fn json(&self, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
        let (status, text) = self.call(method, path, body).await;
        let json =
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {status} {text}"));
        (status, json)
    }

    pub async fn register(&self, service: &Service, more: &str) -> (u16, serde_json::Value) {
        let body = format!(r#"{{"uri":"{}"{more}}}"#, service.uri);
        self.json("POST", "/deployments", &body).await
    }

    /// Shuts down in good order.
    pub async fn stop(mut self) {
        self.shutdown.cancel();
        self.tasks.join_next().await.unwrap().unwrap().unwrap();
    }
}

fn registry(client: &Client, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Registry {
    let mut config = registry::Config::default();
    config.discovery.retry_initial_ms = 1;
    let discovery = Discovery {
        client: client.clone(),
        signer: None,
        config: config.discovery.clone(),
        cluster_name: "test".into(),
    };
    Registry::open(config, store, discovery, clock).unwrap()
}

/// Something to register, whose list of services can be changed.
pub struct Service {
    pub uri: String,
    services: Arc<Mutex<String>>,
    _server: Server,
}

impl Service {
    pub async fn start(services: &str) -> Service {
        let services = Arc::new(Mutex::new(services.to_owned()));
        let now = services.clone();
        let server = Server::start(Manner::default(), move |_| {
            let services = now.lock().unwrap().clone();
            let body = format!(
                r#"{{"protocolMode":"BIDI_STREAM","minProtocolVersion":5,"maxProtocolVersion":7,"services":{services}}}"#
            );
            async move {
                let media = "application/vnd.restate.endpointmanifest.v4+json";
                Response::builder().header("content-type", media).body(full(body)).unwrap()
            }
        })
        .await;
        Service { uri: format!("http://{}", server.address), services, _server: server }
    }

    pub fn offer(&self, services: &str) {
        *self.services.lock().unwrap() = services.to_owned();
    }
}
