//! What we depend on: how much of it, why, and under which licences.

use super::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Packages in the sidecar's lock file.
const PACKAGES_MAX: usize = 250;

/// Licences that ask for no more than to be named; those of `deny.toml`.
const LICENCES: [&str; 11] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that would give the machine a clock, chance, I/O or logs.
const NOT_FOR_MACHINE: [&str; 8] =
    ["tokio", "hyper", "rocksdb", "tracing", "getrandom", "rand", "socket2", "libc"];

/// Too many packages, unexplained ones, licences that are not allowed.
pub fn complaints() -> Vec<String> {
    let metadata = metadata();
    let mut found: Vec<String> = too_many().into_iter().collect();
    found.extend(unexplained(&metadata));
    found.extend(packages(&metadata).filter_map(not_free));
    found
}

/// What keeps the machine from anything but deciding.
pub fn machine_complaints() -> Vec<String> {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap_or_default();
    let manifest = read("proxy/machine/Cargo.toml");
    let keys: BTreeSet<&str> = manifest.lines().map(first_word).collect();
    let carried = NOT_FOR_MACHINE.iter().filter(|name| keys.contains(*name));
    let mut found: Vec<String> = carried
        .map(|name| format!("proxy/machine/Cargo.toml: the machine only decides; remove {name}"))
        .collect();
    let bans = read("proxy/machine/clippy.toml");
    for banned in ["std::time::SystemTime::now", "std::time::Instant::now"] {
        if !bans.contains(banned) {
            found.push(format!("proxy/machine/clippy.toml: ban {banned} in disallowed-methods"));
        }
    }
    found
}

fn first_word(line: &str) -> &str {
    line.split(['.', ' ', '=']).next().unwrap_or_default()
}

fn too_many() -> Option<String> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let count = lock.lines().filter(|line| *line == "[[package]]").count();
    (count > PACKAGES_MAX).then(|| {
        format!("Cargo.lock: has {count} packages, at most {PACKAGES_MAX}; do without one")
    })
}

/// Dependencies without a line in docs/dependencies.md, and lines without a dependency.
fn unexplained(metadata: &Value) -> Vec<String> {
    let ours = packages(metadata).filter(|package| package["source"].is_null());
    let used: BTreeSet<&str> = ours
        .flat_map(|package| package["dependencies"].as_array().into_iter().flatten())
        .filter(|dependency| dependency["path"].is_null())
        .filter_map(|dependency| dependency["name"].as_str())
        .collect();
    let page = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let explained: BTreeSet<&str> = rows.collect();
    let missing = used
        .difference(&explained)
        .map(|name| format!("docs/dependencies.md: say in a line what `{name}` saves and weighs"));
    let stale = explained.difference(&used).map(|name| {
        format!("docs/dependencies.md: `{name}` is no dependency of ours; remove its line")
    });
    missing.chain(stale).collect()
}

fn not_free(package: &Value) -> Option<String> {
    let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
    let allowed = allows(&licence.replace('/', " OR "));
    (!allowed).then(|| format!("Cargo.lock: {name} has the licence `{licence}`; do without it"))
}

/// Whether a licence expression can be met by allowed licences alone. An `OR` needs one side, an
/// `AND` all; `AND` binds closer.
fn allows(expression: &str) -> bool {
    let whole = expression.trim();
    match split_outside(whole, " OR ").or_else(|| split_outside(whole, " AND ")) {
        Some((" OR ", left, right)) => allows(left) || allows(right),
        Some((_, left, right)) => allows(left) && allows(right),
        None => match whole.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inside) => allows(inside),
            None => LICENCES.contains(&whole),
        },
    }
}

/// Splits at the first operator that stands outside of brackets.
fn split_outside<'a>(text: &'a str, operator: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let outside = |at: usize| text[..at].matches('(').count() == text[..at].matches(')').count();
    let (at, _) = text.match_indices(operator).find(|(at, _)| outside(*at))?;
    Some((operator, &text[..at], &text[at + operator.len()..]))
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().expect("cargo metadata lists packages").iter()
}

/// What cargo knows without asking the network: the packages of this kind of machine, which the
/// build has brought.
fn metadata() -> Value {
    let host = rustc_host();
    let arguments =
        ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &host];
    serde_json::from_str(&said("CARGO", "cargo", &arguments)).unwrap()
}

fn rustc_host() -> String {
    let version = said("RUSTC", "rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc says for which host it is").to_owned()
}

/// What a program of the toolchain writes to its standard output.
fn said(variable: &str, program: &str, arguments: &[&str]) -> String {
    let program = std::env::var(variable).unwrap_or_else(|_| program.to_owned());
    let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn licence_expressions_are_understood() {
    assert!(allows("MIT OR GPL-3.0"));
    assert!(allows("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(allows("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"));
    assert!(!allows("MIT AND GPL-3.0"));
    assert!(!allows("GPL-3.0 OR MIT AND SSPL-1.0"));
    assert!(!allows(""));
}

#[test]
fn deny_allows_the_same_licences() {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let (_, list) = text.split_once("\nallow = [").expect("deny.toml lists licences");
    let (list, _) = list.split_once(']').expect("the list has an end");
    let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert_eq!(allowed, LICENCES);
}
