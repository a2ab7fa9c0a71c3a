//! All tables that can be asked.

mod ask;
mod empty;
mod invocation;
mod journal;
mod keyed;
mod registered;
mod schedule;
mod schema;

use super::{
    dialect::Columns,
    source::Source,
    table::{Column, Table, add as add_table, declaration},
    types::Type,
};
use rusqlite::Connection;
use std::sync::Arc;

/// Name and columns of a table, in order.
struct Shape {
    name: &'static str,
    columns: Vec<(&'static str, Type)>,
}

fn shape<T: Table>() -> Shape {
    let columns = T::columns();
    let named = columns.iter().map(|column| (column.name, column.ty));
    Shape { name: T::NAME, columns: named.collect() }
}

/// Names the tables once: to add them, and to describe them.
macro_rules! tables {
    ($($table:path),* $(,)?) => {
        fn add_virtual(connection: &Connection, source: &Arc<Source>) -> rusqlite::Result<()> {
            $(add_table::<$table>(connection, source)?;)*
            Ok(())
        }

        /// Every table, in no order.
        fn shapes() -> Vec<Shape> {
            let mut shapes = vec![$(shape::<$table>()),*];
            shapes.extend(empty::shapes());
            shapes
        }
    };
}

tables![
    invocation::Statuses,
    invocation::States,
    invocation::Invocations,
    journal::Journal,
    journal::Events,
    keyed::State,
    keyed::Inbox,
    keyed::Holders,
    keyed::Locks,
    keyed::Promises,
    registered::Deployments,
    registered::Services,
    schedule::Schedules,
    ask::Asks,
];

/// What the columns of all tables are.
pub fn columns() -> Columns {
    Columns::new(shapes().into_iter().flat_map(|shape| shape.columns))
}

/// Adds all tables to a connection; what describes them only where it is `asked` for.
pub fn add(connection: &Connection, source: &Arc<Source>, asked: bool) -> rusqlite::Result<()> {
    add_virtual(connection, source)?;
    empty::add(connection)?;
    if asked {
        schema::add(connection, &shapes())?;
    }
    Ok(())
}

/// A column, shortly.
fn column<R>(
    name: &'static str,
    ty: Type,
    value: fn(&R, &Source) -> super::table::Value,
) -> Column<R> {
    Column { name, ty, value }
}

#[cfg(test)]
mod tests {
    use super::shapes;

    /// docs/sql.md lists what is there, and nothing else.
    #[test]
    fn the_page_lists_every_table_with_its_columns() {
        let listed = shapes().into_iter().map(|shape| {
            let columns =
                shape.columns.iter().map(|(name, ty)| format!("  {name}: {}\n", ty.name()));
            format!("{}\n{}", shape.name, columns.collect::<String>())
        });
        let listed: String = listed.collect();
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sql.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, behind) = page.split_once("```tables\n").unwrap();
        let (written, _) = behind.split_once("```").unwrap();
        assert_eq!(written, listed);
    }
}
