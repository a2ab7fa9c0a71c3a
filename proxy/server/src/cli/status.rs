//! `holdfast status`: who answers, whether it is well, and how much it has to do.

use super::{
    Failure,
    api::{Admin, Ask},
    text::{Paint, columns, count, indent},
};
use crate::query::model::{Counts, Health, Status};
use hyper::Method;
use serde_json::{Value, json};
use std::{fmt::Write, process::ExitCode};

pub fn run(admin: &Admin, json: bool) -> Result<ExitCode, Failure> {
    // 503 where it is not ready, with the same body.
    let health: Health = admin.ask(Ask::new(Method::GET, "/holdfast/health"))?.read()?;
    let version: Value = admin.get("/version")?;
    let counts: Counts = admin.get("/holdfast/counts")?;
    if json {
        let (at, ingress) = (admin.base(), &version["ingress_endpoint"]);
        let all = json!({ "admin": at, "ingress": ingress, "health": health, "counts": counts });
        super::print_json(&all)?;
    } else {
        let ingress = version["ingress_endpoint"].as_str();
        print!("{}", draw(admin.base(), ingress, &health, &counts, Paint::of_stdout()));
    }
    Ok(if health.ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn draw(
    admin: &str,
    ingress: Option<&str>,
    health: &Health,
    counts: &Counts,
    paint: Paint,
) -> String {
    let mut out = String::new();
    let ready = if health.ready { paint.good("ready") } else { paint.bad("not ready") };
    let _ = writeln!(out, "holdfast {} at {admin}, {ready}", health.version);
    if let Some(ingress) = ingress {
        let _ = writeln!(out, "callers reach it at {ingress}");
    }
    for partition in health.partitions.iter().filter(|partition| !partition.ready) {
        let reason = partition.reason.as_deref().unwrap_or("it does not say why");
        let _ = writeln!(
            out,
            "partition {} is {}: {reason}",
            partition.partition,
            paint.bad("not ready")
        );
    }
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let facts = [
        count(health.partitions.len(), "partition"),
        count(size(health.deployments), "deployment"),
        count(size(health.services), "service"),
        count(size(counts.total), "invocation"),
    ];
    let _ = writeln!(out, "{}", facts.join(", "));
    out.push_str(&indent(&by_status(counts, paint), 2));
    out.push_str(&advice(health, counts));
    out
}

fn by_status(counts: &Counts, paint: Paint) -> String {
    let seen = Status::ALL.into_iter().filter_map(|status| {
        let number = counts.by_status.get(&status).filter(|number| **number > 0)?;
        Some(vec![paint.status(status), number.to_string()])
    });
    let rows: Vec<Vec<String>> = seen.collect();
    if rows.is_empty() { String::new() } else { columns(&["STATUS", "INVOCATIONS"], &rows) }
}

/// What a person can do next.
fn advice(health: &Health, counts: &Counts) -> String {
    let stuck = [Status::Paused, Status::BackingOff];
    let stuck: Vec<&str> = stuck
        .into_iter()
        .filter(|status| counts.by_status.get(status).is_some_and(|number| *number > 0))
        .map(Status::as_str)
        .collect();
    if health.deployments == 0 {
        return "nothing is registered: holdfast deployments register URL\n".into();
    }
    match stuck.as_slice() {
        [] => String::new(),
        stuck => format!("look at: holdfast invocations list --status {}\n", stuck.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(health: Value, counts: Value, expected: Expect) {
        let health: Health = serde_json::from_value(health).unwrap();
        let counts: Counts = serde_json::from_value(counts).unwrap();
        let ingress = Some("http://127.0.0.1:8080/");
        let drawn = draw("http://127.0.0.1:9070", ingress, &health, &counts, Paint::plain());
        expected.assert_eq(&drawn);
    }

    #[test]
    fn a_sidecar_at_work() {
        check(
            json!({ "ready": true, "version": "0.1.0", "services": 3, "deployments": 1,
                "partitions": [{ "partition": 0, "ready": true }] }),
            json!({ "total": 12, "by_status": { "running": 2, "paused": 1, "completed": 9 },
                "by_service": {}, "by_deployment": {} }),
            expect![[r#"
                holdfast 0.1.0 at http://127.0.0.1:9070, ready
                callers reach it at http://127.0.0.1:8080/
                1 partition, 1 deployment, 3 services, 12 invocations
                  STATUS     INVOCATIONS
                  running    2
                  paused     1
                  completed  9
                look at: holdfast invocations list --status paused
            "#]],
        );
    }

    #[test]
    fn a_sidecar_that_is_new_and_not_ready() {
        check(
            json!({ "ready": false, "version": "0.1.0", "services": 0, "deployments": 0,
                "partitions": [{ "partition": 0, "ready": true },
                    { "partition": 1, "ready": false, "reason": "it is recovering" }] }),
            json!({ "total": 0, "by_status": {}, "by_service": {}, "by_deployment": {} }),
            expect![[r#"
                holdfast 0.1.0 at http://127.0.0.1:9070, not ready
                callers reach it at http://127.0.0.1:8080/
                partition 1 is not ready: it is recovering
                2 partitions, 0 deployments, 0 services, 0 invocations
                nothing is registered: holdfast deployments register URL
            "#]],
        );
    }
}
