//! From the dialect that existing tools write to the one of SQLite, token by token. What is not
//! known here is passed on as it is; the engine judges it.

mod items;
mod token;
mod unnamed;

use super::error::Error;
use items::{Item, items};
use token::{Kind, Token, tokens};
use unnamed::names;

/// A question for SQLite.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// It names `information_schema`.
    pub asks_for_schema: bool,
    items: Vec<Item>,
}

impl Question {
    /// Whether the column `index` of `count` in the answer is true or false by what its expression
    /// is. Behind a star it is counted from the end.
    pub fn is_truth(&self, index: usize, count: usize) -> bool {
        let star = self.items.iter().position(|item| *item == Item::Star);
        let last_star = self.items.iter().rposition(|item| *item == Item::Star);
        let from_end = (self.items.len() + index).checked_sub(count);
        let place = match (star, last_star) {
            (Some(star), _) if index < star => Some(index),
            (Some(_), Some(last)) => from_end.filter(|place| *place > last),
            _ => Some(index),
        };
        place.and_then(|place| self.items.get(place)) == Some(&Item::Truth)
    }
}

/// Takes a question in.
///
/// # Errors
/// `TwoStatements`; `Wrong` where there is none, or a text does not end.
pub fn read(question: &str) -> Result<Question, Error> {
    let tokens = tokens(question)?;
    let code: Vec<&str> =
        tokens.iter().filter(|token| token.kind != Kind::Blank).map(|token| token.text).collect();
    let end = code.iter().position(|text| *text == ";").unwrap_or(code.len());
    if code[end..].iter().any(|text| *text != ";") {
        return Err(Error::TwoStatements);
    }
    if end == 0 {
        return Err(Error::Wrong("the question is empty".into()));
    }
    let text = match shown(&code[..end]) {
        Some(text) => text,
        None => translate(&tokens),
    };
    let asks_for_schema = text.to_ascii_lowercase().contains("information_schema");
    Ok(Question { text, asks_for_schema, items: items(&code[..end]) })
}

/// `SHOW TABLES`, `SHOW COLUMNS FROM t` and `DESCRIBE t` as questions about the schema.
fn shown(code: &[&str]) -> Option<String> {
    let words: Vec<String> = code.iter().map(|word| word.to_ascii_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["show", "tables"] => Some("SELECT * FROM information_schema.tables".into()),
        ["show", "columns", "from", table] | ["describe", table] => Some(format!(
            "SELECT column_name, data_type, is_nullable FROM information_schema.columns \
             WHERE table_name = '{}'",
            table.trim_matches('"').replace('\'', "''")
        )),
        _ => None,
    }
}

fn translate(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut names = names(tokens).into_iter().peekable();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            _ if token.text == ";" => {}
            // A reserved word of SQLite, and a column of `sys_journal`.
            Kind::Word if token.is("index") => text.push_str("\"index\""),
            // `TIMESTAMP '2026-…'` is the text alone.
            Kind::Word if token.is("timestamp") && text_follows(&tokens[at + 1..]) => {}
            Kind::Number => text.push_str(&number(token.text)),
            _ => text.push_str(token.text),
        }
        if let Some((_, name)) = names.next_if(|(end, _)| *end == at) {
            text.push_str(" AS ");
            text.push_str(name);
        }
    }
    text
}

fn text_follows(tokens: &[Token<'_>]) -> bool {
    tokens.iter().find(|token| token.kind != Kind::Blank).is_some_and(|it| it.kind == Kind::Text)
}

/// Numbers that need 64 bits without a sign are the same bits with one, as the columns hold them.
fn number(text: &str) -> String {
    match (text.parse::<i64>(), text.parse::<u64>()) {
        (Err(_), Ok(large)) => format!("({})", large.cast_signed()),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: &str) {
        let told = match read(question) {
            Ok(question) => {
                let count = question.items.len();
                let truths: Vec<_> =
                    (0..count).filter(|index| question.is_truth(*index, count)).collect();
                format!("{} {truths:?}", question.text)
            }
            Err(error) => error.code().into(),
        };
        assert_eq!(told, expected, "{question}");
    }

    #[test]
    fn the_dialect_becomes_that_of_sqlite() {
        check("select sj.index from t sj ;", "select sj.\"index\" from t sj  []");
        check("select 'index' from t", "select 'index' from t []");
        check("select \"index\" -- index;\nfrom t", "select \"index\" -- index;\nfrom t []");
        check("select 18446744073709551615", "select (-1) []");
        check("select a > timestamp '2026'", "select a >  '2026' [0]");
        check("show tables;", "SELECT * FROM information_schema.tables []");
        check("select 1; select 2", "HF0064");
        check("select 'it''s; fine'; ;", "select 'it''s; fine'  []");
        check("select 'open", "HF0063");
        check(" ; ", "HF0063");
    }

    #[test]
    fn a_subquery_has_the_name_of_its_table() {
        check(
            "select count(1) from (select * from t inv limit 5) where inv.a",
            "select count(1) from (select * from t inv limit 5) AS inv where inv.a []",
        );
        check("select 1 from (select b from t) x", "select 1 from (select b from t) x []");
        check("select 1 from (select b from t)", "select 1 from (select b from t) AS t []");
        check(
            "select 1 from (select b from (select c from t as u))",
            "select 1 from (select b from (select c from t as u) AS u) []",
        );
        check("select 1 from (select 1) where 1", "select 1 from (select 1) where 1 []");
        check(
            "select a in (select b from t) from v, (select c from w)",
            "select a in (select b from t) from v, (select c from w) [0]",
        );
    }

    #[test]
    fn truths_are_told_from_their_expressions() {
        check("select a, b is not null as c from t", "select a, b is not null as c from t [1]");
        check("select count(a = b), (a = b) x", "select count(a = b), (a = b) x [1]");
        check(
            "select (a = b) + (c = d), (select a = b)",
            "select (a = b) + (c = d), (select a = b) []",
        );
        check("select case when a = b then 1 end", "select case when a = b then 1 end []");
        check("select a is distinct from b, c", "select a is distinct from b, c [0]");
        check(
            "with x as (select a = b) select a = 1 from x where a",
            "with x as (select a = b) select a = 1 from x where a [0]",
        );
        let question = read("select *, a = b from t").unwrap();
        assert!(question.is_truth(7, 8) && !question.is_truth(0, 8) && !question.is_truth(6, 8));
    }
}
