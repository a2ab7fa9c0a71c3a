//! `holdfast limits …`: how many invocations may run at once, and who waits for that.

use super::{Failure, api::Admin, args, print_json, text::columns};
use crate::query::model::{Limits, Places};
use serde_json::Value;
use std::process::ExitCode;

const PATH: &str = "/holdfast/limits";

pub fn run(admin: Admin, command: args::Limits) -> Result<ExitCode, Failure> {
    match command {
        args::Limits::List { json: true } => print_json(&admin.get::<Value>(PATH)?),
        args::Limits::List { json: false } => {
            print!("{}", table(&admin.get(PATH)?));
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The limits, and above them what holds for all attempts together.
fn table(limits: &Limits) -> String {
    let of_limits = limits.limits.iter().map(|it| row(&it.limit, &it.from, &it.places));
    let all = row("(all attempts)", "config", &limits.attempts);
    let rows: Vec<Vec<String>> = std::iter::once(all).chain(of_limits).collect();
    let head = ["LIMIT", "FROM", "CONCURRENCY", "RUNNING", "WAITING", "WAITS LONGEST", "SINCE"];
    columns(&head, &rows)
}

fn row(name: &str, from: &str, places: &Places) -> Vec<String> {
    vec![
        name.to_owned(),
        from.to_owned(),
        places.concurrency.to_string(),
        places.running.to_string(),
        places.waiting.to_string(),
        places.oldest_waiter.clone().unwrap_or_default(),
        places.waiting_since.clone().unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::model::Limit;
    use expect_test::expect;

    #[test]
    fn limits_are_a_table() {
        let places = |concurrency, running, waiting| Places {
            concurrency,
            running,
            waiting,
            oldest_waiter: (waiting > 0).then(|| "inv_1".into()),
            waiting_since: (waiting > 0).then(|| "2026-11-29T20:31:07.120Z".into()),
        };
        let limit = |limit: &str, from: &str, places| Limit {
            limit: limit.into(),
            service: String::new(),
            handler: None,
            key_prefix: None,
            from: from.into(),
            places,
        };
        let limits = Limits {
            attempts: places(1_000, 7, 0),
            limits: vec![
                limit("Account/eu-*", "metadata", places(1, 0, 0)),
                limit("Payments/charge", "config", places(5, 5, 12)),
            ],
        };
        expect![[r#"
            LIMIT            FROM      CONCURRENCY  RUNNING  WAITING  WAITS LONGEST  SINCE
            (all attempts)   config    1000         7        0
            Account/eu-*     metadata  1            0        0
            Payments/charge  config    5            5        12       inv_1          2026-11-29T20:31:07.120Z
        "#]].assert_eq(&table(&limits));
    }
}
