//! What attempts say: commands and proposals for the journal, and how they ended. What comes from
//! an attempt that is no longer the current one is ignored.

use super::cancel::aborted;
use super::notify::about;
use super::{Turn, journal::read};
use crate::command::{AttemptEnd, AttemptSaid, Failed, Reaction, Said};
use crate::id::InvocationId;
use crate::kv::Fault;
use crate::model::*;
use crate::replay;
use crate::retry::{Next, OnMaxAttempts};
use crate::tables::event::{self, EVENTS_MAX, Event, EventKind};
use crate::tables::invocation::{Record, SinkKind};
use crate::tables::timer::{Timer, TimerKind};
use crate::text::cut;
use bytes::Bytes;
use holdfast_wire::message::{MessageType, pb};
use std::time::Duration;

const INTERNAL: u32 = 500;

/// Longest message and longest stack trace of a failed attempt that are kept for onlookers, in
/// bytes. An outcome keeps all of it.
const FAILURE_TEXT_BYTES_MAX: usize = 16 * 1024;

impl Turn<'_, '_> {
    pub(super) fn attempt_said(&mut self, said: AttemptSaid) -> Result<(), Fault> {
        let id = said.invocation;
        let Some(mut record) = self.record(id)? else {
            return Ok(());
        };
        if record.attempt != said.attempt || record.status != Status::Running {
            return Ok(());
        }
        if record.pin.is_none() && !said.said.is_empty() {
            record.pin = said.pin;
        }
        for said in said.said {
            self.entry_said(id, &mut record, said)?;
        }
        match said.end {
            None => {
                self.store(id, &mut record);
                Ok(())
            }
            Some(end) => self.ended(id, record, end),
        }
    }

    fn entry_said(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        said: Said,
    ) -> Result<(), Fault> {
        match said {
            Said::Command { ty, payload, callee } => {
                record.retries.since_last_stored_entry = 0;
                let entry = self.append(id, record, ty, payload);
                self.command(id, record, &entry, callee)
            }
            Said::RunCompletion { completion, payload } => {
                self.run_completed(id, record, completion, payload)
            }
        }
    }

    /// What a command brings about, beside being stored.
    fn command(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        entry: &Entry,
        callee: Option<Callee>,
    ) -> Result<(), Fault> {
        let payload = &entry.payload;
        match entry.ty {
            MessageType::OUTPUT => {
                record.journal.output = Some(entry.index);
                Ok(())
            }
            MessageType::SLEEP => self.sleep(id, record, &read(payload)?),
            MessageType::CALL => self.call(id, record, entry.index, (read(payload)?, callee)),
            MessageType::ONE_WAY_CALL => {
                self.one_way_call(id, record, entry.index, (read(payload)?, callee))
            }
            MessageType::GET_LAZY_STATE => self.get_state(id, record, &read(payload)?),
            MessageType::GET_LAZY_STATE_KEYS => self.get_state_keys(id, record, &read(payload)?),
            MessageType::SET_STATE => self.set_state(record, read(payload)?),
            MessageType::CLEAR_STATE => self.clear_state(record, &read(payload)?),
            MessageType::CLEAR_ALL_STATE => self.clear_all_state(record),
            MessageType::GET_PROMISE => self.get_promise(id, record, &read(payload)?),
            MessageType::PEEK_PROMISE => self.peek_promise(id, record, &read(payload)?),
            MessageType::COMPLETE_PROMISE => self.complete_promise(id, record, read(payload)?),
            MessageType::SEND_SIGNAL => self.send_signal(read(payload)?),
            MessageType::COMPLETE_AWAKEABLE => self.complete_awakeable(read(payload)?),
            MessageType::ATTACH_INVOCATION => {
                self.attach_invocation(id, record, SinkKind::Attach, read(payload)?)
            }
            MessageType::GET_INVOCATION_OUTPUT => {
                let look: pb::GetInvocationOutputCommand = read(payload)?;
                self.attach_invocation(id, record, SinkKind::Output, look.into())
            }
            MessageType::RUN => {
                record.journal.runs += 1;
                Ok(())
            }
            // Eager state: stored, and that is all.
            _ => Ok(()),
        }
    }

    /// A run's result is recorded once; what a later proposal says is ignored.
    fn run_completed(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        completion: u32,
        payload: Bytes,
    ) -> Result<(), Fault> {
        let notification: pb::Notification = read(&payload)?;
        let about = about(&notification).filter(|(about, _)| {
            *about == crate::tables::notified::NotificationId::Completion(completion)
        });
        let Some(about) = about else {
            let what = "a run completion is about something else";
            return Err(crate::tables::codec::corrupt(crate::tables::TableId::Journal, what));
        };
        if self.notify(id, record, (MessageType::RUN_COMPLETION, payload), about)? {
            record.journal.runs = record.journal.runs.saturating_sub(1);
        }
        Ok(())
    }

    fn ended(
        &mut self,
        id: InvocationId,
        mut record: Record,
        end: AttemptEnd,
    ) -> Result<(), Fault> {
        match end {
            AttemptEnd::Completed => {
                let outcome = self.output(id, &record)?.unwrap_or_else(no_output);
                record.retries = Default::default();
                return self.complete(id, record, outcome, FailedBy::Handler);
            }
            AttemptEnd::Suspended(_) | AttemptEnd::Unstarted if record.pause_wanted => {
                self.paused(id, &mut record, PausedBy::Operator, None)?;
            }
            AttemptEnd::Unstarted if replay::ends_unstarted(self.txn, self.here, id, &record)? => {
                return self.complete(id, record, aborted("canceled"), FailedBy::Cancel);
            }
            // The wish was taken back in the meantime.
            AttemptEnd::Unstarted => self.start(id, &mut record),
            AttemptEnd::Suspended(awaiting) => self.suspended(id, &mut record, awaiting)?,
            AttemptEnd::Failed(failed) => return self.attempt_failed(id, record, *failed),
        }
        self.store(id, &mut record);
        Ok(())
    }

    fn attempt_failed(
        &mut self,
        id: InvocationId,
        mut record: Record,
        failed: Failed,
    ) -> Result<(), Fault> {
        let failure = failed.failure;
        let kept = shortened(&failure);
        self.failure_event(id, &mut record, &kept)?;
        record.retries.last_failure = Some(kept.clone());
        record.retries.since_last_stored_entry += u32::from(failed.counts_for_entry);
        let next = match failed.reaction {
            Reaction::Fail => {
                let outcome = outcome_of(failure, false);
                return self.complete(id, record, outcome, FailedBy::Service);
            }
            _ if record.pause_wanted => Err(PausedBy::Operator),
            Reaction::Pause => Err(PausedBy::Service),
            Reaction::RetryAfter(delay) => Ok(delay),
            Reaction::Retry => {
                record.retries.failures_in_row += 1;
                match failed.policy.after(record.retries.failures_in_row, failed.jitter) {
                    Next::After(delay) => Ok(delay),
                    Next::Exhausted => match failed.policy.on_max_attempts {
                        OnMaxAttempts::Pause => Err(PausedBy::Retries),
                        OnMaxAttempts::Kill => {
                            let outcome = outcome_of(failure, true);
                            return self.complete(id, record, outcome, FailedBy::Retries);
                        }
                    },
                }
            }
        };
        match next {
            Ok(delay) => self.back_off(id, &mut record, delay),
            Err(by) => self.paused(id, &mut record, by, Some(kept))?,
        }
        self.store(id, &mut record);
        Ok(())
    }

    pub(super) fn back_off(&mut self, id: InvocationId, record: &mut Record, delay: Duration) {
        self.leave(id, record);
        let until = self.now.plus(delay);
        record.status = Status::BackingOff { until };
        self.set_timer(Timer::new(until, TimerKind::Retry, id));
    }

    /// Keeps a failure as an event; one that only repeats the last is counted there.
    fn failure_event(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        failure: &AttemptFailure,
    ) -> Result<(), Fault> {
        let partition = self.here.partition;
        if let Some(last) = record.events.next.checked_sub(1)
            && let Some(mut event) = event::get(self.txn, partition, id, last)?
            && event.kind == EventKind::AttemptFailed
            && event.failure.as_ref().is_some_and(|known| is_same(known, failure))
        {
            event.count = event.count.saturating_add(1);
            event.last_at = self.now;
            event::put(self.txn, partition, id, last, &event);
            return Ok(());
        }
        self.event(id, record, EventKind::AttemptFailed, Some(failure.clone()));
        Ok(())
    }

    pub(super) fn event(
        &mut self,
        id: InvocationId,
        record: &mut Record,
        kind: EventKind,
        failure: Option<AttemptFailure>,
    ) {
        let event = Event {
            kind,
            after_entry: record.journal.length,
            first_at: self.now,
            last_at: self.now,
            count: 1,
            failure,
        };
        let events = &mut record.events;
        event::put(self.txn, self.here.partition, id, events.next, &event);
        events.next += 1;
        if events.next - events.first > EVENTS_MAX {
            event::delete(self.txn, self.here.partition, id, events.first);
            events.first += 1;
        }
    }
}

fn is_same(one: &AttemptFailure, other: &AttemptFailure) -> bool {
    one.code == other.code && one.message == other.message && one.related == other.related
}

fn shortened(failure: &AttemptFailure) -> AttemptFailure {
    let cut = |text: &str| cut(text, FAILURE_TEXT_BYTES_MAX).to_owned();
    AttemptFailure {
        code: failure.code,
        message: cut(&failure.message),
        stacktrace: cut(&failure.stacktrace),
        doc_code: failure.doc_code.clone(),
        related: failure.related.clone(),
    }
}

fn no_output() -> Outcome {
    Outcome::Failure(Failure {
        code: INTERNAL,
        message: "the handler ended without an output".into(),
        ..Failure::default()
    })
}

/// A transient failure that became the outcome.
fn outcome_of(failure: AttemptFailure, with_stacktrace: bool) -> Outcome {
    Outcome::Failure(Failure {
        code: failure.code,
        message: failure.message,
        metadata: vec![],
        stacktrace: if with_stacktrace { failure.stacktrace } else { String::new() },
    })
}
