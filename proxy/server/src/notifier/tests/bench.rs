//! A notifier over partitions in memory whose attempts fail as their handler is named, and
//! receivers on loopback.

use crate::clock::{Clock, Manual};
use crate::http::{
    Body,
    client::{self, Client},
    empty, full, read_body,
    testing::{Manner, Server, until},
};
use crate::notifier::{self, Config, Notifier, Parts};
use crate::partition::{self, Admission, Admitted, Hands, Place, Places, Router, Running};
use crate::registry::{self, Discovery, Registration, Registry};
use crate::store::memory::Memory;
use crate::telemetry;
use bytes::Bytes;
use holdfast_machine::{
    command::*,
    id::{InvocationId, PartitionKey, Partitions},
    kv::Kv,
    model::*,
    retry::RetryPolicy,
    tables::{invocation, notice::Notice, queue},
    time::Timestamp,
};
use holdfast_wire::{
    manifest::HandlerType,
    message::{MessageType, pb},
};
use hyper::{HeaderMap, Request, Response, body::Incoming};
use prost::Message;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(super) const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// Starts attempts that fail at once: by the name of the handler they are paused, or end.
struct Failing;

/// There is always one more.
impl Places for Failing {
    fn give_back(&self, _: u64) {}
}

impl Hands for Failing {
    fn admit(&self, _: InvocationId, _: u32, _: Option<&Target>) -> Admission {
        Admission::Admitted(Place::new(Arc::new(Failing), 0))
    }

    fn start(&self, attempt: Admitted) {
        let (said, end) = match attempt.start.target.handler.as_str() {
            "pause" => (vec![], AttemptEnd::Failed(Box::new(failed()))),
            "fail" => (vec![failure()], AttemptEnd::Completed),
            other => panic!("no handler is named {other}"),
        };
        let (invocation, number) = (attempt.start.invocation, attempt.start.attempt);
        let end = Some(end);
        let said = AttemptSaid { invocation, attempt: number, pin: None, said, end };
        attempt.partition.say(said);
    }

    fn withdraw(&self, _: InvocationId, _: u32) -> bool {
        false
    }

    fn callee(&self, _: &str, _: &str) -> Option<Callee> {
        None
    }
}

fn failed() -> Failed {
    let failure =
        AttemptFailure { code: 500, message: "no bank".into(), ..AttemptFailure::default() };
    Failed {
        failure,
        reaction: Reaction::Pause,
        policy: RetryPolicy::default(),
        jitter: 0,
        counts_for_entry: true,
    }
}

fn failure() -> Said {
    let result = pb::output_command::Result::Failure(pb::Failure::new(402, "no money"));
    let output = pb::OutputCommand { result: Some(result), ..pb::OutputCommand::default() };
    let payload = Bytes::from(output.encode_to_vec());
    Said::Command { ty: MessageType::OUTPUT, payload, callee: None }
}

/// A process: everything in it but the store is gone after `crash`.
pub(super) struct Bench {
    pub store: Arc<Memory>,
    pub clock: Arc<Manual>,
    pub router: Router,
    pub registry: Registry,
    pub telemetry: telemetry::Metrics,
    pub notifier: Notifier,
    shutdown: CancellationToken,
    working: JoinHandle<()>,
    _running: Running,
}

impl Bench {
    pub(super) async fn start(config: Config) -> Bench {
        Bench::on(Memory::new(Partitions(1)), config).await
    }

    pub(super) async fn on(store: Memory, config: Config) -> Bench {
        let (store, clock) = (Arc::new(store), Arc::new(Manual::new(NOW)));
        let telemetry = telemetry::Metrics::new();
        let client = Client::new(client::Config::default(), CancellationToken::new()).unwrap();
        let (router, waiting) = partition::start(
            partition::Config::default(),
            store.clone(),
            clock.clone(),
            partition::Metrics::new(&telemetry),
        )
        .unwrap();
        let registry = registry(&client, store.clone(), clock.clone());
        let parts = Parts {
            client,
            registry: registry.clone(),
            router: router.clone(),
            clock: clock.clone(),
            admin_url: "http://admin".into(),
            metrics: notifier::metrics(&telemetry),
        };
        let notifier = Notifier::new(config, parts).unwrap();
        let running = waiting.telling(Arc::new(notifier.clone())).run(Arc::new(Failing)).unwrap();
        until(|| router.is_ready()).await;
        let shutdown = CancellationToken::new();
        let working = tokio::spawn(notifier.clone().run(shutdown.clone()));
        Bench {
            store,
            clock,
            router,
            registry,
            telemetry,
            notifier,
            shutdown,
            working,
            _running: running,
        }
    }

    /// Ends the process without a goodbye and starts another on the same store.
    pub(super) async fn crash(self, config: Config) -> Bench {
        self.working.abort();
        let store = self.store.reopen().unwrap();
        drop(self);
        Bench::on(store, config).await
    }

    pub(super) async fn stop(self) {
        self.shutdown.cancel();
        self.working.await.unwrap();
    }

    /// Calls `Service/handler`, and tells its id once it is paused or ended.
    pub(super) async fn call(&self, target: &str, number: u64) -> InvocationId {
        let (service, handler) = target.split_once('/').unwrap();
        let id = InvocationId {
            partition_key: PartitionKey(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            uuid: u128::from(number),
        };
        let new = NewInvocation {
            id,
            target: Target {
                service: service.into(),
                key: None,
                handler: handler.into(),
                ty: HandlerType::Service,
            },
            argument: Bytes::new(),
            headers: vec![],
            idempotency_key: None,
            source: Source::Ingress,
            root: id,
            start_at: None,
            retention: Retention::default(),
            lazy_state: false,
            random_seed: 1,
        };
        let partition = self.router.of(id);
        partition.call(Command::Invoke(Box::new(new))).await.unwrap();
        let kv: &dyn Kv = &*self.store;
        let rests = || match invocation::get(kv, partition.id(), id).unwrap() {
            Some(record) => record.status == Status::Paused,
            None => true,
        };
        within("the attempt fails", until(rests)).await;
        id
    }

    /// Registers a service of that name, whose notices go to `notify`.
    pub(super) async fn register(&self, service: &Service, notify: Option<&str>) {
        let metadata = notify.map(|url| (registry::NOTIFY_URL.to_owned(), url.to_owned()));
        let wish = Registration {
            metadata: metadata.into_iter().collect::<BTreeMap<_, _>>(),
            force: true,
            ..Registration::new(&service.uri)
        };
        self.registry.register(wish).await.unwrap();
    }

    /// How many notices wait to be delivered.
    pub(super) fn waiting(&self) -> usize {
        let mut count = 0;
        for partition in self.router.partitions().all() {
            let kv: &dyn Kv = &*self.store;
            queue::scan::<Notice>(kv, partition, 0, &mut |_, _| {
                count += 1;
                true
            })
            .unwrap();
        }
        count
    }

    pub(super) async fn nothing_waits(&self) {
        within("nothing waits any more", until(|| self.waiting() == 0)).await;
    }

    /// Lets time pass until `done`.
    pub(super) async fn pass_time_until(&self, step: Duration, mut done: impl FnMut() -> bool) {
        let pass = async {
            while !done() {
                self.clock.advance(step);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        within("it happens as time passes", pass).await;
    }

    /// The value of a metric, by the beginning of its line.
    pub(super) fn metric(&self, name: &str) -> Option<String> {
        let text = self.telemetry.encode();
        let name = format!("holdfast_notifier_{name} ");
        text.lines().find_map(|line| line.strip_prefix(&name).map(str::to_owned))
    }
}

pub(super) async fn within<T>(what: &str, done: impl Future<Output = T>) -> T {
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, done).await.unwrap_or_else(|_| panic!("not in time: {what}"))
}

fn registry(client: &Client, store: Arc<Memory>, clock: Arc<dyn Clock>) -> Registry {
    let config = registry::Config::default();
    let discovery = Discovery {
        client: client.clone(),
        signer: None,
        config: config.discovery.clone(),
        cluster_name: "test".into(),
    };
    Registry::open(config, store, discovery, clock).unwrap()
}

/// Something to register.
pub(super) struct Service {
    pub uri: String,
    _server: Server,
}

impl Service {
    pub(super) async fn start(name: &str) -> Service {
        let body = format!(
            r#"{{"protocolMode":"BIDI_STREAM","minProtocolVersion":5,"maxProtocolVersion":7,"services":[{{"name":"{name}","ty":"SERVICE","handlers":[{{"name":"pause"}},{{"name":"fail"}}]}}]}}"#
        );
        let server = Server::start(Manner::default(), move |_| {
            let body = body.clone();
            async move {
                let media = "application/vnd.restate.endpointmanifest.v4+json";
                Response::builder().header("content-type", media).body(full(body)).unwrap()
            }
        })
        .await;
        Service { uri: format!("http://{}", server.address), _server: server }
    }
}

/// One request that a receiver got.
#[derive(Debug, Clone)]
pub(super) struct Got {
    pub headers: HeaderMap,
    pub text: String,
}

impl Got {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(super) fn invocation(&self) -> String {
        self.json()["invocation"]["id"].as_str().unwrap().to_owned()
    }
}

/// Somebody who wants to be told.
pub(super) struct Receiver {
    pub url: String,
    got: Arc<Mutex<Vec<Got>>>,
    status: Arc<Mutex<VecDeque<u16>>>,
    _server: Server,
}

impl Receiver {
    /// Answers with these statuses, and with the last of them from then on; 0 is no answer.
    pub(super) async fn answering(statuses: &[u16]) -> Receiver {
        let got = Arc::new(Mutex::new(vec![]));
        let status = Arc::new(Mutex::new(statuses.iter().copied().collect()));
        let (seen, next) = (got.clone(), status.clone());
        let serve = move |request| answer(request, seen.clone(), next.clone());
        let server = Server::start(Manner::default(), serve).await;
        Receiver { url: format!("http://{}/hook", server.address), got, status, _server: server }
    }

    /// Answers so from now on.
    pub(super) fn answer(&self, status: u16) {
        *self.status.lock().unwrap() = [status].into();
    }

    pub(super) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// What it got, once there is as much.
    pub(super) async fn wait(&self, count: usize) -> Vec<Got> {
        within("the receiver is told", until(|| self.got().len() >= count)).await;
        self.got()
    }
}

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Mutex<Vec<Got>>>,
    next: Arc<Mutex<VecDeque<u16>>>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = read_body(body, 1 << 20).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    seen.lock().unwrap().push(Got { headers: head.headers, text });
    let status = {
        let mut next = next.lock().unwrap();
        match next.len() {
            0 | 1 => next.front().copied().unwrap_or(200),
            _ => next.pop_front().unwrap(),
        }
    };
    if status == 0 {
        std::future::pending::<()>().await;
    }
    Response::builder().status(status).body(empty()).unwrap()
}
