//! What data takes on the disk, and how the space of deleted rows comes back. An engine deletes a
//! row by writing that it is gone; only rewriting its files makes them smaller.

use holdfast_machine::kv::Fault;

/// The space of an engine. Everything here may block on the disk for long, and nothing of it
/// changes a row.
pub trait Space: Send + Sync {
    fn usage(&self) -> Result<Usage, Fault>;

    /// Bytes on the disk of the rows `from..to`, about; without what is in the log only. Means little
    /// where all files of rows together have less than a few MiB.
    fn bytes_between(&self, from: &[u8], to: &[u8]) -> u64;

    /// Gives back the space of deleted rows, if there are so many that it is worth the work; true
    /// where files were rewritten. To be called every few seconds.
    fn upkeep(&self) -> Result<bool, Fault>;

    /// As `upkeep`, worth it or not. False: not all of the space came back, because a reader still
    /// sees what was deleted, or the files could not be rewritten. What is left of deleted large
    /// values, little or because the disk has no room for copies of the others, `usage` tells.
    fn reclaim(&self) -> Result<bool, Fault>;

    /// Puts what is in the log only where it belongs, and ends all work in the background: the
    /// next start has nothing to read again. After it there are no commits.
    fn rest(&self) -> Result<(), Fault>;
}

/// Bytes of the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Files of rows, and of their large values.
    pub row_bytes: u64,
    /// Of these, the files of large values.
    pub value_bytes: u64,
    /// Of these, what belongs to no row any more.
    pub garbage_bytes: u64,
    /// The write-ahead log.
    pub log_bytes: u64,
    /// What the engine and the directory need beside these.
    pub other_bytes: u64,
}

impl Usage {
    pub fn total(self) -> u64 {
        self.row_bytes + self.log_bytes + self.other_bytes
    }

    /// Without what will go without anything more being forgotten.
    pub fn needed(self) -> u64 {
        self.total().saturating_sub(self.garbage_bytes)
    }
}
