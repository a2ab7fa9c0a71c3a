//! What one command may never do, whatever it is.

use super::*;

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
                let id = InvocationId::from_slice(&key[3..]).unwrap();
                let old = invocation::get(before, partition, id).unwrap();
                let new = invocation::get(after, partition, id).unwrap();
                outcome_stays(old.as_ref(), new.as_ref());
                rows_agree(after, partition, id, new.as_ref());
            }
            _ => {}
        }
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
