//! Small files that lie side by side. RocksDB moves a file that overlaps no other one from level to
//! level as it is, and what a table that grows at its end is flushed into overlaps nothing: without this
//! there would be a file for each flush for ever, and each change of the list of files would take
//! longer than the one before. Never merges what is large already.

use super::{
    Rocks,
    families::{self, Family},
    options::FILE_BYTES,
};
use holdfast_machine::kv::Fault;
use rocksdb::{BottommostLevelCompaction, LiveFile};

/// A file of more bytes is as it should be.
const SMALL_BYTES: usize = FILE_BYTES as usize / 4;
/// So many in a row are merged. Until it is large a file is rewritten once for as many others.
const RUN_FILES: usize = 32;

/// Small files of one family and level, in the order of their rows, with none in between.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    family: String,
    from: Vec<u8>,
    to: Vec<u8>,
    bytes: u64,
}

impl Rocks {
    /// Merges small files where there are many in a row; true where there were.
    pub(super) fn merge_small(&self) -> Result<bool, Fault> {
        let mut merged = false;
        for run in runs(self.db.live_files().map_err(super::unreadable)?) {
            let family = families::all(&self.db).into_iter().find(|it| it.name() == run.family);
            if let Some(family) = family
                && self.has_room(run.bytes)?
            {
                self.merge(family, &run);
                merged = true;
            }
        }
        Ok(merged)
    }

    fn merge(&self, family: Family<'_>, run: &Run) {
        // Without it the files of the last level are passed over.
        let options = Rocks::compaction(BottommostLevelCompaction::ForceOptimized);
        let (from, to) = (Some(&run.from), Some(&run.to));
        self.db.compact_range_cf_opt(family.handle, from, to, &options);
    }
}

/// All that are long enough.
fn runs(mut files: Vec<LiveFile>) -> Vec<Run> {
    // Of the first level files overlap, and are merged soon.
    files.retain(|file| file.level > 0);
    let place = |file: &LiveFile| (file.column_family_name.clone(), file.level);
    files.sort_by_cached_key(|file| (place(file), file.start_key.clone()));
    let together = |one: &LiveFile, next: &LiveFile| {
        is_small(one) && is_small(next) && place(one) == place(next)
    };
    files.chunk_by(together).filter(|run| run.len() >= RUN_FILES).filter_map(run_of).collect()
}

fn is_small(file: &LiveFile) -> bool {
    file.size < SMALL_BYTES
}

fn run_of(files: &[LiveFile]) -> Option<Run> {
    let (first, last) = (files.first()?, files.last()?);
    Some(Run {
        family: first.column_family_name.clone(),
        from: first.start_key.clone()?,
        to: last.end_key.clone()?,
        bytes: files.iter().map(|file| file.size as u64).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(family: &str, level: i32, number: u8, size: usize) -> LiveFile {
        LiveFile {
            column_family_name: family.to_owned(),
            name: String::new(),
            size,
            level,
            start_key: Some(vec![number, 0]),
            end_key: Some(vec![number, 1]),
            num_entries: 1,
            num_deletions: 0,
        }
    }

    #[test]
    fn many_small_ones_in_a_row_are_a_run_and_nothing_else_is() {
        let files = |family: &'static str, level, numbers: std::ops::Range<u8>| {
            numbers.rev().map(move |number| file(family, level, number, 10))
        };
        let large = |family, number| [file(family, 6, number, SMALL_BYTES)].into_iter();
        let files = files("a", 6, 0..31) // One more is missing.
            .chain(files("b", 6, 0..20).chain(large("b", 20)).chain(files("b", 6, 21..40)))
            .chain(files("c", 5, 0..20).chain(files("c", 6, 20..40)))
            .chain(files("d", 0, 0..40))
            .chain(large("e", 0).chain(files("e", 6, 1..33)).chain(large("e", 33)));
        let run = |family: &str, from, to, bytes| Run {
            family: family.to_owned(),
            from: vec![from, 0],
            to: vec![to, 1],
            bytes,
        };
        assert_eq!(runs(files.collect()), [run("e", 1, 32, 320)]);
    }
}
