//! The two sides of a journal mismatch as a table below the attempt that found it: what differs is
//! marked and comes first.

use super::{Paint, VALUE_CHARS_MAX, shorten};
use crate::cli::text::columns;
use crate::query::model::Mismatch;
use std::{cmp::Reverse, collections::BTreeSet, fmt::Write};

/// Below the text of an event.
const INDENT: &str = "            ";

pub(super) fn draw(out: &mut String, mismatch: &Mismatch, paint: Paint) {
    let _ = writeln!(out, "{INDENT}{}", paint.dim(&place(mismatch)));
    let table = columns(&["", "RECORDED", "RECEIVED"], &rows(mismatch));
    for (line, differs) in table.lines().zip([false].into_iter().chain(marks(mismatch))) {
        let line = if differs { paint.bad(line) } else { line.to_owned() };
        let _ = writeln!(out, "{INDENT}{line}");
    }
}

fn place(mismatch: &Mismatch) -> String {
    let Mismatch { index, command, name, .. } = mismatch;
    let name = name.as_ref().map(|name| format!(" `{}`", shorten(name, VALUE_CHARS_MAX)));
    let name = name.unwrap_or_default();
    match (index, command) {
        (Some(index), _) => format!("the handler does not do what entry {index}{name} says:"),
        (None, Some(command)) => format!("the journal has no command {command}{name}:"),
        (None, None) => format!("the handler does not do what its journal says{name}:"),
    }
}

/// The fields of either side; what differs first, then the kind of the command.
fn fields(mismatch: &Mismatch) -> Vec<&String> {
    let fields: BTreeSet<&String> =
        mismatch.recorded.keys().chain(mismatch.received.keys()).collect();
    let mut fields: Vec<&String> = fields.into_iter().collect();
    fields.sort_by_key(|field| Reverse((mismatch.differing.contains(field), *field == "type")));
    fields
}

fn marks(mismatch: &Mismatch) -> impl Iterator<Item = bool> {
    fields(mismatch).into_iter().map(|field| mismatch.differing.contains(field))
}

fn rows(mismatch: &Mismatch) -> Vec<Vec<String>> {
    let rows = fields(mismatch).into_iter().zip(marks(mismatch)).map(|(field, differs)| {
        let side = |value: Option<&String>| {
            value.map_or("-".into(), |value| shorten(value, VALUE_CHARS_MAX))
        };
        let mark = if differs { "≠" } else { " " };
        let (recorded, received) = (mismatch.recorded.get(field), mismatch.received.get(field));
        vec![format!("{mark} {field}"), side(recorded), side(received)]
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    /// The line of the event stands above.
    fn check(mismatch: Value, expected: Expect) {
        let mut out = String::from("event\n");
        draw(&mut out, &serde_json::from_value(mismatch).unwrap(), Paint::plain());
        expected.assert_eq(&out);
    }

    #[test]
    fn both_sides_stand_side_by_side() {
        check(
            json!({ "command": 2, "index": 4, "name": "pay",
                "recorded": { "type": "Run", "name": "pay", "result_completion_id": "2" },
                "received": { "type": "Run", "name": "refund", "result_completion_id": "2" },
                "differing": ["name"] }),
            expect![[r#"
                event
                            the handler does not do what entry 4 `pay` says:
                                                    RECORDED  RECEIVED
                            ≠ name                  pay       refund
                              type                  Run       Run
                              result_completion_id  2         2
            "#]],
        );
        check(
            json!({ "command": 1, "index": 1,
                "recorded": { "type": "Sleep", "wake_up_time": "1" },
                "received": { "type": "Call" }, "differing": ["type"] }),
            expect![[r#"
                event
                            the handler does not do what entry 1 says:
                                            RECORDED  RECEIVED
                            ≠ type          Sleep     Call
                              wake_up_time  1         -
            "#]],
        );
    }

    #[test]
    fn a_place_may_be_unknown() {
        let received = json!({ "awaits": "Cancellation" });
        check(
            json!({ "recorded": {}, "received": received, "differing": ["awaits"] }),
            expect![[r#"
                event
                            the handler does not do what its journal says:
                                      RECORDED  RECEIVED
                            ≠ awaits  -         Cancellation
            "#]],
        );
        check(
            json!({ "command": 9, "recorded": {}, "received": { "type": "Run" }, "differing": [] }),
            expect![[r#"
                event
                            the journal has no command 9:
                                    RECORDED  RECEIVED
                              type  -         Run
            "#]],
        );
    }
}
