//! What is in which table, and what it takes. Counting reads every row, estimating none.

use super::model::{Storage, TableStorage};
use crate::store::{OWN_TABLE, Store};
use holdfast_machine::{
    kv::{Fault, Kv},
    tables::TableId,
};

/// What the store writes for itself, in the list of tables.
const OWN_NAME: &str = "store";

/// With `count`, rows are counted, in one moment of the store.
pub(super) fn storage(store: &dyn Store, count: bool) -> Result<Storage, Fault> {
    let usage = store.usage()?;
    let snapshot = if count { Some(store.snapshot()?) } else { None };
    let table = |(byte, name): (u8, &str)| {
        let (from, to) = ([byte], [byte + 1]);
        let counted = match &snapshot {
            Some(snapshot) => Some(counted(&**snapshot, &from, &to)?),
            None => None,
        };
        Ok(TableStorage {
            table: name.to_owned(),
            disk_bytes: store.bytes_between(&from, &to),
            rows: counted.map(|(rows, _)| rows),
            row_bytes: counted.map(|(_, bytes)| bytes),
        })
    };
    let named = TableId::ALL.into_iter().map(|table| (table as u8, table.name()));
    let tables = named.chain([(OWN_TABLE, OWN_NAME)]).map(table);
    Ok(Storage {
        disk_bytes: usage.total(),
        row_file_bytes: usage.row_bytes,
        log_bytes: usage.log_bytes,
        other_bytes: usage.other_bytes,
        tables: tables.collect::<Result<_, Fault>>()?,
    })
}

/// Rows, and bytes of their keys and values.
fn counted(kv: &dyn Kv, from: &[u8], to: &[u8]) -> Result<(u64, u64), Fault> {
    let (mut rows, mut bytes) = (0, 0);
    kv.scan(from, to, &mut |key, value| {
        rows += 1;
        bytes += (key.len() + value.len()) as u64;
        true
    })?;
    Ok((rows, bytes))
}
