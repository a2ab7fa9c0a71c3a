//! Effects and rows as text.

use super::script::Names;
use crate::ask::{Ask, AskKind, Closed};
use crate::command::Reply;
use crate::effect::Effect;
use crate::id::{InvocationId, PartitionId, ScheduleId};
use crate::kv::{Kv, MemoryKv};
use crate::model::*;
use crate::schedule::Unfired;
use crate::tables::codec::KeyReader;
use crate::tables::message::Message;
use crate::tables::notified::NotificationId;
use crate::tables::push::Delivery;
use crate::tables::queue::Queued;
use crate::tables::timer::Timer;
use crate::tables::*;
use crate::task::{Event, What};
use bytes::Bytes;
use holdfast_wire::message::pb;
use holdfast_wire::message::pb::notification::{Id, Result as Content};
use prost::Message as _;

pub fn effect(effect: &Effect, names: &mut Names) -> String {
    match effect {
        Effect::Invoke { invocation, attempt } => {
            format!("invoke {}#{attempt}", names.of(*invocation))
        }
        Effect::Notify { invocation, attempt, entry } => {
            let name = names.of(*invocation);
            format!("notify {name}#{attempt} {}", self::entry(entry, names))
        }
        Effect::Suspend { invocation, attempt } => {
            format!("suspend {}#{attempt}", names.of(*invocation))
        }
        Effect::Abort { invocation, attempt } => {
            format!("abort {}#{attempt}", names.of(*invocation))
        }
        Effect::Reply(reply) => format!("reply {}", self::reply(reply, names)),
        Effect::Ended { invocation, outcome, expires_at } => {
            assert_eq!(*expires_at, None);
            format!("ended {} {}", names.of(*invocation), self::outcome(outcome))
        }
        Effect::WakeAt(at) => format!("wake at {}", at.0),
        Effect::Notice { sequence } => format!("notice .{sequence}"),
        Effect::Push { sequence } => format!("push .{sequence}"),
        Effect::Told { task, sequence } => format!("told {} .{sequence}", names.of(*task)),
        Effect::Send { to, sequence, message } => {
            let message = Message::decode(message.clone()).unwrap();
            format!("send to {} .{sequence}: {}", to.0, self::message(&message, names))
        }
    }
}

fn message(message: &Message, names: &mut Names) -> String {
    match message {
        Message::Invoke { new, .. } => format!("invoke {}", names.of(new.id)),
        Message::Respond { sink, outcome } => {
            let outcome = outcome.as_ref().map_or("nothing yet".into(), self::outcome);
            format!("{} {outcome}", self::sink(sink, names))
        }
        Message::Signal { invocation, signal, value } => {
            format!("signal {} {} {value:?}", names.of(*invocation), signal_name(signal))
        }
        Message::Kill { invocation } => format!("kill {}", names.of(*invocation)),
        Message::Attach { invocation, .. } => format!("attach to {}", names.of(*invocation)),
        Message::Ask(ask) => format!("ask {:?} under {}", ask.message, names.of(ask.root)),
        Message::Withdraw { root, caller, .. } => {
            format!("withdraw what {} asks under {}", names.of(*caller), names.of(*root))
        }
        Message::Tell { root, told, .. } => format!("tell {} {told:?}", names.of(*root)),
    }
}

fn sink(sink: &invocation::Sink, names: &mut Names) -> String {
    let caller = names.of(sink.caller);
    match sink.kind {
        invocation::SinkKind::Schedule => caller,
        _ => format!("{caller} {}", sink.completion),
    }
}

fn reply(reply: &Reply, names: &mut Names) -> String {
    match reply {
        Reply::Accepted { invocation, new, start_at } => {
            let new = if *new { "new" } else { "known" };
            let at = start_at.map_or(String::new(), |at| format!(", starts at {}", at.0));
            format!("accepted {}, {new}{at}", names.of(*invocation))
        }
        Reply::Completed { outcome, expires_at } => {
            let expires = expires_at.map_or(String::new(), |at| format!(", until {}", at.0));
            format!("completed {}{expires}", self::outcome(outcome))
        }
        Reply::Refused(refusal) => format!("refused: {refusal:?}"),
        Reply::Restarted { invocation } => format!("restarted as {}", names.of(*invocation)),
        Reply::VersionMismatch { current } => format!("mismatch, it is {current}"),
        Reply::Stored { new } => format!("stored, {}", if *new { "new" } else { "known" }),
        Reply::NoCadence(error) => format!("no cadence: {error}"),
        Reply::Triggered { invocation } => format!("triggered {}", names.of(*invocation)),
        Reply::NotTriggered(unfired) => match unfired {
            Unfired::StillRunning(invocation) => {
                format!("not triggered: {} is running", names.of(*invocation))
            }
            unfired => format!("not triggered: {unfired}"),
        },
        Reply::Started { new, secret } => {
            format!("started, {}, secret {secret}", if *new { "new" } else { "known" })
        }
        Reply::Answered { sequence: Some(sequence) } => format!("answered .{sequence}"),
        Reply::Answered { sequence: None } => "answered".into(),
        Reply::AskClosed(closed) => format!("too late: {}", self::closed(closed)),
        Reply::Violation(why) => format!("violation: {why}"),
        Reply::Messaged { sequence, repeated, answered } => {
            let repeated = if *repeated { ", known" } else { "" };
            let answered = answered.map_or("".into(), |number| format!(", answers {number}"));
            format!("messaged .{sequence}{repeated}{answered}")
        }
        Reply::TooManyWait(count) => format!("{count} wait already"),
        Reply::TooManyPushes(count) => format!("{count} receivers already"),
        Reply::OtherRequest
        | Reply::NoTask
        | Reply::OtherMessage
        | Reply::NoSuchAsk
        | Reply::FeedFull => format!("{reply:?}"),
        Reply::Pending | Reply::Unknown | Reply::Done | Reply::Appended => {
            format!("{reply:?}").to_lowercase()
        }
    }
}

fn closed(closed: &Closed) -> String {
    let by = closed.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
    let content = String::from_utf8_lossy(&closed.content);
    let (how, action, at) = (closed.how.as_str(), closed.action.as_str(), closed.at.0);
    format!("{how} {action}{by} at {at} {content}").trim_end().to_owned()
}

fn ask(ask: &Ask, names: &mut Names) -> String {
    let mut shown = format!(
        "{} {} of {} {:?}",
        ask.number,
        names.of(ask.id.invocation()),
        names.of(ask.caller),
        ask.message
    );
    if ask.kind == AskKind::Auth {
        shown += " auth";
    }
    if let Some(at) = ask.expires_at {
        shown += &format!(" until {}", at.0);
    }
    if let Some(closed) = &ask.closed {
        shown += &format!(", {}", self::closed(closed));
    }
    shown
}

/// One row of a feed.
fn event(event: &Event, names: &mut Names) -> String {
    let what = match &event.what {
        What::State => String::new(),
        What::Progress(progress) => {
            format!(" {:?} {:?}/{:?}", progress.message, progress.progress, progress.total)
        }
        What::Artifact(artifact) => {
            let append = if artifact.append { " append" } else { "" };
            let last = if artifact.last { " last" } else { "" };
            format!(" {}{append}{last}", String::from_utf8_lossy(&artifact.artifact))
        }
        What::Asked(ask) => format!(" asked {}", self::ask(ask, names)),
        What::Answered { number, closed } => format!(" {number} {}", self::closed(closed)),
        What::Message(taken) => {
            let answers = taken.answers.map_or(String::new(), |it| format!(" answers {it}"));
            let waiting = if taken.waiting { " waits" } else { "" };
            format!(" message {}{answers}{waiting}", taken.message.id)
        }
        What::NotTaken { message, number, why } => {
            format!(" message {message} is not taken for {number}: {why}")
        }
        What::Ended(ended) => format!(" ended {} {:?}", outcome(&ended.outcome), ended.by),
    };
    format!("{} {}{what}", event.sequence, event.state.as_str())
}

fn task_row(row: &task::Task) -> String {
    let mut shown = format!("of {} in {}, {}", row.principal, row.context, row.state.as_str());
    shown += &format!(", next {}, updated {}", row.next, row.updated.0);
    if row.cancel_wanted {
        shown += ", to be cancelled";
    }
    if !row.waiting.is_empty() {
        shown += &format!(", waiting {:?}", row.waiting);
    }
    shown
}

pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success(value) => text(value),
        Outcome::Failure(failure) => {
            let trace = if failure.stacktrace.is_empty() { "" } else { " with stacktrace" };
            format!("[{}] {}{trace}", failure.code, failure.message)
        }
    }
}

fn text(bytes: &Bytes) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}

fn signal_name(name: &SignalName) -> String {
    match name {
        SignalName::Index(index) => format!("s{index}"),
        SignalName::Name(name) => format!("s:{name}"),
    }
}

fn entry(entry: &Entry, names: &mut Names) -> String {
    let shown = format!("{}:{}", entry.index, entry.ty.name());
    if !entry.ty.is_notification() {
        return shown;
    }
    let notification = pb::Notification::decode(entry.payload.clone()).unwrap();
    let id = match notification.id.unwrap() {
        Id::CompletionId(id) => id.to_string(),
        Id::SignalIndex(index) => format!("s{index}"),
        Id::SignalName(name) => format!("s:{name}"),
    };
    let content = match notification.result.unwrap() {
        Content::Void(_) => "void".into(),
        Content::Value(value) => text(&value.content),
        Content::Failure(failure) => format!("[{}] {}", failure.code, failure.message),
        Content::InvocationId(id) => names.of(id.parse::<InvocationId>().unwrap()),
        Content::StateKeys(keys) => keys.keys.iter().map(text).collect::<Vec<_>>().join(","),
    };
    format!("{shown} {id}={content}")
}

/// All rows of all partitions.
pub fn rows(stores: &[MemoryKv], names: &mut Names) -> String {
    let mut shown = String::new();
    for (partition, store) in (0..).map(PartitionId).zip(stores) {
        let mark = if stores.len() == 1 { String::new() } else { format!("{}: ", partition.0) };
        for key in store.0.keys() {
            let row = row(store, partition, key, names);
            shown += &format!("  | {mark}{} {row}\n", TableId::of_key(key).unwrap().name());
        }
    }
    if shown.is_empty() { "  | nothing\n".into() } else { shown }
}

/// The id behind the partition, where the table has it there.
pub fn id_in(key: &[u8]) -> InvocationId {
    let (_, mut rest) = KeyReader::new(TableId::of_key(key).unwrap(), key).unwrap();
    rest.id().unwrap()
}

fn row(store: &MemoryKv, partition: PartitionId, key: &[u8], names: &mut Names) -> String {
    let value = store.get(key).unwrap().unwrap();
    let id = |names: &mut Names| names.of(id_in(key));
    match TableId::of_key(key).unwrap() {
        TableId::Invocation => {
            let whose = id_in(key);
            let record = invocation::get(store, partition, whose).unwrap().unwrap();
            format!("{} {}", id(names), self::record(&record, names))
        }
        TableId::Journal => {
            let whose = id_in(key);
            let index = u32::from_be_bytes(key[27..].try_into().unwrap());
            let entry = journal::get(store, partition, whose, index).unwrap().unwrap();
            format!("{} {}", id(names), self::entry(&entry, names))
        }
        TableId::Notified => {
            let (_, whose, about) = notified::parse(key).unwrap();
            let notified = notified::get(store, partition, whose, &about).unwrap().unwrap();
            let about = match about {
                NotificationId::Completion(id) => id.to_string(),
                NotificationId::Signal(name) => signal_name(&name),
            };
            let failed = if notified.failed { " failed" } else { "" };
            format!("{} {about} @{}{failed}", id(names), notified.entry)
        }
        TableId::Running => id(names),
        TableId::Ask => {
            let (_, root, number) = ask::parse(key).unwrap();
            let ask = ask::get(store, partition, root, number).unwrap().unwrap();
            format!("{} {}", id(names), self::ask(&ask, names))
        }
        TableId::AskPlace | TableId::AskOpen => id(names),
        TableId::Task => {
            let (_, whose) = task::parse(key).unwrap();
            let row = task::get(store, partition, whose).unwrap().unwrap();
            format!("{} {}", id(names), task_row(&row))
        }
        TableId::Feed => {
            let (_, whose, sequence) = feed::parse(key).unwrap();
            let event = feed::get(store, partition, whose, sequence).unwrap().unwrap();
            format!("{} {}", id(names), self::event(&event, names))
        }
        TableId::TaskListing => {
            let (_, principal, place) = listing::parse(key).unwrap();
            format!("{principal} {} {}", place.updated.0, names.of(place.task))
        }
        TableId::TaskMessage => {
            format!("{} {}", id(names), String::from_utf8_lossy(&key[27..]))
        }
        TableId::Event => {
            let (_, whose, number) = event::parse(key).unwrap();
            let event = event::get(store, partition, whose, number).unwrap().unwrap();
            let failure =
                event.failure.map_or(String::new(), |failure| format!(" {}", failure.message));
            format!("{} {number} {:?} x{}{failure}", id(names), event.kind, event.count)
        }
        TableId::Timer => {
            let (_, timer) = Timer::parse(key).unwrap();
            format!(
                "{} {:?} {} {}",
                timer.due.0,
                timer.kind,
                names.of(timer.invocation),
                timer.completion
            )
        }
        TableId::Schedule => {
            let whose = ScheduleId::from_row(id_in(key));
            let schedule = schedule::get(store, partition, whose).unwrap().unwrap();
            self::schedule(&schedule, names)
        }
        TableId::Notice => {
            let (sequence, notice) = queued(store, partition, key);
            format!(".{sequence} {}", self::notice(&notice, names))
        }
        TableId::PushConfig => {
            let (_, whose, name) = push_config::parse(key).unwrap();
            let config = push_config::get(store, partition, whose, &name).unwrap().unwrap();
            format!("{} {name} {} since {}", id(names), config.url, config.created_at.0)
        }
        TableId::Push => {
            let (sequence, delivery) = queued(store, partition, key);
            let Delivery { invocation, config, event, at } = delivery;
            format!(".{sequence} {} .{event} to {config} at {}", names.of(invocation), at.0)
        }
        TableId::Outbox => {
            let sequence = u64::from_be_bytes(key[5..].try_into().unwrap());
            format!(".{sequence} {}", message(&Message::decode(value).unwrap(), names))
        }
        TableId::State | TableId::Lock | TableId::Inbox | TableId::Promise => {
            owned(store, partition, key, names)
        }
        TableId::Meta | TableId::Dedup => format!("{:02x?}", &value[..]),
        other => panic!("no test writes to table {other:?}"),
    }
}

fn schedule(schedule: &schedule::Schedule, names: &mut Names) -> String {
    let mut shown = schedule.plan.name.clone();
    if schedule.paused {
        shown += " paused";
    }
    if let Some(next) = schedule.next {
        shown += &format!(", next {}", next.0);
    }
    if let Some(run) = &schedule.last_run {
        let (name, asked) = (names.of(run.invocation), if run.asked { " asked" } else { "" });
        shown += &format!(", run {name}{asked} for {} at {}", run.planned.0, run.at.0);
        shown += &run.ended.as_ref().map_or(" running".into(), |ended| match &ended.failure {
            None => format!(" ended {}", ended.at.0),
            Some((code, message)) => format!(" failed {} [{code}] {message}", ended.at.0),
        });
    }
    let schedule::Counts { runs, caught_up, skipped, failed } = schedule.counts;
    shown += &format!(", {runs} runs, {caught_up} caught up, {skipped} skipped, {failed} failed");
    if let Some(trouble) = &schedule.trouble {
        shown += &format!(", for {}: {} {}", trouble.planned.0, trouble.code, trouble.message);
    }
    shown
}

fn notice(notice: &notice::Notice, names: &mut Names) -> String {
    let what = match notice.what {
        notice::What::Paused(by) => format!("paused by {by:?}"),
        notice::What::Failed(by) => format!("failed by {by:?}"),
    };
    let (who, target) = (names.of(notice.invocation), &notice.target);
    let mut shown = format!("{who} {}/{} {what}", target.service, target.handler);
    shown += &format!(" at {}, attempts {}", notice.at.0, notice.attempts);
    if let Some(deployment) = notice.deployment {
        shown += &format!(", on {}", deployment.0);
    }
    if let Some(failure) = &notice.failure {
        shown += &format!(": [{}] {}", failure.code, failure.message);
        if let Some(code) = &failure.doc_code {
            shown += &format!(" ({code})");
        }
    }
    shown
}

/// A row of a queue, and its sequence.
fn queued<T: Queued>(store: &MemoryKv, partition: PartitionId, key: &[u8]) -> (u64, T) {
    let (_, sequence) = queue::parse::<T>(key).unwrap();
    let mut shown = None;
    queue::scan(store, partition, sequence, &mut |_, queued| {
        shown = Some(queued);
        false
    })
    .unwrap();
    (sequence, shown.unwrap())
}

fn owned(store: &MemoryKv, partition: PartitionId, key: &[u8], names: &mut Names) -> String {
    let only = MemoryKv([(key.to_vec(), store.get(key).unwrap().unwrap())].into());
    let mut shown = vec![];
    let kv: &dyn Kv = &only;
    state::scan_all(kv, partition, &mut |row| {
        shown.push(format!(
            "{}/{} {}={}",
            row.service,
            row.key,
            String::from_utf8_lossy(&row.state_key),
            text(&row.value)
        ));
        true
    })
    .unwrap();
    lock::scan(kv, partition, &mut |service, key, lock| {
        let holder = names.of(lock.holder);
        shown.push(format!("{service}/{key} {holder} {}..{}", lock.head, lock.tail));
        true
    })
    .unwrap();
    inbox::scan(kv, partition, &mut |row| {
        let what = match row.waiting.what {
            inbox::What::Invocation(id) => names.of(id),
            inbox::What::Patch { .. } => "patch".into(),
        };
        shown.push(format!("{}/{} {} {what}", row.service, row.key, row.sequence));
        true
    })
    .unwrap();
    promise::scan(kv, partition, &mut |row| {
        let promise = match row.promise {
            promise::Promise::Completed(outcome) => self::outcome(&outcome),
            promise::Promise::Open(listeners) => format!("open, {} wait", listeners.len()),
        };
        shown.push(format!("{}/{} {} {promise}", row.service, row.key, row.name));
        true
    })
    .unwrap();
    shown.concat()
}

fn record(record: &invocation::Record, names: &mut Names) -> String {
    let status = match &record.status {
        Status::Scheduled { start_at } => format!("scheduled {}", start_at.0),
        Status::Inboxed { sequence } => format!("inboxed {sequence}"),
        Status::Running => "running".into(),
        Status::BackingOff { until } => format!("backing off until {}", until.0),
        Status::Suspended { .. } => "suspended".into(),
        Status::Paused => "paused".into(),
        Status::Completed { outcome } => format!("completed {}", self::outcome(outcome)),
    };
    let journal = record.journal;
    let mut shown = format!(
        "{status}, attempt {}, journal {}/{}",
        record.attempt, journal.commands, journal.length
    );
    if journal.purged {
        shown += " purged";
    }
    if let Some(pin) = record.pin {
        shown += &format!(", pin {}", pin.deployment.0);
    }
    for sink in &record.sinks {
        shown += &format!(", for {}", self::sink(sink, names));
    }
    if record.retries != Default::default() {
        let retries = &record.retries;
        shown +=
            &format!(", failures {}/{}", retries.failures_in_row, retries.since_last_stored_entry);
    }
    if record.pause_wanted {
        shown += ", to be paused";
    }
    match &record.source {
        Source::RestartAsNew { original } => {
            shown += &format!(", restarted from {}", names.of(*original));
        }
        Source::Schedule { name, planned } => shown += &format!(", of {name} for {}", planned.0),
        Source::Ingress | Source::Service { .. } => {}
    }
    if record.root != InvocationId::from_bytes([0; 24]) {
        shown += &format!(", root {}", names.of(record.root));
    }
    shown
}
