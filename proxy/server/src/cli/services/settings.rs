//! `holdfast services config …`: settings in force, and changes of them.

use super::super::{Failure, api::Admin, args::Settings, deployments::text, print_json};
use holdfast_wire::percent::escaped;
use serde_json::{Map, Value};
use std::{fmt::Write, process::ExitCode};

/// What can be changed while the service runs.
const CHANGEABLE: [&str; 6] = [
    "public",
    "idempotency_retention",
    "workflow_completion_retention",
    "journal_retention",
    "inactivity_timeout",
    "abort_timeout",
];
/// What only the service itself says.
const OF_THE_SERVICE: [&str; 2] = ["enable_lazy_state", "retry_policy"];

pub fn print(service: &Value, json: bool) -> Result<ExitCode, Failure> {
    if json {
        return print_json(&settings(service));
    }
    println!("{}", text(service, "name"));
    print!("{}", draw(service));
    Ok(ExitCode::SUCCESS)
}

/// A line for each setting that the service has, and for what the server has to say about them.
pub fn draw(service: &Value) -> String {
    let mut out = String::new();
    for (name, value) in settings(service) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "  {name}: {value}");
    }
    for note in service["info"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "  note: {}", text(note, "message"));
    }
    out
}

fn settings(service: &Value) -> Map<String, Value> {
    let names = CHANGEABLE.into_iter().chain(OF_THE_SERVICE);
    let set = names.filter_map(|name| {
        let value = service.get(name).filter(|value| !value.is_null())?;
        Some((name.to_owned(), value.clone()))
    });
    set.collect()
}

pub fn patch(admin: &Admin, name: &str, wish: &Settings, json: bool) -> Result<ExitCode, Failure> {
    let path = format!("/services/{}", escaped(name));
    let before: Value = admin.get(&path)?;
    let after: Value = admin.change(&path, &body(wish).into())?;
    if json {
        return print_json(&settings(&after));
    }
    print!("{}", changes(&before, &after));
    Ok(ExitCode::SUCCESS)
}

fn body(wish: &Settings) -> Map<String, Value> {
    let text = |value: &Option<String>| value.clone().map(Value::String);
    let wishes = [
        ("public", wish.public.map(Value::Bool)),
        ("idempotency_retention", text(&wish.idempotency_retention)),
        ("workflow_completion_retention", text(&wish.workflow_completion_retention)),
        ("journal_retention", text(&wish.journal_retention)),
        ("inactivity_timeout", text(&wish.inactivity_timeout)),
        ("abort_timeout", text(&wish.abort_timeout)),
    ];
    wishes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn changes(before: &Value, after: &Value) -> String {
    let show = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let changed = CHANGEABLE.into_iter().filter(|name| before[*name] != after[*name]);
    let lines: Vec<String> = changed
        .map(|name| format!("  {name}: {} → {}\n", show(&before[name]), show(&after[name])))
        .collect();
    match lines.as_slice() {
        [] => format!("{}: nothing is different\n", text(after, "name")),
        lines => format!("{}\n{}", text(after, "name"), lines.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn settings_are_shown_and_compared() {
        let before = json!({ "name": "Flow", "public": true, "journal_retention": "1d",
            "inactivity_timeout": "1m", "enable_lazy_state": false, "revision": 4,
            "retry_policy": { "max_attempts": 70 } });
        let mut after = before.clone();
        after["journal_retention"] = "1h".into();
        after["public"] = false.into();
        expect![[r#"
            Flow
              public: true
              journal_retention: 1d
              inactivity_timeout: 1m
              enable_lazy_state: false
              retry_policy: {"max_attempts":70}
        "#]]
        .assert_eq(&format!("Flow\n{}", draw(&before)));
        expect![[r#"
            Flow
              public: true → false
              journal_retention: 1d → 1h
        "#]]
        .assert_eq(&changes(&before, &after));
        expect![[r#"
            Flow: nothing is different
        "#]]
        .assert_eq(&changes(&before, &before));
    }
}
