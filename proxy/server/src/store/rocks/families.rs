//! Which rows lie apart from all others (RocksDB: column families). A table whose keys begin with a
//! time grows at its end. In files of its own a new one begins where the one before it ends: merging
//! them rewrites nothing that is older, and a row that is newer than all files is known to be in none
//! of them without a look. Among the rows of all tables each new file reached over everything.
//! Never knows what a row is about.

use holdfast_machine::tables::TableId;
use rocksdb::{
    ColumnFamily, ColumnFamilyDescriptor, DB, Options, ReadOptions, WriteBatch, WriteOptions,
};

/// The rows of locks and of state are written over and over, the others grow at their end, in each
/// partition. What else does has few rows, and each family costs a table in memory and a file of each
/// flush.
const APART: [TableId; 7] = [
    TableId::Invocation,
    TableId::Journal,
    TableId::Lock,
    TableId::Notified,
    TableId::Running,
    TableId::State,
    TableId::Timer,
];
pub(super) const FAMILIES: usize = APART.len() + 1;
/// The name that RocksDB gives the first one, which has all the rest.
const REST: &str = rocksdb::DEFAULT_COLUMN_FAMILY_NAME;
/// Bytes of rows that are moved at once, about.
const MOVED_BYTES: usize = 4 << 20;

/// One, with where it stands in the list of all.
#[derive(Clone, Copy)]
pub(super) struct Family<'a> {
    pub handle: &'a ColumnFamily,
    table: Option<TableId>,
}

/// A range of keys, whose rows are all in one family.
pub(super) struct Piece<'a> {
    pub family: Family<'a>,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
}

/// What a database is opened with.
pub(super) fn descriptors(
    options: impl Fn(Option<TableId>) -> Options,
) -> [ColumnFamilyDescriptor; FAMILIES] {
    tables().map(|table| ColumnFamilyDescriptor::new(name(table), options(table)))
}

/// All of them.
pub(super) fn all(db: &DB) -> [Family<'_>; FAMILIES] {
    tables().map(|table| Family { handle: handle(db, table), table })
}

/// The family of a row.
pub(super) fn of<'a>(db: &'a DB, key: &[u8]) -> Family<'a> {
    let table = apart(key);
    Family { handle: handle(db, table), table }
}

/// The pieces of `from..to`, in their order.
pub(super) fn pieces<'a>(db: &'a DB, from: &[u8], to: &[u8]) -> Vec<Piece<'a>> {
    let (mut pieces, mut start) = (vec![], from.to_vec());
    // Every table is a piece, and what is between two of them; nearly all ranges are in one.
    let ends = APART.iter().flat_map(|table| [vec![*table as u8], vec![*table as u8 + 1]]);
    for end in ends.filter(|end| end.as_slice() > from && end.as_slice() < to) {
        pieces.push(Piece { family: of(db, &start), from: start, to: end.clone() });
        start = end;
    }
    pieces.push(Piece { family: of(db, &start), from: start, to: to.to_vec() });
    pieces.retain(|piece| piece.from < piece.to);
    pieces
}

/// Moves what stands among the rest and belongs apart: a directory of format 2 had one family. Broken
/// off at any time it goes on the next time.
pub(super) fn sort_out(db: &DB, synced: &WriteOptions) -> Result<(), rocksdb::Error> {
    for table in APART {
        let (mut from, mut moved) = (vec![table as u8], false);
        while let Some(last) = move_some(db, table, &from, synced)? {
            // Not from the beginning again: a scan walks over whatever was deleted.
            from = last;
            moved = true;
        }
        if moved {
            give_back(db, table);
        }
    }
    Ok(())
}

/// Moves rows from `from` on, and answers with the key of the last one; `None`: there was none.
fn move_some(
    db: &DB,
    table: TableId,
    from: &[u8],
    synced: &WriteOptions,
) -> Result<Option<Vec<u8>>, rocksdb::Error> {
    let (rest, own) = (handle(db, None), handle(db, Some(table)));
    let mut read = ReadOptions::default();
    read.set_iterate_upper_bound([table as u8 + 1]);
    let mut rows = db.raw_iterator_cf_opt(rest, read);
    let (mut batch, mut last) = (WriteBatch::default(), None);
    rows.seek(from);
    while let Some((key, value)) = rows.item()
        && batch.size_in_bytes() < MOVED_BYTES
    {
        batch.put_cf(own, key, value);
        batch.delete_cf(rest, key);
        last = Some(key.to_vec());
        rows.next();
    }
    rows.status()?;
    if last.is_some() {
        db.write_opt(batch, synced)?;
    }
    Ok(last)
}

/// The space of the rows of `table` among the rest, before those of the next table are there twice and
/// before a budget of the disk is looked at.
fn give_back(db: &DB, table: TableId) {
    db.compact_range_cf(handle(db, None), Some([table as u8]), Some([table as u8 + 1]));
}

impl Family<'_> {
    pub(super) fn name(&self) -> &'static str {
        name(self.table)
    }

    /// Whether this is the family of `key`, too.
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.table == apart(key)
    }
}

fn tables() -> [Option<TableId>; FAMILIES] {
    let mut tables = [None; FAMILIES];
    tables[1..].iter_mut().zip(APART).for_each(|(place, table)| *place = Some(table));
    tables
}

fn apart(key: &[u8]) -> Option<TableId> {
    let first = key.first()?;
    APART.into_iter().find(|table| *table as u8 == *first)
}

fn name(table: Option<TableId>) -> &'static str {
    table.map_or(REST, TableId::name)
}

fn handle(db: &DB, table: Option<TableId>) -> &ColumnFamily {
    db.cf_handle(name(table)).expect("the database was opened with every family")
}
