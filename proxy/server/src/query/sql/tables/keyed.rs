//! What belongs to the keys of objects and workflows: `state`, `sys_inbox`,
//! `sys_keyed_service_status`, `sys_locks` and `sys_promise`.

use super::{
    super::{
        source::Source,
        table::{Column, Key, Table, Value},
        types::Type,
    },
    column,
};
use bytes::Bytes;
use holdfast_machine::{
    id::{InvocationId, PartitionId, PartitionKey},
    kv::{Fault, Kv},
    model::Outcome,
    tables::{
        TableId,
        inbox::{self, What},
        lock,
        promise::{self, Promise},
        state,
    },
};

fn partition_key(key: &str) -> Value {
    PartitionKey::of_key(key).0.into()
}

fn utf8(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).ok().into()
}

pub struct State;

impl Table for State {
    type Row = state::Row;
    const NAME: &'static str = "state";
    const KEY: Key = Key::Owner(TableId::State);

    fn columns() -> Vec<Column<state::Row>> {
        vec![
            column("partition_key", Type::UInt64, |it, _| partition_key(&it.key)),
            column("scope", Type::Text, |_, _| Value::None),
            column("service_name", Type::Text, |it, _| (&it.service).into()),
            column("service_key", Type::Text, |it, _| (&it.key).into()),
            column("key", Type::Text, |it, _| {
                String::from_utf8_lossy(&it.state_key).into_owned().into()
            }),
            column("key_length", Type::UInt64, |it, _| it.state_key.len().into()),
            column("value_utf8", Type::Text, |it, _| utf8(&it.value)),
            column("value", Type::Bytes, |it, _| it.value.clone().into()),
            column("value_length", Type::UInt64, |it, _| it.value.len().into()),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<state::Row>,
    ) -> Result<(), Fault> {
        state::scan_all(kv, partition, &mut |row| {
            rows.push(row);
            true
        })
    }
}

pub struct Inbox;

impl Table for Inbox {
    type Row = inbox::Row;
    const NAME: &'static str = "sys_inbox";
    const KEY: Key = Key::Owner(TableId::Inbox);

    fn columns() -> Vec<Column<inbox::Row>> {
        vec![
            column("partition_key", Type::UInt64, |it, _| partition_key(&it.key)),
            column("service_name", Type::Text, |it, _| (&it.service).into()),
            column("service_key", Type::Text, |it, _| (&it.key).into()),
            column("id", Type::Text, |it, _| match &it.waiting.what {
                What::Invocation(id) => id.to_string().into(),
                What::Patch { .. } => Value::None,
            }),
            column("sequence_number", Type::UInt64, |it, _| it.sequence.into()),
            column("created_at", Type::Timestamp, |it, _| it.waiting.since.into()),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<inbox::Row>,
    ) -> Result<(), Fault> {
        inbox::scan(kv, partition, &mut |row| {
            rows.push(row);
            true
        })
    }
}

/// A key that somebody holds.
pub struct Held {
    service: String,
    key: String,
    holder: InvocationId,
}

fn held(kv: &dyn Kv, partition: PartitionId, rows: &mut Vec<Held>) -> Result<(), Fault> {
    lock::scan(kv, partition, &mut |service, key, lock| {
        rows.push(Held { service, key, holder: lock.holder });
        true
    })
}

pub struct Holders;

impl Table for Holders {
    type Row = Held;
    const NAME: &'static str = "sys_keyed_service_status";
    const KEY: Key = Key::Owner(TableId::Lock);

    fn columns() -> Vec<Column<Held>> {
        vec![
            column("partition_key", Type::UInt64, |it, _| partition_key(&it.key)),
            column("service_name", Type::Text, |it, _| (&it.service).into()),
            column("service_key", Type::Text, |it, _| (&it.key).into()),
            column("invocation_id", Type::Text, |it, _| it.holder.to_string().into()),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Held>,
    ) -> Result<(), Fault> {
        held(kv, partition, rows)
    }
}

pub struct Locks;

impl Table for Locks {
    type Row = Held;
    const NAME: &'static str = "sys_locks";
    const KEY: Key = Key::Owner(TableId::Lock);

    fn columns() -> Vec<Column<Held>> {
        vec![
            column("partition_key", Type::UInt64, |it, _| partition_key(&it.key)),
            column("scope", Type::Text, |_, _| Value::None),
            column("lock_name", Type::Text, |it, _| format!("{}/{}", it.service, it.key).into()),
            column("acquired_at", Type::Timestamp, |_, _| Value::None),
            column("acquired_by", Type::Text, |it, _| it.holder.to_string().into()),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Held>,
    ) -> Result<(), Fault> {
        held(kv, partition, rows)
    }
}

pub struct Promises;

impl Table for Promises {
    type Row = promise::Row;
    const NAME: &'static str = "sys_promise";
    const KEY: Key = Key::Owner(TableId::Promise);

    fn columns() -> Vec<Column<promise::Row>> {
        vec![
            column("partition_key", Type::UInt64, |it, _| partition_key(&it.key)),
            column("scope", Type::Text, |_, _| Value::None),
            column("service_name", Type::Text, |it, _| (&it.service).into()),
            column("service_key", Type::Text, |it, _| (&it.key).into()),
            column("key", Type::Text, |it, _| (&it.name).into()),
            column("completed", Type::Boolean, |it, _| {
                matches!(it.promise, Promise::Completed(_)).into()
            }),
            column("completion_success_value", Type::Bytes, |it, _| success(it).cloned().into()),
            column("completion_success_value_utf8", Type::Text, |it, _| {
                success(it).map_or(Value::None, |value| utf8(value))
            }),
            column("completion_failure", Type::Text, |it, _| match &it.promise {
                Promise::Completed(Outcome::Failure(failure)) => {
                    format!("[{}] {}", failure.code, failure.message).into()
                }
                _ => Value::None,
            }),
        ]
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<promise::Row>,
    ) -> Result<(), Fault> {
        promise::scan(kv, partition, &mut |row| {
            rows.push(row);
            true
        })
    }
}

fn success(row: &promise::Row) -> Option<&Bytes> {
    match &row.promise {
        Promise::Completed(Outcome::Success(value)) => Some(value),
        _ => None,
    }
}
