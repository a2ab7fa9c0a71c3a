//! Brings the rows of a queue to the courier: each once, in order for each receiver, and no more
//! of them at a time than may be held. What there is no room for stays on disk, and is read again
//! later. Receivers that fail keep nothing from the others: what is held for them does not count,
//! and once they fail nothing is held behind what they do not take.

use super::{Bell, Courier, Letter, Mailroom, Means, Metrics, News, Piece, Settled, Terms};
use crate::store::Store;
use holdfast_machine::{id::PartitionId, kv::Fault, tables::queue};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// Rows that are read at once, and letters that may be settled at once, many of them to nowhere,
/// where more are read.
const ROWS_MAX: usize = 256;

pub(super) struct Rows<M: Mailroom> {
    mailroom: Arc<M>,
    store: Arc<dyn Store>,
    bell: Bell,
    metrics: Metrics,
    pub courier: Courier<M>,
    held_max: usize,
    held_all_max: usize,
    /// By partition: rows before were read.
    read: Vec<u64>,
    /// By partition and receiver: from here on, rows that were read were not taken in.
    behind: BTreeMap<(PartitionId, String), u64>,
    /// Rows that were taken in and are not over, and how many of their letters are left.
    held: HashMap<(PartitionId, u64), u32>,
    /// Nothing was read because too much is held.
    crowded: bool,
}

/// Rows of one partition.
struct Batch<R> {
    rows: Vec<Found<R>>,
    /// The one behind the last.
    next: u64,
    more: bool,
}

/// A row, whom it is for, and how many letters it is to them.
struct Found<R> {
    sequence: u64,
    row: R,
    to: Option<String>,
    letters: u32,
}

impl<M: Mailroom> Rows<M> {
    pub(super) fn new(
        mailroom: Arc<M>,
        terms: Terms,
        store: Arc<dyn Store>,
        means: Means,
        bell: Bell,
    ) -> Rows<M> {
        let held_max = terms.held_max.max(1);
        // The letters of one row are held together.
        let terms = Terms { held_max: held_max + M::LETTERS_MAX as usize - 1, ..terms };
        Rows {
            metrics: means.metrics.clone(),
            courier: Courier::new(mailroom.clone(), terms, means),
            held_max,
            held_all_max: terms.held_all_max,
            read: vec![0; usize::from(store.partitions().0)],
            behind: BTreeMap::new(),
            held: HashMap::new(),
            crowded: false,
            mailroom,
            store,
            bell,
        }
    }

    /// Reads some of what is new, and some of what there is room for now.
    pub(super) async fn read(&mut self) {
        if self.mailroom.has_moved() {
            self.start_over();
        }
        self.crowded = false;
        for partition in self.store.partitions().all() {
            self.read_new(partition).await;
        }
        let behind: Vec<_> = self.behind.keys().cloned().collect();
        for (partition, to) in behind {
            if self.is_crowded() {
                break;
            }
            if self.has_room(partition, &to) {
                self.catch_up(partition, to).await;
            }
        }
        self.count();
    }

    /// All rows that wait are addressed anew.
    fn start_over(&mut self) {
        assert!(M::LETTERS_MAX == 1, "a row of which a letter is on its way would not come again");
        for letter in self.courier.clear() {
            self.held.remove(&row(&letter));
        }
        self.behind.clear();
        self.read.fill(0);
    }

    async fn read_new(&mut self, partition: PartitionId) {
        let from = self.read[usize::from(partition.0)];
        let Some(batch) = self.batch(partition, from, None).await else {
            return;
        };
        for found in batch.rows {
            self.take(partition, found);
        }
        self.read[usize::from(partition.0)] = batch.next;
        if batch.more {
            self.bell.ring();
        }
    }

    /// Takes in rows that one receiver had no room for.
    async fn catch_up(&mut self, partition: PartitionId, to: String) {
        let Some(from) = self.behind.remove(&(partition, to.clone())) else {
            return;
        };
        let Some(batch) = self.batch(partition, from, Some(to.clone())).await else {
            self.behind.insert((partition, to), from);
            return;
        };
        let end = self.read[usize::from(partition.0)];
        for found in batch.rows.into_iter().filter(|found| found.sequence < end) {
            self.take(partition, found);
        }
        if batch.more && batch.next < end {
            self.behind.entry((partition, to)).or_insert(batch.next);
            self.bell.ring();
        }
    }

    /// Gives a row to the courier, unless rows before it are still on disk.
    fn take(&mut self, partition: PartitionId, found: Found<M::Row>) {
        let Found { sequence, row, to, letters } = found;
        let place = (partition, to.unwrap_or_default());
        if self.held.contains_key(&(partition, sequence)) || self.behind.contains_key(&place) {
            return;
        }
        let (written_at, row) = (M::written_at(&row), Arc::new(row));
        let letter = |part: u32, last: bool| Letter {
            to: place.1.clone(),
            source: partition,
            written_at,
            what: Piece { sequence, row: row.clone(), part, last },
        };
        if letters == 0 {
            self.held.insert((partition, sequence), 1);
            return self.courier.settle(letter(0, true), Settled::Nowhere);
        }
        if !self.may_hold(partition, &place.1) {
            self.behind.insert(place, sequence);
            return;
        }
        if letters > M::LETTERS_MAX {
            tracing::error!(letters, "a row is more letters than are sent of one");
        }
        let count = letters.min(M::LETTERS_MAX);
        self.held.insert((partition, sequence), count);
        for part in 0..count {
            let offered = self.courier.offer(letter(part, part + 1 == count));
            assert!(offered, "the courier holds the letters of a row more than are counted");
        }
    }

    pub(super) fn hear(&mut self, news: News<M::What>) {
        if let News::Settled(letter) = news {
            self.settled(&letter);
        }
        self.count();
    }

    fn settled(&mut self, letter: &Letter<M::What>) {
        if let Some(left) = self.held.get_mut(&row(letter)) {
            *left -= 1;
            if *left == 0 {
                self.held.remove(&row(letter));
            }
        }
        let place = (letter.source, letter.to.clone());
        let room = self.behind.contains_key(&place) && self.has_room(place.0, &place.1);
        if room || self.crowded {
            self.bell.ring();
        }
    }

    /// One row at a time for a receiver that fails.
    fn may_hold(&self, partition: PartitionId, to: &str) -> bool {
        let held = self.courier.held(to, partition);
        if self.courier.fails(to) { held == 0 } else { held < self.held_max }
    }

    /// Enough that reading is worth it.
    fn has_room(&self, partition: PartitionId, to: &str) -> bool {
        let held = self.courier.held(to, partition);
        if self.courier.fails(to) { held == 0 } else { held <= self.held_max / 2 }
    }

    /// What waits for receivers that fail can wait for a day, and must not keep others waiting.
    fn is_crowded(&mut self) -> bool {
        let too_many = self.courier.moving() >= self.held_all_max;
        let crowded = too_many || self.courier.settling() >= ROWS_MAX;
        self.crowded |= crowded;
        crowded
    }

    fn count(&self) {
        let (oldest, failing) = (self.courier.oldest(), self.courier.failing());
        self.metrics.waiting(self.held.len(), oldest, failing);
    }

    /// Rows of everybody, or of one receiver. `None` where too much is held, or the store cannot be
    /// read.
    async fn batch(
        &mut self,
        partition: PartitionId,
        from: u64,
        only: Option<String>,
    ) -> Option<Batch<M::Row>> {
        if self.is_crowded() {
            return None;
        }
        let (mailroom, store) = (self.mailroom.clone(), self.store.clone());
        let reading = move || batch(&*mailroom, &*store, partition, from, only.as_deref());
        match tokio::task::spawn_blocking(reading).await {
            Ok(Ok(batch)) => Some(batch),
            Ok(Err(fault)) => {
                self.mailroom.unreadable(partition, &fault);
                None
            }
            Err(error) => {
                tracing::error!(%error, "reading what is to be delivered died of a bug");
                None
            }
        }
    }
}

fn batch<M: Mailroom>(
    mailroom: &M,
    store: &dyn Store,
    partition: PartitionId,
    from: u64,
    only: Option<&str>,
) -> Result<Batch<M::Row>, Fault> {
    let (mut batch, mut seen) = (Batch { rows: vec![], next: from, more: false }, 0);
    queue::scan(store, partition, from, &mut |sequence, row| {
        batch.more = seen == ROWS_MAX;
        if !batch.more {
            seen += 1;
            batch.next = sequence + 1;
            let to = mailroom.receiver(&row);
            if only.is_none_or(|only| to.as_deref() == Some(only)) {
                batch.rows.push(Found { sequence, row, to, letters: 0 });
            }
        }
        !batch.more
    })?;
    for found in batch.rows.iter_mut().filter(|found| found.to.is_some()) {
        found.letters = mailroom.letters(partition, &found.row)?;
    }
    Ok(batch)
}

fn row<R>(letter: &Letter<Piece<R>>) -> (PartitionId, u64) {
    (letter.source, letter.what.sequence)
}
