//! Answers as JSON: `{"rows":[{…}]}`. Columns without a value are absent, timestamps are RFC 3339,
//! durations ISO 8601, bytes lower-case hexadecimal, lists arrays.

use super::{
    answer::{Answer, hex},
    types::Type,
};
use rusqlite::types::Value as Cell;
use serde_json::{Map, Value};

pub fn encode(answer: &Answer) -> Vec<u8> {
    let mut out = br#"{"rows":["#.to_vec();
    for (index, row) in answer.rows.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let columns = answer.columns.iter().zip(row);
        let object: Map<String, Value> = columns
            .filter(|(_, cell)| !matches!(cell, Cell::Null))
            .map(|(column, cell)| (column.name.clone(), value(column.ty(), cell)))
            .collect();
        serde_json::to_writer(&mut out, &object).expect("a vector takes everything");
    }
    out.extend(b"]}");
    out
}

/// `{"columns":["…"],"rows":[[…]]}`: absent values are null.
pub fn encode_table(answer: &Answer) -> Vec<u8> {
    let names: Vec<&str> = answer.columns.iter().map(|column| column.name.as_str()).collect();
    let row = |row: &Vec<Cell>| -> Vec<Value> {
        answer.columns.iter().zip(row).map(|(column, cell)| value(column.ty(), cell)).collect()
    };
    let rows: Vec<Vec<Value>> = answer.rows.iter().map(row).collect();
    serde_json::json!({ "columns": names, "rows": rows }).to_string().into_bytes()
}

fn value(ty: Type, cell: &Cell) -> Value {
    match (ty, cell) {
        (Type::UInt64, Cell::Integer(number)) => number.cast_unsigned().into(),
        (Type::Boolean, Cell::Integer(number)) => Value::Bool(*number != 0),
        (Type::Duration, Cell::Integer(ms)) => duration(*ms).into(),
        (Type::TextList | Type::UInt32List, Cell::Text(list)) => {
            serde_json::from_str(list).unwrap_or_else(|_| list.as_str().into())
        }
        (_, Cell::Null) => Value::Null,
        (_, Cell::Integer(number)) => (*number).into(),
        (_, Cell::Real(number)) => (*number).into(),
        (_, Cell::Text(text)) => text.as_str().into(),
        (_, Cell::Blob(bytes)) => hex(bytes).into(),
    }
}

/// ISO 8601, in seconds alone.
fn duration(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.unsigned_abs();
    match ms % 1_000 {
        0 => format!("{sign}PT{}S", ms / 1_000),
        rest => {
            let fraction = format!("{rest:03}");
            format!("{sign}PT{}.{}S", ms / 1_000, fraction.trim_end_matches('0'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_iso_8601() {
        assert_eq!(duration(86_400_000), "PT86400S");
        assert_eq!(duration(1_500), "PT1.5S");
        assert_eq!(duration(-5), "-PT0.005S");
        assert_eq!(duration(0), "PT0S");
    }
}
