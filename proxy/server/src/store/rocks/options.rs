//! All settings of RocksDB in one place, with their reasons. Never decides anything at run time.
//!
//! Column families differ in two things only: where a new row is looked for from, and whether one that
//! is not there is known without a search. They are flushed together: one that is left out would hold
//! back the deletion of the common log.

use super::Config;
use holdfast_machine::tables::TableId;
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, DBRecoveryMode, InfoLogger,
    LogLevel, LruCacheOptions, Options, WriteBufferManager,
};

/// Blocks of this size compress well and still cost little for a point read.
const BLOCK_BYTES: usize = 16 << 10;
/// About one false answer in a hundred for "is this key in this file".
const BLOOM_BITS: f64 = 10.0;
/// A piece of an index or a filter.
const FILTER_PIECE_BYTES: usize = 4 << 10;
/// The cache has 2 to the power of this many parts.
const CACHE_SHARD_BITS: i32 = 2;
/// The same for the table in memory, as a part of its size.
const MEMTABLE_BLOOM_PART: f64 = 0.01;
/// A row is looked for from where the last one of its table and partition was put: most come in the
/// order of time. The crate has no function for it.
const HINTS: &str = "memtable_insert_with_hint_prefix_extractor=fixed:3";
/// From where the last one with its key was put: these are written over and over.
const HINTS_BY_KEY: &str = "memtable_insert_with_hint_prefix_extractor=capped:64";
/// A value of this size is put into a file of values, and the rows refer to it there: rows are rewritten
/// again and again while files are merged, and would take their values along.
const APART_BYTES: u64 = 16 << 10;
/// Writing back this much at a time keeps a flush from delaying the fsync of a commit.
const BYTES_PER_SYNC: u64 = 1 << 20;
/// The list of files is written anew once it has so many bytes, or six times as many as the files that
/// there are need: by itself it would grow with each flush up to a GiB, which a budget of the disk counts.
const MANIFEST_BYTES: usize = 256 << 10;
/// One flush and one compaction at a time: the cores are for invocations.
const BACKGROUND_JOBS: i32 = 2;
/// The level that new files are merged into, which each time rewrites all of it.
const LEVEL_BYTES: u64 = 64 << 20;
/// Size of a file of rows there: small enough to have rows of one table and a short time, which hardly
/// any file below overlaps, so that it is moved there rather than merged.
pub(super) const FILE_BYTES: u64 = 8 << 20;
/// So many times as large on the next level, and so on.
const FILE_GROWTH: i32 = 4;
/// A compaction takes about this many bytes of files at most, and needs as much again on the disk
/// while it works.
pub(super) const COMPACTION_BYTES_MAX: u64 = 256 << 20;
/// A file in which half of this many rows in a row are deletions is compacted soon: timers, inbox
/// and outbox are queues, and a scan of a queue walks over what was taken from it.
const DELETIONS_WINDOW: usize = 4096;

/// What all column families share.
pub(super) struct Shared<'a> {
    config: &'a Config,
    /// Bytes of memory in all.
    total: usize,
    cache: Cache,
}

impl<'a> Shared<'a> {
    pub(super) fn with(config: &'a Config) -> Self {
        let total = usize::try_from(config.memory_bytes).unwrap_or(usize::MAX);
        Shared { config, total, cache: Cache::new_lru_cache_opts(&shards(total)) }
    }

    /// `new`: the database is made; else a missing one is an error. `older`: it has one family, and
    /// the others are made.
    pub(super) fn database(&self, new: bool, older: bool) -> Options {
        let mut options = Options::default();
        options.create_if_missing(new);
        options.create_missing_column_families(new || older);
        options.set_error_if_exists(false);
        log(&mut options, self.config);
        // One bound for all: what write buffers take is taken from the cache.
        let buffers = WriteBufferManager::new_write_buffer_manager_with_cache(
            self.total / 2,
            false,
            self.cache.clone(),
        );
        options.set_write_buffer_manager(&buffers);
        options.set_atomic_flush(true);
        background(&mut options, self.config);
        diagnostics(&mut options);
        options
    }

    /// Of a family of its own for a table, or for the rest.
    pub(super) fn family(&self, table: Option<TableId>) -> Options {
        let hints = match table {
            Some(TableId::Lock | TableId::State) => HINTS_BY_KEY,
            _ => HINTS,
        };
        let mut options = Options::default()
            .get_options_from_string(hints)
            .expect("this engine knows the option, which a test of it opens");
        self.memory(&mut options, table);
        files(&mut options);
        options
    }

    fn memory(&self, options: &mut Options, table: Option<TableId>) {
        // A log is deleted once the buffers with its rows are flushed, which all are when one is full,
        // so they bound the log too.
        let log = usize::try_from(self.config.log_bytes_max / 4).unwrap_or(usize::MAX);
        options.set_write_buffer_size((self.total / 16).min(log));
        options.set_max_write_buffer_number(3);
        // "No such invocation" is the usual answer when one begins, and must not cost a search.
        if matches!(table, None | Some(TableId::Invocation | TableId::Notified | TableId::Lock)) {
            options.set_memtable_prefix_bloom_ratio(MEMTABLE_BLOOM_PART);
            options.set_memtable_whole_key_filtering(true);
        }
        options.set_block_based_table_factory(&blocks(&self.cache));
    }
}

fn log(options: &mut Options, config: &Config) {
    options.set_paranoid_checks(true);
    // What was acknowledged is before the end of the log, so damage before the end is refused: the
    // default mode would drop everything after it in silence. A torn end is what a crash leaves.
    // Logs are not recycled because this mode cannot tell old records from new ones then.
    options.set_wal_recovery_mode(match config.accept_damaged_log {
        false => DBRecoveryMode::TolerateCorruptedTailRecords,
        true => DBRecoveryMode::PointInTime,
    });
    options.set_recycle_log_file_num(0);
    // A log that is missing as a whole is noticed.
    options.set_track_and_verify_wals_in_manifest(!config.accept_damaged_log);
    options.set_max_total_wal_size(config.log_bytes_max);
    // Every commit of a batch is synced; nothing is left over for the background.
    options.set_wal_bytes_per_sync(0);
    // Partitions that wait for the one that writes sleep, rather than spin on the cores that the
    // handlers need.
    options.set_enable_write_thread_adaptive_yield(false);
}

/// Each part evicts for itself: with as many as the engine would take, one has less room than what it
/// is told to hold of the write buffers, and then holds nothing.
fn shards(total: usize) -> LruCacheOptions {
    let mut cache = LruCacheOptions::default();
    cache.set_capacity(total);
    cache.set_num_shard_bits(CACHE_SHARD_BITS);
    cache
}

fn blocks(cache: &Cache) -> BlockBasedOptions {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_block_size(BLOCK_BYTES);
    blocks.set_bloom_filter(BLOOM_BITS, false);
    // Within the bound as well, in small pieces: a filter in one piece is a megabyte for a million rows,
    // and read and summed again for each row that is looked for once it has no place in the cache.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
    blocks.set_partition_filters(true);
    blocks.set_metadata_block_size(FILTER_PIECE_BYTES);
    blocks.set_pin_top_level_index_and_filter(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    blocks
}

fn background(options: &mut Options, config: &Config) {
    options.set_bytes_per_sync(BYTES_PER_SYNC);
    options.set_max_background_jobs(BACKGROUND_JOBS);
    options.set_max_open_files(i32::try_from(config.files_max).unwrap_or(i32::MAX));
    // Whoever drops a snapshot or a scan does not delete files for it.
    options.set_avoid_unnecessary_blocking_io(true);
    options.set_max_manifest_file_size(MANIFEST_BYTES);
}

fn files(options: &mut Options) {
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_max_bytes_for_level_base(LEVEL_BYTES);
    options.set_target_file_size_base(FILE_BYTES);
    options.set_target_file_size_multiplier(FILE_GROWTH);
    options.set_max_compaction_bytes(COMPACTION_BYTES_MAX);
    options.set_enable_blob_files(true);
    options.set_min_blob_size(APART_BYTES);
    // What can be compressed is by now.
    options.set_blob_compression_type(DBCompressionType::None);
    // A file of values goes when the last of its rows is gone; `space` collects what takes too long.
    options.set_enable_blob_gc(false);
    options.add_compact_on_deletion_collector_factory(DELETIONS_WINDOW, DELETIONS_WINDOW / 2, 0.0);
}

fn diagnostics(options: &mut Options) {
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    // No LOG files; what the engine has to say goes where everything goes.
    options.set_log_level(LogLevel::Warn);
    options.set_info_logger(InfoLogger::new_callback_logger(LogLevel::Warn, tell));
}

fn tell(level: LogLevel, text: &str) {
    match level {
        LogLevel::Debug | LogLevel::Info | LogLevel::Header => {
            tracing::debug!(target: "rocksdb", "{}", text.trim_end());
        }
        LogLevel::Warn => tracing::warn!(target: "rocksdb", "{}", text.trim_end()),
        LogLevel::Error | LogLevel::Fatal => {
            tracing::error!(target: "rocksdb", "{}", text.trim_end());
        }
    }
}
