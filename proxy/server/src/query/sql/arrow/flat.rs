//! As much of FlatBuffers as Arrow's metadata needs, written forwards: each table behind its list
//! of fields, what it refers to behind it. Offsets point forwards, as they must.

/// Fields by their numbers; `None` is the default.
pub struct Table(pub Vec<Option<Field>>);

pub enum Field {
    U8(u8),
    I16(i16),
    I32(i32),
    I64(i64),
    Text(String),
    Table(Table),
    Vector(Vector),
}

pub enum Vector {
    Tables(Vec<Table>),
    /// Structures of two 64-bit numbers.
    Pairs(Vec<(i64, i64)>),
}

impl Field {
    /// In the table itself.
    fn size(&self) -> usize {
        match self {
            Field::U8(_) => 1,
            Field::I16(_) => 2,
            Field::I32(_) | Field::Text(_) | Field::Table(_) | Field::Vector(_) => 4,
            Field::I64(_) => 8,
        }
    }
}

/// A buffer with this root; its length is a multiple of eight.
pub fn encode(root: &Table) -> Vec<u8> {
    let mut writer = Writer(vec![0; 4]);
    writer.table(0, root);
    writer.pad(0);
    writer.0
}

struct Writer(Vec<u8>);

impl Writer {
    /// Until the length modulo eight is `rest`.
    fn pad(&mut self, rest: usize) {
        while self.0.len() % 8 != rest {
            self.0.push(0);
        }
    }

    /// Makes the offset at `from` point to what comes next.
    fn point_here(&mut self, from: usize) {
        let offset = u32::try_from(self.0.len() - from).expect("metadata is far below 4 GiB");
        self.0[from..from + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes the list of fields, then the table. Wide fields come first, from a multiple of eight
    /// on, so that each has its alignment.
    fn table(&mut self, from: usize, table: &Table) {
        let list_size = 4 + 2 * table.0.len();
        let rest = (4 + 8 - list_size % 8) % 8;
        self.pad(rest);
        let list = self.0.len();
        let (places, size) = places(table);
        self.u16(list_size);
        self.u16(size);
        for place in &places {
            self.u16(*place);
        }
        self.point_here(from);
        let start = self.0.len();
        let back = i32::try_from(start - list).expect("a table has few fields");
        self.0.extend(back.to_le_bytes());
        self.0.resize(start + size, 0);
        for (field, place) in table.0.iter().zip(&places) {
            if let Some(field) = field {
                self.field(start + place, field);
            }
        }
    }

    fn u16(&mut self, number: usize) {
        let number = u16::try_from(number).expect("a table has few fields");
        self.0.extend(number.to_le_bytes());
    }

    fn field(&mut self, at: usize, field: &Field) {
        match field {
            Field::U8(number) => self.0[at] = *number,
            Field::I16(number) => self.set(at, &number.to_le_bytes()),
            Field::I32(number) => self.set(at, &number.to_le_bytes()),
            Field::I64(number) => self.set(at, &number.to_le_bytes()),
            Field::Text(text) => self.text(at, text),
            Field::Table(table) => self.table(at, table),
            Field::Vector(vector) => self.vector(at, vector),
        }
    }

    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn count(&mut self, count: usize) {
        let count = u32::try_from(count).expect("metadata is far below 4 GiB");
        self.0.extend(count.to_le_bytes());
    }

    fn text(&mut self, from: usize, text: &str) {
        self.pad(4);
        self.point_here(from);
        self.count(text.len());
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn vector(&mut self, from: usize, vector: &Vector) {
        self.pad(4);
        self.point_here(from);
        match vector {
            Vector::Pairs(pairs) => {
                self.count(pairs.len());
                for (one, other) in pairs {
                    self.0.extend(one.to_le_bytes());
                    self.0.extend(other.to_le_bytes());
                }
            }
            Vector::Tables(tables) => {
                self.count(tables.len());
                let start = self.0.len();
                self.0.resize(start + 4 * tables.len(), 0);
                for (index, table) in tables.iter().enumerate() {
                    self.table(start + 4 * index, table);
                }
            }
        }
    }
}

/// Where each field stands in its table, 0 for none; and the size of the table.
fn places(table: &Table) -> (Vec<usize>, usize) {
    let mut places = vec![0; table.0.len()];
    // The first four bytes lead to the list of fields.
    let mut end = 4;
    for size in [8, 4, 2, 1] {
        for (place, field) in places.iter_mut().zip(&table.0) {
            if field.as_ref().is_some_and(|field| field.size() == size) {
                *place = end;
                end += size;
            }
        }
    }
    (places, end)
}
