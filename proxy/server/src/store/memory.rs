//! The engine for tests and the simulator: a map in memory with the semantics of the one on disk,
//! and troubles on request. Never touches a file; what it holds dies with its last handle.

use super::{Batch, CommitError, Lease, Sequence, Snapshot, Space, Store, Usage, owners::Owners};
use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Fault, Kv, MemoryKv, Writes},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard},
};

/// A store in memory. `reopen` stands for the next start of the process.
pub struct Memory {
    disk: Arc<Disk>,
    owners: Owners,
}

/// What the n-th commit runs into, counted from 1 over all partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// `CommitError::Failed`; all later commits fail too.
    Fail,
    /// `CommitError::Unknown`, and the batch is there.
    UnknownWritten,
    /// `CommitError::Unknown`, and the batch is not there.
    UnknownLost,
}

/// What outlives the process.
struct Disk {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    /// Shared with snapshots; copied by the first write after one was taken.
    map: Arc<MemoryKv>,
    commits: u64,
    troubles: BTreeMap<u64, Trouble>,
    held: bool,
    /// Commits that wait because it is.
    waiting: usize,
    failed: bool,
    /// As if a reader held back the space of what is deleted.
    keeps_space: bool,
}

/// Commits wait until this is dropped.
pub struct Held(Arc<Disk>);

impl Memory {
    pub fn new(partitions: Partitions) -> Self {
        let disk = Disk { state: Mutex::default(), released: Condvar::new() };
        Memory::open(Arc::new(disk), partitions).expect("an empty map holds no bad row")
    }

    /// The same data with everything forgotten that a process remembers.
    pub fn reopen(&self) -> Result<Self, Fault> {
        let mut state = self.disk.lock();
        (state.failed, state.troubles) = (false, BTreeMap::new());
        drop(state);
        Memory::open(self.disk.clone(), self.owners.partitions())
    }

    /// Lets the `nth` commit of this store run into `trouble`.
    pub fn plan(&self, nth: u64, trouble: Trouble) {
        self.disk.lock().troubles.insert(nth, trouble);
    }

    /// Lets commits wait, as a slow disk does, until the answer is dropped.
    pub fn hold(&self) -> Held {
        self.disk.lock().held = true;
        Held(self.disk.clone())
    }

    /// Whether a commit waits for a hold to end.
    pub fn is_waited_for(&self) -> bool {
        self.disk.lock().waiting > 0
    }

    /// From now on nothing is given back of the space of deleted rows.
    pub fn keep_space(&self) {
        self.disk.lock().keeps_space = true;
    }

    /// How many commits were tried.
    pub fn commits(&self) -> u64 {
        self.disk.lock().commits
    }

    fn open(disk: Arc<Disk>, partitions: Partitions) -> Result<Self, Fault> {
        let map = disk.lock().map.clone();
        Ok(Memory { owners: Owners::read(&*map, partitions)?, disk })
    }

    fn map(&self) -> Arc<MemoryKv> {
        self.disk.lock().map.clone()
    }
}

impl Disk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds this lock")
    }

    fn write(&self, sequence: Sequence, writes: Writes) -> Result<(), CommitError> {
        let mut state = self.lock();
        state.waiting += 1;
        let free = self.released.wait_while(state, |state| state.held);
        let mut state = free.expect("nothing panics while it holds this lock");
        state.waiting -= 1;
        state.commits += 1;
        let nth = state.commits;
        let trouble = state.troubles.remove(&nth);
        state.failed |= trouble == Some(Trouble::Fail);
        if state.failed {
            return Err(CommitError::Failed("planned failure".to_owned()));
        }
        if trouble != Some(Trouble::UnknownLost) {
            Arc::make_mut(&mut state.map).apply(writes);
        }
        match trouble {
            Some(_) => {
                Err(CommitError::Unknown { sequence, reason: "planned uncertainty".to_owned() })
            }
            None => Ok(()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().held = false;
        self.0.released.notify_all();
    }
}

impl Kv for Memory {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.disk.lock().map.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        self.map().scan(from, to, each)
    }
}

impl Store for Memory {
    fn partitions(&self) -> Partitions {
        self.owners.partitions()
    }

    fn acquire(&self, partition: PartitionId) -> Result<Lease, CommitError> {
        self.owners.acquire(partition, |(key, value)| {
            Arc::make_mut(&mut self.disk.lock().map).apply(Writes::from([(key, Some(value))]));
            Ok(())
        })
    }

    fn applied(&self, partition: PartitionId) -> Result<Sequence, Fault> {
        self.owners.applied(self, partition)
    }

    fn commit(&self, batch: &Batch) -> Result<(), CommitError> {
        self.owners.commit(batch, |writes, (key, value)| {
            let mut writes = writes.clone();
            writes.insert(key, Some(value));
            self.disk.write(batch.sequence, writes)
        })
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, Fault> {
        Ok(Arc::new(Frozen(self.map())))
    }
}

/// There are no files: rows take what they hold, and deleted ones nothing.
impl Space for Memory {
    fn usage(&self) -> Result<Usage, Fault> {
        let row_bytes = self.bytes_between(&[], &[u8::MAX; 8]);
        Ok(Usage { row_bytes, ..Usage::default() })
    }

    fn bytes_between(&self, from: &[u8], to: &[u8]) -> u64 {
        let map = self.map();
        let rows = map.0.range(from.to_vec()..to.to_vec());
        rows.map(|(key, value)| (key.len() + value.len()) as u64).sum()
    }

    fn upkeep(&self) -> Result<bool, Fault> {
        Ok(false)
    }

    fn reclaim(&self) -> Result<bool, Fault> {
        Ok(!self.disk.lock().keeps_space)
    }

    fn rest(&self) -> Result<(), Fault> {
        Ok(())
    }
}

struct Frozen(Arc<MemoryKv>);

impl Snapshot for Frozen {}

impl Kv for Frozen {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.0.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        self.0.scan(from, to, each)
    }
}
