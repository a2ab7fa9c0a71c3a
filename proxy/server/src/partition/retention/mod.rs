//! Keeps the data directory small: gives back the space of what was forgotten, and where there is a
//! budget makes room for newer invocations by forgetting those that completed first. Forgets
//! nothing by itself: what it chooses takes the road of a purge, and the machine decides.

mod config;
mod metrics;
mod oldest;
#[cfg(test)]
mod tests;

pub use config::{Config, DISK_BYTES_MIN};

use super::{Handle, Router, Unavailable};
use crate::store::{Store, Usage};
use crate::telemetry;
use holdfast_machine::{
    command::Command,
    kv::Fault,
    tables::{INVOCATION_TABLES, TableId},
};
use metrics::{Metrics, gauge};
use oldest::Candidate;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Once over the budget, so much of it is aimed at: each time costs a rewriting of what is left.
const LOW_PERCENT: u64 = 90;
/// What one command of a partition costs beside the entries that it removes.
const COMMAND_ENTRIES: u32 = 8;
/// Entries that are forgotten before it is waited for them: others wait behind these.
const SLICE_ENTRIES: u32 = 4_096;
/// What tables take in files of fewer bytes cannot be told apart; all is taken for invocations then.
const ESTIMATED_FROM: u64 = 4 << 20;
/// How often room is made at one look, because what it was thought to be worth was not enough.
const ROUNDS_MAX: usize = 4;

/// Looks at the data directory from time to time.
pub struct Retention {
    config: Config,
    router: Router,
    metrics: Metrics,
    /// What was warned of and still is so.
    warned: Warned,
}

/// Each is said once until it is over.
#[derive(Default)]
struct Warned {
    over_budget: bool,
    failing: bool,
}

/// Why one look came to nothing. The next one tries again.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error("the reader panicked: {0}")]
    Panicked(String),
}

impl Retention {
    pub fn new(config: Config, router: Router, telemetry: &telemetry::Metrics) -> Retention {
        let metrics = Metrics::new(telemetry);
        metrics.disk_bytes_max.set(gauge(config.disk_bytes_max.unwrap_or(0)));
        Retention { config, router, metrics, warned: Warned::default() }
    }

    /// Works until `shutdown`.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let interval = Duration::from_millis(self.config.interval_ms.max(10));
        loop {
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = shutdown.cancelled() => return,
            }
            tokio::select! {
                looked = self.look() => self.say(looked),
                () = shutdown.cancelled() => return,
            }
        }
    }

    fn say(&mut self, looked: Result<(), Error>) {
        match looked {
            // A partition that has stopped says so itself.
            Ok(()) | Err(Error::Unavailable(_)) => self.warned.failing = false,
            Err(error) if !self.warned.failing => {
                self.warned.failing = true;
                tracing::warn!("HF0037: the data directory cannot be looked after: {error}");
            }
            Err(_) => {}
        }
    }

    async fn look(&mut self) -> Result<(), Error> {
        if self.blocking(|store| store.upkeep()).await? {
            self.metrics.compactions.inc();
        }
        let usage = self.measure().await?;
        let Some(budget) = self.config.disk_bytes_max else {
            return Ok(());
        };
        if usage.total() <= budget {
            self.fits();
            return Ok(());
        }
        self.make_room(budget).await
    }

    /// Forgets the oldest until the directory is within `budget`, or nothing can be forgotten.
    async fn make_room(&mut self, budget: u64) -> Result<(), Error> {
        let low = budget / 100 * LOW_PERCENT;
        for round in 0..=ROUNDS_MAX {
            let reclaimed = self.blocking(|store| store.reclaim()).await?;
            let usage = self.measure().await?;
            if usage.total() <= budget {
                self.fits();
                return Ok(());
            }
            let excess = usage.needed().saturating_sub(low);
            if !reclaimed || excess == 0 {
                // What would be forgotten now would give back nothing now: the next look tells.
                return Ok(());
            }
            if round < ROUNDS_MAX && !self.forget_worth(excess).await? {
                self.exceeded(usage.total(), budget);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Forgets the oldest that take about `disk_bytes`; false where there is none.
    async fn forget_worth(&self, disk_bytes: u64) -> Result<bool, Error> {
        let mut wanted = None;
        let mut forgotten = false;
        loop {
            let found = self.blocking(|store| {
                let snapshot = store.snapshot()?;
                oldest::look(&*snapshot, store.partitions(), oldest::CHOSEN_MAX)
            });
            let found = found.await?;
            let left = match wanted {
                Some(left) => left,
                None => self.in_rows(disk_bytes, found.bytes).await?,
            };
            let (chosen, rest) = take(found.oldest, left);
            if chosen.is_empty() {
                return Ok(forgotten);
            }
            self.forget(&chosen).await?;
            forgotten = true;
            if rest == 0 {
                return Ok(true);
            }
            wanted = Some(rest);
        }
    }

    /// Bytes on the disk as bytes of rows, which are compressed there: `all` is what the rows of
    /// all invocations have.
    async fn in_rows(&self, disk_bytes: u64, all: u64) -> Result<u64, Error> {
        let on_disk = self.blocking(move |store| {
            let table = |table: &TableId| {
                let byte = *table as u8;
                store.bytes_between(&[byte], &[byte + 1])
            };
            Ok(on_disk(store.usage()?, INVOCATION_TABLES.iter().map(table).sum(), all))
        });
        let on_disk = u128::from(on_disk.await?.max(1));
        let rows = u128::from(disk_bytes) * u128::from(all) / on_disk;
        Ok(u64::try_from(rows).unwrap_or(u64::MAX).max(1))
    }

    async fn forget(&self, chosen: &[Candidate]) -> Result<(), Error> {
        for slice in slices(chosen) {
            let mut commands: BTreeMap<_, Vec<Command>> = BTreeMap::new();
            for Candidate { id, completed, .. } in slice {
                let partition = self.router.partitions().of(id.partition_key);
                let forget = Command::Forget { invocation: *id, completed: *completed };
                commands.entry(partition).or_default().push(forget);
            }
            for (partition, commands) in commands {
                let handle = &self.router.all()[usize::from(partition.0)];
                self.metrics.forgotten.inc_by(commands.len() as u64);
                apply(handle, commands).await?;
            }
        }
        Ok(())
    }

    async fn measure(&self) -> Result<Usage, Error> {
        let usage = self.blocking(|store| store.usage()).await?;
        self.metrics.disk_bytes.set(gauge(usage.total()));
        Ok(usage)
    }

    fn fits(&mut self) {
        self.warned.over_budget = false;
        self.metrics.over_budget.set(0);
    }

    fn exceeded(&mut self, bytes: u64, budget: u64) {
        self.metrics.over_budget.set(1);
        if !std::mem::replace(&mut self.warned.over_budget, true) {
            tracing::warn!(
                bytes,
                budget,
                "HF0036: the data directory takes more than its budget, and nothing that has \
                 completed is left to forget; raise partition.retention.disk_bytes_max, or look \
                 at what does not end"
            );
        }
    }

    /// Works on the store on a thread that may block on the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Error> {
        let store: Arc<dyn Store> = self.router.store().clone();
        let done = tokio::task::spawn_blocking(move || work(&*store)).await;
        Ok(done.map_err(|panicked| Error::Panicked(panicked.to_string()))??)
    }
}

/// Bytes on the disk of the rows of all invocations, which have `all` before compression and whose
/// tables take `tables` as the store sees it. Too many rather than too few: what is not enough is
/// followed by another round, and what is forgotten is gone.
fn on_disk(usage: Usage, tables: u64, all: u64) -> u64 {
    let rows = match usage.row_bytes.saturating_sub(usage.value_bytes) {
        ..ESTIMATED_FROM => usage.row_bytes.saturating_sub(usage.garbage_bytes),
        _ => tables,
    };
    // Nobody tells whose the large values are: perhaps theirs, as far as theirs can be so large.
    rows.max(usage.value_bytes.saturating_sub(usage.garbage_bytes).min(all))
}

/// Puts all in at once, so that they share a commit, and waits for all of them.
async fn apply(handle: &Handle, commands: Vec<Command>) -> Result<(), Unavailable> {
    let mut answers = Vec::with_capacity(commands.len());
    for command in commands {
        loop {
            match handle.ask(command.clone()) {
                Ok(answer) => {
                    answers.push(answer);
                    break;
                }
                // Who calls goes first.
                Err(Unavailable::Overloaded { retry_after_ms, .. }) => {
                    tokio::time::sleep(Duration::from_millis(retry_after_ms)).await;
                }
                Err(unavailable) => return Err(unavailable),
            }
        }
    }
    for answer in answers {
        handle.come(answer).await?;
    }
    Ok(())
}

/// The first that have `wanted` bytes together, and how many bytes are still wanted then.
fn take(mut oldest: Vec<Candidate>, wanted: u64) -> (Vec<Candidate>, u64) {
    let mut left = wanted;
    let enough = oldest.iter().take_while(|candidate| {
        let more = left > 0;
        left = left.saturating_sub(if more { candidate.bytes } else { 0 });
        more
    });
    let count = enough.count();
    oldest.truncate(count);
    (oldest, left)
}

/// In pieces of about `SLICE_ENTRIES`; one that is longer alone is a piece of its own.
fn slices(chosen: &[Candidate]) -> impl Iterator<Item = &[Candidate]> {
    let mut entries = 0;
    chosen.chunk_by(move |one, _| {
        entries += one.entries.saturating_add(COMMAND_ENTRIES);
        let more = entries < SLICE_ENTRIES;
        if !more {
            entries = 0;
        }
        more
    })
}
