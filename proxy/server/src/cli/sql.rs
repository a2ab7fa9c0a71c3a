//! `holdfast sql`: a question and its answer.

use super::{
    Failure,
    api::{Admin, Table},
    text::columns,
};
use serde_json::Value;
use std::{fmt::Write, process::ExitCode};

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table,
    Json,
    JsonLines,
}

impl Form {
    pub fn of(json: bool, jsonl: bool) -> Form {
        match (json, jsonl) {
            (true, _) => Form::Json,
            (_, true) => Form::JsonLines,
            _ => Form::Table,
        }
    }
}

pub fn run(admin: &Admin, question: &str, form: Form) -> Result<ExitCode, Failure> {
    match form {
        Form::Table => print!("{}", draw(&admin.table(question)?)),
        Form::Json => return super::print_json(&admin.sql(question)?),
        Form::JsonLines => {
            for row in admin.sql(question)? {
                println!("{}", serde_json::to_string(&row)?);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn draw(table: &Table) -> String {
    let head: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let mut out = columns(&head, &rows);
    if rows.is_empty() {
        out.push_str("no rows\n");
    }
    out
}

/// A value on one line.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            let _ = write!(line, "{}", c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn answers_are_tables() {
        let table = |rows: Value| {
            let table = json!({ "columns": ["id", "n", "list"], "rows": rows });
            draw(&serde_json::from_value(table).unwrap())
        };
        let full =
            table(json!([["inv_1", 7, ["a", 1]], [null, 1.5, true], ["two\nlines", -1, ""]]));
        expect![[r#"
            id          n    list
            inv_1       7    ["a",1]
                        1.5  true
            two\nlines  -1
        "#]]
        .assert_eq(&full);
        expect![[r#"
            id  n  list
            no rows
        "#]]
        .assert_eq(&table(json!([])));
    }
}
