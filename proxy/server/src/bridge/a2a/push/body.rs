//! What a receiver is sent of one row of a feed: the same events as on every stream, in the words in
//! which the receiver was registered.

use crate::bridge::a2a::json::write;
use crate::bridge::a2a::legacy;
use crate::bridge::a2a::model::StreamResponse;
use crate::bridge::a2a::render::{Fold, Head, Teller, split};
use crate::bridge::a2a::version::Wire;
use crate::registry::exposure::Catalogue;
use bytes::Bytes;
use holdfast_machine::{
    id::{InvocationId, PartitionId, TaskId},
    kv::{Fault, Kv},
    tables::{
        feed, invocation,
        push::Delivery,
        push_config::PushConfig,
        task::{self, Task},
    },
    task::{Event, What},
};

/// How a wire version stands in the row of a receiver. A number once given is never given again.
pub fn form(wire: Wire) -> u32 {
    match wire {
        Wire::V1 => 0,
        Wire::V03 => 1,
    }
}

fn wire(config: &PushConfig) -> Wire {
    if config.form == form(Wire::V03) { Wire::V03 } else { Wire::V1 }
}

/// As it is told in a header.
pub(super) fn version(config: &PushConfig) -> &'static str {
    match wire(config) {
        Wire::V1 => "1.0",
        Wire::V03 => "0.3",
    }
}

/// The bodies that one delivery is, in order. None where the task is gone.
pub(super) fn all(
    kv: &dyn Kv,
    catalogue: &Catalogue,
    partition: PartitionId,
    delivery: &Delivery,
    config: &PushConfig,
) -> Result<Vec<Bytes>, Fault> {
    let id = delivery.invocation;
    let Some(task) = task::get(kv, partition, id)? else {
        return Ok(vec![]);
    };
    let Some(row) = feed::get(kv, partition, id, delivery.event)? else {
        return Ok(vec![]);
    };
    let head = head(kv, catalogue, partition, id, &task)?;
    let events = match row.sequence {
        1 => vec![first(kv, partition, id, head, row)?],
        _ => {
            teller(kv, partition, id, head, &row)?.tell(&row).into_iter().flat_map(split).collect()
        }
    };
    let body = |event: &StreamResponse| match wire(config) {
        Wire::V1 => Bytes::from(write::stream_response(event).to_string()),
        Wire::V03 => Bytes::from(legacy::rpc::payload(event, is_last(event)).to_string()),
    };
    Ok(events.iter().map(body).collect())
}

/// 0.3 says with the last event that it is the last.
fn is_last(event: &StreamResponse) -> bool {
    match event {
        StreamResponse::StatusUpdate(update) => update.status.state.is_terminal(),
        _ => false,
    }
}

fn head(
    kv: &dyn Kv,
    catalogue: &Catalogue,
    partition: PartitionId,
    id: InvocationId,
    task: &Task,
) -> Result<Head, Fault> {
    let record = invocation::get(kv, partition, id)?;
    let target = record.map(|record| record.target);
    let exposed =
        target.and_then(|target| catalogue.of_handler(&target.service, &target.handler).cloned());
    let id = TaskId::new(id, task.secret).to_string();
    Ok(Head::of(id, task.context.clone(), &task.meta, exposed.as_deref()))
}

/// The task as it was accepted, with the message that started it.
fn first(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    head: Head,
    row: Event,
) -> Result<StreamResponse, Fault> {
    let mut fold = Fold::new(head, row.at);
    fold.take(&row);
    if let Some(second) = feed::get(kv, partition, id, 2)?
        && matches!(second.what, What::Message(_))
    {
        fold.take(&second);
    }
    Ok(StreamResponse::Task(Box::new(fold.task())))
}

/// Knows the questions that were open before a row. Only a row that says something of them needs
/// what was before it.
fn teller(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    head: Head,
    row: &Event,
) -> Result<Teller, Fault> {
    let mut teller = Teller::new(head);
    let is_alone = matches!(row.what, What::State | What::Artifact(_) | What::Ended(_));
    if !is_alone && row.state.is_interrupted() {
        for before in 1..row.sequence {
            if let Some(row) = feed::get(kv, partition, id, before)? {
                teller.tell(&row);
            }
        }
    }
    Ok(teller)
}
