//! `w | partition:u16 | sequence:u64` -> `PushDelivery`. Events of feeds that are to be sent, in the
//! order in which they happened, until they were: a [queue](super::queue), counted in
//! `m | partition:u16 | 3:u8`. What is sent is read from the feed and from the receiver's own row
//! when it goes out.

use super::codec::Bad;
use super::convert::{id_in, id_out};
use super::queue::Queued;
use super::{TableId, generated as pb};
use crate::id::InvocationId;
use crate::time::Timestamp;

/// One event for one receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub invocation: InvocationId,
    /// Which of the task's receivers.
    pub config: String,
    /// Its number in the feed.
    pub event: u64,
    pub at: Timestamp,
}

impl Queued for Delivery {
    const TABLE: TableId = TableId::Push;
    const COUNTER: u8 = 3;
    type Row = pb::PushDelivery;

    fn to_row(&self) -> pb::PushDelivery {
        pb::PushDelivery {
            invocation: id_out(self.invocation),
            config: self.config.clone(),
            event: self.event,
            at: self.at.0,
        }
    }

    fn from_row(row: pb::PushDelivery) -> Result<Delivery, Bad> {
        let invocation = id_in(&row.invocation)?;
        Ok(Delivery { invocation, config: row.config, event: row.event, at: Timestamp(row.at) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{arbitrary, queue::check};
    use super::*;
    use proptest::prelude::*;

    fn delivery() -> impl Strategy<Value = Delivery> {
        (arbitrary::id(), any::<(String, u64)>(), arbitrary::time()).prop_map(
            |(invocation, (config, event), at)| Delivery { invocation, config, event, at },
        )
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_no_sequence_comes_twice(
            partition in arbitrary::partition(),
            deliveries in [delivery(), delivery(), delivery()],
        ) {
            check::rows_round_trip_and_no_sequence_comes_twice(partition, deliveries);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), any::<u64>()),
            b in (arbitrary::partition(), any::<u64>()),
        ) {
            check::keys_round_trip_and_keep_order::<Delivery>(a, b);
        }
    }
}
