//! `sys_journal` and `sys_journal_events`.

use super::{
    super::{
        super::view,
        entry,
        source::Source,
        table::{Column, Key, Table, Value},
        types::Type,
    },
    column,
};
use holdfast_machine::{
    apply::Here,
    describe,
    id::{InvocationId, PartitionId},
    kv::{Fault, Kv},
    model::{AttemptFailure, Entry},
    tables::{
        TableId,
        codec::{KeyReader, KeyWriter, after, corrupt},
        event::{self, Event, EventKind},
        journal,
    },
};
use serde_json::{Map, json};

/// Version of the shape of entries that all our service protocols have.
const VERSION: u32 = 2;

/// The keys of a table that begins with an invocation, in this page.
fn keys(
    kv: &dyn Kv,
    table: TableId,
    partition: PartitionId,
) -> Result<Vec<(InvocationId, u32)>, Fault> {
    let prefix = KeyWriter::new(table, partition).done();
    let mut keys = vec![];
    kv.scan(&prefix, &after(&prefix), &mut |key, _| {
        keys.push(parse(table, key));
        true
    })?;
    let malformed = || corrupt(table, "a key is malformed");
    keys.into_iter().map(|key| key.ok_or_else(malformed)).collect()
}

fn parse(table: TableId, key: &[u8]) -> Option<(InvocationId, u32)> {
    let (_, mut reader) = KeyReader::new(table, key)?;
    let parsed = (reader.id()?, reader.u32()?);
    reader.end(parsed)
}

pub struct Journal;

impl Table for Journal {
    type Row = (InvocationId, Entry);
    const NAME: &'static str = "sys_journal";
    const KEY: Key = Key::Id(TableId::Journal);

    fn columns() -> Vec<Column<Self::Row>> {
        vec![
            column("partition_key", Type::UInt64, |(id, _), _| id.partition_key.0.into()),
            column("id", Type::Text, |(id, _), _| id.to_string().into()),
            column("index", Type::UInt32, |(_, entry), _| entry.index.into()),
            column("entry_type", Type::Text, |(_, entry), _| entry::type_name(entry).into()),
            column("name", Type::Text, |(_, entry), _| entry::name(entry).into()),
            column("completed", Type::Boolean, |_, _| Value::None),
            column("invoked_id", Type::Text, |_, _| Value::None),
            column("invoked_target", Type::Text, |_, _| Value::None),
            column("sleep_wakeup_at", Type::Timestamp, |_, _| Value::None),
            column("promise_name", Type::Text, |_, _| Value::None),
            column("raw", Type::Bytes, |(_, entry), _| entry.payload.clone().into()),
            column("raw_length", Type::UInt64, |(_, entry), _| entry.payload.len().into()),
            column("version", Type::UInt32, |_, _| VERSION.into()),
            column("entry_json", Type::Text, |(id, entry), source| {
                entry::json(*id, entry, &source.catalog).map(|json| json.to_string()).into()
            }),
            column("entry_lite_json", Type::Text, |(id, entry), source| {
                entry::lite_json(*id, entry, &source.catalog).map(|json| json.to_string()).into()
            }),
            column("appended_at", Type::Timestamp, |(_, entry), _| entry.appended_at.into()),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Self::Row>,
    ) -> Result<(), Fault> {
        for (id, index) in keys(kv, TableId::Journal, partition)? {
            rows.extend(journal::get(kv, partition, id, index)?.map(|entry| (id, entry)));
        }
        Ok(())
    }
}

pub struct Events;

impl Table for Events {
    type Row = (InvocationId, Event);
    const NAME: &'static str = "sys_journal_events";
    const KEY: Key = Key::Id(TableId::Event);

    fn columns() -> Vec<Column<Self::Row>> {
        vec![
            column("partition_key", Type::UInt64, |(id, _), _| id.partition_key.0.into()),
            column("id", Type::Text, |(id, _), _| id.to_string().into()),
            column("after_journal_entry_index", Type::UInt32, |(_, event), _| {
                event.after_entry.saturating_sub(1).into()
            }),
            column("appended_at", Type::Timestamp, |(_, event), _| event.last_at.into()),
            column("event_type", Type::Text, |(_, event), _| event_type(event.kind).into()),
            column("event_json", Type::Text, |(id, event), source| {
                event_json(event, mismatch(*id, event, source)).into()
            }),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Self::Row>,
    ) -> Result<(), Fault> {
        for (id, number) in keys(kv, TableId::Event, partition)? {
            rows.extend(event::get(kv, partition, id, number)?.map(|event| (id, event)));
        }
        Ok(())
    }
}

fn event_type(kind: EventKind) -> &'static str {
    match kind {
        EventKind::AttemptFailed => "TransientError",
        EventKind::Paused => "Paused",
    }
}

/// The two sides of a journal mismatch; a fault of the store is remembered.
fn mismatch(id: InvocationId, event: &Event, source: &Source) -> Option<describe::Mismatch> {
    let failure = event.failure.as_ref().filter(|_| event.kind == EventKind::AttemptFailed)?;
    let partition = source.partitions.of(id.partition_key);
    let here = Here::new(partition, source.partitions);
    let mismatch = describe::mismatch(&*source.snapshot, here, id, failure);
    mismatch.map_err(|fault| source.remember(fault)).ok().flatten()
}

fn event_json(event: &Event, mismatch: Option<describe::Mismatch>) -> String {
    let ty = event_type(event.kind);
    let mut json = match (event.kind, &event.failure) {
        (EventKind::AttemptFailed, Some(failure)) => transient(failure),
        (EventKind::AttemptFailed, None) => json!({ "ty": ty }),
        (EventKind::Paused, Some(failure)) => {
            json!({ "ty": ty, "last_failure": transient(failure) })
        }
        (EventKind::Paused, None) => json!({ "ty": ty }),
    };
    if let Some(mismatch) = mismatch {
        json["mismatch"] = json!(view::mismatch(mismatch));
    }
    json.to_string()
}

fn transient(failure: &AttemptFailure) -> serde_json::Value {
    let mut json = Map::new();
    json.insert("ty".into(), event_type(EventKind::AttemptFailed).into());
    json.insert("error_code".into(), failure.code.into());
    json.insert("error_message".into(), failure.message.as_str().into());
    if !failure.stacktrace.is_empty() {
        json.insert("error_stacktrace".into(), failure.stacktrace.as_str().into());
    }
    if let Some(code) = &failure.doc_code {
        json.insert("restate_doc_error_code".into(), code.as_str().into());
    }
    let related = failure.related.as_ref();
    if let Some(index) = related.and_then(|related| related.index) {
        json.insert("related_command_index".into(), index.into());
    }
    if let Some(name) = related.and_then(|related| related.name.as_deref()) {
        json.insert("related_command_name".into(), name.into());
    }
    if let Some(ty) = related.and_then(|related| related.ty) {
        json.insert("related_command_type".into(), ty.kind().into());
    }
    json.into()
}
