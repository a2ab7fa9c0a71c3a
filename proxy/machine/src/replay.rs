//! What an attempt starts from: the rows of its invocation at one moment, as it will send them;
//! and whether it need start at all.

use crate::apply::Here;
use crate::attempt::Start;
use crate::id::InvocationId;
use crate::kv::{Fault, Kv};
use crate::model::{SignalName, Status, Target};
use crate::tables::invocation::{self, Record};
use crate::tables::journal;
use crate::tables::notified::{self, NotificationId};
use crate::tables::state::{self, Owner};
use bytes::Bytes;
use holdfast_wire::message::CANCEL_SIGNAL_INDEX;

/// The start of the current attempt of `id`. `None` if it is not running any more.
///
/// # Errors
/// If the store cannot be read or is corrupt.
pub fn start(
    kv: &dyn Kv,
    here: Here,
    id: InvocationId,
    eager_state_bytes_max: usize,
) -> Result<Option<Start>, Fault> {
    let Some(record) = invocation::look(kv, here.partition, id)? else {
        return Ok(None);
    };
    if record.status != Status::Running {
        return Ok(None);
    }
    let (state, partial_state) = eager_state(kv, here, &record, eager_state_bytes_max)?;
    Ok(Some(Start {
        invocation: id,
        attempt: record.attempt,
        entries: journal::first(kv, here.partition, id, record.journal.length)?,
        state,
        partial_state,
        retry_count_since_last_stored_entry: record.retries.since_last_stored_entry,
        last_stored_at: record.journal.stored_at,
        pin: record.pin,
        random_seed: record.random_seed,
        idempotency_key: record.idempotency_key.clone(),
        target: record.target.clone(),
    }))
}

/// What attempt `attempt` of `id` would call. `None` if it is not the current one, or not running
/// any more.
///
/// # Errors
/// If the store cannot be read or is corrupt.
pub fn target(
    kv: &dyn Kv,
    here: Here,
    id: InvocationId,
    attempt: u32,
) -> Result<Option<Target>, Fault> {
    let record = invocation::look(kv, here.partition, id)?;
    let current =
        record.filter(|record| record.status == Status::Running && record.attempt == attempt);
    Ok(current.map(|record| record.target.clone()))
}

/// Whether an attempt of `id` that has not begun need not begin: a pause is wanted, or the
/// invocation was cancelled before any of its attempts left a trace.
///
/// # Errors
/// If the store cannot be read or is corrupt.
pub fn need_not_start(kv: &dyn Kv, here: Here, id: InvocationId) -> Result<bool, Fault> {
    match invocation::look(kv, here.partition, id)? {
        Some(record) if record.status == Status::Running => {
            Ok(record.pause_wanted || ends_unstarted(kv, here, id, &record)?)
        }
        _ => Ok(false),
    }
}

/// Whether `id` was cancelled before any of its attempts left a trace: it may end as what never
/// began does.
pub(crate) fn ends_unstarted(
    kv: &dyn Kv,
    here: Here,
    id: InvocationId,
    record: &Record,
) -> Result<bool, Fault> {
    let cancel = NotificationId::Signal(SignalName::Index(CANCEL_SIGNAL_INDEX));
    Ok(record.pin.is_none() && notified::get(kv, here.partition, id, &cancel)?.is_some())
}

type Pairs = Vec<(Bytes, Bytes)>;

/// The beginning of the state that fits, and whether there is more than that.
fn eager_state(
    kv: &dyn Kv,
    here: Here,
    record: &Record,
    bytes_max: usize,
) -> Result<(Pairs, bool), Fault> {
    let Some(key) = &record.target.key else {
        return Ok((vec![], true));
    };
    if record.lazy_state {
        return Ok((vec![], true));
    }
    let owner = Owner { service: &record.target.service, key };
    let (mut pairs, mut bytes, mut partial) = (vec![], 0, false);
    state::scan(kv, here.partition, owner, &mut |key, value| {
        bytes += key.len() + value.len();
        partial = bytes > bytes_max;
        if !partial {
            pairs.push((key, value));
        }
        !partial
    })?;
    Ok((pairs, partial))
}

#[cfg(test)]
mod tests;
