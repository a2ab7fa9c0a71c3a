//! A store that the real machine has filled.

use crate::query::{
    Attempt, Delivery, Live, Query, Waits,
    model::{Limits, Places},
};
use crate::store::{Batch, Durability, Sequence, Store, memory::Memory};
use bytes::Bytes;
use holdfast_machine::{
    apply::{Here, apply},
    command::{AttemptEnd, AttemptSaid, Command, Failed, Reaction, Said},
    id::{DeploymentId, InvocationId, PartitionId, PartitionKey, Partitions},
    kv::{Kv, Txn},
    model::{
        AttemptFailure, Awaiting, Callee, Combinator, FailuresWanted, NewInvocation, NoticesWanted,
        Pin, RelatedCommand, Retention, SignalName, Source, Target,
    },
    retry::RetryPolicy,
    time::Timestamp,
};
use holdfast_wire::{
    manifest::HandlerType as Ty,
    message::{MessageType, pb},
    version::Version,
};
use prost::Message;
use std::{sync::Arc, time::Duration};

const PARTITIONS: Partitions = Partitions(1);
const HERE: Here = Here {
    notices: NoticesWanted { paused: true, failed: FailuresWanted::All },
    ..Here::new(PartitionId(0), PARTITIONS)
};
pub(in crate::query) const BOUND: DeploymentId = DeploymentId(7);
/// 2027-01-15T08:00:00Z
const START: Timestamp = Timestamp(1_800_000_000_000);

/// The attempts of these run.
struct These(Vec<InvocationId>);

impl Live for These {
    fn attempt(&self, invocation: InvocationId) -> Option<Attempt> {
        let running = self.0.contains(&invocation);
        running.then_some(Attempt { number: 1, started_at: START, deployment: None })
    }

    fn waits(&self, _: InvocationId) -> Option<Waits> {
        let limit = Some("Svc/run".into());
        (!self.0.is_empty()).then_some(Waits { limit, running: 5, concurrency: 5 })
    }

    fn ahead(&self, _: InvocationId) -> Option<usize> {
        Some(12)
    }

    fn limits(&self) -> Limits {
        Limits { attempts: Places::new(5, (self.0.len(), 0), None), limits: vec![] }
    }

    /// The first notice was tried.
    fn delivery(&self, _: PartitionId, sequence: u64) -> Option<Delivery> {
        let (last_error, next_try_at) = ("nobody is there".into(), START);
        (sequence == 1).then_some(Delivery { tries: 2, last_error, next_try_at })
    }
}

/// A store, and the commands that made it.
pub(in crate::query) struct World {
    store: Memory,
    lease: crate::store::Lease,
    now: Timestamp,
}

impl World {
    pub(in crate::query) fn new() -> World {
        let store = Memory::new(PARTITIONS);
        let lease = store.acquire(HERE.partition).unwrap();
        World { store, lease, now: START }
    }

    pub(in crate::query) fn apply(&mut self, command: Command) {
        self.now = self.now.plus(Duration::from_secs(1));
        let mut txn = Txn::new(&self.store as &dyn Kv);
        apply(&mut txn, HERE, self.now, command).unwrap();
        self.lease.applied = Sequence(self.lease.applied.0 + 1);
        let batch = Batch {
            fence: self.lease.fence,
            sequence: self.lease.applied,
            writes: txn.into_writes(),
            durability: Durability::Sync,
        };
        self.store.commit(&batch).unwrap();
    }

    pub(in crate::query) fn invoke(
        &mut self,
        number: u8,
        target: Target,
        start_at: Option<Timestamp>,
    ) -> InvocationId {
        let id = id(number, &target);
        self.apply(Command::Invoke(Box::new(NewInvocation {
            id,
            target,
            argument: Bytes::from_static(b"\"in\""),
            headers: vec![("authorization".into(), "secret".into()), ("x-a".into(), "b".into())],
            idempotency_key: None,
            source: Source::Ingress,
            root: id,
            start_at,
            retention: Retention {
                completion: Duration::from_secs(60),
                journal: Duration::from_secs(60),
            },
            lazy_state: false,
            random_seed: 1,
        })));
        id
    }

    pub(in crate::query) fn say(
        &mut self,
        invocation: InvocationId,
        said: Vec<Said>,
        end: Option<AttemptEnd>,
    ) {
        let pin = Some(Pin { deployment: BOUND, version: Version::V6 });
        self.apply(Command::Attempt(Box::new(AttemptSaid {
            invocation,
            attempt: 1,
            pin,
            said,
            end,
        })));
    }

    pub(in crate::query) fn query(self, running: &[InvocationId]) -> Query {
        let (store, live) = self.parts(running);
        Query::new(store, live)
    }

    pub(in crate::query) fn parts(
        self,
        running: &[InvocationId],
    ) -> (Arc<dyn Store>, Arc<dyn Live>) {
        (Arc::new(self.store), Arc::new(These(running.into())))
    }
}

pub(in crate::query) fn id(number: u8, target: &Target) -> InvocationId {
    let partition_key = PartitionKey::of_key(target.key.as_deref().unwrap_or_default());
    InvocationId { partition_key, uuid: number.into() }
}

pub(in crate::query) fn service(handler: &str) -> Target {
    Target { service: "Svc".into(), key: None, handler: handler.into(), ty: Ty::Service }
}

pub(in crate::query) fn object(handler: &str) -> Target {
    let key = Some("k".to_owned());
    Target { service: "Obj".into(), key, handler: handler.into(), ty: Ty::Exclusive }
}

pub(in crate::query) fn command(ty: MessageType, message: &impl Message) -> Said {
    Said::Command { ty, payload: message.encode_to_vec().into(), callee: None::<Callee> }
}

fn output(text: &'static str) -> Said {
    let value = pb::Value { content: Bytes::from_static(text.as_bytes()) };
    let result = Some(pb::output_command::Result::Value(value));
    command(MessageType::OUTPUT, &pb::OutputCommand { name: String::new(), result })
}

fn failed(message: &str) -> AttemptEnd {
    failed_with(AttemptFailure {
        code: 500,
        message: message.into(),
        stacktrace: "at charge".into(),
        doc_code: Some("HF0071".into()),
        related: None,
    })
}

fn failed_with(failure: AttemptFailure) -> AttemptEnd {
    AttemptEnd::Failed(Box::new(Failed {
        failure,
        reaction: Reaction::Retry,
        policy: RetryPolicy::default(),
        jitter: 0,
        counts_for_entry: true,
    }))
}

/// One of each status.
pub(in crate::query) fn world() -> (World, Vec<InvocationId>) {
    let mut world = World::new();
    let running = world.invoke(1, service("running"), None);
    world.invoke(2, service("ready"), None);
    world.invoke(3, service("later"), Some(START.plus(Duration::from_secs(3600))));
    world.invoke(4, object("holds"), None);
    world.invoke(5, object("queued"), None);
    let failing = world.invoke(6, service("failing"), None);
    world.say(failing, vec![], Some(failed("no route to bank")));
    let waiting = world.invoke(7, service("waiting"), None);
    suspend(&mut world, waiting);
    let done = world.invoke(8, service("done"), None);
    world.say(done, vec![output("\"out\"")], Some(AttemptEnd::Completed));
    let paused = world.invoke(9, service("paused"), None);
    world.say(paused, vec![], Some(failed("no")));
    world.apply(Command::Pause { invocation: paused });
    (world, vec![running])
}

/// One whose handler sets another state now than is recorded.
pub(in crate::query) fn drifted() -> (World, InvocationId) {
    let mut world = World::new();
    let drifted = world.invoke(1, object("drifts"), None);
    let set = pb::SetStateCommand {
        key: Bytes::from_static(b"a"),
        value: Some(pb::Value { content: Bytes::from_static(b"\"secret\"") }),
        name: String::new(),
    };
    let failure = AttemptFailure {
        code: 570,
        message: "Found a mismatch\n   key: 'a' != 'b'\n   value: '\"secret\"' != '2'".into(),
        stacktrace: String::new(),
        doc_code: Some("HF0094".into()),
        related: Some(RelatedCommand {
            index: Some(1),
            name: None,
            ty: Some(MessageType::SET_STATE),
        }),
    };
    let said = vec![command(MessageType::SET_STATE, &set)];
    world.say(drifted, said, Some(failed_with(failure)));
    (world, drifted)
}

fn suspend(world: &mut World, invocation: InvocationId) {
    let run = pb::RunCommand { result_completion_id: 1, name: "charge".into() };
    let wake_up_time = START.0 + 86_400_000;
    let sleep = pb::SleepCommand { wake_up_time, result_completion_id: 2, name: "a day".into() };
    let result = pb::Notification::completion(
        1,
        pb::notification::Result::value(Bytes::from_static(b"\xff\xfe")),
    );
    let awaiting = Awaiting {
        combinator: Combinator::FirstCompleted,
        completions: vec![2],
        signals: vec![SignalName::Index(1), SignalName::Index(17)],
        nested: vec![],
    };
    let said = vec![
        command(MessageType::RUN, &run),
        Said::RunCompletion { completion: 1, payload: result.encode_to_vec().into() },
        command(MessageType::SLEEP, &sleep),
    ];
    world.say(invocation, said, Some(AttemptEnd::Suspended(awaiting)));
}
