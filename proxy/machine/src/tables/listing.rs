//! `g | partition:u16 | principal | updated:u64 (inverted) | task:24` -> `TaskListing`. The tasks of
//! a principal, those first that last said something: a listing reads no more rows than it shows,
//! and none of anybody else's.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::feed::{state_in, state_out};
use super::{TableId, generated as pb};
use crate::id::{InvocationId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::task::State;
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::TaskListing;

/// Where a row stands; in the order of the rows of one principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub updated: Timestamp,
    pub task: InvocationId,
}

/// What a listing chooses by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub state: State,
    pub context: String,
    pub service: String,
    pub handler: String,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.updated.cmp(&self.updated).then(self.task.cmp(&other.task))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn key(partition: PartitionId, principal: &str, place: Place) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).text(principal).u64(!place.updated.0).id(place.task).done()
}

pub fn put(
    txn: &mut Txn<'_>,
    partition: PartitionId,
    principal: &str,
    place: Place,
    listing: &Listing,
) {
    let row = pb::TaskListing {
        state: state_out(listing.state).into(),
        context: listing.context.clone(),
        service: listing.service.clone(),
        handler: listing.handler.clone(),
    };
    txn.put(key(partition, principal, place), encode(&row));
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, principal: &str, place: Place) {
    txn.delete(key(partition, principal, place));
}

/// Shows the tasks of a principal behind `behind`, in order, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    principal: &str,
    behind: Option<Place>,
    each: &mut dyn FnMut(Place, Listing) -> bool,
) -> Result<(), Fault> {
    let prefix = KeyWriter::new(TABLE, partition).text(principal).done();
    let start = match behind {
        Some(place) => after(&key(partition, principal, place)),
        None => prefix.clone(),
    };
    scan_rows(kv, &start, &after(&prefix), &mut |key, value| {
        let (.., place) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        Ok(each(place, row_in(value)?))
    })
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, String, Place)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let principal = reader.text()?;
    let place = Place { updated: Timestamp(!reader.u64()?), task: reader.id()? };
    reader.end((partition, principal, place))
}

fn row_in(value: Bytes) -> Result<Listing, Fault> {
    let row: pb::TaskListing = decode(TABLE, value)?;
    let state = state_in(row.state()).map_err(|bad: Bad| bad.of(TABLE))?;
    Ok(Listing { state, context: row.context, service: row.service, handler: row.handler })
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::prelude::*;

    fn place() -> impl Strategy<Value = Place> {
        (0..5u64, arbitrary::id())
            .prop_map(|(updated, task)| Place { updated: Timestamp(updated), task })
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_come_in_order(
            (partition, principal) in (arbitrary::partition(), any::<String>()),
            places in proptest::collection::btree_set(place(), 0..6),
            (context, service, handler) in any::<(String, String, String)>(),
            state in proptest::sample::select(State::ALL.to_vec()),
        ) {
            let listing = Listing { state, context, service, handler };
            let mut kv = MemoryKv::default();
            let mut txn = Txn::new(&kv);
            for place in &places {
                put(&mut txn, partition, &principal, *place, &listing);
            }
            kv.apply(txn.into_writes());
            let seen = |behind| {
                let mut seen = vec![];
                scan(&kv, partition, &principal, behind, &mut |place, found| {
                    assert_eq!(found, listing);
                    seen.push(place);
                    true
                })
                .unwrap();
                seen
            };
            let expected: Vec<_> = places.iter().copied().collect();
            prop_assert_eq!(seen(None), expected.clone());
            if let Some(first) = expected.first() {
                prop_assert_eq!(seen(Some(*first)), expected[1..].to_vec());
            }
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            partition in arbitrary::partition(),
            (principal, a, b) in (any::<String>(), place(), place()),
        ) {
            let read = parse(&key(partition, &principal, a));
            prop_assert_eq!(read, Some((partition, principal.clone(), a)));
            let keys = (key(partition, &principal, a), key(partition, &principal, b));
            prop_assert_eq!(a.cmp(&b), keys.0.cmp(&keys.1));
        }
    }
}
