//! When RocksDB is told to flush and to compact. By itself it does so when its buffers and levels
//! are full, which after a rush may be never: then the log of the rush stays, and rows that are
//! long deleted stay with it. Never works in proportion to what is kept without that much being
//! gone.

use super::{
    Rocks,
    families::{self, Family, Piece},
    options::COMPACTION_BYTES_MAX,
};
use crate::store::{Space, Usage};
use holdfast_machine::kv::Fault;
use rocksdb::{BottommostLevelCompaction, CompactOptions, FlushOptions};
use std::{
    ffi::CString,
    fs, io,
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

/// A log below this size is left alone.
const LOG_BYTES_MIN: u64 = 256 << 10;
/// The log is flushed when it is an eighth of the files of rows: each flush leads to files being
/// merged, and small flushes into much data would rewrite much for little.
const LOG_PART: u64 = 8;
/// While there is traffic the log is flushed at most so often.
const FLUSH_INTERVAL: Duration = Duration::from_secs(60);
/// Fewer deletions are not worth a compaction.
const DELETIONS_MIN: u64 = 1_000;
/// Deletions of rows that have so many bytes are worth one, however few they are.
const DELETED_BYTES_MIN: u64 = 64 << 20;
/// Deletions are compacted away once one entry in so many is one: what is rewritten is at most a
/// few times what was deleted.
const DELETIONS_PART: u64 = 5;
/// Values that no row refers to are collected once they are this part of the files of values: what is
/// copied is at most so many times what is gained.
const GARBAGE_PART: u64 = 4;
/// Less of them is left where it is.
const GARBAGE_BYTES_MIN: u64 = 8 << 20;
/// The same part where all space is wanted back that can be had.
const GARBAGE_PART_AT_MOST: u64 = 16;
/// Which of the files of values are collected, the oldest first, and what part of all values that can
/// be at most: all of them, or where the disk has no room for it a quarter, which may be large files.
const COLLECTED: [(&str, u64); 2] = [("1.0", 1), ("0.25", 2)];
/// What one compaction had to leave, because a reader still saw the rows, the next one tries after
/// this long.
const LEFT_INTERVAL: Duration = Duration::from_secs(60);

/// Properties of a family.
const ROW_BYTES: &str = "rocksdb.live-sst-files-size";
const VALUE_BYTES: &str = "rocksdb.live-blob-file-size";
const GARBAGE_BYTES: &str = "rocksdb.live-blob-file-garbage-size";

/// What is left to others on a disk that is nearly full: a flush or a compaction that fails for want
/// of space ends all writing.
const ROOM_BYTES: u64 = 64 << 20;

/// What was seen at the last look.
pub(super) struct Seen(Mutex<Last>);

struct Last {
    /// Number of the last write.
    sequence: u64,
    flushed: Instant,
    /// When the last compaction ended, and the deletions that it had to leave.
    compacted: Option<(Instant, u64)>,
}

/// Entries of all files of rows, and the files of values beside them.
struct Files {
    bytes: u64,
    entries: u64,
    deletions: u64,
    value_bytes: u64,
    /// Of these, what no row refers to, as far as compactions have seen.
    garbage_bytes: u64,
}

/// The space of which values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    WhatIsWorthIt,
    All,
}

impl Seen {
    pub(super) fn new() -> Seen {
        let last = Last { sequence: 0, flushed: Instant::now(), compacted: None };
        Seen(Mutex::new(last))
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.0.lock().expect("nothing panics while it holds this lock")
    }

    /// Deletions that need not be tried again now.
    fn left(&self) -> u64 {
        let compacted = self.lock().compacted;
        compacted.filter(|(at, _)| at.elapsed() < LEFT_INTERVAL).map_or(0, |(_, left)| left)
    }
}

impl Files {
    fn of(store: &Rocks) -> Result<Files, Fault> {
        let live = store.db.live_files().map_err(super::unreadable)?;
        let sum = |of: fn(&rocksdb::LiveFile) -> u64| live.iter().map(of).sum();
        Ok(Files {
            bytes: sum(|file| file.size as u64),
            entries: sum(|file| file.num_entries),
            deletions: sum(|file| file.num_deletions),
            value_bytes: store.sum(VALUE_BYTES)?,
            garbage_bytes: store.sum(GARBAGE_BYTES)?,
        })
    }

    /// Bytes that a compaction needs on the disk beside these files, about.
    fn rewriting(&self) -> u64 {
        self.bytes.min(2 * COMPACTION_BYTES_MAX)
    }

    /// Bytes that collecting values needs beside these files.
    fn copying(&self) -> u64 {
        self.value_bytes - self.garbage_bytes.min(self.value_bytes)
    }

    fn worth_compacting(&self, left: u64) -> bool {
        let new = self.deletions.saturating_sub(left);
        let all_bytes = self.bytes + self.value_bytes;
        let deleted_bytes =
            u128::from(all_bytes) * u128::from(new) / u128::from(self.entries.max(1));
        let many = new >= DELETIONS_MIN || deleted_bytes >= u128::from(DELETED_BYTES_MIN);
        many && new * DELETIONS_PART >= self.entries
    }

    fn worth_collecting(&self, wanted: Wanted) -> bool {
        let (bytes, part) = match wanted {
            Wanted::WhatIsWorthIt => (GARBAGE_BYTES_MIN, GARBAGE_PART),
            Wanted::All => (1, GARBAGE_PART_AT_MOST),
        };
        self.garbage_bytes >= bytes && self.garbage_bytes * part >= self.value_bytes
    }
}

impl Rocks {
    pub(super) fn flush(&self) -> Result<(), Fault> {
        // After a failed commit the disk is not written to any more.
        match self.failed.get() {
            Some(reason) => Err(Fault::Read(format!("an earlier commit failed: {reason}"))),
            None => {
                let families = families::all(&self.db).map(|family| family.handle);
                let families = families.each_ref();
                self.db
                    .flush_cfs_opt(families.as_slice(), &FlushOptions::default())
                    .map_err(super::unreadable)
            }
        }
    }

    /// False as in `reclaim`.
    fn compact(&self, wanted: Wanted) -> Result<bool, Fault> {
        let deleted_until = self.db.latest_sequence_number();
        let errors = self.number("rocksdb.background-errors")?;
        let held_back = self.has_reader_before(deleted_until)?;
        self.compact_all_through(BottommostLevelCompaction::IfHaveCompactionFilter);
        // What a reader held back before lies in the last level, which was passed over.
        if Files::of(self)?.worth_compacting(0) && !held_back {
            self.compact_all_through(BottommostLevelCompaction::ForceOptimized);
        }
        self.collect_values(wanted)?;
        let left = Files::of(self)?.deletions;
        self.seen.lock().compacted = Some((Instant::now(), left));
        let held_back = held_back || self.has_reader_before(deleted_until)?;
        Ok(!held_back && self.number("rocksdb.background-errors")? == errors)
    }

    /// Copies the values that are left in files with garbage, if it is worth it and there is room for
    /// the copies; true where it did.
    fn collect_values(&self, wanted: Wanted) -> Result<bool, Fault> {
        let files = Files::of(self)?;
        if !files.worth_collecting(wanted) {
            return Ok(false);
        }
        for (oldest, part) in COLLECTED {
            if self.has_room(files.copying() / part + files.rewriting())? {
                for family in families::all(&self.db) {
                    self.collect_values_of(family, oldest)?;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn collect_values_of(&self, family: Family<'_>, oldest: &str) -> Result<(), Fault> {
        if self.number_of(family, GARBAGE_BYTES)? > 0 {
            self.set_collecting(family, true, oldest)?;
            self.compact_through(family, BottommostLevelCompaction::Force);
            self.set_collecting(family, false, oldest)?;
        }
        Ok(())
    }

    /// Whether compactions copy the values that they meet, and of which files.
    fn set_collecting(&self, family: Family<'_>, on: bool, oldest: &str) -> Result<(), Fault> {
        let on = if on { "true" } else { "false" };
        let options = [
            ("enable_blob_garbage_collection", on),
            ("blob_garbage_collection_age_cutoff", oldest),
        ];
        self.db.set_options_cf(family.handle, &options).map_err(super::unreadable)
    }

    /// Compactions of the engine's own go on beside this one.
    pub(super) fn compaction(last_level: BottommostLevelCompaction) -> CompactOptions {
        let mut options = CompactOptions::default();
        options.set_exclusive_manual_compaction(false);
        options.set_bottommost_level_compaction(last_level);
        options
    }

    fn compact_through(&self, family: Family<'_>, last_level: BottommostLevelCompaction) {
        let options = Rocks::compaction(last_level);
        self.db.compact_range_cf_opt(family.handle, None::<&[u8]>, None::<&[u8]>, &options);
    }

    fn compact_all_through(&self, last_level: BottommostLevelCompaction) {
        for family in families::all(&self.db) {
            self.compact_through(family, last_level);
        }
    }

    /// Whether somebody sees the rows as they were before write number `sequence`.
    fn has_reader_before(&self, sequence: u64) -> Result<bool, Fault> {
        let oldest = self.number("rocksdb.oldest-snapshot-sequence")?;
        Ok(oldest > 0 && oldest < sequence)
    }

    /// The sum of a property of all families.
    fn sum(&self, property: &str) -> Result<u64, Fault> {
        families::all(&self.db).into_iter().map(|family| self.number_of(family, property)).sum()
    }

    /// A property of a family; 0 where it has none.
    fn number_of(&self, family: Family<'_>, property: &str) -> Result<u64, Fault> {
        let value = self.db.property_int_value_cf(family.handle, property);
        Ok(value.map_err(super::unreadable)?.unwrap_or(0))
    }

    /// A property of the engine; 0 where it has none.
    fn number(&self, property: &str) -> Result<u64, Fault> {
        let value = self.db.property_int_value(property).map_err(super::unreadable)?;
        Ok(value.unwrap_or(0))
    }

    /// Whether files of so many bytes can be written beside what is there.
    pub(super) fn has_room(&self, bytes: u64) -> Result<bool, Fault> {
        let free = free_bytes(self.directory.path());
        let free = free.map_err(|error| Fault::Read(error.to_string()))?;
        Ok(free >= bytes + ROOM_BYTES)
    }

    fn flush_if_worth(&self, row_bytes: u64) -> Result<(), Fault> {
        let sequence = self.db.latest_sequence_number();
        let (idle, long_ago) = {
            let mut last = self.seen.lock();
            let idle = std::mem::replace(&mut last.sequence, sequence) == sequence;
            (idle, last.flushed.elapsed() >= FLUSH_INTERVAL)
        };
        let worth = LOG_BYTES_MIN.max(row_bytes / LOG_PART);
        let log_bytes = self.usage()?.log_bytes;
        if (idle || long_ago) && log_bytes >= worth && self.has_room(log_bytes)? {
            self.seen.lock().flushed = Instant::now();
            self.flush()?;
        }
        Ok(())
    }
}

impl Space for Rocks {
    fn usage(&self) -> Result<Usage, Fault> {
        let mut usage = Usage::default();
        add(self.directory.path(), &mut usage).map_err(|error| Fault::Read(error.to_string()))?;
        usage.garbage_bytes = self.sum(GARBAGE_BYTES)?;
        Ok(usage)
    }

    fn bytes_between(&self, from: &[u8], to: &[u8]) -> u64 {
        let bytes = |piece: Piece<'_>| {
            let range = rocksdb::Range::new(&piece.from, &piece.to);
            let rows = self.db.get_approximate_sizes_cf(piece.family.handle, &[range]);
            let rows: u64 = rows.iter().sum();
            let all = |property| self.number_of(piece.family, property).unwrap_or(0);
            // Values that lie apart count as if each row of the family had its part of them.
            let (all_rows, all_values) = (all(ROW_BYTES), all(VALUE_BYTES));
            let values = u128::from(rows) * u128::from(all_values) / u128::from(all_rows.max(1));
            rows + u64::try_from(values).unwrap_or(u64::MAX)
        };
        families::pieces(&self.db, from, to).into_iter().map(bytes).sum()
    }

    fn upkeep(&self) -> Result<bool, Fault> {
        if self.failed.get().is_some() {
            return Ok(false);
        }
        self.flush_if_worth(Files::of(self)?.bytes)?;
        let files = Files::of(self)?;
        if files.worth_compacting(self.seen.left()) && self.has_room(files.rewriting())? {
            self.compact(Wanted::WhatIsWorthIt)?;
            return Ok(true);
        }
        let merged = self.merge_small()?;
        Ok(self.collect_values(Wanted::WhatIsWorthIt)? || merged)
    }

    fn reclaim(&self) -> Result<bool, Fault> {
        let needed = Files::of(self)?.rewriting() + self.usage()?.log_bytes;
        if !self.has_room(needed)? {
            let what = format!("rewriting its files needs {needed} bytes, and the disk has less");
            return Err(Fault::Read(what));
        }
        self.flush()?;
        if self.has_reader_before(self.db.latest_sequence_number())? {
            return Ok(false);
        }
        self.compact(Wanted::All)
    }

    fn rest(&self) -> Result<(), Fault> {
        let flushed = self.flush();
        self.db.cancel_all_background_work(true);
        flushed
    }
}

/// What may still be written to the file system of `path`.
fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut stat = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with a zero byte, and the call fills the struct or fails.
    let done = unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it did not fail.
    let stat = unsafe { stat.assume_init() };
    Ok(wide(stat.f_bavail).saturating_mul(wide(stat.f_frsize)))
}

/// These fields have different types on different systems.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

/// Adds the files below `folder`. The engine removes files at any time, also in between.
fn add(folder: &Path, usage: &mut Usage) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = match entry.metadata() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if file.is_dir() {
            add(&entry.path(), usage)?;
            continue;
        }
        match entry.path().extension().and_then(|extension| extension.to_str()) {
            Some("sst") => usage.row_bytes += file.len(),
            Some("blob") => {
                usage.row_bytes += file.len();
                usage.value_bytes += file.len();
            }
            Some("log") => usage.log_bytes += file.len(),
            _ => usage.other_bytes += file.len(),
        }
    }
    Ok(())
}
