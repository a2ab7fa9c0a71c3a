//! The floors of the server: who may use whom.

use super::{root, source::Source};
use std::collections::BTreeSet;
use std::fs;

/// Rooms of `proxy/server/src`, lowest floor first. A room may use lower floors, never its own or
/// a higher one. The house is stacked: each of its rooms is a floor.
const FLOORS: [&[&str]; 7] = [
    &["chance", "clock", "duration", "telemetry", "store", "http", "schema"],
    &["partition", "registry", "query", "delivery", "guard"],
    &["tasks"],
    &["ingress", "invoker", "notifier", "bridge", "admin"],
    &["config"],
    &["node"],
    &["cli", "main"],
];

const SERVER: &str = "proxy/server/src/";

/// Complaints about what one file of the server uses; none about files elsewhere.
pub fn complaints(source: &Source) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix(SERVER) else {
        return vec![];
    };
    let own = first_word(inside);
    if own == "lib" {
        return vec![];
    }
    let Some(own_floor) = floor(own) else {
        return vec![format!(
            "{}: is in no room; give `{own}` a floor in tests/tests/tidy/rooms.rs",
            source.path
        )];
    };
    if source.text.contains(concat!("use crate", "::{")) {
        let path = &source.path;
        return vec![format!(
            "{path}: one `use crate::room::…` line for each room, so that floors show"
        )];
    }
    let used = used(inside, &source.text);
    let wrong = used
        .into_iter()
        .filter(|room| *room != own && floor(room).is_some_and(|floor| floor >= own_floor));
    let say = |room| {
        format!(
            "{}: reaches up or sideways to crate::{room}; let {own} own a seam (a trait, a channel) \
             that the house plugs in, or move what both need a floor down",
            source.path
        )
    };
    let mut said: Vec<String> = wrong.map(say).collect();
    said.dedup();
    said
}

/// The rooms that a text names, from the root of the crate or by `super` up to it.
fn used<'a>(inside: &str, text: &'a str) -> Vec<&'a str> {
    let to_root = "super::".repeat(depth(inside));
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let named = |line: &'a str| {
        let paths = line.split("crate::").skip(1).chain(line.split(to_root.as_str()).skip(1));
        paths.map(first_word).collect::<Vec<_>>()
    };
    code.flat_map(named).collect()
}

/// How many modules deep a file is below the root of the crate.
fn depth(inside: &str) -> usize {
    let parts = inside.split('/').count();
    if inside.ends_with("mod.rs") { parts - 1 } else { parts }
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[test]
fn the_floors_have_the_rooms_that_there_are() {
    let listed: BTreeSet<String> = FLOORS.concat().into_iter().map(str::to_owned).collect();
    let entries = fs::read_dir(root().join(SERVER)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let there = names.map(|name| name.trim_end_matches(".rs").to_owned());
    let there: BTreeSet<String> = there.filter(|name| name != "lib").collect();
    assert_eq!(listed, there);
}

#[test]
fn a_room_may_only_look_down() {
    let complaints_of = |path: &str, text: &str| {
        complaints(&Source {
            path: format!("{SERVER}{path}"),
            text: text.to_owned(),
            is_test: false,
        })
        .len()
    };
    assert_eq!(complaints_of("invoker/mod.rs", "use crate::store::Store;"), 0, "down");
    assert_eq!(complaints_of("invoker/mod.rs", "use crate::invoker::error::Error;"), 0, "itself");
    assert_eq!(complaints_of("invoker/mod.rs", "use crate::ingress::Error;"), 1, "sideways");
    assert_eq!(complaints_of("store/rocks.rs", "use super::super::query::Live;"), 1, "up by super");
    assert_eq!(complaints_of("cellar/mod.rs", ""), 1, "no such room");
    let hidden = concat!("use crate", "::{admin::Admin, store::Store};");
    assert_eq!(complaints_of("invoker/mod.rs", hidden), 1, "rooms in one line");
}
