//! Answers in the streaming format of Arrow IPC: a schema, batches of rows, an end. Only the types
//! that our columns have; nothing is compressed, and there are no dictionaries.

mod body;
mod flat;

use super::{
    answer::{Answer, Column},
    types::Type,
};
use body::Body;
use flat::{Field, Table, Vector};

/// Rows of a batch.
const BATCH_ROWS: usize = 1_024;
/// Says that the length of a message follows.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Messages and bodies begin at multiples of it.
const ALIGNMENT: usize = 8;
/// Version 5 of the metadata.
const VERSION: i16 = 4;

/// What a message holds.
#[derive(Clone, Copy)]
enum Header {
    Schema = 1,
    RecordBatch = 3,
}

pub fn encode(answer: &Answer) -> Vec<u8> {
    let mut out = vec![];
    message(&mut out, Header::Schema, schema(&answer.columns), &[]);
    for rows in answer.rows.chunks(BATCH_ROWS) {
        let mut body = Body::default();
        for (index, column) in answer.columns.iter().enumerate() {
            body.column(column.ty(), rows.iter().map(|row| &row[index]));
        }
        message(&mut out, Header::RecordBatch, batch(rows.len(), &body), &body.bytes);
    }
    out.extend(CONTINUATION);
    out.extend([0; 4]);
    out
}

fn message(out: &mut Vec<u8>, header: Header, content: Table, body: &[u8]) {
    let metadata = flat::encode(&Table(vec![
        Some(Field::I16(VERSION)),
        Some(Field::U8(header as u8)),
        Some(Field::Table(content)),
        Some(Field::I64(body.len() as i64)),
    ]));
    debug_assert!(metadata.len().is_multiple_of(ALIGNMENT) && body.len().is_multiple_of(ALIGNMENT));
    let length = i32::try_from(metadata.len()).expect("metadata is far below 2 GiB");
    out.extend(CONTINUATION);
    out.extend(length.to_le_bytes());
    out.extend(metadata);
    out.extend(body);
}

/// Endianness (little by default), fields.
fn schema(columns: &[Column]) -> Table {
    let fields = columns.iter().map(|column| field(&column.name, column.ty()));
    Table(vec![None, Some(Field::Vector(Vector::Tables(fields.collect())))])
}

/// Name, nullable, kind of the type, type, dictionary, children.
fn field(name: &str, ty: Type) -> Table {
    let (kind, details) = data_type(ty);
    let children = match ty {
        Type::TextList => vec![field("item", Type::Text)],
        Type::UInt32List => vec![field("item", Type::UInt32)],
        _ => vec![],
    };
    Table(vec![
        Some(Field::Text(name.into())),
        Some(Field::U8(1)),
        Some(Field::U8(kind)),
        Some(Field::Table(details)),
        None,
        Some(Field::Vector(Vector::Tables(children))),
    ])
}

/// Number of a type in the union of types, and what it needs to be said about it.
fn data_type(ty: Type) -> (u8, Table) {
    const MILLISECOND: i16 = 1;
    const DOUBLE: i16 = 2;
    let integer = |bits, signed| Table(vec![Some(Field::I32(bits)), Some(Field::U8(signed))]);
    match ty {
        Type::UInt64 => (2, integer(64, 0)),
        Type::UInt32 => (2, integer(32, 0)),
        Type::Int64 => (2, integer(64, 1)),
        Type::Float64 => (3, Table(vec![Some(Field::I16(DOUBLE))])),
        Type::Boolean => (6, Table(vec![])),
        Type::Timestamp => {
            let zone = Field::Text("+00:00".into());
            (10, Table(vec![Some(Field::I16(MILLISECOND)), Some(zone)]))
        }
        Type::TextList | Type::UInt32List => (12, Table(vec![])),
        Type::Duration => (18, Table(vec![Some(Field::I16(MILLISECOND))])),
        Type::Bytes => (19, Table(vec![])),
        Type::Text => (20, Table(vec![])),
    }
}

/// Rows, nodes, buffers.
fn batch(rows: usize, body: &Body) -> Table {
    Table(vec![
        Some(Field::I64(rows as i64)),
        Some(Field::Vector(Vector::Pairs(body.nodes.clone()))),
        Some(Field::Vector(Vector::Pairs(body.buffers.clone()))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use rusqlite::types::Value as Cell;

    /// The text was read by another implementation, which found these columns and rows.
    #[test]
    fn a_stream_is_as_others_read_it() {
        let columns = [
            ("n", Type::Int64),
            ("key", Type::UInt64),
            ("at", Type::Timestamp),
            ("is", Type::Boolean),
            ("text", Type::Text),
            ("bytes", Type::Bytes),
            ("for", Type::Duration),
            ("numbers", Type::UInt32List),
            ("names", Type::TextList),
            ("x", Type::Float64),
            ("version", Type::UInt32),
        ];
        let mut answer = Answer::new(columns.map(|(name, ty)| Column::new(name, Some(ty))).into());
        answer.rows.push(vec![
            Cell::Integer(3),
            Cell::Integer(-1),
            Cell::Text("2026-11-29T15:22:40.766Z".into()),
            Cell::Integer(1),
            Cell::Text("näme".into()),
            Cell::Blob(vec![0, 255]),
            Cell::Integer(1_500),
            Cell::Text("[1,17]".into()),
            Cell::Text(r#"["a","bc"]"#.into()),
            Cell::Real(0.5),
            Cell::Integer(7),
        ]);
        answer.rows.push(vec![Cell::Null; 11]);
        let encoded = encode(&answer);
        if let Some(path) = std::env::var_os("ARROW_OUT") {
            std::fs::write(path, &encoded).unwrap();
        }
        let lines: Vec<_> = encoded.chunks(32).map(super::super::answer::hex).collect();
        expect![[r#"
            ffffffff5804000014000000000000000c001300100012000c0004000c000000
            0000000000000000140000000400010000000000080008000000040008000000
            040000000b0000003c00000088000000d40000003001000074010000b8010000
            fc01000040020000dc02000068030000ac030000100012000400100011000800
            00000c001000000014000000200000002c000000010200000000000001000000
            6e00000008000900040008000800000040000000010000000000000000000000
            0000000010001200040010001100080000000c00100000001400000020000000
            2c0000000102000000000000030000006b657900080009000400080008000000
            4000000000000000000000000000000000000000100012000400100011000800
            00000c001000000014000000200000003c000000010a00000000000002000000
            6174000008000a0008000400080000000c000000010000000000000006000000
            2b30303a30300000000000000000000000000000100012000400100011000800
            00000c0010000000140000002000000024000000010600000000000002000000
            6973000000000000040004000400000000000000000000000000000010001200
            040010001100080000000c001000000014000000200000002400000001140000
            0000000004000000746578740000000004000400040000000000000000000000
            0000000010001200040010001100080000000c00100000001400000020000000
            2400000001130000000000000500000062797465730000000400040004000000
            00000000000000000000000010001200040010001100080000000c0010000000
            140000002000000024000000011200000000000003000000666f720000000600
            0600040006000000010000000000000000000000100012000400100011000800
            00000c0010000000140000002000000024000000010c00000000000007000000
            6e756d6265727300040004000400000000000000010000001400000010001200
            040010001100080000000c001000000014000000280000003400000001020000
            00000000040000006974656d0000000000000000080009000400080008000000
            2000000000000000000000000000000000000000100012000400100011000800
            00000c0010000000140000002000000024000000010c00000000000005000000
            6e616d6573000000040004000400000000000000010000001400000010001200
            040010001100080000000c001000000014000000200000002400000001140000
            00000000040000006974656d0000000004000400040000000000000000000000
            0000000010001200040010001100080000000c00100000001400000020000000
            2400000001030000000000000100000078000000000006000600040006000000
            02000000000000000000000010001200040010001100080000000c0010000000
            14000000280000003400000001020000000000000700000076657273696f6e00
            0000000008000900040008000800000020000000000000000000000000000000
            fffffffff802000014000000000000000c001300100012000c0004000c000000
            5001000000000000140000000400030000000a00140004000c0010000a000000
            02000000000000000c000000e0000000000000000d0000000200000000000000
            0100000000000000020000000000000001000000000000000200000000000000
            0100000000000000020000000000000001000000000000000200000000000000
            0100000000000000020000000000000001000000000000000200000000000000
            0100000000000000020000000000000001000000000000000200000000000000
            0000000000000000020000000000000001000000000000000200000000000000
            0000000000000000020000000000000001000000000000000200000000000000
            0100000000000000000000001d00000000000000000000000100000000000000
            0800000000000000100000000000000018000000000000000100000000000000
            2000000000000000100000000000000030000000000000000100000000000000
            3800000000000000100000000000000048000000000000000100000000000000
            5000000000000000010000000000000058000000000000000100000000000000
            6000000000000000180000000000000078000000000000000500000000000000
            8000000000000000010000000000000088000000000000001800000000000000
            a0000000000000000200000000000000a8000000000000000100000000000000
            b0000000000000001000000000000000c0000000000000000100000000000000
            c8000000000000000c00000000000000d8000000000000000100000000000000
            e0000000000000000800000000000000e8000000000000000100000000000000
            f0000000000000000c0000000000000000010000000000000100000000000000
            0801000000000000180000000000000020010000000000000300000000000000
            2801000000000000010000000000000030010000000000001000000000000000
            4001000000000000010000000000000048010000000000000800000000000000
            0100000000000000030000000000000000000000000000000100000000000000
            ffffffffffffffff00000000000000000100000000000000feb4e627a2010000
            0000000000000000010000000000000001000000000000000100000000000000
            0000000000000000050000000000000005000000000000006ec3a46d65000000
            0100000000000000000000000000000002000000000000000200000000000000
            00ff0000000000000100000000000000dc050000000000000000000000000000
            0100000000000000000000000200000002000000000000000300000000000000
            0100000011000000010000000000000000000000020000000200000000000000
            0300000000000000000000000000000001000000000000000300000000000000
            61626300000000000100000000000000000000000000e03f0000000000000000
            01000000000000000700000000000000ffffffff00000000"#]]
        .assert_eq(&lines.join("\n"));
    }
}
