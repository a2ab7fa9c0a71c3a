//! Brings rows of the tables to the courier: each once, in order, and no more of them at a time
//! than may be held. What a receiver has no room for stays on disk, and is read again later.

use super::{
    Shared,
    desk::{Desk, Row, Told, key},
};
use crate::delivery::{Courier, Letter, News, Settled, Terms};
use crate::registry::Schema;
use holdfast_machine::{
    id::PartitionId,
    kv::Fault,
    tables::notice::{self, Notice},
};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};
use tokio::sync::Notify;

/// Rows that are read at once, and letters that may be under way, many of them to nowhere, where
/// more are read.
const ROWS_MAX: usize = 500;

pub(super) struct Rows {
    desk: Arc<Desk>,
    look: Arc<Notify>,
    pub courier: Courier<Desk>,
    held_max: usize,
    /// By partition: rows before were read.
    read: Vec<u64>,
    /// By partition and receiver: from here on, rows that were read were not taken in.
    behind: BTreeMap<(PartitionId, String), u64>,
    /// What was taken in and is not settled.
    held: HashSet<(PartitionId, u64)>,
    /// Nothing was read because too much was under way.
    crowded: bool,
    /// What rows are addressed by.
    schema: Arc<Schema>,
}

/// Rows of one partition.
struct Batch {
    rows: Vec<(u64, Notice)>,
    /// The one behind the last.
    next: u64,
    more: bool,
}

impl Rows {
    pub(super) fn new(shared: &Shared, terms: Terms) -> Rows {
        let (desk, clock) = (shared.desk.clone(), shared.clock.clone());
        Rows {
            courier: Courier::new(desk.clone(), terms, shared.client.clone(), clock),
            look: shared.look.clone(),
            held_max: terms.held_max,
            read: vec![0; usize::from(desk.router.partitions().0)],
            behind: BTreeMap::new(),
            held: HashSet::new(),
            crowded: false,
            schema: desk.registry.schema(),
            desk,
        }
    }

    /// Reads some of what is new, and some of what there is room for now.
    pub(super) async fn read(&mut self) {
        self.readdress();
        for partition in self.desk.router.partitions().all() {
            self.read_new(partition).await;
        }
        let behind: Vec<_> = self.behind.keys().cloned().collect();
        for (partition, to) in behind {
            if self.has_room(partition, &to) {
                self.catch_up(partition, to).await;
            }
        }
        self.count();
    }

    async fn read_new(&mut self, partition: PartitionId) {
        let from = self.read[usize::from(partition.0)];
        let Some(batch) = self.batch(partition, from).await else {
            return;
        };
        for (sequence, notice) in batch.rows {
            match self.desk.address(&self.schema, &notice) {
                Some(to) => self.take(partition, sequence, notice, to.to_string()),
                None => self.drop_row(partition, sequence, notice),
            }
        }
        self.read[usize::from(partition.0)] = batch.next;
        if batch.more {
            self.look.notify_one();
        }
    }

    /// Takes in rows that one receiver had no room for.
    async fn catch_up(&mut self, partition: PartitionId, to: String) {
        let Some(from) = self.behind.remove(&(partition, to.clone())) else {
            return;
        };
        let Some(batch) = self.batch(partition, from).await else {
            self.behind.insert((partition, to), from);
            return;
        };
        let end = self.read[usize::from(partition.0)];
        let mine = |notice: &Notice| {
            let address = self.desk.address(&self.schema, notice);
            address.is_some_and(|address| address.to_string() == to)
        };
        let rows =
            batch.rows.into_iter().filter(|(sequence, notice)| *sequence < end && mine(notice));
        for (sequence, notice) in rows.collect::<Vec<_>>() {
            self.take(partition, sequence, notice, to.clone());
        }
        if batch.more && batch.next < end {
            self.behind.entry((partition, to)).or_insert(batch.next);
            self.look.notify_one();
        }
    }

    /// Gives a row to the courier, unless rows before it are still on disk.
    fn take(&mut self, partition: PartitionId, sequence: u64, notice: Notice, to: String) {
        let place = (partition, to);
        if self.held.contains(&(partition, sequence)) || self.behind.contains_key(&place) {
            return;
        }
        let letter = letter(partition, sequence, notice, place.1.clone());
        match self.courier.offer(letter) {
            true => drop(self.held.insert((partition, sequence))),
            false => drop(self.behind.insert(place, sequence)),
        }
    }

    fn drop_row(&mut self, partition: PartitionId, sequence: u64, notice: Notice) {
        if self.held.insert((partition, sequence)) {
            let letter = letter(partition, sequence, notice, String::new());
            self.courier.settle(letter, Settled::Nowhere);
        }
    }

    pub(super) fn hear(&mut self, news: News<Arc<Row>>) {
        if let News::Settled(letter) = news {
            self.settled(&letter);
        }
        self.count();
    }

    /// A row is gone.
    fn settled(&mut self, letter: &Told) {
        self.held.remove(&key(letter));
        let place = (letter.source, letter.to.clone());
        let room = self.behind.contains_key(&place) && self.has_room(place.0, &place.1);
        if room || self.crowded {
            self.look.notify_one();
        }
    }

    /// Where deployments may have other receivers than before, all rows that wait are addressed
    /// anew.
    fn readdress(&mut self) {
        let schema = self.desk.registry.schema();
        if Arc::ptr_eq(&schema, &self.schema) {
            return;
        }
        let before = std::mem::replace(&mut self.schema, schema);
        if !before.notifies && !self.schema.notifies {
            return;
        }
        for letter in self.courier.clear() {
            self.held.remove(&key(&letter));
        }
        self.behind.clear();
        self.read.fill(0);
    }

    /// Enough that reading is worth it.
    fn has_room(&self, partition: PartitionId, to: &str) -> bool {
        self.courier.held(to, partition) <= self.held_max / 2
    }

    fn count(&self) {
        let (oldest, failing) = (self.courier.oldest(), self.courier.failing());
        self.desk.metrics.waiting(self.held.len(), oldest, failing);
    }

    /// `None` where it is not the time to read, or the store cannot be read, which stops the
    /// partition too.
    async fn batch(&mut self, partition: PartitionId, from: u64) -> Option<Batch> {
        self.crowded = self.courier.under_way() >= ROWS_MAX;
        if self.crowded {
            return None;
        }
        let store = self.desk.router.store().clone();
        let read = move || {
            let mut batch = Batch { rows: vec![], next: from, more: false };
            notice::scan(&*store, partition, from, &mut |sequence, notice| {
                batch.more = batch.rows.len() == ROWS_MAX;
                if !batch.more {
                    batch.next = sequence + 1;
                    batch.rows.push((sequence, notice));
                }
                !batch.more
            })?;
            Ok::<_, Fault>(batch)
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(batch)) => Some(batch),
            Ok(Err(fault)) => {
                let (code, partition) = ("HF0194", partition.0);
                tracing::error!(code, partition, %fault, "notices cannot be read");
                None
            }
            Err(error) => {
                tracing::error!(%error, "reading notices died of a bug");
                None
            }
        }
    }
}

fn letter(partition: PartitionId, sequence: u64, notice: Notice, to: String) -> Told {
    let written_at = notice.at;
    Letter { to, source: partition, written_at, what: Arc::new(Row { sequence, notice }) }
}
