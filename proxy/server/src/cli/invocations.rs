//! `holdfast invocations …`: what is under way, why it waits, and what a person can do about it.

mod act;
mod target;

use super::{
    Failure,
    api::Admin,
    args::{Invocations, List},
    print_json,
    text::{Paint, ago, columns, shorten},
    timeline,
};
use crate::query::model::{self, InvocationDetail, Status};
use act::{Act, act};
use holdfast_wire::percent::escaped;
use serde_json::Value;
use std::process::ExitCode;

/// Longest reason in a list, in characters.
const REASON_CHARS_MAX: usize = 70;

pub fn run(admin: Admin, command: Invocations) -> Result<ExitCode, Failure> {
    match command {
        Invocations::List(wish) => list(&admin, wish),
        Invocations::Describe { id, json } => describe(&admin, &id, json),
        Invocations::Cancel(which) => act(&admin, &which, &Act::CANCEL, ""),
        Invocations::Kill(which) => act(&admin, &which, &Act::KILL, ""),
        Invocations::Pause(which) => act(&admin, &which, &Act::PAUSE, ""),
        Invocations::Purge(which) => act(&admin, &which, &Act::PURGE, ""),
        Invocations::PurgeJournal(which) => act(&admin, &which, &Act::PURGE_JOURNAL, ""),
        Invocations::Resume { which, deployment } => {
            act(&admin, &which, &Act::RESUME, &query(&[("deployment", deployment)]))
        }
        Invocations::Restart { which, from, deployment } => {
            let from = from.map(|from| from.to_string());
            let query = query(&[("from", from), ("deployment", deployment)]);
            act(&admin, &which, &Act::RESTART, &query)
        }
    }
}

/// `?name=value&…` of the pairs that have a value.
fn query(pairs: &[(&str, Option<String>)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", escaped(value.as_deref()?))))
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn list(admin: &Admin, wish: List) -> Result<ExitCode, Failure> {
    let path = format!("/holdfast/invocations{}", query(&filters(&wish)));
    if wish.json {
        return print_json(&admin.get::<Value>(&path)?);
    }
    let found: model::Invocations = admin.get(&path)?;
    print!("{}", draw(&found, jiff::Timestamp::now(), Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn filters(wish: &List) -> [(&'static str, Option<String>); 10] {
    let status = match (wish.status.as_slice(), wish.all, wish.failed) {
        ([], true, _) => Some("all".to_owned()),
        ([], _, true) => Some(Status::Completed.as_str().to_owned()),
        ([], ..) => None,
        (some, ..) => Some(some.join(",")),
    };
    let on = |wanted: bool| wanted.then(|| "true".to_owned());
    [
        ("status", status),
        ("service", wish.service.clone()),
        ("handler", wish.handler.clone()),
        ("key", wish.key.clone()),
        ("deployment", wish.deployment.clone()),
        ("keyed", on(wish.keyed)),
        ("failed", on(wish.failed)),
        ("zombie", on(wish.zombie)),
        ("order", wish.oldest_first.then(|| "oldest".to_owned())),
        ("limit", Some(wish.limit.to_string())),
    ]
}

fn draw(found: &model::Invocations, now: jiff::Timestamp, paint: Paint) -> String {
    if found.invocations.is_empty() {
        return "no invocations match; completed ones are shown with --all\n".into();
    }
    let rows: Vec<Vec<String>> =
        found.invocations.iter().map(|invocation| row(invocation, now, paint)).collect();
    let mut out = columns(&["ID", "TARGET", "STATUS", "AGE", "ATTEMPT", "WAITS FOR"], &rows);
    if found.more {
        out.push_str("… and more; narrow the list or raise --limit\n");
    }
    out
}

fn row(invocation: &model::Invocation, now: jiff::Timestamp, paint: Paint) -> Vec<String> {
    let failed = match &invocation.outcome {
        Some(model::Outcome::Failure { code, message }) => Some(format!("{code} {message}")),
        _ => None,
    };
    let status = match (invocation.status, &failed) {
        (Status::Completed, Some(_)) => paint.bad("failed"),
        (status, _) => paint.status(status),
    };
    let why = invocation.waits_for.clone().or(failed).unwrap_or_default();
    vec![
        invocation.id.clone(),
        invocation.target.clone(),
        status,
        ago(&invocation.created_at, now),
        invocation.attempt.to_string(),
        shorten(&why, REASON_CHARS_MAX),
    ]
}

fn describe(admin: &Admin, id: &str, json: bool) -> Result<ExitCode, Failure> {
    let path = format!("/holdfast/invocations/{}", escaped(id));
    if json {
        return print_json(&admin.get::<Value>(&path)?);
    }
    let detail: InvocationDetail = admin.get(&path)?;
    print!("{}", timeline::draw(&detail, Paint::of_stdout()));
    if detail.invocation.status == Status::Paused {
        println!("\nresume it with: holdfast invocations resume {id}");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn a_list_says_why_each_one_waits() {
        let one = |id: &str, status: &str, more: Value| {
            let mut one = json!({
                "id": id, "target": "Pay/charge", "service": "Pay", "handler": "charge",
                "handler_type": "service", "status": status, "created_at": "2026-11-29T20:00:00Z",
                "modified_at": "2026-11-29T20:00:00Z", "attempt": 2, "failed_attempts": 0,
                "root": id, "invoked_by": { "kind": "ingress" }, "journal_entries": 1,
                "completion_retention_ms": 0, "journal_retention_ms": 0,
            });
            for (name, value) in more.as_object().unwrap() {
                one[name] = value.clone();
            }
            one
        };
        let failure =
            json!({ "outcome": { "result": "failure", "code": 409, "message": "killed" } });
        let found = json!({ "more": true, "invocations": [
            one("inv_1a", "backing-off", json!({ "waits_for": "attempt 3, after: no bank" })),
            one("inv_1b", "completed", failure),
            one("inv_1c", "running", json!({})),
        ] });
        let found: model::Invocations = serde_json::from_value(found).unwrap();
        let now = "2026-11-29T21:00:05Z".parse().unwrap();
        expect![[r#"
            ID      TARGET      STATUS       AGE    ATTEMPT  WAITS FOR
            inv_1a  Pay/charge  backing-off  1h00m  2        attempt 3, after: no bank
            inv_1b  Pay/charge  failed       1h00m  2        409 killed
            inv_1c  Pay/charge  running      1h00m  2
            … and more; narrow the list or raise --limit
        "#]]
        .assert_eq(&draw(&found, now, Paint::plain()));
    }
}
