//! The invoker against a small service of real sockets, and a partition that only listens.

mod service;

use super::*;
use crate::clock::System;
use crate::http::client::{self, Protocol};
use crate::http::testing::{Manner, until};
use crate::registry::{self, Discovery, Registration};
use crate::store::memory::Memory;
use crate::telemetry;
use bytes::Bytes;
use holdfast_machine::{
    command::Said,
    id::{PartitionKey, Partitions},
    model::{Entry, Target},
    time::Timestamp,
};
use holdfast_wire::{
    manifest::HandlerType,
    message::{MessageType, pb},
    version::Version,
};
use prost::Message;
use service::{Seen, Service};
use std::sync::atomic::Ordering::Relaxed;
use tokio::sync::{mpsc, watch};

const BIDI: &str = "BIDI_STREAM";
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Hears what attempts say.
struct Ear {
    said: mpsc::UnboundedSender<AttemptSaid>,
    room: watch::Receiver<bool>,
}

impl Partition for Ear {
    fn say(&self, said: AttemptSaid) {
        // A test that has seen enough is over.
        let _ = self.said.send(said);
    }

    async fn room(&self) {
        let mut room = self.room.clone();
        // Without the test there is room for everything.
        let _ = room.wait_for(|room| *room).await;
    }
}

/// Those who wait are in the test.
struct InTest(mpsc::UnboundedSender<(Ticket, Place)>);

impl Waiters for InTest {
    fn start(&self, waits: Ticket, place: Place) -> Result<(), Place> {
        self.0.send((waits, place)).map_err(|refused| refused.0.1)
    }

    fn ask_again(&self, _: Ticket) {
        panic!("limits do not change while somebody waits");
    }
}

/// An invoker, and what its attempts said.
struct Bench {
    invoker: Invoker,
    registry: Registry,
    telemetry: telemetry::Metrics,
    said: mpsc::UnboundedReceiver<AttemptSaid>,
    say: mpsc::UnboundedSender<AttemptSaid>,
    room: watch::Sender<bool>,
    places: mpsc::UnboundedReceiver<(Ticket, Place)>,
}

impl Bench {
    async fn new(config: Config, version: Version) -> Bench {
        let client = Client::new(client::Config::default(), CancellationToken::new()).unwrap();
        let clock = Arc::new(System::new());
        let registry_config = registry::Config::default();
        let discovery = Discovery {
            client: client.clone(),
            signer: None,
            config: registry_config.discovery.clone(),
            cluster_name: "c".into(),
        };
        let store = Arc::new(Memory::new(Partitions(1)));
        let registry = Registry::open(registry_config, store, discovery, clock.clone()).unwrap();
        let bounds = Bounds {
            message_bytes_max: 1 << 20,
            eager_state_bytes_max: 1 << 20,
            version_cap: version,
        };
        let telemetry = telemetry::Metrics::new();
        let invoker = Invoker::new(
            config,
            Parts {
                client,
                registry: registry.clone(),
                bounds,
                clock,
                signer: None,
                cluster_name: "localcluster".into(),
                metrics: Metrics::new(&telemetry),
            },
        );
        let (say, said) = mpsc::unbounded_channel();
        let (tell, places) = mpsc::unbounded_channel();
        invoker.plug_with(Box::new(InTest(tell)));
        let room = watch::channel(true).0;
        Bench { invoker, registry, telemetry, said, say, room, places }
    }

    /// With a service registered.
    async fn with(config: Config, version: Version, mode: &'static str) -> (Bench, Service) {
        let (bench, service) = (Bench::new(config, version).await, Service::start(mode).await);
        bench.register(&service, Protocol::Http2).await;
        (bench, service)
    }

    async fn register(&self, service: &Service, protocol: Protocol) {
        let uri = format!("http://{}/", service.server.address);
        let wish = Registration { protocol, force: true, ..Registration::new(uri) };
        self.registry.register(wish).await.unwrap();
    }

    /// Begins an attempt that must be admitted.
    fn begin(&self, id: u128, handler: &str) -> mpsc::Sender<News> {
        let start = start(id, handler);
        let place = self.place(&start);
        self.begin_admitted(start, place)
    }

    fn place(&self, start: &Start) -> Place {
        match self.invoker.admit(start.invocation, start.attempt, Some(&start.target)) {
            Admission::Admitted(place) => place,
            other => panic!("{other:?}"),
        }
    }

    /// Asks for a place that there is not.
    fn wait(&self, id: u128, attempt: u32, handler: &str) {
        let Start { invocation, target, .. } = start(id, handler);
        let admission = self.invoker.admit(invocation, attempt, Some(&target));
        assert!(matches!(admission, Admission::Waits), "{admission:?}");
    }

    /// The place of one that waited.
    async fn freed(&mut self, expected: u128) -> Place {
        let ((invocation, _), place) = self.places.recv().await.unwrap();
        assert_eq!(invocation, id(expected));
        place
    }

    fn begin_admitted(&self, start: Start, place: Place) -> mpsc::Sender<News> {
        let (news, heard) = mpsc::channel(16);
        let ear = Ear { said: self.say.clone(), room: self.room.subscribe() };
        let shared = self.invoker.shared.clone();
        // As a partition does: from a thread that knows nothing of the runtime.
        std::thread::spawn(move || shared.start(start, heard, ear, place)).join().unwrap();
        news
    }

    async fn said(&mut self) -> AttemptSaid {
        self.said.recv().await.unwrap()
    }

    /// The end of the attempt, and all that was said until then.
    async fn end(&mut self) -> (Vec<Said>, AttemptEnd) {
        let mut all = Vec::new();
        loop {
            let AttemptSaid { said, end, .. } = self.said().await;
            all.extend(said);
            if let Some(end) = end {
                return (all, end);
            }
        }
    }

    async fn failure(&mut self) -> (String, String) {
        match self.end().await.1 {
            AttemptEnd::Failed(failed) => {
                (failed.failure.doc_code.unwrap_or_default(), failed.failure.message)
            }
            other => panic!("{other:?} is no failure"),
        }
    }

    async fn quiet(&self) {
        until(|| self.invoker.shared.places.standings().running == 0).await;
        assert_eq!(self.invoker.view().list(), []);
    }
}

fn id(uuid: u128) -> InvocationId {
    InvocationId { partition_key: PartitionKey(7), uuid }
}

fn start(uuid: u128, handler: &str) -> Start {
    let value = Some(pb::Value { content: Bytes::from_static(b"hello") });
    let trace = pb::Header { key: "traceparent".to_owned(), value: TRACE.to_owned() };
    let input = pb::InputCommand { headers: vec![trace], name: String::new(), value };
    let input = Entry {
        index: 0,
        ty: MessageType::INPUT,
        payload: input.encode_to_vec().into(),
        appended_at: Timestamp(0),
    };
    let target =
        Target { service: "S".into(), key: None, handler: handler.into(), ty: HandlerType::Shared };
    Start {
        invocation: id(uuid),
        attempt: 1,
        target,
        idempotency_key: None,
        pin: None,
        random_seed: 9,
        entries: vec![input],
        state: vec![],
        partial_state: true,
        retry_count_since_last_stored_entry: 0,
        last_stored_at: Timestamp(0),
    }
}

fn output(said: &[Said]) -> Bytes {
    let [Said::Command { ty: MessageType::OUTPUT, payload, .. }] = said else {
        panic!("expected one output, got {said:?}");
    };
    match pb::OutputCommand::decode(payload.clone()).unwrap().result.unwrap() {
        pb::output_command::Result::Value(value) => value.content,
        pb::output_command::Result::Failure(failure) => panic!("{failure:?}"),
    }
}

#[tokio::test]
async fn a_handler_answers_and_the_request_is_closed() {
    for version in Version::ALL {
        let (mut bench, mut service) = Bench::with(Config::default(), version, BIDI).await;
        let _news = bench.begin(1, "echo");
        let first = bench.said().await;
        assert_eq!(first.pin.unwrap().version, version);
        assert_eq!(output(&first.said), "hello");
        let end = match first.end {
            Some(end) => end,
            None => bench.end().await.1,
        };
        assert_eq!(end, AttemptEnd::Completed);
        assert_eq!(service.end().await, Seen::HalfClose);
        bench.quiet().await;
        let head = service.head.lock().unwrap();
        assert_eq!(head["content-type"], version.content_type());
        assert_eq!(head["accept"], version.content_type());
        assert_eq!(head["x-restate-invocation-id"], id(1).to_string());
        assert_eq!(head["x-restate-cluster-name"], "localcluster");
        assert_eq!(head["traceparent"], TRACE);
    }
}

#[tokio::test]
async fn request_and_response_take_turns_in_http1() {
    let mut bench = Bench::new(Config::default(), Version::V6).await;
    let mut service = Service::start("REQUEST_RESPONSE").await;
    bench.register(&service, Protocol::Http1).await;
    for _ in 0..2 {
        let _news = bench.begin(1, "echo");
        let (said, end) = bench.end().await;
        assert_eq!((output(&said), end), (Bytes::from_static(b"hello"), AttemptEnd::Completed));
        assert_eq!(service.end().await, Seen::HalfClose);
        bench.quiet().await;
    }
}

#[tokio::test]
async fn failures_to_begin_are_failed_attempts() {
    let (mut bench, service) = Bench::with(Config::default(), Version::V6, BIDI).await;
    let _news = bench.begin(1, "nothing");
    assert_eq!(bench.failure().await.0, "HF0101");
    let unknown =
        Start { target: Target { service: "T".into(), ..start(1, "x").target }, ..start(1, "x") };
    let place = bench.place(&unknown);
    bench.begin_admitted(unknown, place);
    let (code, message) = bench.failure().await;
    let expected = "no service `T` is registered; register a deployment that has it";
    assert_eq!((code.as_str(), message.as_str()), ("HF0100", expected));
    let gone = holdfast_machine::id::DeploymentId(1);
    let pin = holdfast_machine::model::Pin { deployment: gone, version: Version::V6 };
    let pinned = Start { pin: Some(pin), ..start(1, "echo") };
    let place = bench.place(&pinned);
    bench.begin_admitted(pinned, place);
    assert_eq!(bench.failure().await.0, "HF0102");
    bench.quiet().await;

    let _news = bench.begin(1, "refuse");
    assert_eq!(bench.failure().await.0, "HF0079");
    let address = service.server.address;
    drop(service);
    until(|| std::net::TcpStream::connect(address).is_err()).await;
    let _news = bench.begin(1, "echo");
    let (code, message) = bench.failure().await;
    assert_eq!(code, "HF0070");
    assert!(message.contains("connection refused") || message.contains("broke"), "{message}");
    bench.quiet().await;
}

/// The first connection has one stream, which the first attempt holds; the second one refuses.
#[tokio::test]
async fn a_request_that_was_refused_unseen_is_made_again() {
    let mut bench = Bench::new(Config::default(), Version::V6).await;
    let manner = Manner { streams_max: Some(1), refusing: 1..2, ..Manner::default() };
    let service = Service::start_with(BIDI, manner).await;
    bench.register(&service, Protocol::Http2).await;
    let _holder = bench.begin(1, "hang");
    until(|| service.head.lock().unwrap().contains_key("accept")).await;
    let _news = bench.begin(2, "echo");
    let (said, end) = bench.end().await;
    assert_eq!((output(&said), end), (Bytes::from_static(b"hello"), AttemptEnd::Completed));
    assert_eq!(service.server.connections(), 3);
}

#[tokio::test]
async fn a_service_that_refuses_for_ever_fails_the_attempt() {
    let mut bench = Bench::new(Config::default(), Version::V6).await;
    let manner = Manner { streams_max: Some(1), refusing: 1..usize::MAX, ..Manner::default() };
    let service = Service::start_with(BIDI, manner).await;
    bench.register(&service, Protocol::Http2).await;
    let _holder = bench.begin(1, "hang");
    until(|| service.head.lock().unwrap().contains_key("accept")).await;
    let _news = bench.begin(2, "echo");
    let (code, message) = bench.failure().await;
    assert_eq!(code, "HF0070");
    assert!(message.contains("refused the request without looking at it"), "{message}");
}

#[tokio::test]
async fn an_abort_resets_the_stream_and_says_nothing() {
    let (mut bench, mut service) = Bench::with(Config::default(), Version::V6, BIDI).await;
    let news = bench.begin(1, "hang");
    until(|| service.head.lock().unwrap().contains_key("accept")).await;
    assert_eq!(bench.invoker.view().of(id(1)).unwrap().attempt, 1);
    news.send(News::Abort).await.unwrap();
    assert_eq!(service.end().await, Seen::Reset(Some(h2::Reason::CANCEL)));
    bench.quiet().await;
    assert!(bench.said.try_recv().is_err());
}

#[tokio::test]
async fn a_later_attempt_voids_this_one() {
    let (bench, mut service) = Bench::with(Config::default(), Version::V6, BIDI).await;
    let news = bench.begin(1, "hang");
    until(|| service.head.lock().unwrap().contains_key("accept")).await;
    drop(news);
    assert_eq!(service.end().await, Seen::Reset(Some(h2::Reason::CANCEL)));
    bench.quiet().await;
}

#[tokio::test]
async fn notifications_and_the_wish_to_suspend_reach_the_service() {
    let (mut bench, mut service) = Bench::with(Config::default(), Version::V7, BIDI).await;
    let news = bench.begin(1, "sleep");
    assert_eq!(bench.said().await.said.len(), 1);
    let view = bench.invoker.view();
    until(|| view.of(id(1)).unwrap().awaiting.is_some()).await;
    let notification = pb::Notification::signal(17, pb::notification::Result::Void(pb::Void {}));
    let payload = notification.encode_to_vec().into();
    let entry = Entry { index: 2, ty: MessageType::SIGNAL, payload, appended_at: Timestamp(1) };
    news.send(News::Notification(Box::new(entry))).await.unwrap();
    assert_eq!(service.saw().await, Seen::Frame(MessageType::SIGNAL));
    assert_eq!(view.of(id(1)).unwrap().awaiting, None);
    news.send(News::Suspend).await.unwrap();
    assert_eq!(service.saw().await, Seen::HalfClose);
    let (_, end) = bench.end().await;
    assert!(matches!(end, AttemptEnd::Suspended(awaiting) if awaiting.completions == [1]));
    bench.quiet().await;
}

#[tokio::test]
async fn a_full_partition_slows_the_service_down() {
    let (mut bench, service) = Bench::with(Config::default(), Version::V6, BIDI).await;
    bench.room.send_replace(false);
    let _news = bench.begin(1, "flood");
    // The windows of one stream and the buffers of two sockets are all there is.
    let bound = client::Config::default().stream_window_bytes as usize + (8 << 20);
    until(|| service.flooded.load(Relaxed) > 1 << 20).await;
    let mut before = usize::MAX;
    while before != service.flooded.load(Relaxed) {
        before = service.flooded.load(Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(before < bound, "{before} bytes were taken");
    assert!(bench.said.try_recv().is_err());
    bench.room.send_replace(true);
    let mut heard = 0;
    while heard < 2 * bound {
        heard += bench.said().await.said.iter().map(bytes_of).sum::<usize>();
    }
}

fn bytes_of(said: &Said) -> usize {
    match said {
        Said::Command { payload, .. } | Said::RunCompletion { payload, .. } => payload.len(),
    }
}

#[tokio::test]
async fn places_are_bounded_and_handed_on() {
    let config = Config { concurrent_attempts_max: 2, ..Config::default() };
    let (mut bench, _service) = Bench::with(config, Version::V6, BIDI).await;
    let first = bench.begin(1, "hang");
    let _second = bench.begin(2, "hang");
    bench.wait(3, 1, "hang");
    bench.wait(4, 1, "hang");
    bench.wait(5, 5, "echo");
    assert_eq!(bench.invoker.standings().waiting, 3);
    assert!(bench.invoker.withdraw(id(4), 1));
    first.send(News::Abort).await.unwrap();
    drop(bench.freed(3).await);
    let place = bench.freed(5).await;
    let _fifth = bench.begin_admitted(Start { attempt: 5, ..start(5, "echo") }, place);
    assert_eq!(bench.end().await.1, AttemptEnd::Completed);
    until(|| bench.invoker.shared.places.standings().running == 1).await;
}

#[tokio::test]
async fn a_place_that_nobody_wants_any_more_goes_to_the_next() {
    let config = Config { concurrent_attempts_max: 1, ..Config::default() };
    let (mut bench, _service) = Bench::with(config, Version::V6, BIDI).await;
    let first = bench.begin(1, "hang");
    (2..1_000).for_each(|number| bench.wait(number, 1, "hang"));
    // The partition of all of them has ended.
    bench.places.close();
    first.send(News::Abort).await.unwrap();
    until(|| bench.invoker.shared.places.standings().running == 0).await;
    assert_eq!(bench.invoker.standings().waiting, 0);
    let _last = bench.begin(1_000, "echo");
    assert_eq!(bench.end().await.1, AttemptEnd::Completed);
}

#[tokio::test]
async fn limits_of_the_metadata_hold_at_once_and_for_what_runs() {
    let (mut bench, service) = Bench::with(Config::default(), Version::V6, BIDI).await;
    let first = bench.begin(1, "hang");
    let _second = bench.begin(2, "hang");
    until(|| bench.invoker.view().list().len() == 2).await;
    service.limit(r#","metadata":{"holdfast.limit.concurrency":"2"}"#);
    bench.register(&service, Protocol::Http2).await;
    bench.wait(3, 1, "hang");
    let told = bench.invoker.admit(id(4), 1, None);
    assert!(matches!(told, Admission::WhichTarget), "{told:?}");
    let waits = bench.invoker.waits(id(3)).unwrap();
    assert_eq!((waits.limit.as_deref(), waits.running), (Some("S"), 2));
    let metrics = bench.telemetry.encode();
    for line in ["running{limit=\"S\"} 2", "waiting{limit=\"S\"} 1"] {
        assert!(metrics.contains(&format!("holdfast_limit_{line}")), "{metrics}");
    }
    assert!(metrics.contains("holdfast_invoker_attempts_running 2"), "{metrics}");
    first.send(News::Abort).await.unwrap();
    drop(bench.freed(3).await);
    until(|| bench.invoker.shared.places.standings().running == 1).await;
    let _fifth = bench.begin(5, "echo");
    assert_eq!(bench.end().await.1, AttemptEnd::Completed);
}

#[tokio::test]
async fn who_waits_for_a_limit_makes_those_in_it_make_room() {
    let config = Config { pressure_idle_ms: 10, ..Config::default() };
    let (mut bench, service) = Bench::with(config, Version::V7, BIDI).await;
    service.limit(r#","metadata":{"holdfast.limit.concurrency":"1"}"#);
    bench.register(&service, Protocol::Http2).await;
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(bench.invoker.clone().run(shutdown.clone()));
    // A caller, and its callee under the same limit.
    let _caller = bench.begin(1, "sleep");
    bench.wait(2, 1, "echo");
    assert!(matches!(bench.end().await.1, AttemptEnd::Suspended(_)));
    let place = bench.freed(2).await;
    let _callee = bench.begin_admitted(start(2, "echo"), place);
    assert_eq!(bench.end().await.1, AttemptEnd::Completed);
    shutdown.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn those_who_wait_make_room() {
    for version in [Version::V7, Version::V6] {
        let config = Config {
            concurrent_attempts_max: 1,
            pressure_idle_ms: 10,
            pressure_silent_ms: 20,
            ..Config::default()
        };
        let (mut bench, mut service) = Bench::with(config, version, BIDI).await;
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(bench.invoker.clone().run(shutdown.clone()));
        // Version 6 has no words for the hint and for the suspension of the small service, so it
        // is only seen to be asked.
        let _caller = bench.begin(1, if version == Version::V7 { "sleep" } else { "hang" });
        bench.wait(2, 1, "echo");
        assert_eq!(service.end().await, Seen::HalfClose);
        if version == Version::V7 {
            assert!(matches!(bench.end().await.1, AttemptEnd::Suspended(_)));
            drop(bench.freed(2).await);
        } else {
            drop(_caller);
        }
        shutdown.cancel();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn shutdown_suspends_and_then_cuts_off() {
    let config = Config { drain_ms: 50, ..Config::default() };
    let (mut bench, mut service) = Bench::with(config, Version::V7, BIDI).await;
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(bench.invoker.clone().run(shutdown.clone()));
    let _sleeper = bench.begin(1, "sleep");
    bench.said().await;
    let _hanging = bench.begin(2, "hang");
    until(|| service.server.connections() > 0 && bench.invoker.view().list().len() == 2).await;
    shutdown.cancel();
    running.await.unwrap();
    assert!(matches!(bench.end().await.1, AttemptEnd::Suspended(_)));
    assert!(bench.said.try_recv().is_err());
    bench.wait(3, 1, "echo");
    assert_eq!(bench.invoker.standings().waiting, 0);
    service.end().await;
    bench.quiet().await;
}
