//! The loop of a partition: take all that is ready, apply it, commit once, release the effects.
//! Waits for the queue and for the disk, and for nothing else.

use super::{
    Unavailable,
    metrics::{Gauges, Metrics},
    queue::Work,
    release::{Applied, Origin, Release, split},
    start::Shared,
    stop::Stop,
    timers::Due,
};
use crate::clock::Clock;
use crate::store::{Batch, CommitError, Durability, Fence, Sequence, Store};
use holdfast_machine::{
    apply::apply,
    command::Command,
    effect::Effect,
    kv::{Bounds, Fresh, Kept, Kv, Over, Recent, Txn, Writes},
    model::Callee,
    recover::recover,
    tables::{
        TableId,
        schedule::{self, Schedule},
        state,
    },
    time::Timestamp,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Who waits, attempts, and the time of a commit up to which a partition is quiet: one caller, its
/// invocation and one that this calls, on a disk that is quicker than being woken is dear.
const QUIET_WAITERS: usize = 1;
const QUIET_ATTEMPTS: usize = 2;
const QUIET_COMMIT: Duration = Duration::from_millis(1);

/// How much is held in memory of the rows of which something under way is decided: those of a
/// thousand invocations at least, and the state of as many keys, unless they are large.
const RECENT: Bounds = Bounds { rows: 4_096, row_bytes: 1_024, ranges: 1_024, range_bytes: 4_096 };

fn read_again(key: &[u8]) -> Kept {
    match TableId::of_key(key) {
        Some(TableId::Invocation | TableId::Lock) => Kept::Row,
        // An attempt on a key is sent all of its state.
        Some(TableId::State) => state::owner_bytes(key).map_or(Kept::Nothing, Kept::Range),
        _ => Kept::Nothing,
    }
}

/// As before the first turn.
pub(super) fn nothing_recent() -> Recent {
    Recent::new(RECENT, read_again)
}

/// One partition, as whoever takes its turn has it.
pub(super) struct Partition {
    pub store: Arc<dyn Store>,
    pub fence: Fence,
    pub applied: Sequence,
    pub clock: Arc<dyn Clock>,
    pub shared: Arc<Shared>,
    pub release: Release,
    /// Empty between two turns.
    pub work: Vec<Work>,
    /// Rows that are read again while what they are about is under way.
    pub recent: Recent,
    /// How long the latest commit took.
    pub committed_in: Duration,
    /// Whether others than the thread may take turns.
    pub inline_turns: bool,
    pub metrics: Metrics,
    pub gauges: Gauges,
    /// Rows after which a turn forgets nothing more.
    pub forget_rows_max: usize,
}

impl Partition {
    /// Takes all that is ready. False: the queue is closed and empty.
    pub(super) fn take_turn(&mut self) -> Result<bool, Stop> {
        let mut work = std::mem::take(&mut self.work);
        let goes_on = self.shared.queue.take(&mut work);
        if goes_on {
            self.turn(&mut work)?;
            self.shared.queue.settle(self.release.timers.next(), self.is_quiet());
        }
        self.work = work;
        Ok(goes_on)
    }

    /// So little goes on that nobody is kept waiting by who takes a turn in passing.
    fn is_quiet(&self) -> bool {
        self.inline_turns
            && self.release.waiters.len() <= QUIET_WAITERS
            && self.release.live.len() <= QUIET_ATTEMPTS
            && self.committed_in <= QUIET_COMMIT
    }

    /// Releases again what may have been lost with the process before.
    pub(super) fn recover(&mut self) -> Result<(), Stop> {
        let started = Instant::now();
        let effects = recover(&*self.store, self.release.here)?;
        let count = effects.len();
        let applied = Applied { origin: Origin::Own, effects };
        self.release.release(&*self.store, vec![applied])?;
        let (partition, took) = (self.fence.partition.0, started.elapsed());
        tracing::debug!(partition, effects = count, ?took, "recovered");
        self.shared.queue.settle(self.release.timers.next(), false);
        Ok(())
    }

    fn turn(&mut self, work: &mut Vec<Work>) -> Result<(), Stop> {
        let now = self.clock.now();
        self.release.here.notices = self.release.notices.wanted();
        let store = self.store.clone();
        let mut recent = std::mem::replace(&mut self.recent, nothing_recent());
        let base = Fresh { base: &*store, recent: &recent };
        let mut txn = Txn::new(&base);
        let mut turn = Vec::with_capacity(work.len());
        let due = self.release.timers.due(&*store, now)?;
        let (forgets, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|due| due.forgets);
        for due in due {
            turn.push(self.fire(&mut txn, now, due)?);
        }
        let mut commands = turn.len();
        for work in work.drain(..) {
            let (command, origin) = split(work);
            let effects = match command {
                Some(command) => self.apply(&mut txn, now, command)?,
                None => Vec::new(),
            };
            commands += 1;
            turn.push(Applied { origin, effects });
        }
        commands += self.forget(&mut txn, now, forgets, &mut turn)?;
        let (writes, forms) = txn.into_writes_and_forms();
        let writes = self.commit(writes, commands)?;
        self.count(&turn);
        self.release.release(&Over { base: &base, writes: &writes, forms: &forms }, turn)?;
        recent.remember(writes, forms);
        self.recent = recent;
        Ok(())
    }

    fn apply(
        &self,
        txn: &mut Txn<'_>,
        now: Timestamp,
        command: Command,
    ) -> Result<Vec<Effect>, Stop> {
        self.metrics.command(&command);
        Ok(apply(txn, self.release.here, now, command)?)
    }

    /// Forgets what is due, up to the share of a commit; the rest has to wait. Where much begins
    /// much has to go, so the share grows with what the others write.
    fn forget(
        &mut self,
        txn: &mut Txn<'_>,
        now: Timestamp,
        due: Vec<Due>,
        turn: &mut Vec<Applied>,
    ) -> Result<usize, Stop> {
        let others = txn.len();
        let most = others + self.forget_rows_max.max(2 * others);
        let before = turn.len();
        for due in due {
            if txn.len() >= most {
                self.release.timers.forget_later(due.at);
                break;
            }
            turn.push(self.fire(txn, now, due)?);
        }
        Ok(turn.len() - before)
    }

    fn fire(&self, txn: &mut Txn<'_>, now: Timestamp, due: Due) -> Result<Applied, Stop> {
        self.metrics.timer_late_by(now.since(due.at));
        let key = due.key;
        let callee = self.callee(txn, &key)?;
        let effects = self.apply(txn, now, Command::TimerDue { key: key.clone(), callee })?;
        // The next scan begins behind this row, and a row that stayed would fire without end.
        if txn.get(&key)?.is_some() {
            return Err(Stop::Broken("a timer that fired was not deleted".to_owned()));
        }
        Ok(Applied { origin: Origin::Own, effects })
    }

    /// Where a schedule is due: what is registered for its target. The machine cannot ask.
    fn callee(&self, txn: &Txn<'_>, key: &[u8]) -> Result<Option<Callee>, Stop> {
        let Some(Schedule { plan, trouble, .. }) = schedule::of_timer(txn, key)? else {
            return Ok(None);
        };
        let callee = self.release.hands.callee(&plan.service, &plan.handler);
        if callee.is_none() && trouble.is_none() {
            let (schedule, service, handler) = (plan.name, plan.service, plan.handler);
            tracing::warn!(
                schedule,
                service,
                handler,
                "a schedule is due, its target is not there"
            );
        }
        Ok(callee)
    }

    /// Gives the writes back, durable.
    fn commit(&mut self, writes: Writes, commands: usize) -> Result<Writes, Stop> {
        if writes.is_empty() {
            return Ok(writes);
        }
        let started = Instant::now();
        let value = |value: &Option<bytes::Bytes>| value.as_ref().map_or(0, bytes::Bytes::len);
        let bytes = writes.iter().map(|(key, row)| key.len() + value(row)).sum();
        let (fence, sequence) = (self.fence, self.applied.next());
        let batch = Batch { fence, sequence, writes, durability: Durability::Sync };
        match self.store.commit(&batch) {
            Ok(()) => {}
            Err(unknown @ CommitError::Unknown { .. }) => self.find_out(sequence, unknown)?,
            Err(error) => return Err(error.into()),
        }
        self.applied = sequence;
        self.committed_in = started.elapsed();
        self.metrics.committed(commands, bytes, self.committed_in);
        Ok(batch.writes)
    }

    /// Where nobody could say whether a commit happened, the store itself does.
    fn find_out(&self, sequence: Sequence, unknown: CommitError) -> Result<(), Stop> {
        let partition = self.fence.partition;
        if self.store.applied(partition)? != sequence {
            return Err(unknown.into());
        }
        tracing::warn!(partition = partition.0, %unknown, "the commit was found to have happened");
        Ok(())
    }

    fn count(&self, turn: &[Applied]) {
        for effect in turn.iter().flat_map(|applied| &applied.effects) {
            self.metrics.effect(effect);
        }
        let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.gauges.queue_commands.set(gauge(self.shared.queue.depth().0));
        self.gauges.live_attempts.set(gauge(self.release.live.len()));
        self.gauges.waited_invocations.set(gauge(self.release.waiters.len()));
    }

    /// Nothing more is decided or acknowledged. Everybody who waits learns it, the attempts are
    /// cut off, and the process stays up to say so.
    pub(super) fn stop(mut self, stop: &Stop) {
        let partition = self.fence.partition;
        tracing::error!(partition = partition.0, reason = %stop, "partition has stopped");
        self.shared.queue.close(Unavailable::Stopped { partition, reason: stop.to_string() });
        self.shared.queue.clear();
        self.release.live.abort_all();
        self.gauges.stopped.set(1);
    }
}
