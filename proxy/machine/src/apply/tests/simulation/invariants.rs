//! What one command may never do, whatever it is.

use super::asks::{asks_agree, feed_holds};
use super::*;
use crate::apply::tests::show::id_in;
use crate::id::ScheduleId;
use crate::tables::schedule::{self, Schedule};
use crate::tables::timer::{Timer, TimerKind};

/// The rows that a command is about to write, as they are.
pub fn written(store: &MemoryKv, writes: &Writes) -> MemoryKv {
    let rows = writes.keys().filter_map(|key| Some((key.clone(), store.0.get(key)?.clone())));
    MemoryKv(rows.collect())
}

/// What one command may never do, whatever it is.
pub fn hold(before: &MemoryKv, after: &MemoryKv, partition: PartitionId, writes: &Writes) {
    for (key, value) in writes {
        match TableId::of_key(key) {
            Some(TableId::Journal) => {
                if let (Some(old), Some(new)) = (before.get(key).unwrap(), value) {
                    assert_eq!(old, *new, "an entry changed");
                }
            }
            Some(TableId::Invocation) => {
                let id = id_in(key);
                let old = invocation::get(before, partition, id).unwrap();
                let new = invocation::get(after, partition, id).unwrap();
                outcome_stays(old.as_ref(), new.as_ref());
                rows_agree(after, partition, id, new.as_ref());
                if let Some(record) = &new {
                    asks_agree(after, partition, id, record);
                }
            }
            Some(TableId::Feed) => feed_holds(before, after, partition, key),
            Some(TableId::Schedule) => {
                let id = ScheduleId::from_row(id_in(key));
                let old = schedule::get(before, partition, id).unwrap();
                let new = schedule::get(after, partition, id).unwrap();
                a_time_has_one_run(old.as_ref(), new.as_ref());
                if let Some(due) = new.and_then(|new| new.next) {
                    let timer = Timer::new(due, TimerKind::Schedule, id.row());
                    assert!(timer::exists(after, partition, &timer).unwrap());
                }
            }
            _ => {}
        }
    }
}

/// But for those that people ask for, runs are for later and later times.
fn a_time_has_one_run(old: Option<&Schedule>, new: Option<&Schedule>) {
    let run = |schedule: Option<&Schedule>| schedule.and_then(|it| it.last_run.clone());
    let (Some(old), Some(new)) = (run(old), run(new)) else {
        return;
    };
    if new.invocation == old.invocation {
        assert_eq!(new.planned, old.planned);
        assert!(old.ended.is_none() || old.ended == new.ended, "an end changed");
    } else if !new.asked {
        assert!(new.planned > old.planned, "a time has two runs");
    }
}

/// Whatever was paused or failed by a command is told by it, once; where nothing is kept of an
/// invocation, its notice is there all the same.
pub fn told(before: &MemoryKv, after: &MemoryKv, partition: PartitionId, writes: &Writes) {
    let mut told = BTreeMap::new();
    for key in writes.keys().filter(|key| TableId::of_key(key) == Some(TableId::Notice)) {
        let (_, sequence) = queue::parse::<Notice>(key).unwrap();
        queue::scan(after, partition, sequence, &mut |found, notice: Notice| {
            if found == sequence {
                *told.entry(notice.invocation).or_insert(0) += 1;
            }
            false
        })
        .unwrap();
    }
    for key in writes.keys().filter(|key| TableId::of_key(key) == Some(TableId::Invocation)) {
        let id = id_in(key);
        let status = |kv| Some(invocation::get(kv, partition, id).unwrap()?.status);
        let (old, new) = (status(before), status(after));
        let failed = matches!(new, Some(Status::Completed { outcome: Outcome::Failure(_), .. }));
        let trouble = new != old && (failed || new == Some(Status::Paused));
        let count = told.get(&id).copied().unwrap_or(0);
        assert!(count == u32::from(trouble) || new.is_none(), "{id} was told {count} times");
    }
}

fn outcome_stays(old: Option<&Record>, new: Option<&Record>) {
    let (Some(old), Some(new)) = (old, new) else {
        return;
    };
    if let Status::Completed { .. } = old.status {
        assert_eq!(old.status, new.status, "an outcome changed");
    }
    assert!(old.attempt <= new.attempt, "attempts are numbered upwards");
}

/// The index of the running, the lock and the journal agree with the row.
fn rows_agree(kv: &MemoryKv, partition: PartitionId, id: InvocationId, record: Option<&Record>) {
    let runs = running::contains(kv, partition, id).unwrap();
    assert_eq!(runs, record.is_some_and(|record| record.status == Status::Running));
    let entries = journal::all(kv, partition, id).unwrap();
    let Some(record) = record else {
        return assert_eq!(entries, []);
    };
    let length = if record.journal.purged { 0 } else { record.journal.length };
    assert_eq!(entries.len(), length as usize);
    if record.is_exclusive() {
        let owner = crate::apply::state::owner(&record.target).unwrap();
        let holder = lock::get(kv, partition, owner).unwrap().map(|lock| lock.holder);
        let waits = matches!(record.status, Status::Scheduled { .. } | Status::Inboxed { .. });
        let ended = matches!(record.status, Status::Completed { .. });
        assert_eq!(holder == Some(id), !waits && !ended, "{:?}", record.status);
    }
}
