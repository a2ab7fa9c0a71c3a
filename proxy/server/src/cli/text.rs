//! Text for terminals: aligned columns, colours where somebody looks, and times in words.

use crate::query::model::Status;
use std::io::IsTerminal;

/// How many spaces stand between two columns.
const GAP: usize = 2;

/// Rows of cells with a head, aligned.
pub fn columns(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| width(cell)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(cell));
        }
    }
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let lines = std::iter::once(&head).chain(rows).map(|row| line(row, &widths));
    lines.collect()
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, widest) in row.iter().zip(widths) {
        out.push_str(cell);
        let missing = widest.saturating_sub(width(cell)) + GAP;
        out.push_str(&" ".repeat(missing));
    }
    format!("{}\n", out.trim_end())
}

/// In characters that are seen: colours are not.
fn width(cell: &str) -> usize {
    let mut parts = cell.split('\x1b');
    let plain = parts.next().map_or(0, |part| part.chars().count());
    let colour = |part: &str| part.split_once('m').map_or(0, |(_, text)| text.chars().count());
    plain + parts.map(colour).sum::<usize>()
}

/// `text` with every line moved to the right.
pub fn indent(text: &str, by: usize) -> String {
    let margin = " ".repeat(by);
    text.lines().map(|line| format!("{margin}{line}\n")).collect()
}

/// `1 invocation`, `2 invocations`.
pub fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Colours, or none where the output is not a terminal or NO_COLOR is set.
#[derive(Debug, Clone, Copy)]
pub struct Paint(bool);

impl Paint {
    pub fn of_stdout() -> Paint {
        Paint(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    #[cfg(test)]
    pub fn plain() -> Paint {
        Paint(false)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub fn waits(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// A status in the colour of how much it needs a person.
    pub fn status(self, status: Status) -> String {
        let text = status.as_str();
        match status {
            Status::Completed | Status::Running => self.good(text),
            Status::Paused | Status::BackingOff => self.bad(text),
            Status::Pending | Status::Scheduled | Status::Ready | Status::Suspended => {
                self.waits(text)
            }
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }
}

/// How long ago `at` was, where it is a time.
pub fn ago(at: &str, now: jiff::Timestamp) -> String {
    let at = at.parse::<jiff::Timestamp>().ok();
    at.map(|at| span(now.as_millisecond() - at.as_millisecond())).unwrap_or_default()
}

/// Milliseconds between two RFC 3339 times, where both are times.
pub fn between(from: &str, to: &str) -> Option<i64> {
    let parse = |text: &str| text.parse::<jiff::Timestamp>().ok();
    Some(parse(to)?.as_millisecond() - parse(from)?.as_millisecond())
}

/// `1250` as `1.25s`, `90000` as `1m30s`.
pub fn span(ms: i64) -> String {
    let ms = ms.max(0);
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => {
            let text = format!("{:.2}", ms as f64 / 1000.0);
            format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
        }
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1000 % 60),
        3_600_000..86_400_000 => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
        _ => format!("{}d{:02}h", ms / 86_400_000, ms / 3_600_000 % 24),
    }
}

/// At most `max` characters, the end cut.
pub fn shorten(text: &str, max: usize) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > max {
        line = line.chars().take(max.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn spans_are_short() {
        let spans = [0, 999, 1_250, 59_990, 60_000, 3_661_000, 90_000_000, -5].map(span);
        expect!["0ms 999ms 1.25s 59.99s 1m00s 1h01m 1d01h 0ms"].assert_eq(&spans.join(" "));
    }

    #[test]
    fn columns_line_up_and_have_no_trailing_blanks() {
        let rows = vec![vec!["a".into(), "long cell".into()], vec!["béé".into(), String::new()]];
        expect![[r#"
            ID   WHAT
            a    long cell
            béé
        "#]]
        .assert_eq(&columns(&["ID", "WHAT"], &rows));
    }

    #[test]
    fn colours_take_no_place() {
        let red = Paint(true).bad("paused");
        let rows = vec![vec![red, "x".into()], vec!["running".into(), "y".into()]];
        expect![[r#"
            STATUS   WHAT
            [paused]   x
            running  y
        "#]]
        .assert_eq(
            &columns(&["STATUS", "WHAT"], &rows).replace("\x1b[31m", "[").replace("\x1b[0m", "]"),
        );
    }
}
