//! `n | partition:u16 | id:24 | kind:u8 | completion:u32` (1), `… | signal:u32` (2) or
//! `… | name` (3) -> `Notified`. Which notifications a journal holds, and whether their result is
//! a failure: enough to say without the journal whether a wait is over. Of a signal that came
//! several times the row tells the last.

use super::codec::{KeyReader, KeyWriter, decode, encode};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::SignalName;

const TABLE: TableId = TableId::Notified;

/// What a notification is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotificationId {
    Completion(u32),
    Signal(SignalName),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notified {
    /// Its index in the journal.
    pub entry: u32,
    pub failed: bool,
}

fn key(partition: PartitionId, id: InvocationId, notification: &NotificationId) -> Vec<u8> {
    let key = KeyWriter::new(TABLE, partition).id(id);
    match notification {
        NotificationId::Completion(completion) => key.u8(1).u32(*completion).done(),
        NotificationId::Signal(SignalName::Index(index)) => key.u8(2).u32(*index).done(),
        NotificationId::Signal(SignalName::Name(name)) => key.u8(3).rest(name.as_bytes()).done(),
    }
}

pub fn get(
    kv: &dyn Kv,
    partition: PartitionId,
    id: InvocationId,
    notification: &NotificationId,
) -> Result<Option<Notified>, Fault> {
    let Some(value) = kv.get(&key(partition, id, notification))? else {
        return Ok(None);
    };
    let row: pb::Notified = decode(TABLE, value)?;
    Ok(Some(Notified { entry: row.entry, failed: row.failed }))
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    notification: &NotificationId,
    notified: Notified,
) {
    let row = pb::Notified { entry: notified.entry, failed: notified.failed };
    txn.put(key(partition, id, notification), encode(&row));
}

/// Forgets notifications of an invocation, at most `max`; true where none is left.
pub fn delete_some(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    id: InvocationId,
    max: usize,
) -> Result<bool, Fault> {
    let prefix = KeyWriter::new(TABLE, partition).id(id).done();
    super::codec::delete_some(txn, &prefix, max)
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, InvocationId, NotificationId)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let id = reader.id()?;
    let signal = |name| NotificationId::Signal(name);
    match reader.u8()? {
        1 => {
            let completion = reader.u32()?;
            reader.end((partition, id, NotificationId::Completion(completion)))
        }
        2 => {
            let index = reader.u32()?;
            reader.end((partition, id, signal(SignalName::Index(index))))
        }
        3 => {
            let name = String::from_utf8(reader.rest().to_vec()).ok()?;
            Some((partition, id, signal(SignalName::Name(name))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn about() -> impl Strategy<Value = NotificationId> {
        prop_oneof![
            any::<u32>().prop_map(NotificationId::Completion),
            arbitrary::signal_name().prop_map(NotificationId::Signal),
        ]
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_go_together(
            (partition, id) in (arbitrary::partition(), arbitrary::id()),
            (a, b) in (about(), about()),
            (entry, failed) in any::<(u32, bool)>(),
        ) {
            prop_assume!(a != b);
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, &a, Notified { entry, failed });
            kv.apply(txn.into_writes());
            let read = get(&kv, partition, id, &a).unwrap();
            prop_assert_eq!(read, Some(Notified { entry, failed }));
            prop_assert_eq!(get(&kv, partition, id, &b).unwrap(), None);
            let mut txn = Txn::new(&kv);
            put(&mut txn, partition, id, &b, Notified { entry, failed });
            prop_assert!(!delete_some(&mut txn, partition, id, 1).unwrap());
            prop_assert!(delete_some(&mut txn, partition, id, 1).unwrap());
            kv.apply(txn.into_writes());
            prop_assert_eq!(kv, MemoryKv::default());
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), arbitrary::id(), about()),
            b in (arbitrary::partition(), arbitrary::id(), about()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1, &a.2)), Some(a.clone()));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1, &a.2).cmp(&key(b.0, b.1, &b.2)));
        }
    }
}
