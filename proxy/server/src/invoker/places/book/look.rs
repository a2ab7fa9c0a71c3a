//! The book as people see it, and what the watch over idle attempts asks of it. Changes nothing.

use super::{Arrival, At, Book, Counted, Kind, UNSORTED, Waiter};
use crate::invoker::places::{IdleSeat, Standing, Standings, Waits};
use holdfast_machine::id::InvocationId;

/// Most that are counted before one who waits.
const AHEAD_MAX: usize = 10_000;

impl Book {
    pub(in crate::invoker) fn standings(&self) -> Standings {
        let mut oldest = vec![None; self.limits.len()];
        let mut oldest_of_all = None;
        for (index, kind) in self.kinds.iter().enumerate() {
            let Some(first) = kind.waiting.first_key_value() else { continue };
            let older = |seen: &mut Option<(Arrival, InvocationId)>| {
                let first = (*first.0, *first.1);
                *seen = Some(seen.map_or(first, |seen| seen.min(first)));
            };
            kind.limits.iter().for_each(|at| older(&mut oldest[*at]));
            if self.first_full(index as u32).is_none() {
                older(&mut oldest_of_all);
            }
        }
        let since = |(_, id): (Arrival, InvocationId)| (id, self.waiting[&id].since);
        let standing = |(counted, oldest): (&Counted, Option<_>)| Standing {
            limit: counted.limit.clone(),
            running: counted.running,
            waiting: counted.waiting,
            oldest: oldest.map(since),
        };
        Standings {
            max: self.max,
            running: self.taken,
            waiting: self.waiting.len(),
            waiting_for_all: self.waiting_for_all(),
            oldest: oldest_of_all.map(since),
            limits: self.limits.iter().zip(oldest).map(standing).collect(),
        }
    }

    pub(in crate::invoker) fn waits(&self, invocation: InvocationId) -> Option<Waits> {
        let waiter = self.waiting.get(&invocation)?;
        Some(match self.full_for(waiter) {
            Some(at) => {
                let Counted { limit, running, .. } = &self.limits[at];
                Waits {
                    limit: Some(limit.subject.to_string()),
                    running: *running,
                    concurrency: limit.concurrency as usize,
                    since: waiter.since,
                }
            }
            None => Waits {
                limit: None,
                running: self.taken,
                concurrency: self.max,
                since: waiter.since,
            },
        })
    }

    /// How many wait for the same and came before; more than `AHEAD_MAX` are not counted.
    pub(in crate::invoker) fn ahead(&self, invocation: InvocationId) -> Option<usize> {
        let waiter = self.waiting.get(&invocation)?;
        let same = |(index, kind): &(usize, &Kind)| match self.full_for(waiter) {
            Some(at) => kind.limits.contains(&at),
            None => self.first_full(*index as u32).is_none(),
        };
        let kinds = self.kinds.iter().enumerate().filter(same);
        let before = kinds.flat_map(|(_, kind)| kind.waiting.range(..waiter.arrival));
        Some(before.take(AHEAD_MAX).count())
    }

    /// The full limit that one waits for.
    fn full_for(&self, waiter: &Waiter) -> Option<At> {
        match waiter.kind {
            UNSORTED => None,
            kind => self.first_full(kind),
        }
    }

    pub(in crate::invoker) fn wanted(&self, seats: &[IdleSeat]) -> Vec<bool> {
        let of_limit = |counted: &Counted| match counted.limit.concurrency {
            // Whoever stopped here could not go on.
            0 => 0,
            _ if counted.is_full() => counted.waiting,
            _ => 0,
        };
        let mut limits: Vec<usize> = self.limits.iter().map(of_limit).collect();
        let mut all = if self.taken < self.max { 0 } else { self.waiting_for_all() };
        let mut wanted = |idle: &IdleSeat| {
            let held = self.held.get(&idle.seat).map_or(&[][..], |kind| &self.of(*kind).limits);
            let wanted = (idle.for_all && all > 0)
                || (idle.for_limits && held.iter().any(|at| limits[*at] > 0));
            if wanted {
                all = all.saturating_sub(1);
                held.iter().for_each(|at| limits[*at] = limits[*at].saturating_sub(1));
            }
            wanted
        };
        seats.iter().map(&mut wanted).collect()
    }

    /// How many wait for no limit.
    fn waiting_for_all(&self) -> usize {
        let kinds = (0..self.kinds.len()).filter(|kind| self.first_full(*kind as u32).is_none());
        kinds.map(|kind| self.kinds[kind].waiting.len()).sum()
    }
}
