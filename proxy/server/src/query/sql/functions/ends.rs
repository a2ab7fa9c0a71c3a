//! `first_value` and `last_value` as aggregates: which row of a group counts.

use rusqlite::{
    functions::{Aggregate, Context},
    types::Value,
};

pub enum End {
    First,
    Last,
}

impl Aggregate<Option<Value>, Option<Value>> for End {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Option<Value>> {
        Ok(None)
    }

    fn step(&self, context: &mut Context<'_>, seen: &mut Option<Value>) -> rusqlite::Result<()> {
        if matches!(self, End::Last) || seen.is_none() {
            *seen = Some(context.get(0)?);
        }
        Ok(())
    }

    fn finalize(
        &self,
        _: &mut Context<'_>,
        seen: Option<Option<Value>>,
    ) -> rusqlite::Result<Option<Value>> {
        Ok(seen.flatten())
    }
}
