//! Trees as text: `first(1 s1 all(2 3))`, with what was notified after `|`: `1+` succeeded, `1-`
//! failed.

use super::*;
use crate::model::SignalName;
use expect_test::{Expect, expect};
use std::collections::BTreeMap;
use std::fmt::Write;

#[track_caller]
fn check(rows: &str, expected: Expect) {
    let mut table = String::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (tree, notified) = row.split_once('|').unwrap();
        let notified: BTreeMap<_, _> = notified
            .split_whitespace()
            .map(|word| {
                let (id, sign) = word.split_at(word.len() - 1);
                (leaf(id), sign == "-")
            })
            .collect();
        let tree = tree_of(tree);
        let verdict = evaluate(&tree, &mut |id| Ok::<_, ()>(notified.get(&id).copied())).unwrap();
        writeln!(table, "{row} => {verdict:?}").unwrap();
    }
    expected.assert_eq(&table);
}

/// The tree that a text says.
pub(crate) fn tree_of(text: &str) -> Awaiting {
    parse(&mut text.replace('(', " ( ").replace(')', " ) ").split_whitespace())
}

fn leaf(word: &str) -> NotificationId {
    match word.strip_prefix('s') {
        None => NotificationId::Completion(word.parse().unwrap()),
        Some(signal) => NotificationId::Signal(match signal.parse() {
            Ok(index) => SignalName::Index(index),
            Err(_) => SignalName::Name(signal.into()),
        }),
    }
}

fn combinator(word: &str) -> Option<Combinator> {
    Some(match word {
        "unknown" => Combinator::Unknown,
        "first" => Combinator::FirstCompleted,
        "all" => Combinator::AllCompleted,
        "any" => Combinator::FirstSucceededOrAllFailed,
        "every" => Combinator::AllSucceededOrFirstFailed,
        _ => return None,
    })
}

fn parse<'a>(words: &mut impl Iterator<Item = &'a str>) -> Awaiting {
    let combinator = combinator(words.next().unwrap()).unwrap();
    node(combinator, words)
}

fn node<'a>(kind: Combinator, words: &mut impl Iterator<Item = &'a str>) -> Awaiting {
    let mut node = Awaiting { combinator: kind, ..Awaiting::default() };
    assert_eq!(words.next(), Some("("));
    while let Some(word) = words.next().filter(|word| *word != ")") {
        match combinator(word) {
            Some(kind) => node.nested.push(self::node(kind, words)),
            None => match leaf(word) {
                NotificationId::Completion(id) => node.completions.push(id),
                NotificationId::Signal(name) => node.signals.push(name),
            },
        }
    }
    node
}

#[test]
fn flat_lists_end_with_the_first() {
    check(
        "
        first(1 s1)     |
        first(1 s1)     | 2+
        first(1 s1)     | 1+
        first(1 s1)     | 1-
        first(1 s1)     | s1+
        first(1 s17 s1) | s17-
        first(sgo)      | sstop+
        first(sgo)      | sgo+
        ",
        expect![[r#"
            first(1 s1)     | => Pending
            first(1 s1)     | 2+ => Pending
            first(1 s1)     | 1+ => Succeeded
            first(1 s1)     | 1- => Failed
            first(1 s1)     | s1+ => Succeeded
            first(1 s17 s1) | s17- => Failed
            first(sgo)      | sstop+ => Pending
            first(sgo)      | sgo+ => Succeeded
        "#]],
    );
}

#[test]
fn each_combinator_has_its_own_end() {
    check(
        "
        all(1 2)     | 1+
        all(1 2)     | 1-
        all(1 2)     | 1- 2+
        any(1 2)     | 1-
        any(1 2)     | 2+
        any(1 2)     | 1- 2-
        every(1 2)   | 1+
        every(1 2)   | 2-
        every(1 2)   | 1+ 2+
        unknown(1 2) |
        unknown(1 2) | 1-
        ",
        expect![[r#"
            all(1 2)     | 1+ => Pending
            all(1 2)     | 1- => Pending
            all(1 2)     | 1- 2+ => Succeeded
            any(1 2)     | 1- => Pending
            any(1 2)     | 2+ => Succeeded
            any(1 2)     | 1- 2- => Failed
            every(1 2)   | 1+ => Pending
            every(1 2)   | 2- => Failed
            every(1 2)   | 1+ 2+ => Succeeded
            unknown(1 2) | => Pending
            unknown(1 2) | 1- => Undetermined
        "#]],
    );
}

#[test]
fn trees_are_evaluated_from_the_leaves() {
    check(
        "
        first(s1 first(s17 every(1 3)))  | 3+
        first(s1 first(s17 every(1 3)))  | 3-
        first(s1 first(s17 every(1 3)))  | 1+ 3+
        first(s1 first(s17 every(1 3)))  | s17+
        first(s1 all(1 any(2 3)))        | 1+ 2-
        first(s1 all(1 any(2 3)))        | 1- 3+
        first(s1 all(1 any(2 3)))        | 1+ 2- 3-
        every(any(1 2) any(3 4))         | 1- 2-
        every(any(1 2) any(3 4))         | 1+ 3+
        any(every(1 2) every(3 4))       | 1- 3+
        any(every(1 2) every(3 4))       | 1- 3-
        ",
        expect![[r#"
            first(s1 first(s17 every(1 3)))  | 3+ => Pending
            first(s1 first(s17 every(1 3)))  | 3- => Failed
            first(s1 first(s17 every(1 3)))  | 1+ 3+ => Succeeded
            first(s1 first(s17 every(1 3)))  | s17+ => Succeeded
            first(s1 all(1 any(2 3)))        | 1+ 2- => Pending
            first(s1 all(1 any(2 3)))        | 1- 3+ => Succeeded
            first(s1 all(1 any(2 3)))        | 1+ 2- 3- => Succeeded
            every(any(1 2) any(3 4))         | 1- 2- => Failed
            every(any(1 2) any(3 4))         | 1+ 3+ => Succeeded
            any(every(1 2) every(3 4))       | 1- 3+ => Pending
            any(every(1 2) every(3 4))       | 1- 3- => Failed
        "#]],
    );
}

#[test]
fn where_in_doubt_it_is_over() {
    check(
        "
        any(unknown(1) 2)          | 1-
        every(unknown(1) 2)        | 1+
        every(unknown(1) 2)        | 2+
        all(unknown(1) 2)          | 1+
        all(unknown(1) 2)          | 1+ 2+
        first(s1 any(unknown(1)))  | 1+
        ",
        expect![[r#"
            any(unknown(1) 2)          | 1- => Undetermined
            every(unknown(1) 2)        | 1+ => Undetermined
            every(unknown(1) 2)        | 2+ => Pending
            all(unknown(1) 2)          | 1+ => Pending
            all(unknown(1) 2)          | 1+ 2+ => Succeeded
            first(s1 any(unknown(1)))  | 1+ => Undetermined
        "#]],
    );
}

#[test]
fn levels_are_counted() {
    for (tree, levels) in [("first(1)", 1), ("all(1 any(2) first(3 every(4)))", 3)] {
        assert_eq!(depth(&tree_of(tree)), levels, "{tree}");
    }
}

#[test]
fn who_can_end_ends_by_something_that_comes() {
    let can = |tree: &str| can_end(&tree_of(tree), &|leaf| *leaf != NotificationId::Completion(1));
    for tree in ["first(1 2)", "any(1 2)", "every(1 2)", "unknown(1 s1)", "all(2 first(1 3))"] {
        assert!(can(tree), "{tree}");
    }
    for tree in ["first(1)", "all(1 2)", "any(1 all(1 2))", "first(all(2 first(1)))"] {
        assert!(!can(tree), "{tree}");
    }
    assert!(names(&tree_of("first(2 all(3 1))"), 1) && !names(&tree_of("first(2 s1)"), 1));
}
