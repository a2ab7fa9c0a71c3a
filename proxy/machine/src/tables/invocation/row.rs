//! The row of an invocation, written and read field by field: every call does it a few times. The
//! same bytes as by the generated structs, which stay for what is not written this way.

use super::*;
use crate::id::INVOCATION_ID_BYTES;
use crate::tables::generated as pb;
use crate::tables::protobuf::{Reader, Writer};
use holdfast_wire::manifest::HandlerType;
use holdfast_wire::version::Version;
use std::time::Duration;

/// More than a row has beside its texts, its outcome and its sinks.
const NUMBERS_BYTES: usize = 256;
/// More than a sink has.
const SINK_BYTES: usize = 48;

pub fn write(record: &Record, standing: Standing) -> Bytes {
    let mut row = Writer::new(about_bytes(record));
    let w = &mut row;
    w.message(1, |w| write_target(w, &record.target));
    w.message(2, |w| write_status(w, &record.status));
    w.message(3, |w| write_source(w, &record.source));
    w.bytes(4, &record.root.to_bytes());
    if let Some(key) = &record.idempotency_key {
        w.some_bytes(5, key.as_bytes());
    }
    w.message(6, |w| {
        w.number(1, ms(record.retention.completion));
        w.number(2, ms(record.retention.journal));
    });
    w.number(7, record.lazy_state);
    w.fixed(8, record.random_seed);
    if let Some(pin) = &record.pin {
        w.message(9, |w| {
            w.bytes(1, &pin.deployment.0.to_be_bytes());
            w.number(2, pin.version.number());
        });
    }
    for sink in &record.sinks {
        w.message(10, |w| write_sink(w, sink));
    }
    w.number(11, record.attempt);
    w.number(12, record.pause_wanted);
    w.message(13, |w| write_journal(w, &record.journal));
    w.message(14, |w| write_retries(w, &record.retries));
    w.message(15, |w| {
        w.number(1, record.events.first);
        w.number(2, record.events.next);
    });
    w.message(16, |w| write_times(w, &record.times));
    w.number(17, standing == Standing::Remains);
    w.number(18, record.is_task);
    write_asks(w, record.asks);
    w.number(20, record.asked);
    row.done()
}

/// What `read` gives of what `write` writes.
pub fn as_written(record: &Record) -> Record {
    let mut record = record.clone();
    for time in [&mut record.retention.completion, &mut record.retention.journal] {
        *time = Duration::from_millis(ms(*time));
    }
    if record.asks.opened == 0 {
        record.asks = Asks::default();
    }
    record
}

/// `None`: it does not stand there as `write` writes it.
pub fn read(row: &Bytes) -> Option<(Record, Standing)> {
    let mut reader = Reader::new(row);
    let r = &mut reader;
    let mut record = Record {
        target: r.message(1, read_target),
        status: r.message(2, read_status),
        source: r.message(3, read_source),
        root: read_id(r, 4),
        idempotency_key: r.maybe_text(5),
        retention: r.message(6, read_retention),
        lazy_state: r.flag(7),
        random_seed: r.fixed(8),
        pin: r.maybe_message(9, read_pin).flatten(),
        sinks: read_sinks(r),
        attempt: r.number(11),
        pause_wanted: r.flag(12),
        journal: r.message(13, read_journal),
        retries: r.message(14, read_retries),
        events: r.message(15, |r| Span { first: r.number(1), next: r.number(2) }),
        times: r.message(16, read_times),
        is_task: false,
        asks: Asks::default(),
        asked: false,
    };
    let standing = if r.flag(17) { Standing::Remains } else { Standing::Kept };
    record.is_task = r.flag(18);
    record.asks = r.maybe_message(19, read_asks).unwrap_or_default();
    record.asked = r.flag(20);
    reader.end((record, standing))
}

fn about_bytes(record: &Record) -> usize {
    let target = &record.target;
    let texts = target.service.len() + target.handler.len();
    let keys = [&target.key, &record.idempotency_key];
    let keys: usize = keys.into_iter().flatten().map(String::len).sum();
    let outcome = match &record.status {
        Status::Completed { outcome: Outcome::Success(value) } => value.len(),
        _ => 0,
    };
    NUMBERS_BYTES + texts + keys + outcome + SINK_BYTES * record.sinks.len()
}

fn read_id(r: &mut Reader<'_>, field: u32) -> InvocationId {
    let id = InvocationId::from_slice(r.bytes(field));
    r.sound(id).unwrap_or(InvocationId::from_bytes([0; INVOCATION_ID_BYTES]))
}

fn write_target(w: &mut Writer, target: &Target) {
    w.bytes(1, target.service.as_bytes());
    if let Some(key) = &target.key {
        w.some_bytes(2, key.as_bytes());
    }
    w.bytes(3, target.handler.as_bytes());
    w.number(4, handler_type_out(target.ty) as u32);
}

fn read_target(r: &mut Reader<'_>) -> Target {
    let (service, key, handler) = (r.text(1), r.maybe_text(2), r.text(3));
    let ty = pb::HandlerType::try_from(r.number::<i32>(4)).ok();
    let ty = r.sound(ty.and_then(|ty| handler_type_in(ty).ok()));
    Target { service, key, handler, ty: ty.unwrap_or(HandlerType::Service) }
}

fn write_status(w: &mut Writer, status: &Status) {
    match status {
        Status::Scheduled { start_at } => w.message(1, |w| w.number(1, start_at.0)),
        Status::Inboxed { sequence } => w.message(2, |w| w.number(1, *sequence)),
        Status::Running => w.message(3, |_| {}),
        Status::BackingOff { until } => w.message(4, |w| w.number(1, until.0)),
        Status::Suspended { awaiting } => w.rare(5, &awaiting_out(awaiting)),
        Status::Paused => w.message(6, |_| {}),
        Status::Completed { outcome } => w.message(7, |w| match outcome {
            Outcome::Success(value) => w.some_bytes(1, value),
            Outcome::Failure(failure) => w.rare(2, &failure_out(failure)),
        }),
    }
}

/// One of them, and the end of the message says that it is only one.
fn read_status(r: &mut Reader<'_>) -> Status {
    let time = |r: &mut Reader<'_>| Timestamp(r.number(1));
    if r.maybe_message(3, |_| ()).is_some() {
        Status::Running
    } else if let Some(outcome) = r.maybe_message(7, read_outcome) {
        Status::Completed { outcome }
    } else if let Some(start_at) = r.maybe_message(1, time) {
        Status::Scheduled { start_at }
    } else if let Some(sequence) = r.maybe_message(2, |r| r.number(1)) {
        Status::Inboxed { sequence }
    } else if let Some(until) = r.maybe_message(4, time) {
        Status::BackingOff { until }
    } else if let Some(awaiting) = r.rare(5) {
        let awaiting = r.sound(awaiting_in(awaiting).ok());
        Status::Suspended { awaiting: awaiting.unwrap_or_default() }
    } else {
        r.message(6, |_| Status::Paused)
    }
}

fn read_outcome(r: &mut Reader<'_>) -> Outcome {
    if let Some(value) = r.maybe_shared(1) {
        return Outcome::Success(value);
    }
    let failure = r.rare(2);
    Outcome::Failure(r.sound(failure).map(failure_in).unwrap_or_default())
}

fn write_source(w: &mut Writer, source: &Source) {
    match source {
        Source::Ingress => w.message(1, |_| {}),
        Source::Service { invocation, target } => w.message(2, |w| {
            w.bytes(1, &invocation.to_bytes());
            w.message(2, |w| write_target(w, target));
        }),
        Source::RestartAsNew { original } => w.some_bytes(3, &original.to_bytes()),
        Source::Schedule { name, planned } => w.message(4, |w| {
            w.bytes(1, name.as_bytes());
            w.number(2, planned.0);
        }),
    }
}

fn read_source(r: &mut Reader<'_>) -> Source {
    let service = |r: &mut Reader<'_>| Source::Service {
        invocation: read_id(r, 1),
        target: r.message(2, read_target),
    };
    let schedule =
        |r: &mut Reader<'_>| Source::Schedule { name: r.text(1), planned: Timestamp(r.number(2)) };
    if r.maybe_message(1, |_| ()).is_some() {
        Source::Ingress
    } else if let Some(service) = r.maybe_message(2, service) {
        service
    } else if let Some(schedule) = r.maybe_message(4, schedule) {
        schedule
    } else {
        Source::RestartAsNew { original: read_id(r, 3) }
    }
}

fn read_retention(r: &mut Reader<'_>) -> Retention {
    let (completion, journal) = (r.number(1), r.number(2));
    Retention {
        completion: Duration::from_millis(completion),
        journal: Duration::from_millis(journal),
    }
}

fn read_pin(r: &mut Reader<'_>) -> Option<Pin> {
    let deployment = deployment_in(r.bytes(1)).ok();
    let version = Version::from_number(r.number(2));
    let pin = deployment.zip(version).map(|(deployment, version)| Pin { deployment, version });
    r.sound(pin)
}

fn write_sink(w: &mut Writer, sink: &Sink) {
    w.bytes(1, &sink.caller.to_bytes());
    w.number(2, sink.completion);
    w.number(3, sink_kind_out(sink.kind) as u32);
}

fn read_sink(r: &mut Reader<'_>) -> Sink {
    let (caller, completion) = (read_id(r, 1), r.number(2));
    let kind = pb::SinkKind::try_from(r.number::<i32>(3)).ok();
    let kind = r.sound(kind.and_then(|kind| sink_kind_in(kind).ok()));
    Sink { caller, completion, kind: kind.unwrap_or(SinkKind::Call) }
}

fn read_sinks(r: &mut Reader<'_>) -> Vec<Sink> {
    std::iter::from_fn(|| r.maybe_message(10, read_sink)).collect()
}

fn write_journal(w: &mut Writer, journal: &JournalSummary) {
    w.number(1, journal.length);
    w.number(2, journal.commands);
    w.maybe(3, journal.output);
    w.number(4, journal.calls);
    w.number(5, journal.sleeping);
    w.number(6, journal.replayed);
    w.number(7, journal.purged);
    w.number(8, journal.stored_at.0);
    w.number(9, journal.runs);
    w.number(10, journal.left);
    w.number(11, journal.bytes);
}

fn read_journal(r: &mut Reader<'_>) -> JournalSummary {
    JournalSummary {
        length: r.number(1),
        commands: r.number(2),
        output: r.maybe(3),
        calls: r.number(4),
        sleeping: r.number(5),
        replayed: r.number(6),
        purged: r.flag(7),
        stored_at: Timestamp(r.number(8)),
        runs: r.number(9),
        left: r.number(10),
        bytes: r.number(11),
    }
}

fn write_retries(w: &mut Writer, retries: &Retries) {
    w.number(1, retries.failures_in_row);
    w.number(2, retries.since_last_stored_entry);
    if let Some(failure) = &retries.last_failure {
        w.rare(3, &attempt_failure_out(failure));
    }
}

fn read_retries(r: &mut Reader<'_>) -> Retries {
    let (failures_in_row, since_last_stored_entry) = (r.number(1), r.number(2));
    let last_failure = r.rare(3).and_then(|failure| {
        let failure = attempt_failure_in(failure).ok();
        r.sound(failure)
    });
    Retries { failures_in_row, since_last_stored_entry, last_failure }
}

fn write_times(w: &mut Writer, times: &Times) {
    w.number(1, times.created.0);
    w.number(2, times.modified.0);
    w.maybe(3, times.scheduled.map(|time| time.0));
    w.maybe(4, times.inboxed.map(|time| time.0));
    w.maybe(5, times.running.map(|time| time.0));
    w.maybe(6, times.completed.map(|time| time.0));
    w.maybe(7, times.start_at.map(|time| time.0));
}

fn read_times(r: &mut Reader<'_>) -> Times {
    Times {
        created: Timestamp(r.number(1)),
        modified: Timestamp(r.number(2)),
        scheduled: r.maybe(3).map(Timestamp),
        inboxed: r.maybe(4).map(Timestamp),
        running: r.maybe(5).map(Timestamp),
        completed: r.maybe(6).map(Timestamp),
        start_at: r.maybe(7).map(Timestamp),
    }
}

/// Nothing is written for what never asked.
fn write_asks(w: &mut Writer, asks: Asks) {
    let Asks { opened, input, auth, left } = asks;
    if opened > 0 {
        w.message(19, |w| {
            w.number(1, opened);
            w.number(2, input);
            w.number(3, auth);
            w.number(4, left);
        });
    }
}

fn read_asks(r: &mut Reader<'_>) -> Asks {
    Asks { opened: r.number(1), input: r.number(2), auth: r.number(3), left: r.number(4) }
}
