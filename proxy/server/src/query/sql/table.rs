//! A table of ours as a virtual table of SQLite: a cursor reads the store page by page, and shows
//! one row after the other. Conditions on the key of a table narrow what is read; the engine checks
//! every condition again. Never holds more than a page of rows.

mod value;
mod window;

pub use value::Value;

use super::{source::Source, types::Type};
use holdfast_machine::{
    id::{InvocationId, PartitionId, PartitionKey},
    kv::{Fault, Kv},
    tables::{
        TableId,
        codec::{KeyWriter, after},
    },
};
use rusqlite::{
    Connection,
    ffi::{sqlite3_vtab, sqlite3_vtab_cursor},
    types::{ToSqlOutput, Value as Cell},
    vtab::{
        Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConnection, VTabCursor,
    },
};
use std::{borrow::Cow, collections::VecDeque, ffi::CStr, ffi::CString, sync::Arc};
use window::Window;

/// A table of ours.
pub trait Table: 'static {
    type Row: 'static;
    const NAME: &'static str;
    const KEY: Key;
    /// In order.
    fn columns() -> Vec<Column<Self::Row>>;
    /// Reads a partition through `kv`, which shows a part of it at a time.
    fn read(
        source: &Source,
        kv: &dyn Kv,
        partition: PartitionId,
        rows: &mut Vec<Self::Row>,
    ) -> Result<(), Fault>;
}

/// How a table of the machine begins its keys, behind the partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// With the invocation, the column `id`.
    Id(TableId),
    /// With `service_name` and `service_key`.
    Owner(TableId),
    /// Not a table of the machine: it is read as one page.
    None,
}

impl Key {
    const fn columns(self) -> &'static [&'static str] {
        match self {
            Key::Id(_) => &["id"],
            Key::Owner(_) => &["service_name", "service_key"],
            Key::None => &[],
        }
    }
}

pub struct Column<R> {
    pub name: &'static str,
    pub ty: Type,
    pub value: fn(&R, &Source) -> Value,
}

/// Makes a table known to a connection.
pub fn add<T: Table>(connection: &Connection, source: &Arc<Source>) -> rusqlite::Result<()> {
    let module = const { &Module::<Virtual<T>>::eponymous_only_module() };
    connection.create_module(T::NAME, module, Some(source.clone()))
}

/// `CREATE TABLE name(column TYPE, …)`
pub fn declaration<'a>(name: &str, columns: impl Iterator<Item = (&'a str, Type)>) -> String {
    let columns: Vec<_> =
        columns.map(|(name, ty)| format!("\"{name}\" {}", ty.declaration())).collect();
    format!("CREATE TABLE {name}({})", columns.join(", "))
}

/// A table as SQLite sees it.
#[repr(C)]
pub struct Virtual<T: Table> {
    /// SQLite's own part; it has to be the first.
    base: sqlite3_vtab,
    source: Arc<Source>,
    columns: Vec<Column<T::Row>>,
}

// SAFETY: the first field is a `sqlite3_vtab` and the layout is that of C.
unsafe impl<'t, T: Table> VTab<'t> for Virtual<T> {
    type Aux = Arc<Source>;
    type Cursor = Cursor<'t, T>;

    fn connect(
        _: &mut VTabConnection,
        source: Option<&Arc<Source>>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let columns = T::columns();
        let named = columns.iter().map(|column| (column.name, column.ty));
        let declared = CString::new(declaration("x", named)).expect("names have no zero bytes");
        let source = source.expect("`add` gives it").clone();
        Ok((declared.into(), Virtual { base: sqlite3_vtab::default(), source, columns }))
    }

    /// Number `n` of a plan: the values of the first `n` columns of the key are given.
    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let found: Vec<usize> =
            T::KEY.columns().iter().map_while(|name| self.equal(info, name)).collect();
        for (place, constraint) in (1..).zip(&found) {
            info.constraint_usage(*constraint).set_argv_index(place);
        }
        let (number, cost, rows) = match found.len() {
            0 => (0, 1e6, 1_000_000),
            1 => (1, 1e2, 100),
            _ => (2, 1e1, 10),
        };
        info.set_idx_num(number);
        info.set_estimated_cost(cost);
        info.set_estimated_rows(rows);
        Ok(true)
    }

    fn open(&'t mut self) -> rusqlite::Result<Cursor<'t, T>> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            table: self,
            rows: VecDeque::new(),
            place: None,
            partitions: VecDeque::new(),
            wanted: Wanted::All,
            shown: 0,
        })
    }
}

impl<T: Table> Virtual<T> {
    /// The constraint that gives this column a value.
    fn equal(&self, info: &IndexInfo, name: &str) -> Option<usize> {
        let column = self.columns.iter().position(|column| column.name == name)?;
        info.constraints().position(|constraint| {
            constraint.is_usable()
                && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
                && usize::try_from(constraint.column()) == Ok(column)
        })
    }
}

/// What of a table is asked for.
enum Wanted {
    All,
    /// Nothing can be equal to what was given.
    Nothing,
    Id(InvocationId),
    Service(String),
    Owner(String, String),
}

impl Wanted {
    fn read(key: Key, given: &Filters<'_>) -> Wanted {
        let text = |place| given.get::<Option<String>>(place).ok().flatten();
        match (key, given.len()) {
            (Key::None, _) | (_, 0) => Wanted::All,
            (Key::Id(_), _) => match text(0).and_then(|id| id.parse().ok()) {
                Some(id) => Wanted::Id(id),
                None => Wanted::Nothing,
            },
            (Key::Owner(_), 1) => text(0).map_or(Wanted::Nothing, Wanted::Service),
            (Key::Owner(_), _) => match (text(0), text(1)) {
                (Some(service), Some(key)) => Wanted::Owner(service, key),
                _ => Wanted::Nothing,
            },
        }
    }

    fn partitions(&self, key: Key, source: &Source) -> VecDeque<PartitionId> {
        let all = source.partitions;
        match self {
            _ if key == Key::None => [PartitionId(0)].into(),
            Wanted::Nothing => VecDeque::new(),
            Wanted::All | Wanted::Service(_) => all.all().collect(),
            Wanted::Id(id) => [all.of(id.partition_key)].into(),
            Wanted::Owner(_, key) => [all.of(PartitionKey::of_key(key))].into(),
        }
    }

    /// All keys that can matter in a partition begin so.
    fn prefix(&self, key: Key, partition: PartitionId) -> Vec<u8> {
        let (Key::Id(table) | Key::Owner(table)) = key else {
            return vec![];
        };
        let writer = KeyWriter::new(table, partition);
        let writer = match self {
            Wanted::All | Wanted::Nothing => writer,
            Wanted::Id(id) => writer.id(*id),
            Wanted::Service(service) => writer.text(service),
            Wanted::Owner(service, key) => writer.text(service).text(key),
        };
        writer.done()
    }
}

/// A place in a table.
#[repr(C)]
pub struct Cursor<'t, T: Table> {
    /// SQLite's own part; it has to be the first.
    base: sqlite3_vtab_cursor,
    table: &'t Virtual<T>,
    rows: VecDeque<T::Row>,
    /// Where the next page of the current partition begins; `None` between partitions.
    place: Option<Vec<u8>>,
    /// The current one is the first.
    partitions: VecDeque<PartitionId>,
    wanted: Wanted,
    shown: i64,
}

impl<T: Table> Cursor<'_, T> {
    /// Reads until there is a row or the end.
    fn fill(&mut self) -> rusqlite::Result<()> {
        while self.rows.is_empty() {
            let Some(partition) = self.partitions.front().copied() else {
                return Ok(());
            };
            if self.table.source.is_over() {
                return Err(rusqlite::Error::ModuleError("interrupted".into()));
            }
            self.page(partition).map_err(|fault| {
                let said = fault.to_string();
                self.table.source.remember(fault);
                rusqlite::Error::ModuleError(said)
            })?;
        }
        Ok(())
    }

    fn page(&mut self, partition: PartitionId) -> Result<(), Fault> {
        let source = &*self.table.source;
        let prefix = self.wanted.prefix(T::KEY, partition);
        let from = self.place.take().unwrap_or_else(|| prefix.clone());
        let window = Window::new(&*source.snapshot, from, after(&prefix));
        let mut rows = vec![];
        T::read(source, &window, partition, &mut rows)?;
        self.rows = rows.into();
        self.place = window.rest().filter(|_| T::KEY != Key::None);
        if self.place.is_none() {
            self.partitions.pop_front();
        }
        Ok(())
    }
}

// SAFETY: the first field is a `sqlite3_vtab_cursor` and the layout is that of C.
unsafe impl<T: Table> VTabCursor for Cursor<'_, T> {
    fn filter(
        &mut self,
        _: std::ffi::c_int,
        _: Option<&str>,
        given: &Filters<'_>,
    ) -> rusqlite::Result<()> {
        self.wanted = Wanted::read(T::KEY, given);
        self.partitions = self.wanted.partitions(T::KEY, &self.table.source);
        self.place = None;
        self.rows.clear();
        self.shown = 0;
        self.fill()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.rows.pop_front();
        self.shown += 1;
        self.fill()
    }

    fn eof(&self) -> bool {
        self.rows.is_empty()
    }

    fn column(&self, context: &mut Context, index: std::ffi::c_int) -> rusqlite::Result<()> {
        let column = usize::try_from(index).ok().and_then(|index| self.table.columns.get(index));
        let value = match (column, self.rows.front()) {
            (Some(column), Some(row)) => (column.value)(row, &self.table.source),
            _ => Value::None,
        };
        context.set_result(match value {
            Value::None => ToSqlOutput::Owned(Cell::Null),
            Value::Number(number) => ToSqlOutput::Owned(Cell::Integer(number)),
            Value::Text(text) => ToSqlOutput::Owned(Cell::Text(text)),
            Value::Bytes(bytes) => ToSqlOutput::Owned(Cell::Blob(bytes.into())),
        })
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.shown)
    }
}
