//! Brings the queue of deliveries to the courier: each row once, in order for each receiver, and no
//! more of them at a time than may be held. What there is no room for stays on disk, and is read
//! again later. Receivers that fail keep nothing from the others: what is held for them does not
//! count, and once they fail nothing is held behind what they do not take.

use super::config::PARTS_MAX;
use super::desk::{Desk, Notification};
use crate::clock::Clock;
use crate::delivery::{Courier, Letter, News, Settled, Terms};
use crate::http::client::Client;
use holdfast_machine::{
    id::PartitionId,
    kv::Fault,
    tables::push::{self, Delivery},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tokio::sync::Notify;

/// Rows that are read at once.
const ROWS_MAX: usize = 256;

pub(super) struct Rows {
    desk: Arc<Desk>,
    look: Arc<Notify>,
    pub courier: Courier<Desk>,
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
struct Batch {
    rows: Vec<(u64, Delivery, u32)>,
    /// The one behind the last.
    next: u64,
    more: bool,
}

impl Rows {
    pub(super) fn new(
        desk: Arc<Desk>,
        look: Arc<Notify>,
        terms: Terms,
        held_all_max: usize,
        (client, clock): (Client, Arc<dyn Clock>),
    ) -> Rows {
        Rows {
            courier: Courier::new(desk.clone(), terms, client, clock),
            look,
            held_max: terms.held_max.saturating_sub(PARTS_MAX as usize),
            held_all_max,
            read: vec![0; usize::from(desk.router.partitions().0)],
            behind: BTreeMap::new(),
            held: HashMap::new(),
            crowded: false,
            desk,
        }
    }

    /// Reads some of what is new, and some of what there is room for now.
    pub(super) async fn read(&mut self) {
        self.crowded = false;
        for partition in self.desk.router.partitions().all() {
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

    async fn read_new(&mut self, partition: PartitionId) {
        let from = self.read[usize::from(partition.0)];
        let Some(batch) = self.batch(partition, from, None).await else {
            return;
        };
        for (sequence, delivery, letters) in batch.rows {
            self.take(partition, sequence, delivery, letters);
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
        let Some(batch) = self.batch(partition, from, Some(to.clone())).await else {
            self.behind.insert((partition, to), from);
            return;
        };
        let end = self.read[usize::from(partition.0)];
        for (sequence, delivery, letters) in batch.rows {
            if sequence < end {
                self.take(partition, sequence, delivery, letters);
            }
        }
        if batch.more && batch.next < end {
            self.behind.entry((partition, to)).or_insert(batch.next);
            self.look.notify_one();
        }
    }

    /// Gives a row to the courier, unless rows before it are still on disk.
    fn take(&mut self, partition: PartitionId, sequence: u64, delivery: Delivery, letters: u32) {
        let place = (partition, receiver(&delivery));
        let row = (partition, sequence);
        if self.held.contains_key(&row) || self.behind.contains_key(&place) {
            return;
        }
        let (at, delivery) = (delivery.at, Arc::new(delivery));
        let letter = |part: u32, last: bool| Letter {
            to: place.1.clone(),
            source: partition,
            written_at: at,
            what: Notification { sequence, delivery: delivery.clone(), part, last },
        };
        if letters == 0 {
            self.held.insert(row, 1);
            return self.courier.settle(letter(0, true), Settled::Nowhere);
        }
        if !self.may_hold(partition, &place.1) {
            self.behind.insert(place, sequence);
            return;
        }
        if letters > PARTS_MAX {
            tracing::error!(letters, "an event is more notifications than are sent of one");
        }
        let parts = parts(letters);
        self.held.insert(row, u32::try_from(parts.len()).unwrap_or(PARTS_MAX));
        for (part, last) in parts {
            let offered = self.courier.offer(letter(part, last));
            assert!(offered, "the courier holds {PARTS_MAX} letters more than are counted");
        }
    }

    pub(super) fn hear(&mut self, news: News<Notification>) {
        if let News::Settled(letter) = news {
            self.settled(&letter);
        }
        self.count();
    }

    fn settled(&mut self, letter: &Letter<Notification>) {
        let row = (letter.source, letter.what.sequence);
        if let Some(left) = self.held.get_mut(&row) {
            *left -= 1;
            if *left == 0 {
                self.held.remove(&row);
            }
        }
        let place = (letter.source, letter.to.clone());
        let room = self.behind.contains_key(&place) && self.has_room(place.0, &place.1);
        if room || self.crowded {
            self.look.notify_one();
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
        let crowded = self.courier.moving() >= self.held_all_max;
        self.crowded |= crowded;
        crowded
    }

    fn count(&self) {
        self.desk.metrics.waiting(self.held.len(), self.courier.failing());
    }

    /// Rows of everybody, or of one receiver. `None` where too much is held, or the store cannot be
    /// read, which stops the partition too.
    async fn batch(
        &mut self,
        partition: PartitionId,
        from: u64,
        only: Option<String>,
    ) -> Option<Batch> {
        if self.is_crowded() {
            return None;
        }
        let desk = self.desk.clone();
        let reading = move || batch(&desk, partition, from, only.as_deref());
        match tokio::task::spawn_blocking(reading).await {
            Ok(Ok(batch)) => Some(batch),
            Ok(Err(fault)) => {
                let (code, partition) = ("HF0263", partition.0);
                tracing::error!(code, partition, %fault, "push notifications cannot be read");
                None
            }
            Err(error) => {
                tracing::error!(%error, "reading push notifications died of a bug");
                None
            }
        }
    }
}

fn batch(
    desk: &Desk,
    partition: PartitionId,
    from: u64,
    only: Option<&str>,
) -> Result<Batch, Fault> {
    let store = desk.router.store();
    let (mut batch, mut seen) = (Batch { rows: vec![], next: from, more: false }, 0);
    push::scan(&**store, partition, from, &mut |sequence, delivery| {
        batch.more = seen == ROWS_MAX;
        if !batch.more {
            seen += 1;
            batch.next = sequence + 1;
            if only.is_none_or(|only| receiver(&delivery) == only) {
                batch.rows.push((sequence, delivery, 0));
            }
        }
        !batch.more
    })?;
    for (_, delivery, letters) in &mut batch.rows {
        *letters = desk.letters(partition, delivery)?;
    }
    Ok(batch)
}

/// Names a receiver of one task: its notifications go one after another.
fn receiver(delivery: &Delivery) -> String {
    format!("{}/{}", delivery.invocation, delivery.config)
}

/// The letters of a row, by number, and whether it is the last one.
fn parts(letters: u32) -> impl ExactSizeIterator<Item = (u32, bool)> {
    let count = letters.min(PARTS_MAX);
    (0..count).map(move |part| (part, part + 1 == count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_last_letter_however_many_there_are() {
        for letters in [1, 2, PARTS_MAX, PARTS_MAX + 1, u32::MAX] {
            let parts: Vec<_> = parts(letters).collect();
            let last: Vec<_> = parts.iter().filter(|(_, last)| *last).collect();
            assert_eq!(last, [parts.last().unwrap()], "{letters}");
            assert_eq!(parts.len(), letters.min(PARTS_MAX) as usize);
        }
    }
}
