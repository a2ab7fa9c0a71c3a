//! Any value of what the tables hold, for their tests.

use super::invocation::*;
use super::task::Task;
use crate::ask::{Action, Ask, AskKind, Asks, Closed, Closing, Form};
use crate::id::{AskId, DeploymentId, InvocationId, PartitionId, PartitionKey};
use crate::model::*;
use crate::task::{Artifact, Ended, Event, Message, Progress, State, Taken, What};
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
    let asked = any::<(bool, bool, u16, u16)>();
    (who, how, now, asked).prop_map(|(who, how, now, (is_task, asked, input, auth))| {
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
            is_task,
            asks: Asks {
                opened: u32::from(input) + u32::from(auth),
                input: input.into(),
                auth: auth.into(),
                left: auth.into(),
            },
            asked,
        }
    })
}

fn failed_by() -> impl Strategy<Value = FailedBy> {
    proptest::sample::select(vec![
        FailedBy::Handler,
        FailedBy::Retries,
        FailedBy::Service,
        FailedBy::Kill,
        FailedBy::Cancel,
        FailedBy::Endless,
    ])
}

fn action() -> impl Strategy<Value = Action> {
    proptest::sample::select(vec![Action::Accept, Action::Decline, Action::Cancel])
}

fn closed() -> impl Strategy<Value = Closed> {
    let how = [Closing::Answered, Closing::Expired, Closing::Withdrawn];
    let how = proptest::sample::select(how.to_vec());
    (time(), how, action(), any::<Option<String>>(), bytes())
        .prop_map(|(at, how, action, by, content)| Closed { at, how, action, by, content })
}

/// Forms of every kind of field.
fn form() -> impl Strategy<Value = Form> {
    let schemas = [
        "true",
        r#"{"type":"null"}"#,
        r#"{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1,"pattern":"^x"}},
            "additionalProperties":false}"#,
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1,"title":"N"},
            "c":{"oneOf":[{"const":"x","title":"X"},{"const":"y"}]},
            "m":{"type":"array","items":{"enum":["p","q"]},"maxItems":2},"w":{}},"required":["n"],
            "additionalProperties":{"type":"string","format":"date"}}"#,
    ];
    proptest::sample::select(schemas.to_vec())
        .prop_map(|schema| Form::read(Some(&serde_json::from_str(schema).unwrap())).unwrap())
}

pub fn ask() -> impl Strategy<Value = Ask> {
    let who = (id(), 1u32.., id(), id(), target());
    let kind = prop_oneof![Just(AskKind::Input), Just(AskKind::Auth)];
    let what = (kind, any::<(String, Option<String>, Option<String>, bool)>(), form());
    let when = (time(), option::of(time()), option::of(sink()), option::of(closed()));
    (who, what, when).prop_map(|(who, what, when)| {
        let (id, number, root, caller, asked_by) = who;
        let (kind, (message, to, url, whole_message), form) = what;
        let (opened_at, expires_at, sink, closed) = when;
        Ask {
            id: AskId::of(id),
            number,
            root,
            caller,
            asked_by,
            kind,
            message,
            form,
            to,
            url,
            opened_at,
            expires_at,
            whole_message,
            sink,
            closed,
        }
    })
}

pub fn progress() -> impl Strategy<Value = Progress> {
    let numbers = || option::of(-1e9..1e9f64);
    (any::<String>(), numbers(), numbers(), time())
        .prop_map(|(message, progress, total, at)| Progress { message, progress, total, at })
}

pub fn artifact() -> impl Strategy<Value = Artifact> {
    (bytes(), any::<(bool, bool)>()).prop_map(|(artifact, (append, last))| Artifact {
        artifact,
        append,
        last,
    })
}

fn message() -> impl Strategy<Value = Message> {
    let texts = any::<(String, Option<String>, Option<String>)>();
    (texts, bytes(), action(), option::of(bytes())).prop_map(
        |((id, text, by), body, action, content)| Message { id, body, action, content, text, by },
    )
}

pub fn state() -> impl Strategy<Value = State> {
    proptest::sample::select(State::ALL.to_vec())
}

pub fn event() -> impl Strategy<Value = Event> {
    let what = prop_oneof![
        Just(What::State),
        progress().prop_map(What::Progress),
        artifact().prop_map(What::Artifact),
        ask().prop_map(|ask| What::Asked(Box::new(ask))),
        (any::<u32>(), closed()).prop_map(|(number, closed)| What::Answered { number, closed }),
        (message(), any::<(Option<u32>, bool)>()).prop_map(|(message, (answers, waiting))| {
            What::Message(Taken { message, answers, waiting })
        }),
        any::<(String, u32, String)>().prop_map(|(message, number, why)| What::NotTaken {
            message,
            number,
            why
        }),
        (outcome(), option::of(failed_by()))
            .prop_map(|(outcome, by)| What::Ended(Ended { outcome, by })),
    ];
    (1u64.., time(), state(), what).prop_map(|(sequence, at, state, what)| Event {
        sequence,
        at,
        state,
        what,
    })
}

pub fn task() -> impl Strategy<Value = Task> {
    let who = any::<(u128, String, String, String)>();
    let kept = (bytes(), bytes(), state(), option::of(progress()), option::of(failed_by()));
    (who, kept, any::<(u64, u64, bool, Vec<u64>, u32, u64)>()).prop_map(|(who, kept, rest)| {
        let (secret, principal, context, door) = who;
        let (meta, digest, state, progress, failed_by) = kept;
        let (next, updated, cancel_wanted, waiting, pushes, feed_bytes) = rest;
        let updated = Timestamp(updated);
        Task {
            secret,
            principal,
            context,
            door,
            meta,
            digest,
            state,
            next,
            updated,
            progress,
            cancel_wanted,
            waiting,
            failed_by,
            feed_bytes,
            pushes,
        }
    })
}
