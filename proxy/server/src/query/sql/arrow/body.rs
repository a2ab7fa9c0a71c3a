//! The body of a batch: for each column which values are there, where they begin, and the values.

use super::super::{
    answer::{integer, text},
    types::Type,
};
use rusqlite::types::Value as Cell;
use serde_json::Value as Json;

#[derive(Default)]
pub struct Body {
    pub bytes: Vec<u8>,
    /// Length and number of absent values of each column, children behind their parents.
    pub nodes: Vec<(i64, i64)>,
    /// Beginning and length of each buffer.
    pub buffers: Vec<(i64, i64)>,
}

impl Body {
    /// Appends a column.
    pub fn column<'a>(&mut self, ty: Type, cells: impl Iterator<Item = &'a Cell>) {
        match ty {
            Type::Text => self.variable(cells.map(|cell| text(cell).map(String::into_bytes))),
            Type::Bytes => self.variable(cells.map(bytes)),
            Type::UInt64 | Type::Int64 | Type::Timestamp | Type::Duration => {
                self.fixed(cells.map(integer).map(|it| it.map(i64::to_le_bytes)));
            }
            Type::UInt32 => self.fixed(cells.map(u32_of).map(|it| it.map(u32::to_le_bytes))),
            Type::Float64 => self.fixed(cells.map(float).map(|it| it.map(f64::to_le_bytes))),
            Type::Boolean => self.booleans(cells.map(integer).map(|it| it.map(|it| it != 0))),
            Type::TextList => {
                let items = self.list(cells);
                let items = items.iter().map(|item| Some(item.as_str()?.as_bytes().to_vec()));
                self.variable(items);
            }
            Type::UInt32List => {
                let items = self.list(cells);
                let items = items.iter().map(|item| u32::try_from(item.as_u64()?).ok());
                self.fixed(items.map(|it| it.map(u32::to_le_bytes)));
            }
        }
    }

    fn buffer(&mut self, bytes: &[u8]) {
        self.buffers.push((self.bytes.len() as i64, bytes.len() as i64));
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(super::ALIGNMENT), 0);
    }

    /// Which values are there, one bit each.
    fn node(&mut self, there: &[bool]) {
        let absent = there.iter().filter(|it| !**it).count();
        self.nodes.push((there.len() as i64, absent as i64));
        self.buffer(&bits(there));
    }

    fn fixed<const N: usize>(&mut self, values: impl Iterator<Item = Option<[u8; N]>>) {
        let values: Vec<_> = values.collect();
        self.node(&there(&values));
        let bytes: Vec<u8> = values.into_iter().flat_map(|it| it.unwrap_or([0; N])).collect();
        self.buffer(&bytes);
    }

    fn booleans(&mut self, values: impl Iterator<Item = Option<bool>>) {
        let values: Vec<_> = values.collect();
        self.node(&there(&values));
        let truths: Vec<_> = values.into_iter().map(|it| it.unwrap_or(false)).collect();
        self.buffer(&bits(&truths));
    }

    /// Offsets have 64 bits.
    fn variable(&mut self, values: impl Iterator<Item = Option<Vec<u8>>>) {
        let values: Vec<_> = values.collect();
        self.node(&there(&values));
        let mut offsets = 0_i64.to_le_bytes().to_vec();
        let mut bytes = vec![];
        for value in values {
            bytes.extend(value.unwrap_or_default());
            offsets.extend((bytes.len() as i64).to_le_bytes());
        }
        self.buffer(&offsets);
        self.buffer(&bytes);
    }

    /// Appends the lists, whose offsets have 32 bits, and gives their items, which come next.
    fn list<'a>(&mut self, cells: impl Iterator<Item = &'a Cell>) -> Vec<Json> {
        let lists: Vec<Option<Vec<Json>>> =
            cells.map(|cell| serde_json::from_str(&text(cell)?).ok()).collect();
        self.node(&there(&lists));
        let mut offsets = 0_i32.to_le_bytes().to_vec();
        let mut items = vec![];
        for list in lists {
            items.extend(list.unwrap_or_default());
            let end = i32::try_from(items.len()).expect("answers are bounded far below");
            offsets.extend(end.to_le_bytes());
        }
        self.buffer(&offsets);
        items
    }
}

fn there<T>(values: &[Option<T>]) -> Vec<bool> {
    values.iter().map(Option::is_some).collect()
}

/// The first is the lowest bit of the first byte.
fn bits(truths: &[bool]) -> Vec<u8> {
    let byte = |truths: &[bool]| {
        truths.iter().rev().fold(0_u8, |byte, truth| byte << 1 | u8::from(*truth))
    };
    truths.chunks(8).map(byte).collect()
}

fn bytes(cell: &Cell) -> Option<Vec<u8>> {
    match cell {
        Cell::Blob(bytes) => Some(bytes.clone()),
        other => text(other).map(String::into_bytes),
    }
}

fn u32_of(cell: &Cell) -> Option<u32> {
    integer(cell).and_then(|number| u32::try_from(number).ok())
}

fn float(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(number) => Some(*number),
        other => integer(other).map(|number| number as f64),
    }
}
