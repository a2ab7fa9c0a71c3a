//! What onlookers read: invocations, journals, events, state, promises and inboxes of one
//! partition, row by row, over any snapshot. Never changes anything, and holds no more than a row
//! at a time where there can be many.

mod fields;
mod form;
mod mismatch;

use crate::apply::Here;
use crate::command::StateMap;
use crate::id::InvocationId;
use crate::kv::{Fault, Kv};
use crate::model::{AttemptFailure, Entry};
use crate::tables::state::Owner;
use crate::tables::{event, inbox, invocation, journal, lock, promise, state};

pub use crate::tables::event::{Event, EventKind};
pub use crate::tables::inbox::{Row as InboxRow, Waiting, What};
pub use crate::tables::invocation::{Record, Retries, Sink, SinkKind, Times};
pub use crate::tables::lock::Lock;
pub use crate::tables::promise::{Promise, Row as PromiseRow};
pub use crate::tables::state::Row as StateRow;
pub use mismatch::Mismatch;

/// One invocation.
///
/// # Errors
/// As all functions here: if the store cannot be read or is corrupt.
pub fn invocation(kv: &dyn Kv, here: Here, id: InvocationId) -> Result<Option<Record>, Fault> {
    invocation::get(kv, here.partition, id)
}

/// Shows invocations in the order of their ids, from the one behind `from` on, until `each`
/// answers false: filter and limit are the caller's.
pub fn invocations(
    kv: &dyn Kv,
    here: Here,
    from: Option<InvocationId>,
    each: &mut dyn FnMut(InvocationId, Record) -> bool,
) -> Result<(), Fault> {
    invocation::scan(kv, here.partition, from, each)
}

/// At most `max` entries of a journal, from entry `from` on.
pub fn journal(
    kv: &dyn Kv,
    here: Here,
    id: InvocationId,
    from: u32,
    max: usize,
) -> Result<Vec<Entry>, Fault> {
    let mut entries = vec![];
    if max > 0 {
        journal::scan(kv, here.partition, id, from, &mut |entry| {
            entries.push(entry);
            Ok(entries.len() < max)
        })?;
    }
    Ok(entries)
}

/// Events of an invocation, oldest first; they are few.
pub fn events(kv: &dyn Kv, here: Here, id: InvocationId) -> Result<Vec<Event>, Fault> {
    event::all(kv, here.partition, id)
}

/// The two sides of a journal mismatch that an attempt failed with; `None` for other failures.
pub fn mismatch(
    kv: &dyn Kv,
    here: Here,
    id: InvocationId,
    failure: &AttemptFailure,
) -> Result<Option<Mismatch>, Fault> {
    if !mismatch::is_mismatch(failure) {
        return Ok(None);
    }
    let recorded = match mismatch::command(failure) {
        Some(number) => command(kv, here, id, number)?,
        None => None,
    };
    Ok(Some(mismatch::compare(failure, recorded.as_ref())))
}

/// The command `number` of a journal; the input is 0.
fn command(kv: &dyn Kv, here: Here, id: InvocationId, number: u32) -> Result<Option<Entry>, Fault> {
    let (mut next, mut found) = (0, None);
    journal::scan(kv, here.partition, id, 0, &mut |entry| {
        if entry.ty.is_command() {
            found = (next == number).then_some(entry);
            next += 1;
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

/// The state of one key. Its version is `apply::state_version` of it.
pub fn state(kv: &dyn Kv, here: Here, service: &str, key: &str) -> Result<StateMap, Fault> {
    let mut map = StateMap::new();
    state::scan(kv, here.partition, Owner { service, key }, &mut |key, value| {
        map.insert(key, value);
        true
    })?;
    Ok(map)
}

/// Shows all state until `each` answers false.
pub fn all_state(
    kv: &dyn Kv,
    here: Here,
    each: &mut dyn FnMut(StateRow) -> bool,
) -> Result<(), Fault> {
    state::scan_all(kv, here.partition, each)
}

/// Who holds a key.
pub fn lock(kv: &dyn Kv, here: Here, service: &str, key: &str) -> Result<Option<Lock>, Fault> {
    lock::get(kv, here.partition, Owner { service, key })
}

/// Shows all keys that are held, until `each` answers false.
pub fn locks(
    kv: &dyn Kv,
    here: Here,
    each: &mut dyn FnMut(String, String, Lock) -> bool,
) -> Result<(), Fault> {
    lock::scan(kv, here.partition, each)
}

/// Shows all promises until `each` answers false.
pub fn promises(
    kv: &dyn Kv,
    here: Here,
    each: &mut dyn FnMut(PromiseRow) -> bool,
) -> Result<(), Fault> {
    promise::scan(kv, here.partition, each)
}

/// Shows who waits for which key, until `each` answers false.
pub fn inbox(kv: &dyn Kv, here: Here, each: &mut dyn FnMut(InboxRow) -> bool) -> Result<(), Fault> {
    inbox::scan(kv, here.partition, each)
}

#[cfg(test)]
mod tests;
