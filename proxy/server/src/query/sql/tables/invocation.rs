//! `sys_invocation_status`, `sys_invocation_state` (what only live attempts have) and
//! `sys_invocation`, both in one.

use super::{
    super::{
        source::Source,
        table::{Column, Key, Table, Value},
        types::Type,
    },
    column,
};
use crate::query::{Attempt, view};
use holdfast_machine::{
    id::{DeploymentId, InvocationId, PartitionId},
    kv::{Fault, Kv},
    model::Source as Caller,
    model::{AttemptFailure, Awaiting, Outcome, RelatedCommand, SignalName, Status, Target},
    tables::{
        TableId,
        invocation::{self, Record},
    },
    time::Timestamp,
};
use holdfast_wire::manifest::{HandlerType, ServiceType};

/// An invocation, and the attempt that talks to a service at this moment.
pub struct Row {
    id: InvocationId,
    record: Box<Record>,
    attempt: Option<Attempt>,
}

impl Row {
    /// Whether it is the turn of the service, or soon will be.
    fn is_live(&self) -> bool {
        matches!(self.record.status, Status::Running | Status::BackingOff { .. })
    }

    fn live(&self) -> Option<&Record> {
        self.is_live().then_some(&*self.record)
    }

    /// Attempts since it last began from waiting, the one under way included.
    fn attempts(&self) -> Option<u64> {
        let failed = u64::from(self.live()?.retries.failures_in_row);
        Some(failed + u64::from(self.attempt.is_some()))
    }

    /// When the attempt under way began; between two attempts, when the last one failed.
    fn last_start(&self) -> Option<Timestamp> {
        match (&self.attempt, &self.record.status) {
            (Some(attempt), _) => Some(attempt.started_at),
            (None, Status::BackingOff { .. }) => Some(self.record.times.modified),
            _ => None,
        }
    }

    /// Where the last attempt went. Without a pin it goes to the latest deployment.
    fn last_deployment(&self, source: &Source) -> Option<DeploymentId> {
        let live = self.attempt.and_then(|attempt| attempt.deployment);
        let pinned = live.or_else(|| self.record.pin.map(|pin| pin.deployment));
        let latest = || {
            let service = source.catalog.service(&self.record.target.service)?;
            Some(service.deployment)
        };
        self.last_start()?;
        pinned.or_else(latest)
    }

    fn failure(&self) -> Option<&AttemptFailure> {
        self.live()?.retries.last_failure.as_ref()
    }

    fn related(&self) -> Option<&RelatedCommand> {
        self.failure()?.related.as_ref()
    }
}

fn read(
    source: &Source,
    kv: &dyn Kv,
    partition: PartitionId,
    rows: &mut Vec<Row>,
) -> Result<(), Fault> {
    invocation::scan(kv, partition, None, &mut |id, record| {
        let attempt = source.live.attempt(id);
        rows.push(Row { id, record: Box::new(record), attempt });
        true
    })
}

pub struct Statuses;

impl Table for Statuses {
    type Row = Row;
    const NAME: &'static str = "sys_invocation_status";
    const KEY: Key = Key::Id(TableId::Invocation);

    fn columns() -> Vec<Column<Row>> {
        let mut columns = vec![partition_key(), id(), vqueue_id()];
        columns.push(column("status", Type::Text, |it, _| stored_status(&it.record.status).into()));
        columns.extend(what_it_is());
        columns.extend(what_became_of_it());
        columns
    }

    fn read(
        source: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Row>,
    ) -> Result<(), Fault> {
        read(source, kv, partition, rows)
    }
}

pub struct States;

impl Table for States {
    type Row = Row;
    const NAME: &'static str = "sys_invocation_state";
    const KEY: Key = Key::Id(TableId::Invocation);

    fn columns() -> Vec<Column<Row>> {
        let mut columns = vec![partition_key(), id()];
        columns.push(column("in_flight", Type::Boolean, |it, _| it.attempt.is_some().into()));
        columns.extend(what_happens());
        columns
    }

    fn read(
        source: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Row>,
    ) -> Result<(), Fault> {
        read(source, kv, partition, rows)?;
        rows.retain(Row::is_live);
        Ok(())
    }
}

pub struct Invocations;

impl Table for Invocations {
    type Row = Row;
    const NAME: &'static str = "sys_invocation";
    const KEY: Key = Key::Id(TableId::Invocation);

    fn columns() -> Vec<Column<Row>> {
        let mut columns = vec![id(), vqueue_id()];
        columns.push(column("status", Type::Text, |it, _| {
            let failures = it.record.retries.failures_in_row;
            view::status_of_attempts(&it.record.status, it.attempt.is_some(), failures)
                .as_str()
                .into()
        }));
        columns.extend(what_it_is());
        columns.extend(what_became_of_it());
        columns.extend(what_happens());
        columns
    }

    fn read(
        source: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Row>,
    ) -> Result<(), Fault> {
        read(source, kv, partition, rows)
    }
}

fn partition_key() -> Column<Row> {
    column("partition_key", Type::UInt64, |it, _| it.id.partition_key.0.into())
}

fn id() -> Column<Row> {
    column("id", Type::Text, |it, _| it.id.to_string().into())
}

fn vqueue_id() -> Column<Row> {
    column("vqueue_id", Type::Text, |_, _| Value::None)
}

fn what_it_is() -> Vec<Column<Row>> {
    vec![
        column("completion_result", Type::Text, |it, _| match outcome(it) {
            Some(Outcome::Success(_)) => "success".into(),
            Some(Outcome::Failure(_)) => "failure".into(),
            None => Value::None,
        }),
        column("completion_failure", Type::Text, |it, _| match outcome(it) {
            Some(Outcome::Failure(failure)) => {
                format!("[{}] {}", failure.code, failure.message).into()
            }
            _ => Value::None,
        }),
        column("target", Type::Text, |it, _| view::target(&it.record.target).into()),
        column("target_service_name", Type::Text, |it, _| (&it.record.target.service).into()),
        column("target_service_key", Type::Text, |it, _| it.record.target.key.clone().into()),
        column("target_handler_name", Type::Text, |it, _| (&it.record.target.handler).into()),
        column("target_service_ty", Type::Text, |it, source| {
            service_type(&it.record.target, source).into()
        }),
        column("scope", Type::Text, |_, _| Value::None),
        column("limit_key", Type::Text, |_, _| Value::None),
        column("idempotency_key", Type::Text, |it, _| it.record.idempotency_key.clone().into()),
        column("invoked_by", Type::Text, |it, _| match it.record.source {
            Caller::Ingress => "ingress".into(),
            Caller::Service { .. } => "service".into(),
            Caller::RestartAsNew { .. } => "restart_as_new".into(),
            Caller::Schedule { .. } => "schedule".into(),
        }),
        column("invoked_by_id", Type::Text, |it, _| match &it.record.source {
            Caller::Service { invocation, .. } => invocation.to_string().into(),
            _ => Value::None,
        }),
        column("invoked_by_subscription_id", Type::Text, |_, _| Value::None),
        column("invoked_by_service_name", Type::Text, |it, _| match &it.record.source {
            Caller::Service { target, .. } => (&target.service).into(),
            _ => Value::None,
        }),
        column("invoked_by_target", Type::Text, |it, _| match &it.record.source {
            Caller::Service { target, .. } => view::target(target).into(),
            Caller::Schedule { name, .. } => name.into(),
            _ => Value::None,
        }),
        column("restarted_from", Type::Text, |it, _| match &it.record.source {
            Caller::RestartAsNew { original } => original.to_string().into(),
            _ => Value::None,
        }),
    ]
}

fn what_became_of_it() -> Vec<Column<Row>> {
    vec![
        column("pinned_deployment_id", Type::Text, |it, _| {
            it.record.pin.map(|pin| pin.deployment.to_string()).into()
        }),
        column("pinned_service_protocol_version", Type::UInt32, |it, _| {
            it.record.pin.map(|pin| pin.version.number()).into()
        }),
        column("trace_id", Type::Text, |_, _| Value::None),
        column("journal_size", Type::UInt32, |it, _| it.record.journal.length.into()),
        column("journal_commands_size", Type::UInt32, |it, _| it.record.journal.commands.into()),
        column("created_at", Type::Timestamp, |it, _| it.record.times.created.into()),
        column("created_using_restate_version", Type::Text, |_, _| Value::None),
        column("modified_at", Type::Timestamp, |it, _| it.record.times.modified.into()),
        column("inboxed_at", Type::Timestamp, |it, _| it.record.times.inboxed.into()),
        column("scheduled_at", Type::Timestamp, |it, _| it.record.times.scheduled.into()),
        column("scheduled_start_at", Type::Timestamp, |it, _| it.record.times.start_at.into()),
        column("running_at", Type::Timestamp, |it, _| it.record.times.running.into()),
        column("completed_at", Type::Timestamp, |it, _| it.record.times.completed.into()),
        column("completion_retention", Type::Duration, |it, _| {
            it.record.retention.completion.into()
        }),
        column("journal_retention", Type::Duration, |it, _| it.record.retention.journal.into()),
        column("suspended_waiting_for_completions", Type::UInt32List, |it, _| {
            list(it, |awaiting| awaiting.completions.clone())
        }),
        column("suspended_waiting_for_signals", Type::UInt32List, |it, _| {
            list(it, |awaiting| awaiting.signals.iter().filter_map(index).collect())
        }),
        column("suspended_waiting_future_json", Type::Text, |it, _| {
            awaiting(it).map(|awaiting| future(awaiting).to_string()).into()
        }),
    ]
}

fn what_happens() -> Vec<Column<Row>> {
    vec![
        column("retry_count", Type::UInt64, |it, _| it.attempts().into()),
        column("last_start_at", Type::Timestamp, |it, _| it.last_start().into()),
        column("last_attempt_deployment_id", Type::Text, |it, source| {
            it.last_deployment(source).map(|id| id.to_string()).into()
        }),
        column("last_attempt_server", Type::Text, |it, source| {
            let deployment =
                it.last_deployment(source).and_then(|id| source.catalog.deployment(id));
            deployment.and_then(|deployment| deployment.sdk_version.clone()).into()
        }),
        column("next_retry_at", Type::Timestamp, |it, _| match it.record.status {
            Status::BackingOff { until } => until.into(),
            _ => Value::None,
        }),
        column("last_failure", Type::Text, |it, _| it.failure().map(failure_text).into()),
        column("last_failure_error_code", Type::Text, |it, _| {
            it.failure().map(|failure| failure.doc_code.as_deref().unwrap_or(OF_THE_SERVICE)).into()
        }),
        column("last_failure_related_command_index", Type::UInt64, related_index),
        column("last_failure_related_command_name", Type::Text, related_name),
        column("last_failure_related_command_type", Type::Text, related_type),
        column("last_failure_related_entry_index", Type::UInt64, related_index),
        column("last_failure_related_entry_name", Type::Text, related_name),
        column("last_failure_related_entry_type", Type::Text, related_type),
        column("last_awaiting_on_future_json", Type::Text, |_, _| Value::None),
    ]
}

/// The code that existing tools know for a failure that the service told.
const OF_THE_SERVICE: &str = "RT0007";

fn failure_text(failure: &AttemptFailure) -> String {
    let AttemptFailure { code, message, stacktrace, .. } = failure;
    match stacktrace.as_str() {
        "" => format!("[{code}] {message}"),
        stacktrace => format!("[{code}] {message}\n{stacktrace}"),
    }
}

fn related_index(it: &Row, _: &Source) -> Value {
    it.related().and_then(|related| related.index).into()
}

fn related_name(it: &Row, _: &Source) -> Value {
    it.related().and_then(|related| related.name.clone()).into()
}

fn related_type(it: &Row, _: &Source) -> Value {
    it.related().and_then(|related| related.ty).map(|ty| ty.kind()).into()
}

fn stored_status(status: &Status) -> &'static str {
    match status {
        Status::Scheduled { .. } => "scheduled",
        Status::Inboxed { .. } => "inboxed",
        Status::Running | Status::BackingOff { .. } => "invoked",
        Status::Suspended { .. } => "suspended",
        Status::Paused => "paused",
        Status::Completed { .. } => "completed",
    }
}

fn outcome(row: &Row) -> Option<&Outcome> {
    match &row.record.status {
        Status::Completed { outcome } => Some(outcome),
        _ => None,
    }
}

fn service_type(target: &Target, source: &Source) -> &'static str {
    let is_workflow = || {
        let service = source.catalog.service(&target.service);
        service.is_some_and(|service| service.ty == ServiceType::Workflow)
    };
    match target.ty {
        HandlerType::Service => "service",
        HandlerType::Workflow => "workflow",
        HandlerType::Shared if is_workflow() => "workflow",
        HandlerType::Exclusive | HandlerType::Shared => "virtual_object",
    }
}

fn awaiting(row: &Row) -> Option<&Awaiting> {
    match &row.record.status {
        Status::Suspended { awaiting } => Some(awaiting),
        _ => None,
    }
}

/// Numbers of the whole tree, in order, as a JSON array.
fn list(row: &Row, numbers: fn(&Awaiting) -> Vec<u32>) -> Value {
    fn collect(awaiting: &Awaiting, numbers: fn(&Awaiting) -> Vec<u32>, all: &mut Vec<u32>) {
        all.extend(numbers(awaiting));
        awaiting.nested.iter().for_each(|nested| collect(nested, numbers, all));
    }
    let Some(awaiting) = awaiting(row) else {
        return Value::None;
    };
    let mut all = vec![];
    collect(awaiting, numbers, &mut all);
    all.sort_unstable();
    all.dedup();
    serde_json::json!(all).to_string().into()
}

fn index(signal: &SignalName) -> Option<u32> {
    match signal {
        SignalName::Index(index) => Some(*index),
        SignalName::Name(_) => None,
    }
}

/// What is waited for as a tree.
fn future(awaiting: &Awaiting) -> serde_json::Value {
    let signals: Vec<_> = awaiting
        .signals
        .iter()
        .map(|signal| match signal {
            SignalName::Index(index) => serde_json::json!(index),
            SignalName::Name(name) => serde_json::json!(name),
        })
        .collect();
    serde_json::json!({
        "combinator": format!("{:?}", awaiting.combinator),
        "completions": awaiting.completions,
        "signals": signals,
        "nested": awaiting.nested.iter().map(future).collect::<Vec<_>>(),
    })
}
