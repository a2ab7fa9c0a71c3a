//! Into and out of `Running`. Whatever keeps an invocation elsewhere (a timer, a place in an
//! inbox, the index of the running) goes when its status goes, here and nowhere else.

use super::Turn;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::model::Status;
use crate::tables::invocation::{Record, Retries};
use crate::tables::timer::{self, Timer, TimerKind};
use crate::tables::{inbox, running};

impl Turn<'_, '_> {
    /// Starts an attempt after a wait: the retry policy begins anew. Does not store the row.
    pub(super) fn start_fresh(&mut self, id: InvocationId, record: &mut Record) {
        record.retries = Retries::default();
        self.start(id, record);
    }

    /// Starts an attempt. Does not store the row.
    pub(super) fn start(&mut self, id: InvocationId, record: &mut Record) {
        self.leave(id, record);
        record.status = Status::Running;
        record.attempt += 1;
        record.pause_wanted = false;
        record.journal.replayed = record.journal.length;
        if record.times.running.is_none() {
            record.times.running = Some(self.now);
            self.begun.extend(record.is_task.then_some(id));
        }
        running::put(self.txn, self.here.partition, id);
        self.effects.push(Effect::Invoke { invocation: id, attempt: record.attempt });
    }

    /// Removes the rows that belong to the present status. The caller gives it another.
    pub(super) fn leave(&mut self, id: InvocationId, record: &Record) {
        let partition = self.here.partition;
        match &record.status {
            Status::Running => running::delete(self.txn, partition, id),
            Status::Scheduled { start_at } => {
                let timer = Timer::new(*start_at, TimerKind::Start, id);
                timer::delete(self.txn, partition, &timer);
            }
            Status::BackingOff { until } => {
                let timer = Timer::new(*until, TimerKind::Retry, id);
                timer::delete(self.txn, partition, &timer);
            }
            Status::Inboxed { sequence } => {
                let owner = super::state::owner(&record.target).expect("an inbox is of a key");
                inbox::delete(self.txn, partition, owner, *sequence);
            }
            Status::Suspended { .. } | Status::Paused | Status::Completed { .. } => {}
        }
    }

    pub(super) fn set_timer(&mut self, timer: Timer) {
        timer::put(self.txn, self.here.partition, &timer);
        self.effects.push(Effect::WakeAt(timer.due));
    }
}
