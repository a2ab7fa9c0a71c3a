//! The start of attempts, as text.

use super::*;
use crate::apply::tests::script;
use crate::id::{PartitionId, Partitions};
use expect_test::{Expect, expect};

/// Runs a script and shows what an attempt of `a` would start from.
#[track_caller]
fn check(script: &str, eager_state_bytes_max: usize, expected: Expect) {
    let mut world = script::World::after(1, script);
    let here = Here::new(PartitionId(0), Partitions(1));
    let id = world.id("a");
    let shown = match start(&world.stores[0], here, id, eager_state_bytes_max).unwrap() {
        None => "nothing\n".into(),
        Some(start) => show(&start),
    };
    expected.assert_eq(&shown);
}

fn show(start: &Start) -> String {
    let entries: Vec<_> = start.entries.iter().map(|entry| entry.ty.name()).collect();
    let state: Vec<_> = start
        .state
        .iter()
        .map(|(key, value)| {
            format!("{}={}", String::from_utf8_lossy(key), String::from_utf8_lossy(value))
        })
        .collect();
    format!(
        "attempt {}, pin {:?}, seed {}, key {:?}\n{}\nstate [{}]{}\nretries {}, stored at {}\n",
        start.attempt,
        start.pin.map(|pin| pin.deployment.0),
        start.random_seed,
        start.target.key,
        entries.join(" "),
        state.join(" "),
        if start.partial_state { " and more" } else { "" },
        start.retry_count_since_last_stored_entry,
        start.last_stored_at.0,
    )
}

#[test]
fn a_first_attempt_of_a_service_has_the_input() {
    check(
        "5 invoke a Greeter/greet hi",
        100,
        expect![[r#"
        attempt 1, pin None, seed 7, key None
        Input
        state [] and more
        retries 0, stored at 5
    "#]],
    );
}

#[test]
fn a_later_attempt_has_the_whole_journal() {
    check(
        "
        0 invoke a Greeter/greet hi
        5 a#1 run 1; ran 1 x; fail oops after=1
        6 due
        7 a#2 fail oops after=1
        8 due
        ",
        100,
        expect![[r#"
            attempt 3, pin Some(1), seed 7, key None
            Input Run RunCompletion
            state [] and more
            retries 2, stored at 5
        "#]],
    );
}

#[test]
fn an_object_has_its_state_as_far_as_it_fits() {
    let script = "
        0 patch Counter/k m=12345 n=6789
        1 invoke a Counter/k/add
        ";
    check(
        script,
        100,
        expect![[r#"
        attempt 1, pin None, seed 7, key Some("k")
        Input
        state [m=12345 n=6789]
        retries 0, stored at 1
    "#]],
    );
    check(
        script,
        8,
        expect![[r#"
        attempt 1, pin None, seed 7, key Some("k")
        Input
        state [m=12345] and more
        retries 0, stored at 1
    "#]],
    );
    check(
        script,
        0,
        expect![[r#"
        attempt 1, pin None, seed 7, key Some("k")
        Input
        state [] and more
        retries 0, stored at 1
    "#]],
    );
}

#[test]
fn lazy_state_is_not_sent() {
    check(
        "0 patch Counter/k n=1\n1 invoke a Counter/k/add lazy",
        100,
        expect![[r#"
        attempt 1, pin None, seed 7, key Some("k")
        Input
        state [] and more
        retries 0, stored at 1
    "#]],
    );
}

#[test]
fn what_does_not_run_has_no_start() {
    check(
        "1 invoke a Greeter/greet at=50",
        100,
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "1 invoke b Greeter/greet",
        100,
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "1 invoke a Greeter/greet\n2 a#1 suspend first(s1)",
        100,
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn what_has_not_begun_need_not_begin() {
    let need_not = |script: &str| {
        let mut world = script::World::after(1, script);
        let here = Here::new(PartitionId(0), Partitions(1));
        let id = world.id("a");
        need_not_start(&world.stores[0], here, id).unwrap()
    };
    assert!(!need_not("0 invoke b Greeter/greet"));
    assert!(!need_not("0 invoke a Greeter/greet"));
    assert!(need_not("0 invoke a Greeter/greet\n1 pause a"));
    assert!(need_not("0 invoke a Greeter/greet\n1 cancel a"));
    assert!(!need_not("0 invoke a Greeter/greet\n1 a#1 run 1\n2 cancel a"));
    assert!(!need_not("0 invoke a Greeter/greet\n1 kill a"));
}

#[test]
fn only_the_current_attempt_has_a_target() {
    let script = "0 invoke a Counter/k/add\n1 a#1 sleep 1 2; suspend first(1)\n2 due";
    let mut world = script::World::after(1, script);
    let here = Here::new(PartitionId(0), Partitions(1));
    let id = world.id("a");
    let of = |attempt| target(&world.stores[0], here, id, attempt).unwrap();
    assert_eq!(of(1), None);
    assert_eq!(of(2).and_then(|target| target.key).as_deref(), Some("k"));
}
