//! From rows to what people see: statuses, reasons, failures. Pure.

use super::{
    Delivery, Waits, journal,
    model::{
        self, Awaited, Caller, Event, Failure, HandlerType, Invocation, Mismatch, Outcome,
        RelatedCommand, Status,
    },
    text::{preview, rfc3339},
};
use holdfast_machine::{
    describe,
    id::{InvocationId, NoticeId},
    model::{self as machine, AttemptFailure, Awaiting, Entry, SignalName, Source, Target},
    tables::{
        event::{self, EventKind},
        invocation::Record,
        notice::{Notice, What},
    },
};
use holdfast_wire::{manifest, message::CANCEL_SIGNAL_INDEX};
use std::time::Duration;

/// What is not in the row of an invocation that keeps it from running.
#[derive(Debug, Default)]
pub(super) struct HeldUp {
    /// Who holds its key.
    pub holder: Option<InvocationId>,
    /// What it waits for to get a place.
    pub place: Option<Waits>,
    /// How many wait for the same place and came before; where that was counted.
    pub ahead: Option<usize>,
}

pub(super) fn status(status: &machine::Status, live: bool) -> Status {
    match status {
        machine::Status::Scheduled { .. } => Status::Scheduled,
        machine::Status::Inboxed { .. } => Status::Pending,
        machine::Status::Running if live => Status::Running,
        machine::Status::Running => Status::Ready,
        machine::Status::BackingOff { .. } => Status::BackingOff,
        machine::Status::Suspended { .. } => Status::Suspended,
        machine::Status::Paused => Status::Paused,
        machine::Status::Completed { .. } => Status::Completed,
    }
}

/// As existing tools tell it: what failed is backing off until an attempt is under way again, also
/// in the moments in which one has just ended or is about to begin.
pub(super) fn status_of_attempts(
    status: &machine::Status,
    live: bool,
    failures_in_row: u32,
) -> Status {
    match self::status(status, live) {
        Status::Ready if failures_in_row > 0 => Status::BackingOff,
        status => status,
    }
}

pub(super) fn invocation(
    id: InvocationId,
    record: &Record,
    status: Status,
    held_up: HeldUp,
) -> Invocation {
    let times = &record.times;
    let next_retry_at = match record.status {
        machine::Status::BackingOff { until } => Some(rfc3339(until)),
        _ => None,
    };
    Invocation {
        id: id.to_string(),
        target: target(&record.target),
        service: record.target.service.clone(),
        key: record.target.key.clone(),
        handler: record.target.handler.clone(),
        handler_type: handler_type(record.target.ty),
        status,
        waits_for: waits_for(record, status, held_up),
        created_at: rfc3339(times.created),
        modified_at: rfc3339(times.modified),
        start_at: times.start_at.map(rfc3339),
        completed_at: times.completed.map(rfc3339),
        outcome: outcome(&record.status),
        deployment: record.pin.map(|pin| pin.deployment.to_string()),
        protocol_version: record.pin.map(|pin| pin.version.number()),
        attempt: record.attempt,
        failed_attempts: record.retries.failures_in_row,
        next_retry_at,
        last_failure: record.retries.last_failure.as_ref().map(failure),
        idempotency_key: record.idempotency_key.clone(),
        invoked_by: caller(&record.source),
        root: record.root.to_string(),
        journal_entries: record.journal.length,
        completion_retention_ms: ms(record.retention.completion),
        journal_retention_ms: ms(record.retention.journal),
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub fn target(target: &Target) -> String {
    match &target.key {
        None => format!("{}/{}", target.service, target.handler),
        Some(key) => format!("{}/{key}/{}", target.service, target.handler),
    }
}

fn handler_type(ty: manifest::HandlerType) -> HandlerType {
    match ty {
        manifest::HandlerType::Service => HandlerType::Service,
        manifest::HandlerType::Exclusive => HandlerType::Exclusive,
        manifest::HandlerType::Shared => HandlerType::Shared,
        manifest::HandlerType::Workflow => HandlerType::Workflow,
    }
}

fn outcome(status: &machine::Status) -> Option<Outcome> {
    match status {
        machine::Status::Completed { outcome: machine::Outcome::Success(value) } => {
            Some(Outcome::Success { value: preview(value) })
        }
        machine::Status::Completed { outcome: machine::Outcome::Failure(failure) } => {
            Some(Outcome::Failure { code: failure.code, message: failure.message.clone() })
        }
        _ => None,
    }
}

fn caller(source: &Source) -> Caller {
    match source {
        Source::Ingress => Caller::Ingress,
        Source::Service { invocation, target: of } => {
            Caller::Service { id: invocation.to_string(), target: target(of) }
        }
        Source::RestartAsNew { original } => Caller::RestartAsNew { id: original.to_string() },
        Source::Schedule { name, planned } => {
            Caller::Schedule { name: name.clone(), planned_at: rfc3339(*planned) }
        }
    }
}

pub(super) fn failure(failure: &AttemptFailure) -> Failure {
    let related = failure.related.as_ref().map(|related| RelatedCommand {
        index: related.index,
        name: related.name.clone(),
        ty: related.ty.map(|ty| ty.kind().into()),
    });
    Failure {
        code: failure.code,
        message: failure.message.clone(),
        doc_code: failure.doc_code.clone(),
        stacktrace: Some(failure.stacktrace.clone()).filter(|trace| !trace.is_empty()),
        related,
    }
}

pub(super) fn event(event: &event::Event, mismatch: Option<describe::Mismatch>) -> Event {
    let kind = match event.kind {
        EventKind::AttemptFailed => "attempt-failed",
        EventKind::Paused => "paused",
    };
    Event {
        at: rfc3339(event.first_at),
        last_at: rfc3339(event.last_at),
        count: event.count,
        after_entry: Some(event.after_entry),
        kind: kind.into(),
        failure: event.failure.as_ref().map(failure),
        mismatch: mismatch.map(self::mismatch),
    }
}

pub(super) fn mismatch(mismatch: describe::Mismatch) -> Mismatch {
    Mismatch {
        command: mismatch.command,
        index: mismatch.entry,
        name: mismatch.name,
        recorded: mismatch.recorded,
        received: mismatch.received,
        differing: mismatch.differing,
    }
}

pub(super) fn notice(id: NoticeId, notice: &Notice, delivery: Option<Delivery>) -> model::Notice {
    let (by, cause) = match notice.what {
        What::Paused(by) => (Some(by.as_str().into()), None),
        What::Failed(by) => (None, Some(by.as_str().into())),
    };
    model::Notice {
        id: id.to_string(),
        ty: notice.what.as_str().into(),
        at: rfc3339(notice.at),
        by,
        cause,
        invocation: notice.invocation.to_string(),
        target: target(&notice.target),
        deployment: notice.deployment.map(|deployment| deployment.to_string()),
        attempts: notice.attempts,
        failure: notice.failure.as_ref().map(|failure| Failure {
            code: failure.code,
            message: failure.message.clone(),
            doc_code: failure.doc_code.clone(),
            ..Failure::default()
        }),
        tries: delivery.as_ref().map_or(0, |delivery| delivery.tries),
        next_try_at: delivery.as_ref().map(|delivery| rfc3339(delivery.next_try_at)),
        last_error: delivery.map(|delivery| delivery.last_error),
    }
}

fn waits_for(record: &Record, status: Status, held_up: HeldUp) -> Option<String> {
    // A sentence has one line; the rest is in the failure itself.
    let line = |failure: &AttemptFailure| failure.message.lines().next().unwrap_or("").to_owned();
    let after = match &record.retries.last_failure {
        Some(failure) => format!(", after: {}", line(failure)),
        None => String::new(),
    };
    match (&record.status, status) {
        (machine::Status::Scheduled { start_at }, _) => {
            Some(format!("its start time, {}", rfc3339(*start_at)))
        }
        (machine::Status::Inboxed { .. }, _) => Some(lock_of(&record.target, held_up.holder)),
        (machine::Status::Running, Status::Ready) => Some(place(held_up)),
        (machine::Status::BackingOff { until }, _) => {
            let next = record.attempt.saturating_add(1);
            Some(format!("attempt {next} at {}{after}", rfc3339(*until)))
        }
        (machine::Status::Suspended { awaiting }, _) => {
            awaiting_words(&leaves(awaiting, &[])).map(|words| with_asks(record, words))
        }
        (machine::Status::Paused, _) => Some(format!("a person to resume it{after}")),
        (machine::Status::Running | machine::Status::Completed { .. }, _) => None,
    }
}

fn place(held_up: HeldUp) -> String {
    let Some(Waits { limit, running, concurrency }) = held_up.place else {
        return "a place among the running attempts".into();
    };
    let before = held_up.ahead.map_or(String::new(), |ahead| format!(", {ahead} before it"));
    match limit {
        Some(limit) => {
            format!("a place: limit {limit} ({running} of {concurrency} running{before})")
        }
        None => format!(
            "a place among the running attempts ({running} of {concurrency} running{before})"
        ),
    }
}

fn lock_of(target: &Target, holder: Option<InvocationId>) -> String {
    let key = target.key.as_deref().unwrap_or_default();
    match holder {
        Some(holder) => format!("the lock of {}/{key}, held by {holder}", target.service),
        None => format!("the lock of {}/{key}", target.service),
    }
}

/// What a suspended invocation awaits, with the commands of its journal.
pub(super) fn awaiting(status: &machine::Status, entries: &[Entry]) -> Vec<Awaited> {
    match status {
        machine::Status::Suspended { awaiting } => leaves(awaiting, entries),
        _ => vec![],
    }
}

/// The leaves of the tree, from left to right.
fn leaves(awaiting: &Awaiting, entries: &[Entry]) -> Vec<Awaited> {
    let completions = awaiting.completions.iter().map(|id| Awaited {
        kind: "completion".into(),
        id: id.to_string(),
        what: journal::awaited(entries, *id),
    });
    let signals = awaiting.signals.iter().map(|name| Awaited {
        kind: "signal".into(),
        id: match name {
            SignalName::Index(index) => index.to_string(),
            SignalName::Name(name) => name.clone(),
        },
        what: match name {
            SignalName::Index(CANCEL_SIGNAL_INDEX) => Some("a cancellation".into()),
            SignalName::Index(_) => Some("an awakeable".into()),
            SignalName::Name(_) => None,
        },
    });
    let nested = awaiting.nested.iter().flat_map(|nested| leaves(nested, entries));
    completions.chain(signals).chain(nested).collect()
}

/// In a few words; nothing where nothing is awaited. That it could be cancelled goes without saying.
/// What an invocation waits for, and whether people are asked on its behalf.
pub(super) fn with_asks(record: &Record, words: String) -> String {
    match record.asks.open() {
        0 => words,
        1 => format!("an answer to a question (`holdfast asks list`): {words}"),
        open => format!("answers to {open} questions (`holdfast asks list`): {words}"),
    }
}

pub(super) fn awaiting_words(awaited: &[Awaited]) -> Option<String> {
    let cancel = CANCEL_SIGNAL_INDEX.to_string();
    let told = awaited.iter().filter(|it| it.kind != "signal" || it.id != cancel);
    let words: Vec<_> = told
        .map(|it| match &it.what {
            Some(what) => format!("{what} ({} {})", it.kind, it.id),
            None => format!("{} {}", it.kind, it.id),
        })
        .collect();
    match words.is_empty() {
        true if awaited.is_empty() => None,
        true => Some("a cancellation".into()),
        false => Some(words.join(", ")),
    }
}
