//! `holdfast notices …`: what somebody outside is to be told, and why they were not yet.

use super::{
    Failure,
    api::Admin,
    args::Notices,
    print_json,
    text::{columns, shorten},
};
use crate::query::model;
use serde_json::Value;
use std::process::ExitCode;

/// Longest reason in a list, in characters.
const REASON_CHARS_MAX: usize = 60;
const HEAD: [&str; 7] = ["ID", "TYPE", "AT", "TARGET", "INVOCATION", "TRIES", "LAST ERROR"];

pub fn run(admin: Admin, command: Notices) -> Result<ExitCode, Failure> {
    let Notices::List { limit, json } = command;
    let path = format!("/holdfast/notices?limit={limit}");
    if json {
        return print_json(&admin.get::<Value>(&path)?);
    }
    let found: model::Notices = admin.get(&path)?;
    if found.notices.is_empty() {
        println!("no notice waits; all were taken");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", list(&found.notices));
    if found.more {
        println!("… and more; raise --limit");
    }
    Ok(ExitCode::SUCCESS)
}

fn list(notices: &[model::Notice]) -> String {
    let row = |notice: &model::Notice| {
        let why = match (&notice.last_error, &notice.next_try_at) {
            (Some(why), Some(at)) => {
                format!("{}, next try at {at}", shorten(why, REASON_CHARS_MAX))
            }
            _ => String::new(),
        };
        let cause = notice.by.as_ref().or(notice.cause.as_ref());
        let ty = cause.map(|cause| format!("{} ({cause})", notice.ty));
        vec![
            notice.id.clone(),
            ty.unwrap_or_else(|| notice.ty.clone()),
            notice.at.clone(),
            notice.target.clone(),
            notice.invocation.clone(),
            notice.tries.to_string(),
            why,
        ]
    };
    columns(&HEAD, &notices.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn a_notice_is_a_line() {
        let notice = json!({
            "id": "ntc_1a", "type": "invocation.paused", "at": "2026-11-29T20:00:00.000Z",
            "by": "retries", "invocation": "inv_1x", "target": "Refund/refund", "attempts": 2,
            "tries": 3, "last_error": "the receiver answered 503",
            "next_try_at": "2026-11-29T20:00:09.000Z",
        });
        let next = json!({
            "id": "ntc_1b", "type": "invocation.failed", "at": "2026-11-29T20:00:01.000Z",
            "cause": "killed", "invocation": "inv_1y", "target": "Refund/refund", "attempts": 1,
            "tries": 0,
        });
        let notices: Vec<model::Notice> = serde_json::from_value(json!([notice, next])).unwrap();
        expect![[r#"
            ID      TYPE                         AT                        TARGET         INVOCATION  TRIES  LAST ERROR
            ntc_1a  invocation.paused (retries)  2026-11-29T20:00:00.000Z  Refund/refund  inv_1x      3      the receiver answered 503, next try at 2026-11-29T20:00:09.000Z
            ntc_1b  invocation.failed (killed)   2026-11-29T20:00:01.000Z  Refund/refund  inv_1y      0
        "#]].assert_eq(&list(&notices));
    }
}
