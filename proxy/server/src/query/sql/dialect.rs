//! From the dialect that existing tools write to the one of SQLite, token by token. What is not
//! known here is passed on as it is; the engine judges it.

mod frame;
mod kind;
pub mod literal;
mod token;
mod translate;
mod unnamed;
mod words;

pub use kind::Columns;

use super::{error::Error, types::Type};
use kind::Kind;
use token::{Kind as TokenKind, tokens};

/// A question for SQLite.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// It names `information_schema`.
    pub asks_for_schema: bool,
    /// What is selected, in order.
    items: Vec<Kind>,
}

impl Question {
    /// What the column `index` of `count` in the answer is, as far as its expression tells. Behind
    /// a star it is counted from the end.
    pub fn ty(&self, index: usize, count: usize) -> Option<Type> {
        let star = self.items.iter().position(|item| *item == Kind::Star);
        let last_star = self.items.iter().rposition(|item| *item == Kind::Star);
        let from_end = (self.items.len() + index).checked_sub(count);
        let place = match (star, last_star) {
            (Some(star), _) if index < star => Some(index),
            (Some(_), Some(last)) => from_end.filter(|place| *place > last),
            _ => Some(index),
        };
        place.and_then(|place| self.items.get(place)).and_then(|kind| kind.ty())
    }
}

/// Takes a question in; `columns` says what columns are.
///
/// # Errors
/// `TwoStatements`; `Wrong` where there is none, a text does not end, or a length of time is none.
pub fn read(question: &str, columns: &Columns) -> Result<Question, Error> {
    let tokens = tokens(question)?;
    let is_code = |text: &str| text != ";";
    let code = tokens.iter().filter(|token| token.kind != TokenKind::Blank);
    let code: Vec<&str> = code.map(|token| token.text).collect();
    let end = code.iter().position(|text| !is_code(text)).unwrap_or(code.len());
    if code[end..].iter().any(|text| is_code(text)) {
        return Err(Error::TwoStatements);
    }
    if end == 0 {
        return Err(Error::Wrong("the question is empty".into()));
    }
    let (text, items) = match shown(&code[..end]) {
        Some(text) => (text, vec![]),
        None => translate::translate(&tokens, columns)?,
    };
    let asks_for_schema = text.to_ascii_lowercase().contains("information_schema");
    Ok(Question { text, asks_for_schema, items })
}

/// `SHOW TABLES`, `SHOW COLUMNS FROM t` and `DESCRIBE t` as questions about the schema.
fn shown(code: &[&str]) -> Option<String> {
    let words: Vec<String> = code.iter().map(|word| word.to_ascii_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let columns = |columns: &str, table: &str| {
        Some(format!(
            "SELECT {columns}column_name, data_type, is_nullable FROM information_schema.columns \
             WHERE table_name = '{}'",
            table.trim_matches('"').replace('\'', "''")
        ))
    };
    match words[..] {
        ["show", "tables"] => Some("SELECT * FROM information_schema.tables".into()),
        ["show", "columns", "from", table] => {
            columns("table_catalog, table_schema, table_name, ", table)
        }
        ["describe", table] => columns("", table),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
