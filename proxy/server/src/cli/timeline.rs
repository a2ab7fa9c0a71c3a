//! A journal as a person reads it: one line for each thing that was done, how long it took, what
//! came of it, and at the end what is awaited or why it stands still.

mod mismatch;

use super::text::{Paint, between, shorten, span};
use crate::query::model::{
    EntryClass, Event, Failure, Invocation, InvocationDetail, JournalEntry, Outcome, Preview,
    Status,
};
use std::fmt::Write;

/// Longest value on a line, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// The whole picture of one invocation.
pub fn draw(detail: &InvocationDetail, paint: Paint) -> String {
    let mut out = String::new();
    head(&mut out, &detail.invocation, paint);
    out.push('\n');
    body(&mut out, detail, paint);
    foot(&mut out, detail, paint);
    out
}

fn head(out: &mut String, invocation: &Invocation, paint: Paint) {
    let _ = writeln!(out, "{}  {}", paint.bold(&invocation.target), paint.dim(&invocation.id));
    let mut facts = vec![status(invocation, paint), format!("created {}", invocation.created_at)];
    if invocation.attempt > 0 {
        facts.push(format!("attempt {}", invocation.attempt));
    }
    if let Some(deployment) = &invocation.deployment {
        facts.push(match invocation.protocol_version {
            Some(version) => format!("on {deployment} (V{version})"),
            None => format!("on {deployment}"),
        });
    }
    if let Some(key) = &invocation.idempotency_key {
        facts.push(format!("idempotency key {}", shorten(key, VALUE_CHARS_MAX)));
    }
    let _ = writeln!(out, "{}", facts.join(" · "));
}

fn status(invocation: &Invocation, paint: Paint) -> String {
    let text = invocation.status.as_str();
    match (invocation.status, &invocation.outcome) {
        (Status::Completed, Some(Outcome::Failure { .. })) => paint.bad("failed"),
        (Status::Completed, _) => paint.good(text),
        (Status::BackingOff | Status::Paused, _) => paint.bad(text),
        _ => paint.waits(text),
    }
}

/// Entries in order; a notification that completes a command is drawn on the command's line, all
/// others, and events, on lines of their own where they happened.
fn body(out: &mut String, detail: &InvocationDetail, paint: Paint) {
    let start = &detail.invocation.created_at;
    let mut events = detail.events.iter().peekable();
    for entry in &detail.journal {
        while let Some(event) = events.next_if(|event| event.at <= entry.appended_at) {
            draw_event(out, event, start, paint);
        }
        if entry.class == EntryClass::Command {
            draw_command(out, entry, &detail.journal, start, paint);
        } else if command_of(entry, &detail.journal).is_none() {
            draw_line(out, &entry.appended_at, start, "◆", &describe(entry, paint), paint);
        }
    }
    for event in events {
        draw_event(out, event, start, paint);
    }
    if detail.more {
        let _ = writeln!(out, "{}", paint.dim("          … the journal goes on"));
    }
}

fn draw_command(
    out: &mut String,
    entry: &JournalEntry,
    journal: &[JournalEntry],
    start: &str,
    paint: Paint,
) {
    let answers: Vec<&JournalEntry> = journal
        .iter()
        .filter(|answer| {
            command_of(answer, journal).is_some_and(|command| command.index == entry.index)
        })
        .collect();
    let waits = entry.completed == Some(false);
    let mark = if waits { paint.waits("○") } else { paint.good("●") };
    let mut text = describe(entry, paint);
    for answer in &answers {
        let took = between(&entry.appended_at, &answer.appended_at).map(span).unwrap_or_default();
        if let Some(result) = result(answer, paint) {
            let _ = write!(text, " → {result}");
        }
        if answer.kind != "CallInvocationId" {
            let _ = write!(text, " {}", paint.dim(&format!("({took})")));
        }
    }
    if waits {
        let _ = write!(text, " {}", paint.waits("… waiting"));
    }
    draw_line(out, &entry.appended_at, start, &mark, &text, paint);
}

fn draw_event(out: &mut String, event: &Event, start: &str, paint: Paint) {
    let mut text = paint.bad(&event.kind.replace('-', " "));
    if let Some(failure) = &event.failure {
        let _ = write!(text, ": {}", failure_text(failure));
    }
    if event.count > 1 {
        let _ = write!(text, " {}", paint.dim(&format!("({} times)", event.count)));
    }
    draw_line(out, &event.at, start, &paint.bad("✗"), &text, paint);
    if let Some(mismatch) = &event.mismatch {
        mismatch::draw(out, mismatch, paint);
    }
}

fn draw_line(out: &mut String, at: &str, start: &str, mark: &str, text: &str, paint: Paint) {
    let after = between(start, at).map(|ms| format!("+{}", span(ms))).unwrap_or_default();
    let _ = writeln!(out, "{} {mark} {text}", paint.dim(&format!("{after:>9}")));
}

/// The command that a notification completes, by the completion id that they share.
fn command_of<'a>(entry: &JournalEntry, journal: &'a [JournalEntry]) -> Option<&'a JournalEntry> {
    if entry.class != EntryClass::Notification {
        return None;
    }
    let id = entry.completions.first()?;
    journal
        .iter()
        .find(|command| command.class == EntryClass::Command && command.completions.contains(id))
}

fn describe(entry: &JournalEntry, paint: Paint) -> String {
    let mut text = entry.kind.clone();
    if let Some(name) = entry.name.as_deref().filter(|name| !name.is_empty()) {
        let _ = write!(text, " {}", paint.bold(name));
    }
    for (name, value) in &entry.details {
        let _ =
            write!(text, " {}", paint.dim(&format!("{name}={}", shorten(value, VALUE_CHARS_MAX))));
    }
    if let Some(result) = result(entry, paint) {
        let _ = write!(text, " {result}");
    }
    text
}

fn result(entry: &JournalEntry, paint: Paint) -> Option<String> {
    if let Some(failure) = &entry.failure {
        return Some(paint.bad(&failure_text(failure)));
    }
    if let Some(id) =
        entry.details.get("invocation").filter(|_| entry.class == EntryClass::Notification)
    {
        return Some(id.clone());
    }
    entry.value.as_ref().map(preview).filter(|text| !text.is_empty())
}

fn failure_text(failure: &Failure) -> String {
    let code = failure.doc_code.clone().unwrap_or_else(|| failure.code.to_string());
    format!("{code} {}", shorten(&failure.message, 2 * VALUE_CHARS_MAX))
}

fn preview(value: &Preview) -> String {
    match (&value.text, &value.base64) {
        (Some(text), _) if value.cut => {
            format!("{}… ({} bytes)", shorten(text, VALUE_CHARS_MAX), value.bytes)
        }
        (Some(text), _) => shorten(text, VALUE_CHARS_MAX),
        (None, Some(_)) => format!("({} bytes)", value.bytes),
        (None, None) => String::new(),
    }
}

fn foot(out: &mut String, detail: &InvocationDetail, paint: Paint) {
    let invocation = &detail.invocation;
    match &invocation.outcome {
        Some(Outcome::Success { value }) => {
            let _ = writeln!(out, "\n{} {}", paint.good("result:"), preview(value));
        }
        Some(Outcome::Failure { code, message }) => {
            let _ = writeln!(out, "\n{} {code} {message}", paint.bad("failed:"));
        }
        None => {}
    }
    if let Some(why) = &invocation.waits_for {
        let _ = writeln!(out, "\n{} {why}", paint.waits("waits for:"));
    }
    for awaited in &detail.awaiting {
        let what =
            awaited.what.clone().unwrap_or_else(|| format!("{} {}", awaited.kind, awaited.id));
        let _ = writeln!(out, "  - {what}");
    }
    if let Some(failure) = invocation.last_failure.as_ref().filter(|_| invocation.outcome.is_none())
    {
        let _ = writeln!(out, "{} {}", paint.bad("last failure:"), failure_text(failure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn a_journal_reads_from_top_to_bottom() {
        let at = |second: u32| format!("2026-11-29T20:00:{second:02}.000Z");
        let command = |index: u32, kind: &str, name: &str, completion: u32, completed: bool| {
            json!({ "index": index, "class": "command", "kind": kind, "name": name,
                "completions": [completion], "completed": completed, "appended_at": at(index) })
        };
        let detail = json!({
            "id": "inv_1x", "target": "Refund/refund", "service": "Refund", "handler": "refund",
            "handler_type": "service", "status": "backing-off", "created_at": at(0),
            "modified_at": at(9), "attempt": 2, "failed_attempts": 1, "root": "inv_1x",
            "invoked_by": { "kind": "ingress" }, "journal_entries": 4, "protocol_version": 7,
            "deployment": "dp_1y", "completion_retention_ms": 0, "journal_retention_ms": 0,
            "waits_for": "attempt 3 at 20:00:20, after: no bank",
            "last_failure": { "code": 500, "message": "no bank" },
            "journal": [
                { "index": 0, "class": "command", "kind": "Input", "appended_at": at(0),
                    "value": { "bytes": 2, "text": "42" } },
                command(1, "Run", "charge", 1, true),
                { "index": 2, "class": "notification", "kind": "Run", "completions": [1],
                    "appended_at": at(4), "value": { "bytes": 4, "text": "\"ok\"" } },
                command(5, "Sleep", "", 2, false),
            ],
            "events": [{ "at": at(7), "last_at": at(8), "count": 2, "kind": "attempt-failed",
                    "failure": { "code": 500, "message": "no bank" } },
                { "at": at(9), "last_at": at(9), "count": 1, "kind": "attempt-failed",
                    "failure": { "code": 570, "doc_code": "HF0094", "message": "a mismatch" },
                    "mismatch": { "command": 1, "index": 1, "name": "charge",
                        "recorded": { "type": "Run", "name": "charge" },
                        "received": { "type": "Run", "name": "refund" },
                        "differing": ["name"] } }],
            "more": false,
        });
        let detail: InvocationDetail = serde_json::from_value(detail).unwrap();
        expect![[r#"
            Refund/refund  inv_1x
            backing-off · created 2026-11-29T20:00:00.000Z · attempt 2 · on dp_1y (V7)

                 +0ms ● Input 42
                  +1s ● Run charge → "ok" (3s)
                  +5s ○ Sleep … waiting
                  +7s ✗ attempt failed: 500 no bank (2 times)
                  +9s ✗ attempt failed: HF0094 a mismatch
                        the handler does not do what entry 1 `charge` says:
                                RECORDED  RECEIVED
                        ≠ name  charge    refund
                          type  Run       Run

            waits for: attempt 3 at 20:00:20, after: no bank
            last failure: 500 no bank
        "#]]
        .assert_eq(&draw(&detail, Paint::plain()));
    }
}
