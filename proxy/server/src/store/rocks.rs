//! The engine on this machine's disk: RocksDB. Never acknowledges what its log has not taken, and
//! after one failed commit never tries another.

mod families;
mod options;
mod pack;
mod small;
mod space;
#[cfg(test)]
mod tests;
mod torn;

use super::{
    Batch, CommitError, Config, Durability, Error, Lease, Sequence, Snapshot, Store,
    config::MEMORY_BYTES_MIN, directory::Directory, owners::OwnRow, owners::Owners,
};
use bytes::Bytes;
use holdfast_machine::{
    id::{PartitionId, Partitions},
    kv::{Fault, Kv, Writes},
};
use pack::{packed, unpacked};
use rocksdb::{DB, ReadOptions, WriteBatch, WriteOptions};
use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

/// Bytes of a batch beside keys and values: a header, and a tag, a family and two lengths for each row.
const BATCH_HEADER_BYTES: usize = 12;
const BATCH_ROW_BYTES: usize = 12;

/// `REGISTRY` is no partition.
const TOO_MANY: Partitions = Partitions(u16::MAX);

/// A data directory in use.
pub struct Rocks {
    db: Arc<DB>,
    owners: Owners,
    read: ReadOptions,
    synced: WriteOptions,
    unsynced: WriteOptions,
    /// Why the first commit that failed did. After a failed fsync the kernel may have dropped the
    /// pages and report success the next time, so there is no next time.
    failed: OnceLock<String>,
    seen: space::Seen,
    // Dropped last: the lock outlives the engine.
    directory: Directory,
}

impl Rocks {
    /// Opens the data directory, and makes it with `partitions` partitions if it is new. The
    /// number it was made with wins over `partitions`, which is warned of.
    pub fn open(config: &Config, partitions: Partitions) -> Result<Self, Error> {
        check(config, partitions)?;
        let path = &config.directory;
        let directory = Directory::lock(path)?;
        let kept = directory.partitions(partitions);
        if kept != partitions {
            tracing::warn!(
                directory = %path.display(),
                configured = partitions.0,
                partitions = kept.0,
                "the data directory keeps the number of partitions it was made with"
            );
        }
        torn::remove(&directory.engine())?;
        let options = options::Shared::with(config);
        let db = DB::open_cf_descriptors(
            &options.database(directory.is_new(), directory.is_older()),
            directory.engine(),
            families::descriptors(|table| options.family(table)),
        );
        let db = db.map_err(|error| Error::engine(path, &error))?;
        if directory.is_new() && db.latest_sequence_number() > 0 {
            let what = "holdfast.toml is missing".to_owned();
            return Err(Error::Corrupt { directory: path.clone(), what });
        }
        let corrupt =
            |fault: Fault| Error::Corrupt { directory: path.clone(), what: fault.to_string() };
        if directory.is_older() {
            let sorted = families::sort_out(&db, &synced(true));
            sorted.map_err(|error| Error::engine(path, &error))?;
        }
        directory.finish(kept)?;
        Rocks::with(db, directory, kept).map_err(corrupt)
    }

    fn with(db: DB, directory: Directory, partitions: Partitions) -> Result<Self, Fault> {
        let (synced, unsynced) = (synced(true), synced(false));
        let read = ReadOptions::default();
        let owners = Owners::read(&View { db: &db, read: &read }, partitions)?;
        let failed = OnceLock::new();
        let (db, seen) = (Arc::new(db), space::Seen::new());
        Ok(Rocks { db, owners, read, synced, unsynced, failed, seen, directory })
    }

    fn write(
        &self,
        writes: &Writes,
        own: OwnRow,
        durability: Durability,
    ) -> Result<(), CommitError> {
        if let Some(reason) = self.failed.get() {
            return Err(CommitError::Failed(format!("an earlier commit failed: {reason}")));
        }
        let options = match durability {
            Durability::Sync => &self.synced,
            Durability::Async => &self.unsynced,
        };
        self.db.write_opt(batch(&self.db, writes, own), options).map_err(|error| {
            let reason = self.failed.get_or_init(|| error.into_string());
            CommitError::Failed(reason.clone())
        })
    }
}

fn check(config: &Config, partitions: Partitions) -> Result<(), Error> {
    let memory = config.memory_bytes;
    let wrong = |field, value, expected| Err(Error::Setting { field, value, expected });
    match () {
        () if partitions.0 == 0 || partitions == TOO_MANY => {
            wrong("partitions", u64::from(partitions.0), "1 to 65534")
        }
        () if memory < MEMORY_BYTES_MIN => wrong("memory_bytes", memory, "at least 16777216"),
        () if config.files_max < 64 => {
            wrong("files_max", u64::from(config.files_max), "at least 64")
        }
        () => Ok(()),
    }
}

fn synced(synced: bool) -> WriteOptions {
    let mut options = WriteOptions::new();
    options.set_sync(synced);
    options
}

fn batch(db: &DB, writes: &Writes, (own_key, own_value): OwnRow) -> WriteBatch {
    let rows: Vec<_> =
        writes.iter().map(|(key, value)| (key, value.as_deref().map(packed))).collect();
    let row = |key: &[u8], value: &[u8]| BATCH_ROW_BYTES + key.len() + value.len();
    let own_value = packed(&own_value);
    let bytes = rows.iter().map(|(key, value)| row(key, value.as_deref().unwrap_or_default()));
    let bytes = BATCH_HEADER_BYTES + row(&own_key, &own_value) + bytes.sum::<usize>();
    let mut batch = WriteBatch::with_capacity_bytes(bytes);
    let mut family = families::of(db, &own_key);
    batch.put_cf(family.handle, own_key, own_value);
    for (key, value) in rows {
        // In the order of their keys those of one family lie together.
        if !family.has(key) {
            family = families::of(db, key);
        }
        match value {
            Some(value) => batch.put_cf(family.handle, key, value),
            None => batch.delete_cf(family.handle, key),
        }
    }
    batch
}

impl Store for Rocks {
    fn partitions(&self) -> Partitions {
        self.owners.partitions()
    }

    fn acquire(&self, partition: PartitionId) -> Result<Lease, CommitError> {
        self.owners.acquire(partition, |own| self.write(&Writes::new(), own, Durability::Sync))
    }

    fn applied(&self, partition: PartitionId) -> Result<Sequence, Fault> {
        self.owners.applied(self, partition)
    }

    fn commit(&self, batch: &Batch) -> Result<(), CommitError> {
        self.owners.commit(batch, |writes, own| self.write(writes, own, batch.durability))
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, Fault> {
        Ok(Arc::new(Frozen::new(self.db.clone())))
    }
}

impl Kv for Rocks {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        View { db: &self.db, read: &self.read }.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        scan(&self.db, ReadOptions::default, (from, to), each)
    }
}

/// Reads of a database that has no owners yet.
struct View<'a> {
    db: &'a DB,
    read: &'a ReadOptions,
}

impl Kv for View<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        let family = families::of(self.db, key).handle;
        let value = self.db.get_pinned_cf_opt(family, key, self.read).map_err(unreadable)?;
        let value = value.as_deref().map(unpacked).transpose()?;
        Ok(value.map(|value| match value {
            Cow::Borrowed(value) => Bytes::copy_from_slice(value),
            Cow::Owned(value) => value.into(),
        }))
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        scan(self.db, ReadOptions::default, (from, to), each)
    }
}

fn scan(
    db: &DB,
    read: impl Fn() -> ReadOptions,
    (from, to): (&[u8], &[u8]),
    each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<(), Fault> {
    for piece in families::pieces(db, from, to) {
        let mut read = read();
        // With an upper bound RocksDB does not look for a row beyond it, over whatever was deleted.
        read.set_iterate_upper_bound(piece.to);
        let mut rows = db.raw_iterator_cf_opt(piece.family.handle, read);
        rows.seek(piece.from);
        while let Some((key, value)) = rows.item() {
            if !each(key, &unpacked(value)?) {
                return Ok(());
            }
            rows.next();
        }
        rows.status().map_err(unreadable)?;
    }
    Ok(())
}

fn unreadable(error: rocksdb::Error) -> Fault {
    Fault::Read(error.into_string())
}

/// A snapshot together with the database it is of.
struct Frozen {
    // Dropped first, while the database is there.
    snapshot: rocksdb::Snapshot<'static>,
    db: Arc<DB>,
}

impl Frozen {
    fn new(db: Arc<DB>) -> Self {
        let snapshot = db.snapshot();
        // SAFETY: the snapshot borrows the database inside the `Arc`, which does not move and which
        // lives at least as long as this struct; fields drop in order, so the snapshot goes first;
        // and nothing hands out the snapshot with its pretended lifetime.
        let snapshot = unsafe {
            std::mem::transmute::<rocksdb::Snapshot<'_>, rocksdb::Snapshot<'static>>(snapshot)
        };
        Frozen { snapshot, db }
    }

    fn read(&self) -> ReadOptions {
        let mut read = ReadOptions::default();
        read.set_snapshot(&self.snapshot);
        read
    }
}

impl Snapshot for Frozen {}

impl Kv for Frozen {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        View { db: &self.db, read: &self.read() }.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        scan(&self.db, || self.read(), (from, to), each)
    }
}
