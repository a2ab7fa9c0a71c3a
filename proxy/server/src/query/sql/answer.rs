//! An answer before it is written down: columns with their types, rows of cells.

use super::{
    config::Config,
    error::Error,
    types::{Type, timestamp_ms},
};
use rusqlite::types::{Value as Cell, ValueRef};

pub struct Answer {
    pub columns: Vec<Column>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    bytes: usize,
}

pub struct Column {
    pub name: String,
    /// `None` until a row shows it: an expression has no declared type.
    ty: Option<Type>,
}

impl Column {
    pub fn new(name: &str, ty: Option<Type>) -> Column {
        Column { name: name.into(), ty }
    }

    /// Text where nothing was seen of it.
    pub fn ty(&self) -> Type {
        self.ty.unwrap_or(Type::Text)
    }

    /// Learns from a cell. Numbers with and without a fraction are numbers with one; any other
    /// mixture is text.
    fn learn(&mut self, cell: &ValueRef<'_>) {
        let seen = match cell {
            ValueRef::Null => return,
            ValueRef::Integer(_) => Type::Int64,
            ValueRef::Real(_) => Type::Float64,
            ValueRef::Text(_) => Type::Text,
            ValueRef::Blob(_) => Type::Bytes,
        };
        self.ty = Some(match (self.ty, seen) {
            (None, seen) => seen,
            (Some(Type::Int64), Type::Float64) => Type::Float64,
            (Some(Type::Int64 | Type::Float64), Type::Text | Type::Bytes) => Type::Text,
            (Some(Type::Bytes), seen) if seen != Type::Bytes => Type::Text,
            (Some(known), _) => known,
        });
    }
}

impl Answer {
    pub fn new(columns: Vec<Column>) -> Answer {
        Answer { columns, rows: vec![], bytes: 0 }
    }

    /// Takes a row in.
    ///
    /// # Errors
    /// `TooLarge`.
    pub fn push(&mut self, row: &rusqlite::Row<'_>, config: &Config) -> Result<(), Error> {
        if self.rows.len() >= config.sql_rows_max {
            return Err(Error::TooLarge { max: config.sql_rows_max as u64, unit: "rows" });
        }
        let mut cells = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter_mut().enumerate() {
            let cell = row.get_ref(index).map_err(|error| Error::Engine(error.to_string()))?;
            column.learn(&cell);
            self.bytes += size(&cell);
            cells.push(owned(cell));
        }
        if self.bytes > config.sql_bytes_max {
            return Err(Error::TooLarge { max: config.sql_bytes_max as u64, unit: "bytes" });
        }
        self.rows.push(cells);
        Ok(())
    }
}

fn size(cell: &ValueRef<'_>) -> usize {
    match cell {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => size_of::<i64>(),
    }
}

/// What is not UTF-8 is shown as well as it can be.
fn owned(cell: ValueRef<'_>) -> Cell {
    match cell {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

/// A cell as text, whatever it is.
pub fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(number.to_string()),
        Cell::Text(text) => Some(text.clone()),
        Cell::Blob(bytes) => Some(hex(bytes)),
    }
}

/// A cell as a number, where it is one or a point in time.
pub fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        Cell::Real(number) => Some(*number as i64),
        Cell::Text(text) => timestamp_ms(text),
        Cell::Null | Cell::Blob(_) => None,
    }
}

/// In lower case.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
