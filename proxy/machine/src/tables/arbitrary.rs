//! Any value of what the tables hold, for their tests.

use super::invocation::*;
use crate::id::{DeploymentId, InvocationId, PartitionId, PartitionKey};
use crate::model::*;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::message::MessageType;
use holdfast_wire::version::Version;
use proptest::prelude::*;
use proptest::{collection::vec, option};
use std::time::Duration;

pub fn partition() -> impl Strategy<Value = PartitionId> {
    any::<u16>().prop_map(PartitionId)
}

pub fn id() -> impl Strategy<Value = InvocationId> {
    any::<(u64, u128)>()
        .prop_map(|(key, uuid)| InvocationId { partition_key: PartitionKey(key), uuid })
}

pub fn time() -> impl Strategy<Value = Timestamp> {
    any::<u64>().prop_map(Timestamp)
}

pub fn bytes() -> impl Strategy<Value = Bytes> {
    any::<Vec<u8>>().prop_map(Bytes::from)
}

pub fn target() -> impl Strategy<Value = Target> {
    let ty = prop_oneof![
        Just(HandlerType::Service),
        Just(HandlerType::Exclusive),
        Just(HandlerType::Shared),
        Just(HandlerType::Workflow),
    ];
    (any::<(String, Option<String>, String)>(), ty)
        .prop_map(|((service, key, handler), ty)| Target { service, key, handler, ty })
}

pub fn failure() -> impl Strategy<Value = Failure> {
    any::<(u32, String, Vec<(String, String)>, String)>().prop_map(
        |(code, message, metadata, stacktrace)| Failure { code, message, metadata, stacktrace },
    )
}

pub fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![bytes().prop_map(Outcome::Success), failure().prop_map(Outcome::Failure)]
}

pub fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::Ingress),
        (id(), target()).prop_map(|(invocation, target)| Source::Service { invocation, target }),
        id().prop_map(|original| Source::RestartAsNew { original }),
        (any::<String>(), time()).prop_map(|(name, planned)| Source::Schedule { name, planned }),
    ]
}

pub fn retention() -> impl Strategy<Value = Retention> {
    any::<(u64, u64)>().prop_map(|(completion, journal)| Retention {
        completion: Duration::from_millis(completion),
        journal: Duration::from_millis(journal),
    })
}

pub fn signal_name() -> impl Strategy<Value = SignalName> {
    prop_oneof![
        any::<u32>().prop_map(SignalName::Index),
        any::<String>().prop_map(SignalName::Name)
    ]
}

pub fn signal_value() -> impl Strategy<Value = SignalValue> {
    prop_oneof![
        Just(SignalValue::Void),
        bytes().prop_map(SignalValue::Success),
        failure().prop_map(SignalValue::Failure),
    ]
}

pub fn pin() -> impl Strategy<Value = Pin> {
    let version = prop_oneof![Just(Version::V5), Just(Version::V6), Just(Version::V7)];
    (any::<u128>(), version)
        .prop_map(|(deployment, version)| Pin { deployment: DeploymentId(deployment), version })
}

pub fn awaiting() -> impl Strategy<Value = Awaiting> {
    let node = || {
        let combinator = prop_oneof![
            Just(Combinator::Unknown),
            Just(Combinator::FirstCompleted),
            Just(Combinator::AllCompleted),
            Just(Combinator::FirstSucceededOrAllFailed),
            Just(Combinator::AllSucceededOrFirstFailed),
        ];
        (combinator, vec(any::<u32>(), 0..3), vec(signal_name(), 0..3))
    };
    let leaf = node().prop_map(|(combinator, completions, signals)| Awaiting {
        combinator,
        completions,
        signals,
        nested: vec![],
    });
    leaf.prop_recursive(4, 8, 3, move |inner| {
        (node(), vec(inner, 0..3)).prop_map(|((combinator, completions, signals), nested)| {
            Awaiting { combinator, completions, signals, nested }
        })
    })
}

pub fn attempt_failure() -> impl Strategy<Value = AttemptFailure> {
    let related = any::<(Option<u32>, Option<String>, Option<u16>)>()
        .prop_map(|(index, name, ty)| RelatedCommand { index, name, ty: ty.map(MessageType) });
    (any::<(u32, String, String, Option<String>)>(), option::of(related)).prop_map(
        |((code, message, stacktrace, doc_code), related)| AttemptFailure {
            code,
            message,
            stacktrace,
            doc_code,
            related,
        },
    )
}

pub fn sink() -> impl Strategy<Value = Sink> {
    let kind = prop_oneof![
        Just(SinkKind::Call),
        Just(SinkKind::Attach),
        Just(SinkKind::Output),
        Just(SinkKind::Schedule),
    ];
    (id(), any::<u32>(), kind).prop_map(|(caller, completion, kind)| Sink {
        caller,
        completion,
        kind,
    })
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        time().prop_map(|start_at| Status::Scheduled { start_at }),
        any::<u64>().prop_map(|sequence| Status::Inboxed { sequence }),
        Just(Status::Running),
        time().prop_map(|until| Status::BackingOff { until }),
        awaiting().prop_map(|awaiting| Status::Suspended { awaiting }),
        Just(Status::Paused),
        outcome().prop_map(|outcome| Status::Completed { outcome }),
    ]
}

fn times() -> impl Strategy<Value = Times> {
    let some = || option::of(time());
    (time(), time(), some(), some(), some(), some(), some()).prop_map(
        |(created, modified, scheduled, inboxed, running, completed, start_at)| Times {
            created,
            modified,
            scheduled,
            inboxed,
            running,
            completed,
            start_at,
        },
    )
}

fn journal() -> impl Strategy<Value = JournalSummary> {
    any::<((u32, u32, Option<u32>, u32), (u32, u32, u32, bool, u64), (u32, u64))>().prop_map(
        |(
            (length, commands, output, calls),
            (sleeping, runs, replayed, purged, stored_at),
            (left, bytes),
        )| {
            let stored_at = Timestamp(stored_at);
            JournalSummary {
                length,
                commands,
                output,
                calls,
                sleeping,
                runs,
                replayed,
                purged,
                stored_at,
                left,
                bytes,
            }
        },
    )
}

fn retries() -> impl Strategy<Value = Retries> {
    (any::<(u32, u32)>(), option::of(attempt_failure())).prop_map(
        |((failures_in_row, since_last_stored_entry), last_failure)| Retries {
            failures_in_row,
            since_last_stored_entry,
            last_failure,
        },
    )
}

pub fn record() -> impl Strategy<Value = Record> {
    let who = (target(), status(), source(), id(), any::<Option<String>>());
    let how = (retention(), any::<(bool, u64)>(), option::of(pin()), vec(sink(), 0..3));
    let now = (any::<(u32, bool, u32, u32)>(), journal(), retries(), times());
    (who, how, now).prop_map(|(who, how, now)| {
        let (target, status, source, root, idempotency_key) = who;
        let (retention, (lazy_state, random_seed), pin, sinks) = how;
        let ((attempt, pause_wanted, first, next), journal, retries, times) = now;
        let events = Span { first, next };
        Record {
            target,
            status,
            source,
            root,
            idempotency_key,
            retention,
            lazy_state,
            random_seed,
            pin,
            sinks,
            attempt,
            pause_wanted,
            journal,
            retries,
            events,
            times,
        }
    })
}
