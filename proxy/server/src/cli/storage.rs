//! `holdfast storage`: what the data directory takes, table by table.

use super::{Failure, api::Admin, print_json, text::columns};
use crate::query::model::{Storage, TableStorage};
use std::process::ExitCode;

pub fn run(admin: &Admin, count: bool, json: bool) -> Result<ExitCode, Failure> {
    let storage: Storage = admin.get(&format!("/holdfast/storage?count={count}"))?;
    if json {
        return print_json(&storage);
    }
    print!("{}", shown(&storage));
    Ok(ExitCode::SUCCESS)
}

/// Tables in which there is nothing are left out.
fn shown(storage: &Storage) -> String {
    let rows: Vec<Vec<String>> = storage.tables.iter().filter(|it| holds(it)).map(row).collect();
    let table = columns(&["TABLE", "ON DISK", "ROWS", "IN ROWS"], &rows);
    format!(
        "{table}\n{} in all: {} of rows, {} of log, {} of other files\n",
        bytes(storage.disk_bytes),
        bytes(storage.row_file_bytes),
        bytes(storage.log_bytes),
        bytes(storage.other_bytes)
    )
}

fn holds(table: &TableStorage) -> bool {
    table.disk_bytes > 0 || table.rows.is_some_and(|rows| rows > 0)
}

fn row(table: &TableStorage) -> Vec<String> {
    let number = |number: Option<u64>| number.map_or("-".into(), |number| number.to_string());
    let in_rows = table.row_bytes.map_or("-".into(), bytes);
    vec![table.table.clone(), bytes(table.disk_bytes), number(table.rows), in_rows]
}

/// `1536` as `1.5 KiB`.
fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn table(table: &str, disk_bytes: u64, rows: Option<u64>) -> TableStorage {
        let row_bytes = rows.map(|rows| rows * 100);
        TableStorage { table: table.into(), disk_bytes, rows, row_bytes }
    }

    #[test]
    fn tables_line_up_and_empty_ones_are_left_out() {
        let mut storage = Storage {
            disk_bytes: 3 << 20,
            row_file_bytes: 1_600_000,
            log_bytes: 1 << 20,
            other_bytes: 900,
            tables: vec![
                table("invocation", 700_000, Some(2_000)),
                table("timer", 0, Some(0)),
                table("running", 0, Some(1)),
            ],
        };
        expect![[r#"
            TABLE       ON DISK    ROWS  IN ROWS
            invocation  683.6 KiB  2000  195.3 KiB
            running     0 B        1     100 B

            3.0 MiB in all: 1.5 MiB of rows, 1.0 MiB of log, 900 B of other files
        "#]]
        .assert_eq(&shown(&storage));
        storage.tables = vec![table("journal", 5 << 30, None)];
        expect![[r#"
            TABLE    ON DISK  ROWS  IN ROWS
            journal  5.0 GiB  -     -

            3.0 MiB in all: 1.5 MiB of rows, 1.0 MiB of log, 900 B of other files
        "#]]
        .assert_eq(&shown(&storage));
    }
}
