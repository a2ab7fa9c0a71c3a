//! `h | partition:u16 | sequence:u64` -> `Notice`. What somebody outside is to be told, in the
//! order in which it happened, until they were told: a [queue](super::queue), counted in
//! `m | partition:u16 | 2:u8`.

use super::codec::Bad;
use super::convert::{
    deployment_in, deployment_out, failed_by_in, failed_by_out, id_in, id_out, target_in,
    target_out,
};
use super::queue::Queued;
use super::{TableId, generated as pb};
use crate::id::{DeploymentId, InvocationId, NoticeId, PartitionId};
use crate::model::{FailedBy, PausedBy, Target};
use crate::time::Timestamp;

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

impl Queued for Notice {
    const TABLE: TableId = TableId::Notice;
    const COUNTER: u8 = 2;
    type Row = pb::Notice;

    fn to_row(&self) -> pb::Notice {
        pb::Notice {
            what: Some(what_out(self.what)),
            invocation: id_out(self.invocation),
            target: Some(target_out(&self.target)),
            deployment: self.deployment.map(deployment_out),
            at: self.at.0,
            attempts: self.attempts,
            failure: self.failure.as_ref().map(|failure| pb::FailureSummary {
                code: failure.code,
                message: failure.message.clone(),
                doc_code: failure.doc_code.clone(),
            }),
        }
    }

    fn from_row(row: pb::Notice) -> Result<Notice, Bad> {
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

#[cfg(test)]
mod tests {
    use super::super::{arbitrary, queue::check};
    use super::*;
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

    proptest! {
        #[test]
        fn rows_round_trip_and_no_sequence_comes_twice(
            partition in arbitrary::partition(),
            notices in [notice(), notice(), notice()],
        ) {
            check::rows_round_trip_and_no_sequence_comes_twice(partition, notices);
        }

        #[test]
        fn keys_round_trip_and_keep_order(
            a in (arbitrary::partition(), any::<u64>()),
            b in (arbitrary::partition(), any::<u64>()),
        ) {
            check::keys_round_trip_and_keep_order::<Notice>(a, b);
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
            let bad = Notice::from_row(row).unwrap_err();
            assert_eq!(bad, Bad("what a notice is about is unknown"));
        }
    }
}
