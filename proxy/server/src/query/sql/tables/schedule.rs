//! `holdfast_schedule`: what runs at which times.

use super::{
    super::{
        source::Source,
        table::{Column, Key, Table, Value},
        types::Type,
    },
    column,
};
use crate::query::schedule as view;
use holdfast_machine::{
    id::PartitionId,
    kv::{Fault, Kv},
    tables::{
        TableId,
        schedule::{self, Schedule},
    },
};

pub struct Schedules;

impl Table for Schedules {
    type Row = Schedule;
    const NAME: &'static str = "holdfast_schedule";
    const KEY: Key = Key::Id(TableId::Schedule);

    fn columns() -> Vec<Column<Schedule>> {
        let mut columns = plan();
        columns.extend(what_became_of_it());
        columns
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Schedule>,
    ) -> Result<(), Fault> {
        schedule::scan(kv, partition, &mut |row| {
            rows.push(row);
            true
        })
    }
}

fn plan() -> Vec<Column<Schedule>> {
    vec![
        column("name", Type::Text, |it, _| (&it.plan.name).into()),
        column("cron", Type::Text, |it, _| (&it.plan.cron).into()),
        column("time_zone", Type::Text, |it, _| (&it.plan.time_zone).into()),
        column("target", Type::Text, |it, _| view::target(&it.plan).into()),
        column("target_service_name", Type::Text, |it, _| (&it.plan.service).into()),
        column("target_service_key", Type::Text, |it, _| it.plan.key.clone().into()),
        column("target_handler_name", Type::Text, |it, _| (&it.plan.handler).into()),
        column("catch_up", Type::Text, |it, _| view::catch_up(&it.plan).as_str().into()),
        column("overlap", Type::Text, |it, _| view::overlap(&it.plan).as_str().into()),
        column("paused", Type::Boolean, |it, _| it.paused.into()),
        column("created_at", Type::Timestamp, |it, _| it.created.into()),
        column("modified_at", Type::Timestamp, |it, _| it.modified.into()),
    ]
}

fn what_became_of_it() -> Vec<Column<Schedule>> {
    vec![
        column("next_at", Type::Timestamp, |it, _| it.next.into()),
        column("last_planned_at", Type::Timestamp, |it, _| {
            it.last_run.as_ref().map(|run| run.planned).into()
        }),
        column("last_started_at", Type::Timestamp, |it, _| {
            it.last_run.as_ref().map(|run| run.at).into()
        }),
        column("last_ended_at", Type::Timestamp, |it, _| {
            let ended = it.last_run.as_ref().and_then(|run| run.ended.as_ref());
            ended.map(|ended| ended.at).into()
        }),
        column("last_invocation_id", Type::Text, |it, _| {
            it.last_run.as_ref().map(|run| run.invocation.to_string()).into()
        }),
        column("last_status", Type::Text, |it, _| {
            it.last_run.as_ref().map(|run| view::status(run).as_str()).into()
        }),
        column("last_failure", Type::Text, |it, _| {
            it.last_run.as_ref().and_then(view::failure).into()
        }),
        column("trouble", Type::Text, |it, _| match &it.trouble {
            Some(trouble) => (&trouble.message).into(),
            None => Value::None,
        }),
        column("trouble_code", Type::Text, |it, _| {
            it.trouble.as_ref().map(|trouble| trouble.code.clone()).into()
        }),
        column("runs", Type::UInt32, |it, _| it.counts.runs.into()),
        column("caught_up", Type::UInt32, |it, _| it.counts.caught_up.into()),
        column("skipped", Type::UInt32, |it, _| it.counts.skipped.into()),
        column("failed", Type::UInt32, |it, _| it.counts.failed.into()),
    ]
}
