//! `holdfast invocations …`: what is under way, why it waits, and what a person can do about it.

use super::{
    Failure,
    api::{Admin, escape},
    args::Invocations,
    text::{Paint, columns, shorten},
    timeline,
};
use crate::query::model::{self, InvocationDetail, Status};
use serde_json::Value;
use std::process::ExitCode;

/// Longest reason in a list, in characters.
const REASON_CHARS_MAX: usize = 70;

pub fn run(admin: Admin, command: Invocations) -> Result<ExitCode, Failure> {
    match command {
        Invocations::List { all, status, service, handler, key, deployment, limit, json } => {
            let status = if all && status.is_empty() { vec!["all".to_owned()] } else { status };
            let status = Some(status.join(",")).filter(|status| !status.is_empty());
            let limit = Some(limit.to_string());
            let filters = [
                ("status", status),
                ("service", service),
                ("handler", handler),
                ("key", key),
                ("deployment", deployment),
                ("limit", limit),
            ];
            list(&admin, &filters, json)
        }
        Invocations::Describe { id, json } => describe(&admin, &id, json),
        Invocations::Cancel { ids } => each(&admin, &ids, "cancel", "cancelled"),
        Invocations::Kill { ids } => each(&admin, &ids, "kill", "killed"),
        Invocations::Pause { ids } => each(&admin, &ids, "pause", "pausing"),
        Invocations::Purge { ids } => each(&admin, &ids, "purge", "purged"),
        Invocations::PurgeJournal { ids } => each(&admin, &ids, "purge-journal", "journal purged"),
        Invocations::Resume { ids, deployment } => {
            each(&admin, &ids, &with_query("resume", &[("deployment", deployment)]), "resumed")
        }
        Invocations::Restart { ids, from, deployment } => {
            let from = from.map(|from| from.to_string());
            let verb = with_query("restart-as-new", &[("from", from), ("deployment", deployment)]);
            each(&admin, &ids, &verb, "restarted")
        }
    }
}

fn with_query(path: &str, pairs: &[(&str, Option<String>)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", escape(value.as_deref()?))))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

fn list(
    admin: &Admin,
    filters: &[(&str, Option<String>)],
    json: bool,
) -> Result<ExitCode, Failure> {
    let path = with_query("/holdfast/invocations", filters);
    if json {
        return print_json(&admin.get::<Value>(&path)?);
    }
    let found: model::Invocations = admin.get(&path)?;
    if found.invocations.is_empty() {
        println!("no invocations match; completed ones are shown with --all");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = found.invocations.iter().map(row).collect();
    print!("{}", columns(&["ID", "TARGET", "STATUS", "CREATED", "ATTEMPT", "WAITS FOR"], &rows));
    if found.more {
        println!("… and more; narrow the list or raise --limit");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(invocation: &model::Invocation) -> Vec<String> {
    let why = match (&invocation.waits_for, &invocation.outcome) {
        (Some(why), _) => why.clone(),
        (None, Some(model::Outcome::Failure { code, message })) => {
            format!("failed: {code} {message}")
        }
        (None, _) => String::new(),
    };
    vec![
        invocation.id.clone(),
        invocation.target.clone(),
        invocation.status.as_str().to_owned(),
        invocation.created_at.clone(),
        invocation.attempt.to_string(),
        shorten(&why, REASON_CHARS_MAX),
    ]
}

fn describe(admin: &Admin, id: &str, json: bool) -> Result<ExitCode, Failure> {
    let path = format!("/holdfast/invocations/{}", escape(id));
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

pub(super) fn print_json(value: &Value) -> Result<ExitCode, Failure> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(ExitCode::SUCCESS)
}

/// Does `verb` to every id; one that is refused does not keep the others from it.
fn each(admin: &Admin, ids: &[String], verb: &str, done: &str) -> Result<ExitCode, Failure> {
    if ids.is_empty() {
        return Err("name at least one invocation id".into());
    }
    let mut all_done = true;
    for id in ids {
        match admin.patch(&format!("/invocations/{}/{verb}", escape(id))) {
            Ok(answer) => match answer.get("new_invocation_id").and_then(Value::as_str) {
                Some(new) => println!("{id} {done} as {new}"),
                None => println!("{id} {done}"),
            },
            Err(error) => {
                all_done = false;
                eprintln!("{id}: {error}");
            }
        }
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
