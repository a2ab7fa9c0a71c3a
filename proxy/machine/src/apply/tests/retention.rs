//! Retention, purging and restarting.

use super::check;
use crate::id::PartitionId;
use expect_test::expect;

#[test]
fn the_journal_goes_before_the_outcome() {
    check(
        "
        0 invoke a Greeter/greet keep=100 journal=10
        1 a#1 run 1; ran 1 x; fail oops after=1
        2 due
        3 a#2 output x; end
        3 dump
        13 due
        13 dump
        103 due
        103 dump
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100 journal=10
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; ran 1 x; fail oops after=1
              notify a#1 2:RunCompletion 1="x"
              wake at 2
            2 due
              invoke a#2
            3 a#2 output x; end
              ended a "x"
              wake at 103
              wake at 13
            3 dump
              | event a 0 AttemptFailed x1 oops
              | invocation a completed "x", attempt 2, journal 3/4, pin 1, root a
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:RunCompletion 1="x"
              | journal a 3:Output
              | notified a 1 @2
              | timer 13 ForgetJournal a 0
              | timer 103 Forget a 0
            13 due
            13 dump
              | invocation a completed "x", attempt 2, journal 3/4 purged, pin 1, root a
              | timer 103 Forget a 0
            103 due
            103 dump
              | nothing
        "#]],
    );
}

#[test]
fn a_journal_can_go_at_once() {
    check(
        "
        0 invoke a Greeter/greet keep=100 journal=0
        1 a#1 run 1; ran 1 x; output x; end
        1 dump
        2 restart a b
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100 journal=0
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; ran 1 x; output x; end
              notify a#1 2:RunCompletion 1="x"
              ended a "x"
              wake at 101
            1 dump
              | invocation a completed "x", attempt 1, journal 3/4 purged, pin 1, root a
              | timer 101 Forget a 0
            2 restart a b
              reply refused: JournalGone
        "#]],
    );
}

#[test]
fn purge_takes_everything_and_only_what_is_completed() {
    check(
        "
        0 purge z
        0 purge-journal z
        0 invoke a Greeter/greet keep=100 journal=50
        1 purge a
        1 purge-journal a
        2 a#1 output x; end
        3 purge-journal a
        3 dump
        4 purge-journal a
        5 purge a
        5 dump
        52 due
        102 due
        ",
        expect![[r#"
            0 purge z
              reply unknown
            0 purge-journal z
              reply unknown
            0 invoke a Greeter/greet keep=100 journal=50
              reply accepted a, new
              invoke a#1
            1 purge a
              reply refused: NotCompleted
            1 purge-journal a
              reply refused: NotCompleted
            2 a#1 output x; end
              ended a "x"
              wake at 102
              wake at 52
            3 purge-journal a
              reply done
            3 dump
              | invocation a completed "x", attempt 1, journal 2/2 purged, pin 1, root a
              | timer 102 Forget a 0
            4 purge-journal a
              reply done
            5 purge a
              reply done
            5 dump
              | nothing
            52 due
            102 due
        "#]],
    );
}

#[test]
fn restart_from_the_input() {
    check(
        "
        0 restart z y
        0 invoke a Counter/k/add hi keep=100
        1 restart a b
        2 a#1 run 1; ran 1 x; output x; end
        3 restart a b
        3 dump
        4 restart a b
        5 restart a c pin=2
        6 b#1 output y; end
        7 c#1 output z; end
        8 restart a d from=9
        ",
        expect![[r#"
            0 restart z y
              reply unknown
            0 invoke a Counter/k/add hi keep=100
              reply accepted a, new
              invoke a#1
            1 restart a b
              reply refused: NotCompleted
            2 a#1 run 1; ran 1 x; output x; end
              notify a#1 2:RunCompletion 1="x"
              ended a "x"
              wake at 102
            3 restart a b
              invoke b#1
              reply restarted as b
            3 dump
              | invocation a completed "x", attempt 1, journal 3/4, pin 1, root a
              | invocation b running, attempt 1, journal 1/1, restarted from a, root b
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:RunCompletion 1="x"
              | journal a 3:Output
              | journal b 0:Input
              | lock Counter/k b 0..0
              | notified a 1 @2
              | running b
              | timer 102 Forget a 0
            4 restart a b
              reply restarted as b
            5 restart a c pin=2
              reply restarted as c
            6 b#1 output y; end
              ended b "y"
              wake at 106
              invoke c#1
            7 c#1 output z; end
              ended c "z"
              wake at 107
            8 restart a d from=9
              reply refused: BadPrefix
        "#]],
    );
}

#[test]
fn restart_from_a_prefix_takes_completions_along() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        1 a#1 run 1; run 2; sleep 3 50; ran 2 two; ran 1 one; call 4 5 Greeter/x; signal a 17 late
        2 A#1 output x; end
        3 a#1 output x; end
        4 restart a b from=2
        4 dump
        5 restart a c from=3
        6 restart a d from=7
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; run 2; sleep 3 50; ran 2 two; ran 1 one; call 4 5 Greeter/x; signal a 17 late
              wake at 50
              notify a#1 4:RunCompletion 2="two"
              notify a#1 5:RunCompletion 1="one"
              notify a#1 7:CallInvocationIdCompletion 4=A
              invoke A#1
              notify a#1 9:Signal s17="late"
            2 A#1 output x; end
              ended A "x"
              notify a#1 10:CallCompletion 5="x"
            3 a#1 output x; end
              ended a "x"
              wake at 103
            4 restart a b from=2
              invoke b#1
              reply restarted as b
            4 dump
              | invocation a completed "x", attempt 1, journal 7/12, pin 1, root a
              | invocation b running, attempt 1, journal 3/5, pin 1, restarted from a, root b
              | journal a 0:Input
              | journal a 1:Run
              | journal a 2:Run
              | journal a 3:Sleep
              | journal a 4:RunCompletion 2="two"
              | journal a 5:RunCompletion 1="one"
              | journal a 6:Call
              | journal a 7:CallInvocationIdCompletion 4=A
              | journal a 8:SendSignal
              | journal a 9:Signal s17="late"
              | journal a 10:CallCompletion 5="x"
              | journal a 11:Output
              | journal b 0:Input
              | journal b 1:Run
              | journal b 2:Run
              | journal b 3:RunCompletion 2="two"
              | journal b 4:RunCompletion 1="one"
              | notified a 1 @5
              | notified a 2 @4
              | notified a 4 @7
              | notified a 5 @10
              | notified a s17 @9
              | notified b 1 @4
              | notified b 2 @3
              | running b
              | timer 103 Forget a 0
            5 restart a c from=3
              reply refused: BadPrefix
            6 restart a d from=7
              reply refused: BadPrefix
        "#]],
    );
}

#[test]
fn what_cannot_be_restarted() {
    check(
        "
        0 invoke a Wf/k/run keep=100
        1 a#1 output x; end
        2 restart a b
        3 invoke c Greeter/greet at=50
        3 restart c d
        ",
        expect![[r#"
            0 invoke a Wf/k/run keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 output x; end
              ended a "x"
              wake at 101
            2 restart a b
              reply refused: Unsupported
            3 invoke c Greeter/greet at=50
              reply accepted c, new, starts at 50
              wake at 50
            3 restart c d
              reply refused: NotStarted
        "#]],
    );
}

/// Before V6 an SDK makes its chance from the id, which a restart changes.
#[test]
fn a_prefix_needs_a_version_that_takes_the_seed() {
    check(
        "
        0 invoke a Greeter/greet keep=100
        1 a#1 run 1; ran 1 x; fail oops pause
        2 resume a pin=5
        3 a#2 output x; end
        4 restart a b from=2
        5 restart a c
        ",
        expect![[r#"
            0 invoke a Greeter/greet keep=100
              reply accepted a, new
              invoke a#1
            1 a#1 run 1; ran 1 x; fail oops pause
              notify a#1 2:RunCompletion 1="x"
            2 resume a pin=5
              invoke a#2
              reply done
            3 a#2 output x; end
              ended a "x"
              wake at 103
            4 restart a b from=2
              reply refused: Unsupported
            5 restart a c
              invoke c#1
              reply restarted as c
        "#]],
    );
}

#[test]
fn a_restart_keeps_the_seed_of_a_prefix_and_only_then() {
    let mut world = super::script::World::after(
        1,
        "
        0 invoke a Greeter/greet keep=100
        1 a#1 run 1; ran 1 x; output x; end
        2 restart a b from=2
        3 restart a c from=2 pin=2
        4 restart a d
        ",
    );
    let record = |id| crate::tables::invocation::get(&world.stores[0], PartitionId(0), id);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| world.names.known(name)).map(|id| {
        let record = record(id).unwrap().expect("it is kept, or runs");
        (record.random_seed, record.pin.map(|pin| pin.deployment.0))
    });
    assert_eq!((a.1, b, c), (Some(1), (a.0, Some(1)), (a.0, Some(2))));
    assert_ne!(d.0, a.0);
    assert_eq!(d.1, None, "it begins on what is deployed now");
}
