//! An attempt ends because it has to wait, and an invocation that waits is woken.

use super::Turn;
use super::journal::read;
use crate::awaiting::{self, Verdict};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{Awaiting, Status};
use crate::tables::invocation::Record;
use crate::tables::journal;
use crate::tables::notified::{self, NotificationId};
use holdfast_wire::message::{MessageType, pb};
use std::time::Duration;

/// How long to wait with another attempt after one that neither finished the run that it waits for
/// nor did anything else.
const RUN_AGAIN: Duration = Duration::from_secs(1);

impl Turn<'_, '_> {
    /// The attempt under way waits. Does not store the row.
    ///
    /// If what it waits for is there already, the next attempt starts at once: the two have
    /// crossed. Not so where nothing was appended since the attempt began: it was sent all there
    /// is and waits nevertheless (for the *next* signal of a name, say), and another attempt would
    /// do the same again.
    pub(super) fn suspended(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        awaiting: Awaiting,
    ) -> Result<(), Fault> {
        assert!(awaiting::depth(&awaiting) <= awaiting::DEPTH_MAX, "the attempt cuts deeper trees");
        let crossed = record.journal.length > record.journal.replayed;
        let unfinished = self.awaits_own_run(id, record, &awaiting)?;
        if crossed && (unfinished || self.is_over(id, &awaiting)?) {
            self.start_fresh(id, record);
            return Ok(());
        }
        if unfinished {
            self.back_off(id, record, RUN_AGAIN);
            return Ok(());
        }
        self.leave(id, record);
        record.status = Status::Suspended { awaiting };
        record.retries = Default::default();
        self.waiting.push_back(id);
        Ok(())
    }

    /// Whether a run is awaited whose result only another attempt can bring.
    fn awaits_own_run(
        &self,
        id: InvocationId,
        record: &Record,
        awaiting: &Awaiting,
    ) -> Result<bool, Fault> {
        let mut awaited = false;
        if record.journal.runs == 0 {
            return Ok(awaited);
        }
        let partition = self.here.partition;
        journal::scan(self.txn, partition, id, 0, &mut |entry| {
            if entry.ty == MessageType::RUN {
                let completion = read::<pb::RunCommand>(&entry.payload)?.result_completion_id;
                let about = NotificationId::Completion(completion);
                awaited = awaiting::names(awaiting, completion)
                    && notified::get(self.txn, partition, id, &about)?.is_none();
            }
            Ok(!awaited)
        })?;
        Ok(awaited)
    }

    /// Starts the next attempt of a suspended invocation if its wait is over. Does not store the
    /// row.
    pub(super) fn wake(&mut self, id: InvocationId, record: &mut Record) -> Result<(), Fault> {
        if let Status::Suspended { awaiting } = &record.status
            && self.is_over(id, awaiting)?
        {
            self.start_fresh(id, record);
        }
        Ok(())
    }

    fn is_over(&self, id: InvocationId, awaiting: &Awaiting) -> Result<bool, Fault> {
        let verdict = awaiting::evaluate(awaiting, &mut |leaf| {
            let notified = notified::get(self.txn, self.here.partition, id, &leaf)?;
            Ok::<_, Fault>(notified.map(|notified| notified.failed))
        })?;
        Ok(verdict != Verdict::Pending)
    }
}
