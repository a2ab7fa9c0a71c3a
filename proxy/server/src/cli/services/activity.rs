//! `holdfast services status`: what is under way by handler, what is oldest, what has stood still
//! longest, and who holds which key.

use super::super::{
    Failure,
    api::{Admin, Row, quote},
    print_json,
    text::{Paint, ago, columns, indent},
};
use crate::query::model::Status;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write, process::ExitCode};

/// Most keys that are shown, those with the longest queues first.
const KEYS_MAX: usize = 100;

/// Of these one can ask why they stand still.
const BLOCKED: [Status; 3] = [Status::Pending, Status::BackingOff, Status::Paused];

pub fn run(admin: &Admin, names: &[String], json: bool) -> Result<ExitCode, Failure> {
    for name in names {
        super::find(admin, name)?;
    }
    let groups = admin.sql(&groups(names))?;
    let keys = admin.sql(&keys(names))?;
    if json {
        return print_json(&json!({ "handlers": groups, "keys": keys }));
    }
    print!("{}", draw(&groups, &keys, jiff::Timestamp::now(), Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn among(column: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" AND {column} IN ({})", names.join(", ")),
    }
}

fn groups(names: &[String]) -> String {
    format!(
        "SELECT target_service_name AS service, target_handler_name AS handler, status,
                count(*) AS invocations, min(created_at) AS oldest_at,
                first_value(id ORDER BY created_at) AS oldest, min(modified_at) AS still_since,
                first_value(id ORDER BY modified_at) AS still
         FROM sys_invocation WHERE status != 'completed'{}
         GROUP BY service, handler, status ORDER BY service, handler",
        among("target_service_name", names)
    )
}

fn keys(names: &[String]) -> String {
    format!(
        "SELECT s.service_name AS service, s.service_key AS key, s.invocation_id AS holder,
                i.target_handler_name AS handler, i.status, i.modified_at AS since,
                (SELECT count(*) FROM sys_inbox q WHERE q.service_name = s.service_name
                    AND q.service_key = s.service_key) AS waiting
         FROM sys_keyed_service_status s LEFT JOIN sys_invocation i ON i.id = s.invocation_id
         WHERE true{} ORDER BY waiting DESC, key LIMIT {KEYS_MAX}",
        among("s.service_name", names)
    )
}

fn text<'r>(row: &'r Row, name: &str) -> &'r str {
    row.get(name).and_then(Value::as_str).unwrap_or("-")
}

fn draw(groups: &[Row], keys: &[Row], now: jiff::Timestamp, paint: Paint) -> String {
    let mut services: BTreeMap<&str, BTreeMap<&str, Handler<'_>>> = BTreeMap::new();
    for group in groups {
        let service = services.entry(text(group, "service")).or_default();
        service.entry(text(group, "handler")).or_default().take(group);
    }
    if services.is_empty() {
        return "nothing is under way\n".into();
    }
    let mut out = String::new();
    for (name, handlers) in services {
        let _ = writeln!(out, "{}", paint.bold(name));
        let rows: Vec<Vec<String>> =
            handlers.iter().map(|(name, handler)| handler.row(name, now, paint)).collect();
        let mut head = vec!["HANDLER".to_owned()];
        head.extend(Status::UNDER_WAY.map(|status| status.as_str().to_uppercase()));
        head.extend(["OLDEST".to_owned(), "STANDS STILL LONGEST".to_owned()]);
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        out.push_str(&indent(&columns(&head, &rows), 2));
        out.push_str(&held(name, keys, now));
    }
    out
}

/// What is under way of one handler.
#[derive(Default)]
struct Handler<'r> {
    counts: BTreeMap<Status, u64>,
    oldest: Option<(&'r str, &'r str)>,
    /// Since when, which, in which status.
    still: Option<(&'r str, &'r str, Status)>,
}

impl<'r> Handler<'r> {
    fn take(&mut self, group: &'r Row) {
        let Some(status) = Status::parse(text(group, "status")) else {
            return;
        };
        let number = group.get("invocations").and_then(Value::as_u64).unwrap_or(0);
        self.counts.insert(status, number);
        let oldest = (text(group, "oldest_at"), text(group, "oldest"));
        self.oldest = Some(self.oldest.map_or(oldest, |seen| seen.min(oldest)));
        if BLOCKED.contains(&status) {
            let still = (text(group, "still_since"), text(group, "still"), status);
            self.still = Some(self.still.map_or(still, |seen| seen.min(still)));
        }
    }

    fn row(&self, name: &str, now: jiff::Timestamp, paint: Paint) -> Vec<String> {
        let mut row = vec![name.to_owned()];
        row.extend(Status::UNDER_WAY.map(|status| match self.counts.get(&status) {
            Some(number) => number.to_string(),
            None => paint.dim("·"),
        }));
        let oldest = self.oldest.map(|(at, id)| format!("{} {id}", ago(at, now)));
        let still = self.still.map(|(since, id, status)| {
            format!("{} {id} {}", ago(since, now), paint.status(status))
        });
        row.extend([oldest.unwrap_or_default(), still.unwrap_or_default()]);
        row
    }
}

/// The keys of a service that somebody holds.
fn held(service: &str, keys: &[Row], now: jiff::Timestamp) -> String {
    let keys = keys.iter().filter(|key| text(key, "service") == service);
    let rows: Vec<Vec<String>> = keys
        .map(|key| {
            let waiting = key.get("waiting").and_then(Value::as_u64).unwrap_or(0);
            vec![
                text(key, "key").to_owned(),
                format!(
                    "{} {}, {}",
                    text(key, "holder"),
                    text(key, "handler"),
                    text(key, "status")
                ),
                ago(text(key, "since"), now),
                waiting.to_string(),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => indent(&columns(&["KEY", "HELD BY", "FOR", "WAITING"], &rows), 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn rows(rows: Value) -> Vec<Row> {
        serde_json::from_value(rows).unwrap()
    }

    #[test]
    fn handlers_and_keys_are_shown_by_service() {
        let at = |minute: u32| format!("2026-11-29T20:{minute:02}:00.000Z");
        let groups = rows(json!([
            { "service": "Lock", "handler": "hold", "status": "pending", "invocations": 2,
                "oldest_at": at(2), "oldest": "inv_1b", "still_since": at(3), "still": "inv_1b" },
            { "service": "Lock", "handler": "hold", "status": "running", "invocations": 1,
                "oldest_at": at(1), "oldest": "inv_1a", "still_since": at(1), "still": "inv_1a" },
            { "service": "Pay", "handler": "charge", "status": "suspended", "invocations": 12,
                "oldest_at": at(0), "oldest": "inv_1c", "still_since": at(0), "still": "inv_1c" },
        ]));
        let keys = rows(json!([
            { "service": "Lock", "key": "k1", "holder": "inv_1a", "handler": "hold",
                "status": "running", "since": at(1), "waiting": 2 },
        ]));
        let now = at(5).parse().unwrap();
        expect![[r#"
            Lock
              HANDLER  PENDING  SCHEDULED  READY  RUNNING  BACKING-OFF  SUSPENDED  PAUSED  OLDEST        STANDS STILL LONGEST
              hold     2        ·          ·      1        ·            ·          ·       4m00s inv_1a  2m00s inv_1b pending
              KEY  HELD BY               FOR    WAITING
              k1   inv_1a hold, running  4m00s  2
            Pay
              HANDLER  PENDING  SCHEDULED  READY  RUNNING  BACKING-OFF  SUSPENDED  PAUSED  OLDEST        STANDS STILL LONGEST
              charge   ·        ·          ·      ·        ·            12         ·       5m00s inv_1c
        "#]].assert_eq(&draw(&groups, &keys, now, Paint::plain()));
        expect![[r#"
            nothing is under way
        "#]]
        .assert_eq(&draw(&[], &[], now, Paint::plain()));
    }

    #[test]
    fn names_are_texts_in_the_questions() {
        let asked = groups(&["O'Hara".to_owned(), "B".to_owned()]);
        assert!(asked.contains("AND target_service_name IN ('O''Hara', 'B')"), "{asked}");
    }
}
