//! Who reads on in which feed, so that it can be woken when there is more. Costs nothing for what
//! nobody follows, and never holds a row: a wake is only a hint.

use foldhash::HashMap;
use holdfast_machine::id::InvocationId;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// The followers of one partition's tasks.
#[derive(Default)]
pub(super) struct Watches {
    followed: Mutex<HashMap<InvocationId, Followed>>,
    /// How many tasks are followed; saves the lock where none is.
    count: AtomicUsize,
}

struct Followed {
    told: watch::Sender<u64>,
    followers: usize,
}

/// Wakes one follower. Dropping it is going.
pub struct Watch {
    task: InvocationId,
    told: watch::Receiver<u64>,
    watches: Arc<Watches>,
}

impl Watches {
    pub(super) fn follow(self: &Arc<Self>, task: InvocationId) -> Watch {
        let mut followed = self.lock();
        let entry = followed
            .entry(task)
            .or_insert_with(|| Followed { told: watch::channel(0).0, followers: 0 });
        entry.followers += 1;
        let told = entry.told.subscribe();
        self.count.store(followed.len(), Relaxed);
        drop(followed);
        Watch { task, told, watches: self.clone() }
    }

    /// Rows up to `sequence` can be read.
    pub(super) fn told(&self, task: InvocationId, sequence: u64) {
        if self.count.load(Relaxed) == 0 {
            return;
        }
        if let Some(followed) = self.lock().get(&task) {
            followed.told.send_replace(sequence);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<InvocationId, Followed>> {
        self.followed.lock().expect("nobody panics while holding it")
    }
}

impl Watch {
    /// What is written from now on wakes. Call it before reading, and what is written while one
    /// reads is not missed.
    pub fn mark(&mut self) {
        self.told.mark_unchanged();
    }

    /// Returns when something was written since the last `mark`. Cancel safe.
    pub async fn changed(&mut self) {
        if self.told.changed().await.is_err() {
            // The sender lives for as long as this watch does.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut followed = self.watches.lock();
        let entry =
            followed.get_mut(&self.task).expect("it is there for as long as it is followed");
        entry.followers -= 1;
        if entry.followers == 0 {
            followed.remove(&self.task);
        }
        self.watches.count.store(followed.len(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::id::PartitionKey;
    use std::time::Duration;

    fn id(uuid: u128) -> InvocationId {
        InvocationId { partition_key: PartitionKey(1), uuid }
    }

    async fn woken(watch: &mut Watch) -> bool {
        tokio::time::timeout(Duration::from_millis(20), watch.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn all_who_follow_are_woken_and_nothing_is_left_of_who_went() {
        let watches = Arc::new(Watches::default());
        let (mut one, mut two) = (watches.follow(id(1)), watches.follow(id(1)));
        let mut other = watches.follow(id(2));
        watches.told(id(1), 5);
        assert!(woken(&mut one).await && woken(&mut two).await && !woken(&mut other).await);
        one.mark();
        assert!(!woken(&mut one).await);
        drop((one, other));
        assert_eq!(watches.lock().len(), 1);
        watches.told(id(1), 6);
        assert!(woken(&mut two).await);
        drop(two);
        assert_eq!(watches.lock().len(), 0);
        assert_eq!(watches.count.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn what_is_told_while_one_reads_is_not_missed() {
        let watches = Arc::new(Watches::default());
        let mut watch = watches.follow(id(1));
        watch.mark();
        watches.told(id(1), 1);
        assert!(woken(&mut watch).await);
    }
}
