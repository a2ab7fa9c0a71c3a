//! `information_schema`: what tables and columns there are, as a database beside.

use super::Shape;
use rusqlite::{Connection, params};

const CATALOG: &str = "restate";
const SCHEMA: &str = "public";

pub fn add(connection: &Connection, shapes: &[Shape]) -> rusqlite::Result<()> {
    connection.execute_batch(
        "ATTACH ':memory:' AS information_schema;
         CREATE TABLE information_schema.tables(table_catalog TEXT, table_schema TEXT,
             table_name TEXT, table_type TEXT);
         CREATE TABLE information_schema.columns(table_catalog TEXT, table_schema TEXT,
             table_name TEXT, column_name TEXT, ordinal_position UNSIGNED BIGINT,
             column_default TEXT, is_nullable TEXT, data_type TEXT);",
    )?;
    let mut table = connection
        .prepare("INSERT INTO information_schema.tables VALUES (?, ?, ?, 'BASE TABLE')")?;
    let mut column = connection
        .prepare("INSERT INTO information_schema.columns VALUES (?, ?, ?, ?, ?, NULL, 'YES', ?)")?;
    for shape in shapes {
        table.execute(params![CATALOG, SCHEMA, shape.name])?;
        for (position, (name, ty)) in (0_i64..).zip(&shape.columns) {
            column.execute(params![CATALOG, SCHEMA, shape.name, name, position, ty.name()])?;
        }
    }
    Ok(())
}
