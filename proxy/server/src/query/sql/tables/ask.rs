//! `holdfast_ask`: questions to people, open and closed.

use super::{
    super::{
        source::Source,
        table::{Column, Key, Table},
        types::Type,
    },
    column,
};
use crate::query::{model::AskStatus, target};
use holdfast_machine::{
    ask::Ask,
    id::PartitionId,
    kv::{Fault, Kv},
    tables::{TableId, ask},
};

pub struct Asks;

impl Table for Asks {
    type Row = Ask;
    const NAME: &'static str = "holdfast_ask";
    const KEY: Key = Key::Id(TableId::Ask);

    fn columns() -> Vec<Column<Ask>> {
        let mut columns = question();
        columns.extend(answer());
        columns
    }

    fn read(
        _: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Ask>,
    ) -> Result<(), Fault> {
        ask::scan(kv, partition, &mut |row| {
            rows.push(row);
            true
        })
    }
}

fn question() -> Vec<Column<Ask>> {
    vec![
        column("id", Type::Text, |it, _| it.root.to_string().into()),
        column("number", Type::UInt32, |it, _| it.number.into()),
        column("ask_id", Type::Text, |it, _| it.id.to_string().into()),
        column("status", Type::Text, |it, _| AskStatus::of(it).as_str().into()),
        column("kind", Type::Text, |it, _| it.kind.as_str().into()),
        column("message", Type::Text, |it, _| (&it.message).into()),
        column("schema_json", Type::Text, |it, _| it.form.to_json().to_string().into()),
        column("to", Type::Text, |it, _| it.to.clone().into()),
        column("url", Type::Text, |it, _| it.url.clone().into()),
        column("asked_by_id", Type::Text, |it, _| it.caller.to_string().into()),
        column("asked_by_target", Type::Text, |it, _| target(&it.asked_by).into()),
        column("asked_by_service_name", Type::Text, |it, _| (&it.asked_by.service).into()),
        column("opened_at", Type::Timestamp, |it, _| it.opened_at.into()),
        column("expires_at", Type::Timestamp, |it, _| it.expires_at.into()),
    ]
}

fn answer() -> Vec<Column<Ask>> {
    vec![
        column("closed_at", Type::Timestamp, |it, _| {
            it.closed.as_ref().map(|closed| closed.at).into()
        }),
        column("action", Type::Text, |it, _| {
            it.closed.as_ref().map(|closed| closed.action.as_str()).into()
        }),
        column("answered_by", Type::Text, |it, _| {
            it.closed.as_ref().and_then(|closed| closed.by.clone()).into()
        }),
        column("content_json", Type::Text, |it, _| {
            let content = it.closed.as_ref().map(|closed| &closed.content);
            let content = content.filter(|content| !content.is_empty());
            content.map(|content| String::from_utf8_lossy(content).into_owned()).into()
        }),
    ]
}
