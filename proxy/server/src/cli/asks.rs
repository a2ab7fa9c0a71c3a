//! `holdfast asks …`: questions to people, and their answers.

use super::{
    Failure,
    api::Admin,
    args::{Action, AnswerAsk, Asks, ListAsks},
    print_json,
    text::{Paint, columns, shorten},
};
use crate::query::model::{self, Ask, AskStatus};
use holdfast_wire::percent::escaped;
use serde_json::{Map, Value, json};
use std::{fmt::Write, process::ExitCode};

/// Longest question in a list, in characters.
const MESSAGE_CHARS_MAX: usize = 60;
const HEAD: [&str; 6] = ["ID", "OPENED", "TARGET", "TO", "STATUS", "QUESTION"];

pub fn run(admin: Admin, command: Asks) -> Result<ExitCode, Failure> {
    match command {
        Asks::List(wish) => list(&admin, &wish),
        Asks::Show { id, json } => show(&admin, &id, json),
        Asks::Answer(answer) => self::answer(&admin, &answer),
    }
}

fn path(id: &str) -> String {
    format!("/holdfast/asks/{}", escaped(id))
}

fn list(admin: &Admin, wish: &ListAsks) -> Result<ExitCode, Failure> {
    let mut path = format!("/holdfast/asks?limit={}&closed={}", wish.limit, wish.closed);
    let filters = [
        ("kind", &wish.kind),
        ("to", &wish.to),
        ("service", &wish.service),
        ("invocation", &wish.invocation),
    ];
    for (name, value) in filters {
        if let Some(value) = value {
            let _ = write!(path, "&{name}={}", escaped(value));
        }
    }
    if wish.json {
        return print_json(&admin.get::<Value>(&path)?);
    }
    let found: model::Asks = admin.get(&path)?;
    if found.asks.is_empty() {
        println!("nobody is asked anything");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", table(&found.asks));
    if found.more {
        println!("… and more; raise --limit");
    }
    Ok(ExitCode::SUCCESS)
}

fn table(asks: &[Ask]) -> String {
    let row = |ask: &Ask| {
        vec![
            ask.id.clone(),
            ask.opened_at.clone(),
            ask.target.clone(),
            ask.to.clone().unwrap_or("-".into()),
            ask.status.as_str().into(),
            shorten(&ask.message, MESSAGE_CHARS_MAX),
        ]
    };
    columns(&HEAD, &asks.iter().map(row).collect::<Vec<_>>())
}

fn show(admin: &Admin, id: &str, json: bool) -> Result<ExitCode, Failure> {
    if json {
        return print_json(&admin.get::<Value>(&path(id))?);
    }
    print!("{}", draw(&admin.get(&path(id))?, Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

/// The whole picture of one ask.
fn draw(ask: &Ask, paint: Paint) -> String {
    let mut out = format!("{}  {}\n", paint.bold(&ask.id), status(ask, paint));
    let _ = writeln!(out, "{}", ask.message);
    if let Some(url) = &ask.url {
        let _ = writeln!(out, "{url}");
    }
    let to = ask.to.as_ref().map(|to| format!(" · to {to}")).unwrap_or_default();
    let _ = writeln!(out, "\n{} asks{to} · {}", ask.target, ask.kind);
    let until = ask.expires_at.as_ref().map(|at| format!(", until {at}")).unwrap_or_default();
    let _ = writeln!(out, "since {}{until}", ask.opened_at);
    let _ = writeln!(out, "{}", paint.dim(&ask.invocation));
    let fields = fields(&ask.schema);
    if !fields.is_empty() {
        let _ = write!(out, "\nfields\n{fields}");
    }
    if let Some(answer) = &ask.answer {
        let by = answer.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let _ = writeln!(out, "\n{}{by} at {}", answer.action, answer.at);
        if let Some(content) = &answer.content {
            let _ = writeln!(out, "{content}");
        }
    } else {
        let _ = writeln!(out, "\nholdfast asks answer {} accept|decline|cancel", ask.id);
    }
    out
}

fn status(ask: &Ask, paint: Paint) -> String {
    match ask.status {
        AskStatus::Pending => paint.waits("pending"),
        AskStatus::Answered => paint.good("answered"),
        other => paint.dim(other.as_str()),
    }
}

/// A line for each field of an answer.
fn fields(schema: &Value) -> String {
    let required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.iter().any(|it| it == name))
    };
    let Some(properties) = schema["properties"].as_object() else {
        return String::new();
    };
    let rows: Vec<_> = properties
        .iter()
        .map(|(name, field)| {
            let needed = if required(name) { "required" } else { "" };
            let about = field["title"].as_str().or(field["description"].as_str());
            vec![name.clone(), kind(field), needed.into(), about.unwrap_or_default().into()]
        })
        .collect();
    let listed = columns(&["NAME", "TYPE", "", "ABOUT"], &rows);
    listed.lines().skip(1).map(|line| format!("  {line}\n")).collect()
}

/// A type, or what there is to choose from.
fn kind(field: &Value) -> String {
    let of = |choices: &Value| {
        let choices = choices.as_array()?;
        let name = |choice: &Value| {
            choice.as_str().or(choice["const"].as_str()).unwrap_or_default().to_owned()
        };
        Some(choices.iter().map(name).collect::<Vec<_>>().join("|"))
    };
    let chosen = |field: &Value| {
        of(&field["enum"]).or_else(|| of(&field["oneOf"])).or_else(|| of(&field["anyOf"]))
    };
    if let Some(choices) = chosen(field) {
        return choices;
    }
    match chosen(&field["items"]) {
        Some(choices) => format!("{choices},…"),
        None => field["type"].as_str().unwrap_or("anything").to_owned(),
    }
}

fn answer(admin: &Admin, wish: &AnswerAsk) -> Result<ExitCode, Failure> {
    let body = body(wish, std::env::var("USER").ok())?;
    let closed: Ask = admin.post(&path(&wish.id), &body)?;
    if wish.json {
        return print_json(&closed);
    }
    match closed.answer {
        Some(answer) => println!("{} {}", closed.id, answer.action),
        None => println!("{} is answered", closed.id),
    }
    Ok(ExitCode::SUCCESS)
}

fn body(wish: &AnswerAsk, user: Option<String>) -> Result<Value, Failure> {
    let mut body = Map::new();
    let action = match wish.action {
        Action::Accept => "accept",
        Action::Decline => "decline",
        Action::Cancel => "cancel",
    };
    body.insert("action".into(), json!(action));
    if let Some(data) = &wish.data {
        let content: Value = serde_json::from_str(data)
            .map_err(|error| format!("--data is not JSON: {error}; write an object"))?;
        body.insert("content".into(), content);
    } else if !wish.set.is_empty() {
        body.insert("content".into(), content(&wish.set)?.into());
    }
    if let Some(by) = wish.by.clone().or(user.filter(|user| !user.is_empty())) {
        body.insert("by".into(), json!(by));
    }
    Ok(body.into())
}

fn content(set: &[String]) -> Result<Map<String, Value>, Failure> {
    let field = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is no field; write FIELD=VALUE"))?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        Ok((name.to_owned(), value))
    };
    set.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample() -> Value {
        json!({
            "id": "ask_1abc", "number": 1, "status": "pending", "kind": "input",
            "message": "Refund 12.50 to order o-1?", "to": "approvers",
            "schema": {
                "type": "object", "required": ["approved"],
                "properties": {
                    "approved": { "type": "boolean", "title": "Approve" },
                    "reason": { "type": "string" },
                    "how": { "enum": ["card", "cash"] },
                    "notes": { "type": "array", "items": { "anyOf": [{ "const": "a" }] } },
                },
            },
            "invocation": "inv_1root", "asked_by": "inv_1root", "target": "Refund/refund",
            "opened_at": "2026-11-29T20:00:00.000Z", "expires_at": "2026-11-30T20:00:00.000Z",
        })
    }

    #[test]
    fn an_ask_as_people_see_it() {
        let pending: Ask = serde_json::from_value(sample()).unwrap();
        expect![[r#"
            ask_1abc  pending
            Refund 12.50 to order o-1?

            Refund/refund asks · to approvers · input
            since 2026-11-29T20:00:00.000Z, until 2026-11-30T20:00:00.000Z
            inv_1root

            fields
              approved  boolean    required  Approve
              reason    string
              how       card|cash
              notes     a,…

            holdfast asks answer ask_1abc accept|decline|cancel
        "#]]
        .assert_eq(&draw(&pending, Paint::plain()));
        let mut answered = sample();
        answered["status"] = "answered".into();
        answered["schema"] = json!({ "type": "object", "properties": {} });
        answered["answer"] = json!({
            "action": "accept", "content": { "approved": true }, "by": "ada",
            "at": "2026-11-29T21:00:00.000Z",
        });
        for absent in ["to", "expires_at"] {
            answered.as_object_mut().unwrap().remove(absent);
        }
        let answered: Ask = serde_json::from_value(answered).unwrap();
        expect![[r#"
            ask_1abc  answered
            Refund 12.50 to order o-1?

            Refund/refund asks · input
            since 2026-11-29T20:00:00.000Z
            inv_1root

            accept by ada at 2026-11-29T21:00:00.000Z
            {"approved":true}
        "#]]
        .assert_eq(&draw(&answered, Paint::plain()));
        expect![[r#"
            ID        OPENED                    TARGET         TO         STATUS    QUESTION
            ask_1abc  2026-11-29T20:00:00.000Z  Refund/refund  approvers  pending   Refund 12.50 to order o-1?
            ask_1abc  2026-11-29T20:00:00.000Z  Refund/refund  -          answered  Refund 12.50 to order o-1?
        "#]].assert_eq(&table(&[pending, answered]));
    }

    #[test]
    fn what_is_typed_becomes_an_answer() {
        use crate::cli::args::{Cli, Command};
        use clap::Parser;
        let typed = |more: &[&str]| {
            let common = ["holdfast", "asks", "answer", "ask_1abc"];
            let cli = Cli::try_parse_from(common.iter().chain(more)).map_err(|it| it.to_string());
            match cli.map(|cli| cli.command) {
                Ok(Some(Command::Asks { command: Asks::Answer(wish), .. })) => {
                    body(&wish, Some("user".into()))
                        .map_or_else(|error| error.to_string(), |body| body.to_string())
                }
                Ok(_) => panic!("another command"),
                Err(error) => error.lines().next().unwrap_or_default().to_owned(),
            }
        };
        let told = [
            typed(&["accept", "--set", "approved=true", "--set", "reason=all is well"]),
            typed(&["accept", "-d", r#"{"a":[1]}"#, "--by", "ada"]),
            typed(&["decline"]),
            typed(&["accept", "--set", "approved"]),
            typed(&["accept", "-d", "nonsense"]),
            typed(&["perhaps"]),
        ];
        expect![[r#"
            {"action":"accept","content":{"approved":true,"reason":"all is well"},"by":"user"}
            {"action":"accept","content":{"a":[1]},"by":"ada"}
            {"action":"decline","by":"user"}
            `approved` is no field; write FIELD=VALUE
            --data is not JSON: expected ident at line 1 column 2; write an object
            error: invalid value 'perhaps' for '<ACTION>'"#]]
        .assert_eq(&told.join("\n"));
    }
}
