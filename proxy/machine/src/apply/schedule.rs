//! Schedules: what is due is called, and the next time is set, in one turn. The id of a call is
//! derived from schedule and time, so that a time has one call whatever crashes.

use super::Turn;
use crate::cadence::Cadence;
use crate::command::Reply;
use crate::id::{InvocationId, ScheduleId};
use crate::kv::Fault;
use crate::model::*;
use crate::schedule::{CatchUp, LATE, Overlap, Plan, Unfired};
use crate::tables::invocation::{Sink, SinkKind};
use crate::tables::message::Message;
use crate::tables::schedule::{self, Ended, Run, Schedule, Trouble};
use crate::tables::timer::{self, Timer, TimerKind};
use crate::time::Timestamp;
use holdfast_wire::manifest::HandlerType;

impl Turn<'_, '_> {
    pub(super) fn put_schedule(&mut self, plan: Plan) -> Result<Reply, Fault> {
        let id = ScheduleId::of(&plan.name);
        let existing = self.schedule(id)?;
        let new = existing.is_none();
        let mut row = existing.unwrap_or_else(|| Schedule::new(plan.clone(), self.now));
        let same_times = row.plan.cron == plan.cron && row.plan.time_zone == plan.time_zone;
        if !new && row.plan == plan {
            return Ok(Reply::Stored { new });
        }
        let since = if same_times { row.since } else { self.now };
        let cadence = match Cadence::parse(&plan.cron, &plan.time_zone, since) {
            Ok(cadence) => cadence,
            Err(error) => return Ok(Reply::NoCadence(error)),
        };
        (row.plan, row.since, row.modified) = (plan, since, self.now);
        if !row.paused && (row.next.is_none() || !same_times) {
            let next = cadence.next(self.now);
            self.set_next(id, &mut row, next);
        }
        self.put_row(id, &row);
        Ok(Reply::Stored { new })
    }

    pub(super) fn delete_schedule(&mut self, id: ScheduleId) -> Result<Reply, Fault> {
        let Some(mut row) = self.schedule(id)? else {
            return Ok(Reply::Unknown);
        };
        self.set_next(id, &mut row, None);
        schedule::delete(self.txn, self.here.partition, id);
        Ok(Reply::Done)
    }

    pub(super) fn pause_schedule(&mut self, id: ScheduleId) -> Result<Reply, Fault> {
        self.set_paused(id, true)
    }

    pub(super) fn resume_schedule(&mut self, id: ScheduleId) -> Result<Reply, Fault> {
        self.set_paused(id, false)
    }

    fn set_paused(&mut self, id: ScheduleId, paused: bool) -> Result<Reply, Fault> {
        let Some(mut row) = self.schedule(id)? else {
            return Ok(Reply::Unknown);
        };
        if row.paused == paused {
            return Ok(Reply::Done);
        }
        (row.paused, row.modified) = (paused, self.now);
        let next = match cadence(&row) {
            _ if paused => None,
            Ok(cadence) => cadence.next(self.now),
            Err(error) => return Ok(Reply::NoCadence(error)),
        };
        self.set_next(id, &mut row, next);
        self.put_row(id, &row);
        Ok(Reply::Done)
    }

    /// A person wants a run now.
    pub(super) fn trigger_schedule(
        &mut self,
        id: ScheduleId,
        (service, handler): &(String, String),
        callee: Callee,
    ) -> Result<Reply, Fault> {
        let Some(mut row) = self.schedule(id)? else {
            return Ok(Reply::Unknown);
        };
        if (&row.plan.service, &row.plan.handler) != (service, handler) {
            return Ok(Reply::NotTriggered(Unfired::Changed));
        }
        if let Some(running) = busy(&row) {
            return Ok(Reply::NotTriggered(Unfired::StillRunning(running)));
        }
        let occasion = Occasion { planned: self.now, asked: true };
        match self.run_schedule(id, &mut row, occasion, Some(callee))? {
            Ok(invocation) => {
                self.put_row(id, &row);
                Ok(Reply::Triggered { invocation })
            }
            Err(unfired) => Ok(Reply::NotTriggered(unfired)),
        }
    }

    /// Its timer is due: for that time, or for a later one that has come meanwhile.
    pub(super) fn schedule_due(
        &mut self,
        timer: Timer,
        callee: Option<Callee>,
    ) -> Result<(), Fault> {
        let id = ScheduleId::from_row(timer.invocation);
        let Some(mut row) = self.schedule(id)?.filter(|row| row.next == Some(timer.due)) else {
            return Ok(()); // Deleted or put anew: its timer went with it.
        };
        let cadence = cadence(&row);
        let planned = cadence.as_ref().map_or(timer.due, |it| it.latest(timer.due, self.now));
        row.next = None; // The caller has deleted the timer.
        let next = cadence.as_ref().ok().and_then(|cadence| cadence.next(self.now));
        self.set_next(id, &mut row, next);
        let late = self.now.since(planned) > LATE;
        if (late && row.plan.catch_up == CatchUp::Skip) || busy(&row).is_some() {
            row.counts.skipped += 1;
        } else {
            let occasion = Occasion { planned, asked: false };
            let ran = match cadence {
                Ok(_) => self.run_schedule(id, &mut row, occasion, callee)?,
                Err(error) => Err(error.into()),
            };
            match ran {
                Ok(_) => row.counts.caught_up += u32::from(late || planned > timer.due),
                Err(unfired) => self.note_trouble(&mut row, planned, &unfired),
            }
        }
        self.put_row(id, &row);
        Ok(())
    }

    /// Calls the target, and notes the run in the row, which the caller stores.
    fn run_schedule(
        &mut self,
        id: ScheduleId,
        row: &mut Schedule,
        occasion: Occasion,
        callee: Option<Callee>,
    ) -> Result<Result<InvocationId, Unfired>, Fault> {
        let new = match call(id, row, occasion, callee) {
            Ok(new) => new,
            Err(unfired) => return Ok(Err(unfired)),
        };
        let invocation = new.id;
        let Occasion { planned, asked } = occasion;
        let run = Run { planned, at: self.now, invocation, asked, ended: None };
        row.counts.runs = next_number(row);
        (row.last_run, row.trouble) = (Some(run), None);
        let completion = Run::token(invocation);
        let sink = Sink { caller: id.row(), completion, kind: SinkKind::Schedule };
        self.send(Message::Invoke { new: Box::new(new), sink: Some(sink) })?;
        Ok(Ok(invocation))
    }

    /// A run tells how it ended.
    pub(super) fn schedule_run_ended(
        &mut self,
        sink: Sink,
        outcome: Option<Outcome>,
    ) -> Result<(), Fault> {
        let id = ScheduleId::from_row(sink.caller);
        let Some(mut row) = self.schedule(id)? else {
            return Ok(()); // Deleted meanwhile.
        };
        let run = row.last_run.as_mut();
        let run = run.filter(|run| Run::token(run.invocation) == sink.completion);
        let Some(run) = run.filter(|run| run.ended.is_none()) else {
            return Ok(()); // Another one began since.
        };
        let failure = match outcome {
            Some(Outcome::Failure(failure)) => Some((failure.code, failure.message)),
            Some(Outcome::Success(_)) | None => None,
        };
        run.ended = Some(Ended { at: self.now, failure });
        self.put_row(id, &row);
        Ok(())
    }

    fn note_trouble(&self, row: &mut Schedule, planned: Timestamp, unfired: &Unfired) {
        row.counts.failed += 1;
        let (code, message) = (unfired.code().to_owned(), unfired.to_string());
        row.trouble = Some(Trouble { at: self.now, planned, code, message });
    }

    fn set_next(&mut self, id: ScheduleId, row: &mut Schedule, next: Option<Timestamp>) {
        let timer = |due| Timer::new(due, TimerKind::Schedule, id.row());
        if let Some(due) = row.next {
            timer::delete(self.txn, self.here.partition, &timer(due));
        }
        row.next = next;
        if let Some(due) = next {
            self.set_timer(timer(due));
        }
    }

    fn schedule(&self, id: ScheduleId) -> Result<Option<Schedule>, Fault> {
        schedule::get(self.txn, self.here.partition, id)
    }

    fn put_row(&mut self, id: ScheduleId, row: &Schedule) {
        assert!(!row.paused || row.next.is_none(), "nothing is due while it is paused");
        schedule::put(self.txn, self.here.partition, id, row);
    }
}

/// What a run is for.
#[derive(Clone, Copy)]
struct Occasion {
    planned: Timestamp,
    /// A person asked for it.
    asked: bool,
}

fn next_number(row: &Schedule) -> u32 {
    row.counts.runs.wrapping_add(1)
}

/// What is called, if it can be.
fn call(
    id: ScheduleId,
    row: &Schedule,
    occasion: Occasion,
    callee: Option<Callee>,
) -> Result<NewInvocation, Unfired> {
    let (plan, planned) = (&row.plan, occasion.planned);
    let (service, handler) = (plan.service.clone(), plan.handler.clone());
    let callee = callee.ok_or(Unfired::NotRegistered { service, handler })?;
    let target = plan.target(planned, callee.ty)?;
    let key = target.key.as_deref();
    let id = match (target.ty, key) {
        (HandlerType::Workflow, Some(key)) => InvocationId::workflow(&target.service, key),
        _ => {
            let asked = occasion.asked.then(|| next_number(row));
            InvocationId::scheduled(id, planned, asked, key)
        }
    };
    Ok(NewInvocation {
        id,
        target,
        argument: plan.argument.clone(),
        headers: plan.headers(planned),
        idempotency_key: None,
        source: Source::Schedule { name: plan.name.clone(), planned },
        root: id,
        start_at: None,
        // People look at what a schedule did as at what they called themselves.
        retention: callee.idempotent_retention,
        lazy_state: callee.lazy_state,
        // As good as chance: the id is a hash.
        random_seed: id.uuid as u64,
    })
}

fn cadence(row: &Schedule) -> Result<Cadence, crate::cadence::Error> {
    Cadence::parse(&row.plan.cron, &row.plan.time_zone, row.since)
}

/// The run that keeps another one from beginning.
fn busy(row: &Schedule) -> Option<InvocationId> {
    let running = row.running()?;
    (row.plan.overlap == Overlap::Skip).then_some(running.invocation)
}
