//! `i | partition:u16 | id:24` -> `Invocation`. One row for each invocation, from accepted until
//! its retention is over; whoever has an id finds everything from here. Where a journal is too
//! long to be removed at once the row stays as *remains*, which only `find` shows.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, scan as scan_rows};
use super::convert::*;
use super::{TableId, generated as pb};
use crate::ask::Asks;
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::*;
use crate::time::Timestamp;
use bytes::Bytes;
use std::sync::Arc;

mod row;

const TABLE: TableId = TableId::Invocation;

/// Everything about an invocation but its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub target: Target,
    pub status: Status,
    pub source: Source,
    /// The invocation at the top of the call tree; itself for what came in by a door.
    pub root: InvocationId,
    pub idempotency_key: Option<String>,
    pub retention: Retention,
    pub lazy_state: bool,
    pub random_seed: u64,
    /// Set by the first journal effect.
    pub pin: Option<Pin>,
    /// Invocations that are told the outcome.
    pub sinks: Vec<Sink>,
    /// Number of the latest attempt, from 1; 0 where there was none yet.
    pub attempt: u32,
    /// Pause as soon as the attempt under way has ended.
    pub pause_wanted: bool,
    pub journal: JournalSummary,
    pub retries: Retries,
    /// Rows of the event table.
    pub events: Span,
    pub times: Times,
    /// Somebody who follows it started it: there is a row of the task table.
    pub is_task: bool,
    /// Of a root: the asks under it.
    pub asks: Asks,
    /// It asked somebody something, and may wait for the answer.
    pub asked: bool,
}

/// What is known of a journal without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JournalSummary {
    /// Entries: commands and notifications. Stays when the journal is purged.
    pub length: u32,
    pub commands: u32,
    /// Index of the last output.
    pub output: Option<u32>,
    /// Calls and one-way calls.
    pub calls: u32,
    /// Sleeps that are not over: each has a timer.
    pub sleeping: u32,
    /// Runs without a result: only an attempt can bring it.
    pub runs: u32,
    /// Length when the latest attempt began: it was sent at least these entries.
    pub replayed: u32,
    /// The entries are gone, but for those that are `left`.
    pub purged: bool,
    /// When the last entry was appended.
    pub stored_at: Timestamp,
    /// Of a purged journal: the first so many entries are still to be removed.
    pub left: u32,
    /// Bytes of the payloads of all entries. Stays when the journal is purged.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retries {
    /// Failed attempts since it last started from waiting; those that chose their own delay do not
    /// count.
    pub failures_in_row: u32,
    /// Failed attempts since the last one that brought a command.
    pub since_last_stored_entry: u32,
    pub last_failure: Option<AttemptFailure>,
}

/// Rows `first..next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub first: u32,
    pub next: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    pub created: Timestamp,
    /// When status or journal last changed.
    pub modified: Timestamp,
    /// When it began to wait for its start time.
    pub scheduled: Option<Timestamp>,
    /// When it began to wait for its key.
    pub inboxed: Option<Timestamp>,
    /// When its first attempt began.
    pub running: Option<Timestamp>,
    pub completed: Option<Timestamp>,
    /// The start time it was given.
    pub start_at: Option<Timestamp>,
}

/// A completion that an invocation waits for, and that an outcome will fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sink {
    pub caller: InvocationId,
    pub completion: u32,
    pub kind: SinkKind,
}

/// Which command asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkKind {
    Call,
    Attach,
    /// Is answered at once, if need be with nothing.
    Output,
    /// No command: `caller` is the id of a schedule, `completion` the token of its run.
    Schedule,
}

impl Record {
    /// When its outcome is forgotten; `None` until it is completed.
    pub fn expires_at(&self) -> Option<Timestamp> {
        Some(self.times.completed?.plus(self.retention.completion))
    }

    /// When its journal is forgotten; `None` until it is completed.
    pub fn journal_expires_at(&self) -> Option<Timestamp> {
        let retention = self.retention.journal.min(self.retention.completion);
        Some(self.times.completed?.plus(retention))
    }

    /// Whether it can ever hold an object key.
    pub fn is_exclusive(&self) -> bool {
        self.target.ty == holdfast_wire::manifest::HandlerType::Exclusive
    }
}

pub fn key(partition: PartitionId, id: InvocationId) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).id(id).done()
}

/// Whether anybody may see a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Kept,
    /// Forgotten: the id is free, but for rows of the journal that are still to be removed.
    Remains,
}

pub fn get(kv: &dyn Kv, partition: PartitionId, id: InvocationId) -> Result<Option<Record>, Fault> {
    let found = find(kv, partition, id)?;
    Ok(found.filter(|(_, standing)| *standing == Standing::Kept).map(|(record, _)| record))
}

/// What `get` gives of a value that stands under a key of this table.
pub fn read(value: Bytes) -> Result<Option<Record>, Fault> {
    let (record, standing) = row_in(value)?;
    Ok(Some(record).filter(|_| standing == Standing::Kept))
}

/// As `get`, and remains too.
pub fn find(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
) -> Result<Option<(Record, Standing)>, Fault> {
    let key = key(partition, id);
    match remembered(kv, &key) {
        Some(record) => Ok(Some((Arc::unwrap_or_clone(record), Standing::Kept))),
        None => kv.get(&key)?.map(row_in).transpose(),
    }
}

/// As `get`, for who only looks: of a record that is remembered no copy is made.
pub fn look(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
) -> Result<Option<Arc<Record>>, Fault> {
    let key = key(partition, id);
    match remembered(kv, &key) {
        Some(record) => Ok(Some(record)),
        None => Ok(kv.get(&key)?.map(read).transpose()?.flatten().map(Arc::new)),
    }
}

/// Only of rows that everybody may see.
fn remembered(kv: &dyn Kv, key: &[u8]) -> Option<Arc<Record>> {
    kv.form(key)?.downcast().ok()
}

/// While it runs, and so is read soon and often, the record is remembered with its row.
pub fn put(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, record: &Record) {
    let (key, value) = (key(partition, id), row::write(record, Standing::Kept));
    if record.status != Status::Running {
        return txn.put(key, value);
    }
    let record = row::as_written(record);
    debug_assert_eq!(row::read(&value), Some((record.clone(), Standing::Kept)));
    txn.put_with(key, value, Arc::new(record));
}

pub fn put_remains(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId, record: &Record) {
    txn.put(key(partition, id), row::write(record, Standing::Remains));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, id: InvocationId) {
    txn.delete(key(partition, id));
}

/// Shows all invocations of a partition behind `from`, in the order of their ids, until `each`
/// answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    from: Option<InvocationId>,
    each: &mut dyn FnMut(InvocationId, Record) -> bool,
) -> Result<(), Fault> {
    let prefix = KeyWriter::new(TABLE, partition).done();
    let start = from.map_or(prefix.clone(), |id| after(&key(partition, id)));
    scan_rows(kv, &start, &after(&prefix), &mut |key, value| {
        let (_, id) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        let (record, standing) = row_in(value)?;
        Ok(standing == Standing::Remains || each(id, record))
    })
}

fn row_in(value: Bytes) -> Result<(Record, Standing), Fault> {
    match row::read(&value) {
        Some(read) => Ok(read),
        None => row_of_any_form(value),
    }
}

/// As other versions may write it; or it says what is wrong.
fn row_of_any_form(value: Bytes) -> Result<(Record, Standing), Fault> {
    let row: pb::Invocation = decode(TABLE, value)?;
    let standing = if row.forgotten { Standing::Remains } else { Standing::Kept };
    Ok((record_in(row).map_err(|bad| bad.of(TABLE))?, standing))
}

fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = reader.id()?;
    reader.end((partition, id))
}

pub fn sink_out(sink: &Sink) -> pb::Sink {
    let kind = sink_kind_out(sink.kind).into();
    pb::Sink { invocation: id_out(sink.caller), completion: sink.completion, kind }
}

pub fn sink_in(sink: pb::Sink) -> Result<Sink, Bad> {
    let kind = sink_kind_in(sink.kind())?;
    Ok(Sink { caller: id_in(&sink.invocation)?, completion: sink.completion, kind })
}

fn sink_kind_out(kind: SinkKind) -> pb::SinkKind {
    match kind {
        SinkKind::Call => pb::SinkKind::Call,
        SinkKind::Attach => pb::SinkKind::Attach,
        SinkKind::Output => pb::SinkKind::Output,
        SinkKind::Schedule => pb::SinkKind::Schedule,
    }
}

fn sink_kind_in(kind: pb::SinkKind) -> Result<SinkKind, Bad> {
    match kind {
        pb::SinkKind::Call => Ok(SinkKind::Call),
        pb::SinkKind::Attach => Ok(SinkKind::Attach),
        pb::SinkKind::Output => Ok(SinkKind::Output),
        pb::SinkKind::Schedule => Ok(SinkKind::Schedule),
        pb::SinkKind::Unspecified => Err(Bad("the kind of a sink is unknown")),
    }
}

fn status_in(status: Option<pb::Status>) -> Result<Status, Bad> {
    use pb::status::Status as In;
    let status = status.and_then(|status| status.status);
    Ok(match status.ok_or(Bad("the status is missing"))? {
        In::Scheduled(scheduled) => Status::Scheduled { start_at: Timestamp(scheduled.start_at) },
        In::Inboxed(inboxed) => Status::Inboxed { sequence: inboxed.sequence },
        In::Running(pb::Empty {}) => Status::Running,
        In::BackingOff(backing_off) => Status::BackingOff { until: Timestamp(backing_off.until) },
        In::Suspended(awaiting) => Status::Suspended { awaiting: awaiting_in(awaiting)? },
        In::Paused(pb::Empty {}) => Status::Paused,
        In::Completed(outcome) => Status::Completed { outcome: outcome_in(outcome)? },
    })
}

fn times_in(times: pb::Times) -> Times {
    Times {
        created: Timestamp(times.created),
        modified: Timestamp(times.modified),
        scheduled: times.scheduled.map(Timestamp),
        inboxed: times.inboxed.map(Timestamp),
        running: times.running.map(Timestamp),
        completed: times.completed.map(Timestamp),
        start_at: times.start_at.map(Timestamp),
    }
}

fn journal_in(journal: pb::Journal) -> JournalSummary {
    JournalSummary {
        length: journal.length,
        commands: journal.commands,
        output: journal.output,
        calls: journal.calls,
        sleeping: journal.sleeping,
        runs: journal.runs,
        replayed: journal.replayed,
        purged: journal.purged,
        stored_at: Timestamp(journal.stored_at),
        left: journal.left,
        bytes: journal.bytes,
    }
}

fn retries_in(retries: pb::Retries) -> Result<Retries, Bad> {
    Ok(Retries {
        failures_in_row: retries.failures_in_row,
        since_last_stored_entry: retries.since_last_stored_entry,
        last_failure: retries.last_failure.map(attempt_failure_in).transpose()?,
    })
}

fn asks_in(asks: Option<pb::Asks>) -> Asks {
    let asks = asks.unwrap_or_default();
    Asks { opened: asks.opened, input: asks.input, auth: asks.auth, left: asks.left }
}

fn record_in(row: pb::Invocation) -> Result<Record, Bad> {
    let events = row.events.ok_or(Bad("the span of events is missing"))?;
    Ok(Record {
        target: target_in(row.target)?,
        status: status_in(row.status)?,
        source: source_in(row.source)?,
        root: id_in(&row.root)?,
        idempotency_key: row.idempotency_key,
        retention: retention_in(row.retention)?,
        lazy_state: row.lazy_state,
        random_seed: row.random_seed,
        pin: row.pin.map(pin_in).transpose()?,
        sinks: row.sinks.into_iter().map(sink_in).collect::<Result<_, _>>()?,
        attempt: row.attempt,
        pause_wanted: row.pause_wanted,
        journal: journal_in(row.journal.ok_or(Bad("the summary of the journal is missing"))?),
        retries: retries_in(row.retries.ok_or(Bad("the retries are missing"))?)?,
        events: Span { first: events.first, next: events.next },
        times: times_in(row.times.ok_or(Bad("the times are missing"))?),
        is_task: row.is_task,
        asks: asks_in(row.asks),
        asked: row.asked,
    })
}

#[cfg(test)]
mod tests;
