//! Does something to invocations, by id or by what they call: says how many they are, asks, and
//! tells of each what became of it.

use super::{
    super::{
        Failure,
        api::{Admin, Answer, Refused},
        args::Which,
        ask,
        text::{Paint, columns, count},
    },
    target::{Target, condition},
};
use crate::query::model::Status;
use holdfast_wire::percent::escaped;
use hyper::StatusCode;
use serde_json::Value;
use std::process::ExitCode;

/// Most invocations that are shown before it is asked.
const SHOWN_MAX: usize = 20;

/// What can be done.
pub struct Act {
    verb: &'static str,
    /// The route.
    route: &'static str,
    /// To which of those that call something; of one that is named by its id the server judges.
    of: &'static [Status],
    /// What is said where it is done, and where it is accepted and takes effect later.
    done: &'static str,
    accepted: &'static str,
}

impl Act {
    pub const CANCEL: Act = Act {
        verb: "cancel",
        route: "cancel",
        of: &Status::UNDER_WAY,
        done: "cancelled",
        accepted: "told to stop",
    };
    pub const KILL: Act = Act {
        verb: "kill",
        route: "kill",
        of: &Status::UNDER_WAY,
        done: "killed",
        accepted: "killed",
    };
    pub const PAUSE: Act = Act {
        verb: "pause",
        route: "pause",
        of: &[Status::Ready, Status::Running, Status::BackingOff, Status::Suspended],
        done: "paused",
        accepted: "pauses when its attempt ends",
    };
    pub const RESUME: Act = Act {
        verb: "resume",
        route: "resume",
        of: &[Status::Paused, Status::BackingOff, Status::Suspended],
        done: "resumed",
        accepted: "resumed",
    };
    pub const PURGE: Act = Act {
        verb: "purge",
        route: "purge",
        of: &[Status::Completed],
        done: "purged",
        accepted: "purged",
    };
    pub const PURGE_JOURNAL: Act = Act {
        verb: "purge the journal of",
        route: "purge-journal",
        of: &[Status::Completed],
        done: "journal purged",
        accepted: "journal purged",
    };
    pub const RESTART: Act = Act {
        verb: "restart",
        route: "restart-as-new",
        of: &[Status::Completed],
        done: "restarted",
        accepted: "restarted",
    };
}

/// An invocation that is meant.
struct Meant {
    id: String,
    /// Of one that was found by what it calls.
    target: Option<String>,
    status: String,
}

pub fn act(admin: &Admin, which: &Which, act: &Act, query: &str) -> Result<ExitCode, Failure> {
    let mut meant: Vec<Meant> = vec![];
    for text in &which.which {
        meant.extend(find(admin, text, act)?);
    }
    let found = meant.iter().filter(|it| it.target.is_some()).count();
    if found > 0 {
        print!("{}", draw(&meant, Paint::of_stdout()));
        let question = format!("{} {}?", act.verb, count(meant.len(), "invocation"));
        if !ask::confirm(&question, which.yes)? {
            return Err("nothing was done".into());
        }
    }
    let path = |it: &Meant| format!("/invocations/{}/{}{query}", escaped(&it.id), act.route);
    let answers = admin.patch_each(meant.iter().map(path).collect());
    let mut refused = 0;
    for (it, answer) in meant.iter().zip(answers) {
        match answer.and_then(Answer::success) {
            Ok(answer) => println!("{} {}", it.id, told(act, &answer)),
            Err(error) => {
                refused += 1;
                eprintln!("{}: {}", it.id, reason(&it.id, error.as_ref()));
            }
        }
    }
    if meant.len() > 1 {
        println!("{}", summary(act, meant.len(), refused));
    }
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What `text` means; never nothing.
fn find(admin: &Admin, text: &str, act: &Act) -> Result<Vec<Meant>, Failure> {
    let called = match Target::read(text) {
        Target::Id(id) => {
            return Ok(vec![Meant { id: id.into(), target: None, status: String::new() }]);
        }
        Target::Called(called) => called,
    };
    let statuses: Vec<String> = act.of.iter().map(|it| format!("'{}'", it.as_str())).collect();
    let question = format!(
        "SELECT id, target, status FROM sys_invocation WHERE {} AND status IN ({}) \
         ORDER BY created_at, id",
        condition(called),
        statuses.join(", ")
    );
    let text_of = |row: &super::super::api::Row, name: &str| {
        row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found: Vec<Meant> = admin
        .sql(&question)?
        .iter()
        .map(|row| Meant {
            id: text_of(row, "id"),
            target: Some(text_of(row, "target")),
            status: text_of(row, "status"),
        })
        .collect();
    if found.is_empty() {
        let statuses: Vec<&str> = act.of.iter().map(|status| status.as_str()).collect();
        return Err(format!(
            "no invocation of `{called}` can be meant: one would have to be {}",
            statuses.join(", ")
        )
        .into());
    }
    Ok(found)
}

fn draw(meant: &[Meant], paint: Paint) -> String {
    let rows: Vec<Vec<String>> = meant
        .iter()
        .take(SHOWN_MAX)
        .map(|it| {
            let status = Status::parse(&it.status);
            let status = status.map_or_else(|| it.status.clone(), |status| paint.status(status));
            vec![it.id.clone(), it.target.clone().unwrap_or_default(), status]
        })
        .collect();
    let mut out = columns(&["ID", "TARGET", "STATUS"], &rows);
    if meant.len() > SHOWN_MAX {
        out.push_str(&format!("… and {} more\n", meant.len() - SHOWN_MAX));
    }
    out
}

/// What became of one.
fn told(act: &Act, answer: &Answer) -> String {
    let new = answer.read::<Value>().ok();
    let new = new.as_ref().and_then(|it| it.get("new_invocation_id")?.as_str());
    match new {
        Some(new) => format!("{} as {new}", act.done),
        None if answer.status == StatusCode::ACCEPTED => act.accepted.into(),
        None => act.done.into(),
    }
}

/// Why it was refused, without the id that stands before it already.
fn reason(id: &str, error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    match error.downcast_ref::<Refused>() {
        Some(refused) => refused.message.trim_start_matches(&format!("`{id}` ")).to_owned(),
        None => error.to_string(),
    }
}

fn summary(act: &Act, all: usize, refused: usize) -> String {
    let done = format!("{} {}", all - refused, act.done);
    if refused == 0 { done } else { format!("{done}, {refused} refused") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_is_meant_is_shown_before_it_is_asked() {
        let one = |number: usize| Meant {
            id: format!("inv_1{number}"),
            target: Some("Lock/k1/hold".into()),
            status: "pending".into(),
        };
        let meant: Vec<Meant> = (0..SHOWN_MAX + 2).map(one).collect();
        let lines: Vec<String> = draw(&meant, Paint::plain()).lines().map(str::to_owned).collect();
        expect![[r#"
            ID       TARGET        STATUS
            inv_10   Lock/k1/hold  pending
            … and 2 more
        "#]]
        .assert_eq(&format!("{}\n{}\n", lines[..2].join("\n"), lines[SHOWN_MAX + 1]));
        assert_eq!(summary(&Act::CANCEL, 3, 0), "3 cancelled");
        assert_eq!(summary(&Act::KILL, 3, 1), "2 killed, 1 refused");
    }

    #[test]
    fn a_reason_does_not_repeat_the_id() {
        let message = "`inv_1x` is completed already (HF0152)".to_owned();
        let error: Failure = Refused { status: StatusCode::CONFLICT, message }.into();
        assert_eq!(reason("inv_1x", error.as_ref()), "is completed already (HF0152)");
    }
}
