//! Partitions over a store in memory, with the real machine and hands that only take note.

use crate::clock::Manual;
use crate::partition::{
    Admission, Admitted, Config, Handle, Hands, Metrics, News, Place, Places, Router, Running,
    Waited, start,
};
use crate::store::memory::Memory;
use crate::telemetry;
use bytes::Bytes;
use holdfast_machine::{
    command::{AttemptEnd, AttemptSaid, Command, Said},
    id::{DeploymentId, InvocationId, PartitionKey, Partitions},
    model::*,
    time::Timestamp,
};
use holdfast_wire::{
    manifest::HandlerType,
    message::{MessageType, pb},
    version::Version,
};
use prost::Message;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::{Mutex, mpsc};

/// Places that hands have at first: more than any test takes.
pub(super) const PLACES: usize = 1_000_000;
/// The object key of whose invocations hands want to know the target.
pub(super) const ASKED_KEY: &str = "asked";
pub(super) const NOW: Timestamp = Timestamp(1_000_000);

/// A process: everything in it but the store is gone after `crash`.
pub(super) struct Bench {
    pub store: Arc<Memory>,
    pub clock: Arc<Manual>,
    pub router: Router,
    pub telemetry: telemetry::Metrics,
    pub running: Running,
    pub places: Arc<Free>,
    /// What is registered for `Greeter/run`.
    pub registered: Registered,
    /// The thread that took the turn of the latest attempt.
    pub started_on: StartedOn,
    done: mpsc::UnboundedReceiver<Done>,
    /// Attempts that a test has not asked for yet.
    started: Mutex<HashMap<InvocationId, Admitted>>,
}

pub(super) type StartedOn = Arc<std::sync::Mutex<Option<std::thread::ThreadId>>>;

pub(super) type Registered = Arc<std::sync::Mutex<Option<Callee>>>;

/// What hands were told to do.
pub(super) enum Done {
    Refused(InvocationId, u32),
    Started(Box<Admitted>),
    Withdrawn(InvocationId, u32),
}

struct Notes {
    places: Arc<Free>,
    registered: Registered,
    started_on: StartedOn,
    done: mpsc::UnboundedSender<Done>,
}

/// How many places are free.
pub(super) struct Free(pub AtomicUsize);

impl Places for Free {
    fn give_back(&self, _: u64) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Hands for Notes {
    /// Wants to know the target of objects only.
    fn admit(&self, invocation: InvocationId, attempt: u32, target: Option<&Target>) -> Admission {
        if target.is_none() && invocation.partition_key == PartitionKey::of_key(ASKED_KEY) {
            return Admission::WhichTarget;
        }
        assert!(target.is_none_or(|target| target.key.as_deref() == Some(ASKED_KEY)));
        let take = |places: usize| places.checked_sub(1);
        if self.places.0.fetch_update(SeqCst, SeqCst, take).is_ok() {
            return Admission::Admitted(Place::new(self.places.clone(), 0));
        }
        let _ = self.done.send(Done::Refused(invocation, attempt));
        Admission::Waits
    }

    fn start(&self, attempt: Admitted) {
        *self.started_on.lock().unwrap() = Some(std::thread::current().id());
        let _ = self.done.send(Done::Started(Box::new(attempt)));
    }

    fn withdraw(&self, invocation: InvocationId, attempt: u32) -> bool {
        let _ = self.done.send(Done::Withdrawn(invocation, attempt));
        true
    }

    fn callee(&self, service: &str, handler: &str) -> Option<Callee> {
        let registered = self.registered.lock().unwrap().clone();
        registered.filter(|_| (service, handler) == ("Greeter", "run"))
    }
}

impl Bench {
    pub(super) fn new(partitions: u16) -> Self {
        Bench::with(Memory::new(Partitions(partitions)), Config::default())
    }

    pub(super) fn with(store: Memory, config: Config) -> Self {
        let (store, clock) = (Arc::new(store), Arc::new(Manual::new(NOW)));
        let telemetry = telemetry::Metrics::new();
        let metrics = Metrics::new(&telemetry);
        let (router, waiting) =
            start(config, store.clone(), clock.clone(), metrics).expect("a store in memory");
        let (sender, done) = mpsc::unbounded_channel();
        let places = Arc::new(Free(AtomicUsize::new(PLACES)));
        let registered = Registered::default();
        let started_on = StartedOn::default();
        let notes = Notes {
            places: places.clone(),
            registered: registered.clone(),
            started_on: started_on.clone(),
            done: sender,
        };
        let hands = Arc::new(notes);
        let running = waiting.run(hands).unwrap();
        let started = Mutex::default();
        Bench {
            store,
            clock,
            router,
            telemetry,
            running,
            places,
            registered,
            started_on,
            done,
            started,
        }
    }

    /// Ends the process without a goodbye and starts another on the same store.
    pub(super) fn crash(self) -> Self {
        let store = self.store.reopen().unwrap();
        Bench::with(store, Config::default())
    }

    pub(super) async fn done(&mut self) -> Done {
        let patience = Duration::from_secs(20);
        let done = tokio::time::timeout(patience, self.done.recv()).await;
        done.expect("hands had nothing to do for too long").expect("hands live with the bench")
    }

    /// The next attempt of `invocation`.
    pub(super) async fn attempt(&mut self, invocation: InvocationId) -> Admitted {
        loop {
            if let Some(attempt) = self.started.lock().await.remove(&invocation) {
                return attempt;
            }
            if let Done::Started(attempt) = self.done().await {
                self.started.lock().await.insert(attempt.start.invocation, *attempt);
            }
        }
    }

    pub(super) fn nothing_done(&mut self) -> bool {
        self.done.try_recv().is_err()
    }

    pub(super) fn of(&self, new: &NewInvocation) -> Handle {
        self.router.of(new.id).clone()
    }

    /// Calls and waits, in a task of its own.
    pub(super) fn call(
        &self,
        new: &NewInvocation,
    ) -> tokio::task::JoinHandle<Result<Waited, crate::partition::Unavailable>> {
        let (handle, command) = (self.of(new), Command::Invoke(Box::new(new.clone())));
        tokio::spawn(async move { handle.wait(command, |_| {}).await })
    }
}

pub(super) fn service(number: u128) -> NewInvocation {
    invocation(InvocationId::random("Greeter", None, NOW.0, number), None, HandlerType::Service)
}

pub(super) fn object(key: &str, number: u128) -> NewInvocation {
    let id = InvocationId::random("Counter", Some(key), NOW.0, number);
    invocation(id, Some(key), HandlerType::Exclusive)
}

fn invocation(id: InvocationId, key: Option<&str>, ty: HandlerType) -> NewInvocation {
    let service = if key.is_some() { "Counter" } else { "Greeter" }.to_owned();
    let key = key.map(str::to_owned);
    let day = Duration::from_secs(86_400);
    NewInvocation {
        id,
        target: Target { service, key, handler: "run".to_owned(), ty },
        argument: Bytes::from_static(b"in"),
        headers: Vec::new(),
        idempotency_key: None,
        source: Source::Ingress,
        root: id,
        start_at: None,
        retention: Retention { completion: day, journal: day },
        lazy_state: false,
        random_seed: 1,
    }
}

/// What attempts of tests say.
pub(super) trait Say {
    fn say(&self, said: Vec<Said>, end: Option<AttemptEnd>);

    /// The handler returns `output`.
    fn complete(&self, output: &'static str) {
        self.say(vec![output_of(output)], Some(AttemptEnd::Completed));
    }
}

impl Say for Admitted {
    fn say(&self, said: Vec<Said>, end: Option<AttemptEnd>) {
        let (invocation, attempt) = (self.start.invocation, self.start.attempt);
        let pin = Some(Pin { deployment: DeploymentId(1), version: Version::V5 });
        self.partition.say(AttemptSaid { invocation, attempt, pin, said, end });
    }
}

fn output_of(output: &'static str) -> Said {
    let content = Bytes::from_static(output.as_bytes());
    let result = Some(pb::output_command::Result::Value(pb::Value { content }));
    command(MessageType::OUTPUT, &pb::OutputCommand { result, ..Default::default() }, None)
}

pub(super) fn sleep_until(due: Timestamp) -> Said {
    let sleep =
        pb::SleepCommand { wake_up_time: due.0, result_completion_id: 1, ..Default::default() };
    command(MessageType::SLEEP, &sleep, None)
}

/// A call of the object `Counter` at `key`.
pub(super) fn call_of(key: &str) -> Said {
    let call = pb::CallCommand {
        service_name: "Counter".to_owned(),
        handler_name: "run".to_owned(),
        key: key.to_owned(),
        invocation_id_notification_idx: 1,
        result_completion_id: 2,
        ..Default::default()
    };
    let callee = Callee {
        ty: HandlerType::Exclusive,
        retention: Retention::default(),
        idempotent_retention: Retention::default(),
        lazy_state: false,
    };
    command(MessageType::CALL, &call, Some(callee))
}

fn command(ty: MessageType, message: &impl Message, callee: Option<Callee>) -> Said {
    Said::Command { ty, payload: message.encode_to_vec().into(), callee }
}

/// The next thing an attempt hears.
pub(super) async fn heard(attempt: &mut Admitted) -> Option<News> {
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, attempt.news.recv()).await.expect("no news for too long")
}

pub(super) fn success(output: &'static str) -> Outcome {
    Outcome::Success(Bytes::from_static(output.as_bytes()))
}

pub(super) fn outcome(waited: Waited) -> Outcome {
    match waited {
        Waited::Ended(ended) => ended.outcome,
        Waited::Reply(reply) => panic!("expected an outcome, not {reply:?}"),
    }
}
