//! Views over what the real machine wrote, as text.

use super::{Attempt, Delivery, Filter, Live, Order, Query, Waits, model::*};
use crate::store::{Batch, Durability, Sequence, Store, memory::Memory};
use bytes::Bytes;
use expect_test::{Expect, expect};
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
const BOUND: DeploymentId = DeploymentId(7);
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
pub(super) struct World {
    store: Memory,
    lease: crate::store::Lease,
    now: Timestamp,
}

impl World {
    fn new() -> World {
        let store = Memory::new(PARTITIONS);
        let lease = store.acquire(HERE.partition).unwrap();
        World { store, lease, now: START }
    }

    pub(super) fn apply(&mut self, command: Command) {
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

    fn invoke(&mut self, number: u8, target: Target, start_at: Option<Timestamp>) -> InvocationId {
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

    pub(super) fn say(
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

    fn query(self, running: &[InvocationId]) -> Query {
        let (store, live) = self.parts(running);
        Query::new(store, live)
    }

    pub(super) fn parts(self, running: &[InvocationId]) -> (Arc<dyn Store>, Arc<dyn Live>) {
        (Arc::new(self.store), Arc::new(These(running.into())))
    }
}

pub(super) fn id(number: u8, target: &Target) -> InvocationId {
    let partition_key = PartitionKey::of_key(target.key.as_deref().unwrap_or_default());
    InvocationId { partition_key, uuid: number.into() }
}

fn service(handler: &str) -> Target {
    Target { service: "Svc".into(), key: None, handler: handler.into(), ty: Ty::Service }
}

pub(super) fn object(handler: &str) -> Target {
    let key = Some("k".to_owned());
    Target { service: "Obj".into(), key, handler: handler.into(), ty: Ty::Exclusive }
}

pub(super) fn command(ty: MessageType, message: &impl Message) -> Said {
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
pub(super) fn world() -> (World, Vec<InvocationId>) {
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
pub(super) fn drifted() -> (World, InvocationId) {
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

fn everything(limit: usize) -> Filter {
    Filter {
        statuses: Status::ALL.into(),
        service: None,
        handler: None,
        key: None,
        deployment: None,
        pinned_beside: None,
        keyed: false,
        failed: false,
        order: Order::Newest,
        limit,
    }
}

fn lines(list: &Invocations) -> String {
    let line = |it: &Invocation| {
        let waits = it.waits_for.as_deref().unwrap_or("-");
        format!("{} {} | {waits}\n", it.target, it.status.as_str())
    };
    let more = if list.more { "…\n" } else { "" };
    list.invocations.iter().map(line).collect::<String>() + more
}

async fn check(filter: Filter, expected: Expect) {
    let (world, running) = world();
    let list = world.query(&running).list(filter).await.unwrap();
    expected.assert_eq(&lines(&list));
}

#[tokio::test]
async fn every_status_says_what_it_waits_for() {
    check(
        everything(100),
        expect![[r#"
            Svc/paused paused | a person to resume it, after: no
            Svc/done completed | -
            Svc/waiting suspended | completion 2, an awakeable (signal 17)
            Svc/failing backing-off | attempt 2 at 2027-01-15T08:00:07.503Z, after: no route to bank
            Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
            Obj/k/holds ready | a place: limit Svc/run (5 of 5 running)
            Svc/later scheduled | its start time, 2027-01-15T09:00:00.000Z
            Svc/ready ready | a place: limit Svc/run (5 of 5 running)
            Svc/running running | -
        "#]],
    )
    .await;
}

#[tokio::test]
async fn filters_narrow_and_the_limit_keeps_the_newest() {
    check(
        everything(2),
        expect![[r#"
        Svc/paused paused | a person to resume it, after: no
        Svc/done completed | -
        …
    "#]],
    )
    .await;
    let bound = Filter { deployment: Some(BOUND), ..everything(100) };
    check(
        bound,
        expect![[r#"
        Svc/done completed | -
        Svc/waiting suspended | completion 2, an awakeable (signal 17)
    "#]],
    )
    .await;
    let queued = Filter { key: Some("k".into()), handler: Some("queued".into()), ..everything(9) };
    check(
        queued,
        expect![[r#"
        Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
    "#]],
    )
    .await;
    let paused = Filter { statuses: vec![Status::Paused], ..everything(9) };
    check(
        paused,
        expect![[r#"
        Svc/paused paused | a person to resume it, after: no
    "#]],
    )
    .await;
    let none = Filter { service: Some("Nope".into()), ..everything(9) };
    check(none, expect![[""]]).await;
}

#[tokio::test]
async fn what_is_odd_is_found() {
    let oldest = Filter { order: Order::Oldest, ..everything(2) };
    check(
        oldest,
        expect![[r#"
        Svc/running running | -
        Svc/ready ready | a place: limit Svc/run (5 of 5 running)
        …
    "#]],
    )
    .await;
    let keyed = Filter { keyed: true, ..everything(9) };
    check(
        keyed,
        expect![[r#"
        Obj/k/queued pending | the lock of Obj/k, held by inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4
        Obj/k/holds ready | a place: limit Svc/run (5 of 5 running)
    "#]],
    )
    .await;
    let failed = Filter { failed: true, ..everything(9) };
    check(failed, expect![]).await;
    let zombies = Filter { pinned_beside: Some([].into()), ..everything(9) };
    check(
        zombies,
        expect![[r#"
        Svc/done completed | -
        Svc/waiting suspended | completion 2, an awakeable (signal 17)
    "#]],
    )
    .await;
    let none = Filter { pinned_beside: Some([BOUND].into()), ..everything(9) };
    check(none, expect![[""]]).await;
}

async fn described(number: u8, handler: &str) -> String {
    let (world, running) = world();
    let id = id(number, &service(handler));
    let detail = world.query(&running).describe(id).await.unwrap().unwrap();
    serde_json::to_string_pretty(&detail).unwrap()
}

#[tokio::test]
async fn a_suspended_one_shows_its_journal() {
    expect![[r#"
        {
          "id": "inv_141kvpM925260dcWFx8PYDagweFaxtvbBC",
          "target": "Svc/waiting",
          "service": "Svc",
          "handler": "waiting",
          "handler_type": "service",
          "status": "suspended",
          "waits_for": "Sleep a day until 2027-01-16T08:00:00.000Z (completion 2), an awakeable (signal 17)",
          "created_at": "2027-01-15T08:00:08.000Z",
          "modified_at": "2027-01-15T08:00:09.000Z",
          "deployment": "dp_10dcWFx8PYDagweFaxtvbBC",
          "protocol_version": 6,
          "attempt": 1,
          "failed_attempts": 0,
          "invoked_by": {
            "kind": "ingress"
          },
          "root": "inv_141kvpM925260dcWFx8PYDagweFaxtvbBC",
          "journal_entries": 4,
          "completion_retention_ms": 60000,
          "journal_retention_ms": 60000,
          "awaiting": [
            {
              "kind": "completion",
              "id": "2",
              "what": "Sleep a day until 2027-01-16T08:00:00.000Z"
            },
            {
              "kind": "signal",
              "id": "1",
              "what": "a cancellation"
            },
            {
              "kind": "signal",
              "id": "17",
              "what": "an awakeable"
            }
          ],
          "journal": [
            {
              "index": 0,
              "class": "command",
              "kind": "Input",
              "details": {
                "header authorization": "(hidden)",
                "header x-a": "b"
              },
              "value": {
                "bytes": 4,
                "text": "\"in\""
              },
              "appended_at": "2027-01-15T08:00:08.000Z"
            },
            {
              "index": 1,
              "class": "command",
              "kind": "Run",
              "name": "charge",
              "completions": [
                1
              ],
              "completed": true,
              "appended_at": "2027-01-15T08:00:09.000Z"
            },
            {
              "index": 2,
              "class": "notification",
              "kind": "Run",
              "completions": [
                1
              ],
              "value": {
                "bytes": 2,
                "base64": "//4="
              },
              "appended_at": "2027-01-15T08:00:09.000Z"
            },
            {
              "index": 3,
              "class": "command",
              "kind": "Sleep",
              "name": "a day",
              "completions": [
                2
              ],
              "completed": false,
              "details": {
                "until": "2027-01-16T08:00:00.000Z"
              },
              "appended_at": "2027-01-15T08:00:09.000Z"
            }
          ],
          "events": [],
          "more": false
        }"#]].assert_eq(&described(7, "waiting").await);
}

#[tokio::test]
async fn a_failing_one_shows_why() {
    expect![[r#"
        {
          "id": "inv_141kvpM925260bjX91PRpoIe9UR0aYIrF6",
          "target": "Svc/failing",
          "service": "Svc",
          "handler": "failing",
          "handler_type": "service",
          "status": "backing-off",
          "waits_for": "attempt 2 at 2027-01-15T08:00:07.503Z, after: no route to bank",
          "created_at": "2027-01-15T08:00:06.000Z",
          "modified_at": "2027-01-15T08:00:07.000Z",
          "attempt": 1,
          "failed_attempts": 1,
          "next_retry_at": "2027-01-15T08:00:07.503Z",
          "last_failure": {
            "code": 500,
            "message": "no route to bank",
            "doc_code": "HF0071",
            "stacktrace": "at charge"
          },
          "invoked_by": {
            "kind": "ingress"
          },
          "root": "inv_141kvpM925260bjX91PRpoIe9UR0aYIrF6",
          "journal_entries": 1,
          "completion_retention_ms": 60000,
          "journal_retention_ms": 60000,
          "journal": [
            {
              "index": 0,
              "class": "command",
              "kind": "Input",
              "details": {
                "header authorization": "(hidden)",
                "header x-a": "b"
              },
              "value": {
                "bytes": 4,
                "text": "\"in\""
              },
              "appended_at": "2027-01-15T08:00:06.000Z"
            }
          ],
          "events": [
            {
              "at": "2027-01-15T08:00:07.000Z",
              "last_at": "2027-01-15T08:00:07.000Z",
              "count": 1,
              "after_entry": 1,
              "kind": "attempt-failed",
              "failure": {
                "code": 500,
                "message": "no route to bank",
                "doc_code": "HF0071",
                "stacktrace": "at charge"
              }
            }
          ],
          "more": false
        }"#]]
    .assert_eq(&described(6, "failing").await);
}

#[tokio::test]
async fn a_mismatch_shows_both_sides() {
    let (world, drifted) = drifted();
    let detail = world.query(&[]).describe(drifted).await.unwrap().unwrap();
    let mismatch = serde_json::to_string_pretty(&detail.events[0].mismatch).unwrap();
    expect![[r#"
        {
          "command": 1,
          "index": 1,
          "recorded": {
            "key": "a",
            "type": "SetState",
            "value": "8 bytes, sha256 c1980264"
          },
          "received": {
            "key": "b",
            "type": "SetState",
            "value": "1 bytes, sha256 d4735e3a"
          },
          "differing": [
            "key",
            "value"
          ]
        }"#]]
    .assert_eq(&mismatch);
    let failure = detail.invocation.last_failure.unwrap();
    assert_eq!((failure.code, failure.doc_code.as_deref()), (570, Some("HF0094")));
    assert!(failure.message.contains("key: 'a' != 'b'"), "the failure has the whole text");
    let waits_for = detail.invocation.waits_for.unwrap();
    assert!(waits_for.ends_with(", after: Found a mismatch"), "a sentence: {waits_for}");
}

#[tokio::test]
async fn what_was_read_can_be_read_back() {
    let mut all = vec![];
    for (number, handler) in [(6, "failing"), (7, "waiting"), (8, "done"), (9, "paused")] {
        all.push(described(number, handler).await);
    }
    let (world, drifted) = drifted();
    let drifted = world.query(&[]).describe(drifted).await.unwrap().unwrap();
    all.push(serde_json::to_string_pretty(&drifted).unwrap());
    for json in all {
        let back: InvocationDetail = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string_pretty(&back).unwrap(), json);
    }
}

#[tokio::test]
async fn notices_are_shown_oldest_first_with_their_tries() {
    let (mut world, running) = world();
    world.apply(Command::Kill { invocation: id(9, &service("paused")) });
    let query = world.query(&running);
    let show = |notices: &Notices| {
        let shown = serde_json::to_string_pretty(notices).unwrap();
        let id = notices.notices[0].invocation.clone();
        notices
            .notices
            .iter()
            .fold(shown.replace(&id, "INV"), |shown, notice| shown.replace(&notice.id, "NTC"))
    };
    let first = query.notices(1).await.unwrap();
    expect![[r#"
        {
          "notices": [
            {
              "id": "NTC",
              "type": "invocation.paused",
              "at": "2027-01-15T08:00:14.000Z",
              "by": "operator",
              "invocation": "INV",
              "target": "Svc/paused",
              "attempts": 1,
              "failure": {
                "code": 500,
                "message": "no",
                "doc_code": "HF0071"
              },
              "tries": 2,
              "last_error": "nobody is there",
              "next_try_at": "2027-01-15T08:00:00.000Z"
            }
          ],
          "more": true
        }"#]]
    .assert_eq(&show(&first));
    let both = query.notices(2).await.unwrap();
    assert!(!both.more);
    let killed = Notices { notices: both.notices[1..].to_vec(), more: false };
    expect![[r#"
        {
          "notices": [
            {
              "id": "NTC",
              "type": "invocation.failed",
              "at": "2027-01-15T08:00:15.000Z",
              "cause": "killed",
              "invocation": "INV",
              "target": "Svc/paused",
              "attempts": 1,
              "failure": {
                "code": 409,
                "message": "killed"
              },
              "tries": 0
            }
          ],
          "more": false
        }"#]]
    .assert_eq(&show(&killed));
}

#[tokio::test]
async fn counts_leave_completed_ones_out_where_they_say_so() {
    let (world, running) = world();
    let query = world.query(&running);
    let counts = serde_json::to_string_pretty(&query.counts().await.unwrap()).unwrap();
    expect![[r#"
        {
          "total": 9,
          "by_status": {
            "pending": 1,
            "scheduled": 1,
            "ready": 2,
            "running": 1,
            "backing-off": 1,
            "suspended": 1,
            "paused": 1,
            "completed": 1
          },
          "by_service": {
            "Obj": 2,
            "Svc": 6
          },
          "by_deployment": {
            "dp_10dcWFx8PYDagweFaxtvbBC": 1
          }
        }"#]]
    .assert_eq(&counts);
    assert_eq!(query.pinned_to(BOUND).await, Ok(1));
    assert_eq!(query.pinned_to(DeploymentId(8)).await, Ok(0));
}

#[tokio::test]
async fn state_has_a_version_and_a_holder() {
    let mut world = World::new();
    let set = |key: &'static [u8], value: &'static [u8]| pb::SetStateCommand {
        key: Bytes::from_static(key),
        value: Some(pb::Value { content: Bytes::from_static(value) }),
        name: String::new(),
    };
    let holder = world.invoke(1, object("set"), None);
    world.say(holder, vec![command(MessageType::SET_STATE, &set(b"name", b"bob"))], None);
    let query = world.query(&[]);
    let state = query.state("Obj".into(), "k".into()).await.unwrap();
    assert_eq!(state.version, "tDqA04Lj3_qJ-PgNPTecXDGZgpwy6jm2Ni2BYqJIthM");
    assert_eq!(state.locked_by, Some(holder.to_string()));
    assert_eq!(state.entries[0].value.text.as_deref(), Some("bob"));
    let nobody = query.state("Obj".into(), "other".into()).await.unwrap();
    assert_eq!(nobody.version, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
}

#[test]
fn a_preview_is_cut_between_characters() {
    let long = "ä".repeat(3_000);
    let preview = super::text::preview(&long.as_bytes()[1..]);
    assert!(preview.text.is_none() && preview.base64.is_some() && preview.cut);
    let preview = super::text::preview(format!("x{long}").as_bytes());
    assert_eq!(preview.text.map(|text| text.len()), Some(4_095));
    assert_eq!((preview.bytes, preview.cut), (6_001, true));
}
