//! Time passes: sleeps, and rows of the timer table that are due. Firing twice is firing once.

use super::Turn;
use crate::effect::Effect;
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::{Callee, Status};
use crate::tables::TableId;
use crate::tables::codec::corrupt;
use crate::tables::invocation::Record;
use crate::tables::timer::{self, Timer, TimerKind};
use crate::time::Timestamp;
use holdfast_wire::message::pb::notification::Result as Content;
use holdfast_wire::message::{MessageType, pb};

impl Turn<'_, '_> {
    pub(super) fn timer_due(&mut self, key: &[u8], callee: Option<Callee>) -> Result<(), Fault> {
        let (partition, timer) = Timer::parse(key)
            .ok_or_else(|| corrupt(TableId::Timer, "a key that is due is malformed"))?;
        if partition != self.here.partition {
            return Err(corrupt(TableId::Timer, "a key that is due is of another partition"));
        }
        if timer.due > self.now {
            self.effects.push(Effect::WakeAt(timer.due)); // The clock went back.
            return Ok(());
        }
        if !timer::exists(self.txn, partition, &timer)? {
            return Ok(()); // It fired before, or was taken back.
        }
        timer::delete(self.txn, partition, &timer);
        match timer.kind {
            TimerKind::Sleep => self.complete_awaited(
                timer.invocation,
                MessageType::SLEEP_COMPLETION,
                (timer.completion, Content::void()),
            ),
            TimerKind::Start | TimerKind::Retry => self.resume_at(timer),
            TimerKind::ForgetJournal | TimerKind::Forget => self.expire(timer),
            TimerKind::Schedule => self.schedule_due(timer, callee),
            TimerKind::Ask => self.ask_expired(timer),
        }
    }

    /// Goes on with an invocation that waited for this very moment.
    fn resume_at(&mut self, timer: Timer) -> Result<(), Fault> {
        let id = timer.invocation;
        let Some(mut record) = self.record(id)? else {
            return Ok(());
        };
        match record.status {
            Status::Scheduled { start_at } if start_at == timer.due => self.begin(id, &mut record),
            Status::BackingOff { until } if until == timer.due => {
                self.start(id, &mut record);
                self.store(id, &mut record);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn sleep(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        sleep: &pb::SleepCommand,
    ) -> Result<(), Fault> {
        let due = Timestamp(sleep.wake_up_time);
        let completion = sleep.result_completion_id;
        if due <= self.now {
            let ty = MessageType::SLEEP_COMPLETION;
            let content = (completion, Content::void());
            return self.complete_command(id, record, ty, content).map(drop);
        }
        record.journal.sleeping += 1;
        self.set_timer(Timer::sleep(due, id, completion));
        Ok(())
    }
}
