//! `h | partition:u16 | sequence:u64` -> `Notice`. What somebody outside is to be told, in the
//! order in which it happened, until they were told. `m | partition:u16 | 2:u8` -> `Notices` keeps
//! the next sequence, so that none is given twice. Rows belong to no invocation: a notice outlives
//! what it is about.

use super::codec::{Bad, KeyReader, KeyWriter, after, corrupt, decode, encode, scan as scan_rows};
use super::convert::{
    deployment_in, deployment_out, failed_by_in, failed_by_out, id_in, id_out, target_in,
    target_out,
};
use super::{TableId, generated as pb};
use crate::id::{DeploymentId, InvocationId, NoticeId, PartitionId};
use crate::kv::{Fault, Kv, Txn};
use crate::model::{FailedBy, PausedBy, Target};
use crate::time::Timestamp;
use bytes::Bytes;

const TABLE: TableId = TableId::Notice;
const COUNTER: TableId = TableId::Meta;
/// The meta row for notices. A number once given is never given again.
const META_NOTICE: u8 = 2;

/// What happened, in full: the invocation may be gone when it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub what: What,
    pub invocation: InvocationId,
    pub target: Target,
    /// What the invocation was pinned to, if it was.
    pub deployment: Option<DeploymentId>,
    pub at: Timestamp,
    /// Attempts so far.
    pub attempts: u32,
    /// Missing where it was paused without a failure.
    pub failure: Option<FailureSummary>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Paused(PausedBy),
    Failed(FailedBy),
}

impl What {
    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Paused(_) => "invocation.paused",
            What::Failed(_) => "invocation.failed",
        }
    }
}

/// What is told of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureSummary {
    pub code: u32,
    pub message: String,
    /// Our own code for it, where the sidecar found the failure.
    pub doc_code: Option<String>,
}

impl Notice {
    /// The id of this notice as row `sequence`.
    pub fn id(&self, partition: PartitionId, sequence: u64) -> NoticeId {
        NoticeId::new(partition, sequence, self.invocation, self.at)
    }
}

fn key(partition: PartitionId, sequence: u64) -> Vec<u8> {
    KeyWriter::new(TABLE, partition).u64(sequence).done()
}

fn counter_key(partition: PartitionId) -> Vec<u8> {
    KeyWriter::new(COUNTER, partition).u8(META_NOTICE).done()
}

/// Appends a notice and gives its sequence. Sequences begin with 1.
pub fn push(txn: &mut Txn<'_>, partition: PartitionId, notice: &Notice) -> Result<u64, Fault> {
    let counter = counter_key(partition);
    let sequence = match txn.get(&counter)? {
        Some(value) => decode::<pb::Notices>(COUNTER, value)?.next,
        None => 1,
    };
    txn.put(key(partition, sequence), encode(&notice_out(notice)));
    txn.put(counter, encode(&pb::Notices { next: sequence + 1 }));
    Ok(sequence)
}

pub fn delete(txn: &mut Txn<'_>, partition: PartitionId, sequence: u64) {
    txn.delete(key(partition, sequence));
}

/// The earliest row.
pub fn first(kv: &dyn Kv, partition: PartitionId) -> Result<Option<u64>, Fault> {
    let mut first = None;
    scan(kv, partition, 0, &mut |sequence, _| {
        first = Some(sequence);
        false
    })?;
    Ok(first)
}

/// Shows the rows from sequence `from` on, in order, until `each` answers false.
pub fn scan(
    kv: &dyn Kv,
    partition: PartitionId,
    from: u64,
    each: &mut dyn FnMut(u64, Notice) -> bool,
) -> Result<(), Fault> {
    let end = after(&KeyWriter::new(TABLE, partition).done());
    scan_rows(kv, &key(partition, from), &end, &mut |key, value| {
        let (_, sequence) = parse(key).ok_or_else(|| corrupt(TABLE, "a key is malformed"))?;
        Ok(each(sequence, notice_in(value)?))
    })
}

/// Takes a key apart.
pub fn parse(key: &[u8]) -> Option<(PartitionId, u64)> {
    let (partition, mut reader) = KeyReader::new(TABLE, key)?;
    let sequence = reader.u64()?;
    reader.end((partition, sequence))
}

fn notice_out(notice: &Notice) -> pb::Notice {
    pb::Notice {
        what: Some(what_out(notice.what)),
        invocation: id_out(notice.invocation),
        target: Some(target_out(&notice.target)),
        deployment: notice.deployment.map(deployment_out),
        at: notice.at.0,
        attempts: notice.attempts,
        failure: notice.failure.as_ref().map(|failure| pb::FailureSummary {
            code: failure.code,
            message: failure.message.clone(),
            doc_code: failure.doc_code.clone(),
        }),
    }
}

fn what_out(what: What) -> pb::notice::What {
    use pb::notice::What as Out;
    match what {
        What::Paused(by) => Out::Paused(i32::from(match by {
            PausedBy::Operator => pb::PausedBy::Operator,
            PausedBy::Retries => pb::PausedBy::Retries,
            PausedBy::Service => pb::PausedBy::Service,
        })),
        What::Failed(by) => Out::Failed(i32::from(failed_by_out(by))),
    }
}

fn what_in(what: Option<pb::notice::What>) -> Result<What, Bad> {
    use pb::notice::What as In;
    const UNKNOWN: Bad = Bad("what a notice is about is unknown");
    match what {
        Some(In::Paused(by)) => Ok(What::Paused(match pb::PausedBy::try_from(by) {
            Ok(pb::PausedBy::Operator) => PausedBy::Operator,
            Ok(pb::PausedBy::Retries) => PausedBy::Retries,
            Ok(pb::PausedBy::Service) => PausedBy::Service,
            Ok(pb::PausedBy::Unspecified) | Err(_) => return Err(UNKNOWN),
        })),
        Some(In::Failed(by)) => {
            let by = pb::FailedBy::try_from(by).map_err(|_| UNKNOWN)?;
            failed_by_in(by)?.map(What::Failed).ok_or(UNKNOWN)
        }
        None => Err(UNKNOWN),
    }
}

fn notice_in(value: Bytes) -> Result<Notice, Fault> {
    let row: pb::Notice = decode(TABLE, value)?;
    let read = |row: pb::Notice| {
        Ok(Notice {
            what: what_in(row.what)?,
            invocation: id_in(&row.invocation)?,
            target: target_in(row.target)?,
            deployment: row.deployment.as_deref().map(deployment_in).transpose()?,
            at: Timestamp(row.at),
            attempts: row.attempts,
            failure: row.failure.map(|failure| FailureSummary {
                code: failure.code,
                message: failure.message,
                doc_code: failure.doc_code,
            }),
        })
    };
    read(row).map_err(|bad: Bad| bad.of(TABLE))
}

#[cfg(test)]
mod tests {
    use super::super::arbitrary;
    use super::*;
    use crate::kv::MemoryKv;
    use proptest::option;
    use proptest::prelude::*;

    fn what() -> impl Strategy<Value = What> {
        let paused = [PausedBy::Operator, PausedBy::Retries, PausedBy::Service];
        let failed = [
            FailedBy::Handler,
            FailedBy::Retries,
            FailedBy::Service,
            FailedBy::Kill,
            FailedBy::Cancel,
            FailedBy::Endless,
        ];
        let paused = paused.into_iter().map(What::Paused);
        let all: Vec<What> = paused.chain(failed.into_iter().map(What::Failed)).collect();
        proptest::sample::select(all)
    }

    fn notice() -> impl Strategy<Value = Notice> {
        let failure = any::<(u32, String, Option<String>)>()
            .prop_map(|(code, message, doc_code)| FailureSummary { code, message, doc_code });
        let who = (arbitrary::id(), arbitrary::target(), option::of(any::<u128>()));
        (what(), who, (arbitrary::time(), any::<u32>()), option::of(failure)).prop_map(
            |(what, (invocation, target, deployment), (at, attempts), failure)| Notice {
                what,
                invocation,
                target,
                deployment: deployment.map(DeploymentId),
                at,
                attempts,
                failure,
            },
        )
    }

    fn rows(kv: &dyn Kv, partition: PartitionId, from: u64) -> Vec<(u64, Notice)> {
        let mut rows = vec![];
        scan(kv, partition, from, &mut |sequence, notice| {
            rows.push((sequence, notice));
            true
        })
        .unwrap();
        rows
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_no_sequence_comes_twice(
            partition in arbitrary::partition(),
            (a, b, c) in (notice(), notice(), notice()),
        ) {
            let mut kv = MemoryKv::default();
            prop_assert_eq!(first(&kv, partition), Ok(None));
            let mut txn = Txn::new(&kv);
            prop_assert_eq!(push(&mut txn, partition, &a), Ok(1));
            prop_assert_eq!(push(&mut txn, partition, &b), Ok(2));
            kv.apply(txn.into_writes());
            prop_assert_eq!(rows(&kv, partition, 0), vec![(1, a), (2, b.clone())]);
            prop_assert_eq!(rows(&kv, partition, 2), vec![(2, b.clone())]);
            let mut txn = Txn::new(&kv);
            delete(&mut txn, partition, 1);
            prop_assert_eq!(first(&txn, partition), Ok(Some(2)));
            delete(&mut txn, partition, 2);
            prop_assert_eq!(push(&mut txn, partition, &c), Ok(3));
            kv.apply(txn.into_writes());
            prop_assert_eq!(rows(&kv, partition, 0), vec![(3, c)]);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), any::<u64>()),
            b in (arbitrary::partition(), any::<u64>()),
        ) {
            prop_assert_eq!(parse(&key(a.0, a.1)), Some(a));
            prop_assert_eq!(a.cmp(&b), key(a.0, a.1).cmp(&key(b.0, b.1)));
        }

        #[test]
        fn ids_are_of_one_row(notice in notice(), a: (u16, u64), b: (u16, u64)) {
            let id = |(partition, sequence)| notice.id(PartitionId(partition), sequence);
            prop_assert_eq!(a == b, id(a) == id(b));
        }
    }

    #[test]
    fn a_notice_about_nothing_is_corrupt() {
        let what = Some(pb::notice::What::Failed(99));
        for row in [pb::Notice::default(), pb::Notice { what, ..pb::Notice::default() }] {
            let fault = notice_in(encode(&row)).unwrap_err().to_string();
            let expected = "corrupt row in table notice: what a notice is about is unknown";
            assert_eq!(fault, expected);
        }
    }
}
