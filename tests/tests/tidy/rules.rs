//! What each file must say and must not say.

use super::source::Source;

/// A file asks to be split at 400 lines; here it must be.
const LINES_MAX: usize = 700;

/// What must not be anywhere, and what to do instead. Written in two halves, because this file is
/// looked at too.
const NOWHERE: [(&str, &str); 7] = [
    (concat!("#[al", "low("), "use `#[expect(lint, reason = \"…\")]`, which ends with its reason"),
    (concat!("#![al", "low("), "use `#[expect(lint, reason = \"…\")]` where the exception is"),
    (concat!("FIX", "ME"), "fix it, or open an issue"),
    (concat!("to", "do!("), "write it, or leave it out"),
    (concat!("unimple", "mented!("), "write it, or leave it out"),
    (concat!("#[ign", "ore"), "a test that does not run tests nothing: mend it or remove it"),
    (concat!("db", "g!("), "use `tracing`"),
];

/// What must not be in the shipped crates outside of tests.
const NOT_SHIPPED: [(&str, &str); 2] = [
    (".unwrap()", "use `expect(\"why it cannot be\")` for an invariant, an error for the rest"),
    ("mpsc::unbounded_channel", "every queue has a bound"),
];

/// What would make a decision depend on more than its arguments.
const NOT_IN_MACHINE: [&str; 11] = [
    "async fn",
    "async move",
    "async {",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::env",
    "std::fs",
    "std::net",
    "std::thread",
    "tracing",
    "println!",
];

/// Complaints about one file.
pub fn complaints(source: &Source) -> Vec<String> {
    let path = &source.path;
    if source.is_generated() {
        return vec![];
    }
    let mut found = vec![];
    if !source.text.starts_with("//!") {
        found.push(format!("{path}: say in a first line of `//!` what this file is for"));
    }
    found.extend(forbidden(source, &source.text, &NOWHERE));
    found.extend(bare_notes(source));
    if source.is_test {
        return found;
    }
    let lines = source.without_tests().lines().count();
    if lines > LINES_MAX {
        found.push(format!("{path}: has {lines} lines; split it by meaning (at most {LINES_MAX})"));
    }
    if path.starts_with("proxy/") || path.starts_with("sdk/") {
        found.extend(forbidden(source, &source.code(), &NOT_SHIPPED));
        found.extend(detached_tasks(source));
    }
    found
}

/// Complaints about one file of the machine.
pub fn machine_complaints(source: &Source) -> Vec<String> {
    let code = if source.is_test { String::new() } else { source.code() };
    let found = NOT_IN_MACHINE.iter().filter(|word| code.contains(*word));
    found
        .map(|word| format!("{}: the machine only decides; remove `{word}`", source.path))
        .collect()
}

fn forbidden(source: &Source, text: &str, words: &[(&str, &str)]) -> Vec<String> {
    let lines = || text.lines().enumerate();
    let hits = words.iter().flat_map(|(word, instead)| {
        let hits = lines().filter(move |(_, line)| line.contains(word));
        hits.map(move |(at, _)| format!("{}:{}: `{word}`: {instead}", source.path, at + 1))
    });
    hits.collect()
}

/// A task whose handle nobody keeps: it would outlive whoever started it.
fn detached_tasks(source: &Source) -> Vec<String> {
    let code = source.code();
    let detached = |line: &str| {
        let line = line.trim_start();
        line.starts_with("tokio::spawn(") || line.starts_with("tokio::task::spawn(")
    };
    let lines = code.lines().enumerate().filter(|(_, line)| detached(line));
    let say =
        |at| format!("{}:{}: a detached task: give it a parent that awaits it", source.path, at);
    lines.map(|(at, _)| say(at + 1)).collect()
}

/// A note of something left to do must name its issue.
fn bare_notes(source: &Source) -> Vec<String> {
    const NOTE: &str = concat!("TO", "DO");
    let bare = |line: &str| line.contains(NOTE) && !line.contains(&format!("{NOTE}(#"));
    let lines = source.text.lines().enumerate().filter(|(_, line)| bare(line));
    lines.map(|(at, _)| format!("{}:{}: write `{NOTE}(#issue)`", source.path, at + 1)).collect()
}

#[test]
fn each_rule_bites() {
    let machine = |text: &str| {
        let path = "proxy/machine/src/f.rs".to_owned();
        let source = Source { path, text: text.to_owned(), is_test: false };
        (complaints(&source).len(), machine_complaints(&source).len())
    };
    assert_eq!(machine("//! Good.\n// async fn is a word here\n"), (0, 0));
    assert_eq!(machine("fn f() {}\n"), (1, 0), "it does not say what it is for");
    assert_eq!(machine("//! Good.\nfn f() { g().unwrap(); }\n"), (1, 0), "an unwrap");
    assert_eq!(machine("//! Good.\n    tokio::spawn(g());\n"), (1, 0), "a detached task");
    assert_eq!(machine("//! Good.\nasync fn f() {}\n"), (0, 1), "the machine waits");
    assert_eq!(machine(concat!("//! Good.\n// TO", "DO later\n")), (1, 0), "a note without issue");
    assert_eq!(machine(&format!("//! Long.{}", "\n".repeat(LINES_MAX + 1))), (1, 0), "too long");
    let tests = "//! Good.\n#[cfg(test)]\nmod tests {\n    fn f() { g().unwrap(); }\n}\n";
    assert_eq!(machine(tests), (0, 0), "tests may");
}
