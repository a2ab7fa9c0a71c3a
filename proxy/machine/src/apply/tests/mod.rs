//! The machine by its transcripts: commands in, effects and rows out, as text. See `script` for
//! the words.

mod asks;
mod bounds;
mod calls;
mod cancel;
mod circles;
mod cost;
mod faults;
mod forgetting;
mod journal;
mod notices;
mod objects;
mod partitions;
mod pause;
mod pushes;
mod retention;
mod retries;
mod schedules;
pub(crate) mod script;
mod show;
mod signals;
mod simulation;
mod statements;
mod suspension;
mod tasks;
mod words;
mod workflows;

use expect_test::Expect;

/// Runs a script on one partition and compares what it prints.
#[track_caller]
fn check(script: &str, expected: Expect) {
    check_on(1, script, expected);
}

#[track_caller]
fn check_on(partitions: u16, script: &str, expected: Expect) {
    expected.assert_eq(&script::run(partitions, script));
}
