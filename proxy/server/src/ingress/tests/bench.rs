//! The door over real partitions, a store in memory and a registered service. The service answers
//! discovery only; what its handlers would do, the test does.

use crate::clock::{Clock, Manual};
use crate::http::{Body, Inbound, body, client::Client, empty, full, listen};
use crate::ingress::{Config, Ingress, Metrics, testing};
use crate::partition::{self, Admission, Admitted, Hands, Place, Places, Running};
use crate::registry::{self, Discovery, Registration, Registry};
use crate::store::memory::Memory;
use crate::telemetry;
use bytes::Bytes;
use holdfast_machine::{
    command::{AttemptEnd, AttemptSaid, Said},
    id::{DeploymentId, InvocationId, Partitions},
    model::{Callee, Pin, Target},
    time::Timestamp,
};
use holdfast_wire::{
    message::{MessageType, pb},
    version::Version,
};
use http::{Request, Response};
use prost::Message;
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

pub(super) const NOW: Timestamp = Timestamp(1_796_051_888_000);
const PATIENCE: Duration = Duration::from_secs(20);

const MANIFEST: &str = r#"{
    "protocolMode": "BIDI_STREAM", "minProtocolVersion": 5, "maxProtocolVersion": 6,
    "services": [
        {"name": "Greeter", "ty": "SERVICE", "handlers": [{
            "name": "greet",
            "input": {"required": true, "contentType": "application/json"},
            "output": {"contentType": "text/plain"}
        }]},
        {"name": "Counter", "ty": "VIRTUAL_OBJECT", "handlers": [{"name": "add", "ty": "EXCLUSIVE"}]},
        {"name": "Wf", "ty": "WORKFLOW", "handlers": [{"name": "run", "ty": "WORKFLOW"}]}
    ]
}"#;

pub(super) struct Bench {
    pub ingress: Arc<Ingress>,
    pub clock: Arc<Manual>,
    pub telemetry: telemetry::Metrics,
    pub running: Running,
    attempts: mpsc::UnboundedReceiver<Admitted>,
    _service: tokio_util::sync::DropGuard,
}

/// Hands attempts to the test.
struct ToTest(mpsc::UnboundedSender<Admitted>);

impl Hands for ToTest {
    fn admit(&self, _: InvocationId, _: u32, _: Option<&Target>) -> Admission {
        Admission::Admitted(Place::new(Arc::new(NoEnd), 0))
    }

    fn start(&self, attempt: Admitted) {
        // The test may have ended.
        let _ = self.0.send(attempt);
    }

    fn withdraw(&self, _: InvocationId, _: u32) -> bool {
        false
    }

    fn callee(&self, _: &str, _: &str) -> Option<Callee> {
        None
    }
}

/// There is always another place.
struct NoEnd;

impl Places for NoEnd {
    fn give_back(&self, _: u64) {}
}

impl Bench {
    pub async fn new() -> Bench {
        Bench::with(Config::default()).await
    }

    pub async fn with(config: Config) -> Bench {
        let store = Arc::new(Memory::new(Partitions(2)));
        let clock = Arc::new(Manual::new(NOW));
        let telemetry = telemetry::Metrics::new();
        let (router, waiting) = partition::start(
            partition::Config::default(),
            store.clone(),
            clock.clone(),
            partition::Metrics::new(&telemetry),
        )
        .unwrap();
        let shutdown = CancellationToken::new();
        let registry = registry(store, clock.clone(), &shutdown).await;
        let (sender, attempts) = mpsc::unbounded_channel();
        let running = waiting.run(Arc::new(ToTest(sender))).unwrap();
        let metrics = telemetry.register("ingress", Metrics::new);
        let ingress = Ingress::new(config, registry, router, clock.clone(), metrics);
        Bench {
            ingress: Arc::new(ingress),
            clock,
            telemetry,
            running,
            attempts,
            _service: shutdown.drop_guard(),
        }
    }

    /// `METHOD path`, headers a line each as `name: value`, an empty line, the body.
    pub fn begin(&self, text: &str) -> JoinHandle<Response<Body>> {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let body = if body.is_empty() { empty() } else { full(body.to_owned()) };
        let request = request(head).body(body).unwrap();
        let ingress = self.ingress.clone();
        tokio::spawn(async move { ingress.answer(request).await })
    }

    /// As `begin`, and waits for the answer.
    pub async fn ask(&self, text: &str) -> String {
        show(self.begin(text)).await
    }

    /// The next attempt that starts.
    pub async fn attempt(&mut self) -> Admitted {
        let attempt = tokio::time::timeout(PATIENCE, self.attempts.recv()).await;
        attempt.expect("no attempt for too long").expect("hands live with the partitions")
    }
}

pub(super) fn request(head: &str) -> http::request::Builder {
    let mut lines = head.lines().map(str::trim);
    let (method, path) = lines.next().unwrap().split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(path);
    { lines }.fold(request, |request, line| {
        let (name, value) = line.split_once(": ").unwrap();
        request.header(name, value)
    })
}

/// The answer as text. The id is random in most tests, and two headers are on every response.
pub(super) async fn show(answer: JoinHandle<Response<Body>>) -> String {
    let answer = tokio::time::timeout(PATIENCE, answer).await;
    let answer = answer.expect("no answer for too long").unwrap();
    let id = answer.headers().get("x-restate-id").map(|id| id.to_str().unwrap().to_owned());
    let text = testing::show(answer).await;
    let text = match &id {
        Some(id) => text.replace(id, "{id}"),
        None => text,
    };
    let constant = |line: &&str| {
        line.starts_with("access-control-allow-credentials") || line.starts_with("vary")
    };
    text.lines().filter(|line| !constant(line)).map(|line| format!("{line}\n")).collect()
}

async fn registry(
    store: Arc<Memory>,
    clock: Arc<dyn Clock>,
    shutdown: &CancellationToken,
) -> Registry {
    let discovery = Discovery {
        client: Client::new(Default::default(), shutdown.clone()).unwrap(),
        signer: None,
        config: Default::default(),
        cluster_name: "tests".to_owned(),
    };
    let registry = Registry::open(registry::Config::default(), store, discovery, clock).unwrap();
    let listener = listen::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let uri = format!("http://{}", listener.address());
    tokio::spawn(listen::serve(
        listener,
        Default::default(),
        discover,
        crate::http::Crowd::new(0),
        shutdown.clone(),
    ));
    registry.register(Registration::new(uri)).await.unwrap();
    registry
}

async fn discover(_: Request<Inbound>) -> Response<Body> {
    let content_type = "application/vnd.restate.endpointmanifest.v3+json";
    Response::builder().header("content-type", content_type).body(full(MANIFEST)).unwrap()
}

/// A body whose length nobody knows before it ends.
pub(super) async fn chunked(pieces: &[&'static str]) -> Body {
    let (writer, body) = body::channel(pieces.len() + 1);
    for piece in pieces {
        writer.write(Bytes::from_static(piece.as_bytes())).await.unwrap();
    }
    writer.reserve().await.unwrap().finish();
    body
}

// --- what handlers do

pub(super) trait Handler {
    fn end(&self, result: pb::output_command::Result);
    fn input(&self) -> pb::InputCommand;

    fn complete(&self, output: &'static str) {
        let content = Bytes::from_static(output.as_bytes());
        self.end(pb::output_command::Result::Value(pb::Value { content }));
    }

    fn fail(&self, code: u32, message: &str) {
        let message = message.to_owned();
        let failure = pb::Failure { code, message, ..Default::default() };
        self.end(pb::output_command::Result::Failure(failure));
    }
}

impl Handler for Admitted {
    fn end(&self, result: pb::output_command::Result) {
        let output = pb::OutputCommand { result: Some(result), ..Default::default() };
        let said = Said::Command {
            ty: MessageType::OUTPUT,
            payload: output.encode_to_vec().into(),
            callee: None,
        };
        self.partition.say(AttemptSaid {
            invocation: self.start.invocation,
            attempt: self.start.attempt,
            pin: Some(Pin { deployment: DeploymentId(1), version: Version::V6 }),
            said: vec![said],
            end: Some(AttemptEnd::Completed),
        });
    }

    fn input(&self) -> pb::InputCommand {
        pb::InputCommand::decode(self.start.entries[0].payload.clone()).unwrap()
    }
}
