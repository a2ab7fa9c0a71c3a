//! Letters that are rows of a queue in the tables: whoever has such rows says for whom they are,
//! and what else there is to know of them. Never reads a row itself.

use super::{Means, Office, Terms, rows::Rows};
use crate::store::Store;
use holdfast_machine::{id::PartitionId, kv::Fault, tables::queue::Queued, time::Timestamp};
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// An office whose letters are the rows of a queue.
pub trait Mailroom: Office<What = Piece<<Self as Mailroom>::Row>> {
    type Row: Queued + Clone + Send + Sync + 'static;

    /// Letters that one row can be; no row is nearly as many. At least 1.
    const LETTERS_MAX: u32;

    fn written_at(row: &Self::Row) -> Timestamp;

    /// Names whom a row is for; `None`: nobody.
    fn receiver(&self, row: &Self::Row) -> Option<String>;

    /// How many letters a row is; none: it goes nowhere, or says nothing. May read the store.
    ///
    /// # Errors
    /// Where the store cannot be read.
    fn letters(&self, partition: PartitionId, row: &Self::Row) -> Result<u32, Fault>;

    /// Whether rows may be for others than when this was asked last. Never where a row can be
    /// several letters.
    fn has_moved(&self) -> bool {
        false
    }

    /// The store cannot be read, which stops the partition too: to be told the operator.
    fn unreadable(&self, partition: PartitionId, fault: &Fault);
}

/// A letter of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<R> {
    /// Of the row.
    pub sequence: u64,
    pub row: Arc<R>,
    /// Which of the row's letters, from 0.
    pub part: u32,
    /// The row goes with it.
    pub last: bool,
}

/// Tells a queue that there may be rows that were not read yet, or that they may be for others.
#[derive(Clone, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    pub fn ring(&self) {
        self.0.notify_one();
    }
}

/// Delivers the rows of a queue. Cheap to clone.
pub struct Queue<M: Mailroom> {
    shared: Arc<Shared<M>>,
}

struct Shared<M> {
    mailroom: Arc<M>,
    terms: Terms,
    store: Arc<dyn Store>,
    means: Means,
    bell: Bell,
}

impl<M: Mailroom> Queue<M> {
    pub fn new(mailroom: M, terms: Terms, store: Arc<dyn Store>, means: Means) -> Queue<M> {
        let (mailroom, bell) = (Arc::new(mailroom), Bell::default());
        bell.ring(); // What the process before has left.
        let set = bell.clone();
        means.clock.when_set(Box::new(move || set.ring()));
        Queue { shared: Arc::new(Shared { mailroom, terms, store, means, bell }) }
    }

    pub fn mailroom(&self) -> &M {
        &self.shared.mailroom
    }

    pub fn bell(&self) -> &Bell {
        &self.shared.bell
    }

    /// Delivers until `shutdown`; tries under way then have their time to end. The partitions must
    /// still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        let Shared { mailroom, terms, store, means, bell } = &*self.shared;
        let (mailroom, store) = (mailroom.clone(), store.clone());
        let mut rows = Rows::new(mailroom, *terms, store, means.clone(), bell.clone());
        loop {
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = bell.0.notified() => rows.read().await,
                news = rows.courier.next() => rows.hear(news),
            }
        }
        rows.courier.finish(terms.timeout).await;
    }
}

impl<M: Mailroom> Clone for Queue<M> {
    fn clone(&self) -> Self {
        Queue { shared: self.shared.clone() }
    }
}
