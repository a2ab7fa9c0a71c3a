//! Forgetting what is completed: to make room, and a long journal piece by piece.

use super::check;
use super::script::World;
use expect_test::{Expect, expect};

#[test]
fn the_budget_forgets_only_what_it_chose() {
    check(
        "
        0 forget z completed=1
        0 invoke a Greeter/greet keep=100
        1 forget a completed=1
        2 a#1 output x; end
        3 forget a completed=1
        3 output a
        4 forget a completed=2
        4 dump
        102 due
        ",
        expect![[r#"
            0 forget z completed=1
              reply done
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 forget a completed=1
              reply done
            2 a#1 output x; end
              ended a "x"
              wake at 102
            3 forget a completed=1
              reply done
            3 output a
              reply completed "x", until 102
            4 forget a completed=2
              reply done
            4 dump
              | nothing
            102 due
        "#]],
    );
}

#[test]
fn with_a_workflow_goes_what_belongs_to_its_key() {
    check(
        "
        0 invoke a Wf/k/run keep=100
        1 a#1 set n 1; resolve p 1 yes; output x; end
        2 forget a completed=1
        2 dump
        ",
        expect![[r#"
            0 invoke a Wf/k/run keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 set n 1; resolve p 1 yes; output x; end
              notify a#1 3:CompletePromiseCompletion 1=void
              ended a "x"
              wake at 101
            2 forget a completed=1
              reply done
            2 dump
              | nothing
        "#]],
    );
}

/// A timer that was due when its invocation was purged finds another one under the same id.
#[test]
fn a_timer_of_an_earlier_invocation_forgets_nothing() {
    check(
        "
        0 invoke a Greeter/greet idem=K keep=10 journal=5
        1 a#1 output x; end
        11 purge a
        11 invoke a Greeter/greet idem=K keep=100 journal=50
        11 a#1 output y; end
        11 due
        11 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet idem=K keep=10 journal=5
              reply accepted a, new
              invoke a#1
            1 a#1 output x; end
              ended a "x"
              wake at 11
              wake at 6
            11 purge a
              reply done
            11 invoke a Greeter/greet idem=K keep=100 journal=50
              reply accepted a, new
              invoke a#1
            11 a#1 output y; end
              ended a "y"
              wake at 111
              wake at 61
            11 due
            11 dump
              | invocation a completed "y", attempt 1, journal 2/2, pin 1, root a
              | journal a 0:Input
              | journal a 1:Output
              | timer 61 ForgetJournal a 0
              | timer 111 Forget a 0
        "#]],
    );
}

/// A script in which `a` records three thousand steps: 6,002 entries.
fn long(how: &str) -> String {
    let steps: String = (1..=3000).map(|step| format!("run {step}; ran {step} x; ")).collect();
    format!("0 invoke a Greeter/greet idem=K {how}\n1 a#1 {steps}output x; end\n")
}

/// How many rows there are after each of the lines that are added to a script.
#[track_caller]
fn check_rows(script: &str, lines: &[&str], expected: &[usize]) {
    let rows = (0..=lines.len()).map(|count| {
        let world = World::after(1, &format!("{script}{}", lines[..count].join("\n")));
        world.stores[0].0.len()
    });
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

/// What is said to the lines that are added to a script.
#[track_caller]
fn check_end(script: &str, lines: &str, expected: Expect) {
    let all = super::script::run(1, &format!("{script}{lines}"));
    let first = lines.trim_start().lines().next().unwrap();
    expected.assert_eq(&all[all.rfind(first).unwrap()..]);
}

const DUE: [&str; 8] =
    ["101 due", "102 due", "103 due", "104 due", "105 due", "106 due", "107 due", "108 due"];

#[test]
fn a_long_journal_goes_in_pieces() {
    let pieces = [9004, 7980, 6956, 4980, 3956, 2932, 1908, 884, 0];
    check_rows(&long("keep=100"), &DUE, &pieces);
    let purged = ["2 purge a", "3 due", "4 due", "5 due", "6 due", "7 due", "8 due", "9 due"];
    check_rows(&long("keep=100"), &purged, &pieces);
    // At its end, where nothing is to be kept.
    let ended = ["2 due", "3 due", "4 due", "5 due", "6 due", "7 due", "8 due"];
    check_rows(&long("keep=0"), &ended, &pieces[1..]);
    // The outcome stays where only the journal goes.
    let journal: Vec<usize> = pieces[..8].iter().map(|rows| rows + 1).chain([2]).collect();
    check_rows(&long("keep=1000 journal=100"), &DUE, &journal);
}

#[test]
fn nobody_sees_what_is_going() {
    check_end(
        &long("keep=100"),
        "
        101 due
        101 output a
        101 purge a
        101 invoke a Greeter/greet idem=K
        101 dump
        102 due
        103 a#1 output y; end
        103 dump
        ",
        expect![[r#"
            101 due
              wake at 102
            101 output a
              reply unknown
            101 purge a
              reply unknown
            101 invoke a Greeter/greet idem=K
              reply accepted a, new
              invoke a#1
            101 dump
              | invocation a running, attempt 1, journal 1/1, root a
              | journal a 0:Input
              | running a
              | timer 102 Forget a 0
            102 due
            103 a#1 output y; end
              ended a "y"
            103 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_journal_that_is_going_is_gone() {
    check_end(
        &long("keep=100"),
        "
        2 purge-journal a
        2 restart a b
        2 output a
        ",
        expect![[r#"
            2 purge-journal a
              wake at 3
              reply done
            2 restart a b
              reply refused: JournalGone
            2 output a
              reply completed "x", until 101
        "#]],
    );
}
