//! Lanes by scripts: what is sent when, to whom, and what waits.

use super::*;
use expect_test::{Expect, expect};
use holdfast_machine::retry::RetryPolicy;
use std::{fmt::Write, time::Duration};

/// Two at once, two held, given up after 50 s, pauses of 1 s to 4 s.
fn terms() -> Terms {
    Terms {
        timeout: Duration::from_secs(1),
        retry: RetryPolicy {
            initial_interval: Duration::from_secs(1),
            max_interval: Duration::from_secs(4),
            max_attempts: None,
            ..RetryPolicy::default()
        },
        give_up_after: Duration::from_secs(50),
        concurrent_max: 2,
        held_max: 2,
        held_all_max: 9,
    }
}

/// One event a line, `<ms> <words>`: `offer NAME RECEIVER [SOURCE [WRITTEN]]`, `taken
/// RECEIVER`, `failed RECEIVER`, `clear`, `look`. After each, what goes out.
#[track_caller]
fn check(script: &str, expected: Expect) {
    let mut lanes = Lanes::new(terms());
    let mut text = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let now = Timestamp(words[0].parse().unwrap());
        let told = event(&mut lanes, now, &words[1..]);
        write!(text, "{line}").unwrap();
        let sent = std::iter::from_fn(|| lanes.next(now)).map(|letter| letter.what);
        let sent: Vec<_> = sent.collect();
        for part in [told, sent.join(" ")].iter().filter(|part| !part.is_empty()) {
            write!(text, " => {part}").unwrap();
        }
        match lanes.deadline() {
            Some(at) => writeln!(text, " (next at {})", at.0).unwrap(),
            None => writeln!(text).unwrap(),
        }
    }
    expected.assert_eq(&text);
}

fn event(lanes: &mut Lanes<&'static str>, now: Timestamp, words: &[&str]) -> String {
    let names = |letters: Vec<Letter<&str>>| {
        letters.into_iter().map(|letter| letter.what).collect::<Vec<_>>().join(",")
    };
    match words {
        ["offer", what, to, more @ ..] => {
            let source = more.first().map_or(0, |source| source.parse().unwrap());
            let written_at = more.get(1).map_or(now, |at| Timestamp(at.parse().unwrap()));
            let what = ["a", "b", "c", "d", "e"].into_iter().find(|it| it == what).unwrap();
            let (to, source) = ((*to).to_owned(), PartitionId(source));
            let offered = lanes.offer(now, &Letter { to, source, written_at, what });
            if offered == Offered::Held { String::new() } else { format!("{offered:?}") }
        }
        ["taken", to] => {
            lanes.taken(now, to);
            String::new()
        }
        ["failed", to] => {
            let given_up = names(lanes.failed(now, to, 0).given_up);
            if given_up.is_empty() { given_up } else { format!("gives up {given_up}") }
        }
        ["clear"] => format!("clears {}", names(lanes.clear())),
        ["look"] => format!("{} fail, oldest {:?}", lanes.failing(), lanes.oldest()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_at_a_time_for_each_receiver_in_order() {
    check(
        "
        0 offer a x
        1 offer b x
        2 offer c y
        3 taken y
        4 taken x
        5 taken x
        6 look
        ",
        expect![[r#"
            0 offer a x => a
            1 offer b x
            2 offer c y => c
            3 taken y
            4 taken x => b
            5 taken x
            6 look => 0 fail, oldest None
        "#]],
    );
}

#[test]
fn pauses_grow_and_end_with_a_success() {
    check(
        "
        0 offer a x
        10 failed x
        500 offer b x
        1013 look
        1020 failed x
        3023 look
        3030 failed x
        7033 look
        7040 failed x
        11043 look
        11050 taken x
        11060 failed x
        ",
        expect![[r#"
            0 offer a x => a
            10 failed x (next at 1013)
            500 offer b x (next at 1013)
            1013 look => 1 fail, oldest Some(Timestamp(0)) => a
            1020 failed x (next at 3023)
            3023 look => 1 fail, oldest Some(Timestamp(0)) => a
            3030 failed x (next at 7033)
            7033 look => 1 fail, oldest Some(Timestamp(0)) => a
            7040 failed x (next at 11043)
            11043 look => 1 fail, oldest Some(Timestamp(0)) => a
            11050 taken x => b
            11060 failed x (next at 12063)
        "#]],
    );
}

#[test]
fn a_failing_receiver_holds_up_nobody_and_takes_no_place() {
    check(
        "
        0 offer a x
        1 failed x
        2 offer b y
        3 offer c z
        4 offer d w
        5 taken z
        6 taken y
        ",
        expect![[r#"
            0 offer a x => a
            1 failed x (next at 1004)
            2 offer b y => b (next at 1004)
            3 offer c z => c
            4 offer d w
            5 taken z => d
            6 taken y (next at 1004)
        "#]],
    );
}

#[test]
fn tries_for_failing_receivers_leave_places_to_others() {
    check(
        "
        0 offer a x
        0 offer b y
        1 failed x
        1 failed y
        2000 look
        2001 offer c z
        2002 failed x
        2003 taken z
        2004 taken y
        ",
        expect![[r#"
            0 offer a x => a
            0 offer b y => b
            1 failed x (next at 1004)
            1 failed y (next at 1004)
            2000 look => 2 fail, oldest Some(Timestamp(0)) => a
            2001 offer c z => c
            2002 failed x => b
            2003 taken z
            2004 taken y (next at 4005)
        "#]],
    );
}

#[test]
fn sources_have_their_own_room_and_the_oldest_goes_first() {
    check(
        "
        0 offer a x 1
        1 offer b x 1
        2 offer c x 1
        3 offer d x 0
        4 taken x
        5 offer c x 1
        6 taken x
        7 taken x
        8 taken x
        ",
        expect![[r#"
            0 offer a x 1 => a
            1 offer b x 1
            2 offer c x 1 => Full
            3 offer d x 0
            4 taken x => b
            5 offer c x 1
            6 taken x => d
            7 taken x => c
            8 taken x
        "#]],
    );
}

#[test]
fn what_is_old_is_given_up_only_when_the_receiver_keeps_failing() {
    check(
        "
        0 offer a x
        1 offer b x
        60000 taken x
        60001 failed x
        61004 look
        110000 failed x
        110001 offer c x 0 61000
        112004 look
        112005 failed x
        112006 offer d x 0 10
        112007 offer e y 0 10
        112008 taken y
        ",
        expect![[r#"
            0 offer a x => a
            1 offer b x
            60000 taken x => b
            60001 failed x (next at 61004)
            61004 look => 1 fail, oldest Some(Timestamp(1)) => b
            110000 failed x (next at 112003)
            110001 offer c x 0 61000 (next at 112003)
            112004 look => 1 fail, oldest Some(Timestamp(1)) => b
            112005 failed x => gives up b,c
            112006 offer d x 0 10 => TooLate
            112007 offer e y 0 10 => e
            112008 taken y
        "#]],
    );
}

/// A host that is down has as many lanes as it has letters.
#[test]
fn many_failing_receivers_cost_no_more_than_few() {
    const RECEIVERS: usize = 30_000;
    let mut lanes = Lanes::new(terms());
    for number in 0..RECEIVERS {
        let (to, source) = (format!("task {number}"), PartitionId(0));
        let letter = Letter { to, source, written_at: Timestamp(number as u64), what: number };
        assert_eq!(lanes.offer(Timestamp(0), &letter), Offered::Held);
    }
    let mut now = Timestamp(0);
    for _ in 0..3 * RECEIVERS {
        let letter = loop {
            match lanes.next(now) {
                Some(letter) => break letter,
                None => now = lanes.deadline().expect("all wait for their next try"),
            }
        };
        lanes.failed(now, &letter.to, letter.what as u64);
    }
    assert_eq!((lanes.failing(), lanes.moving()), (RECEIVERS, 0));
    assert_eq!(lanes.oldest(), Some(Timestamp(0)));
    for number in 0..RECEIVERS {
        lanes.taken(now, &format!("task {number}"));
    }
    // Nothing was on its way: the letters are still there, and nobody fails any more.
    assert_eq!((lanes.failing(), lanes.moving()), (0, RECEIVERS));
    while let Some(letter) = lanes.next(now) {
        lanes.taken(now, &letter.to);
    }
    assert_eq!((lanes.oldest(), lanes.failing(), lanes.moving()), (None, 0, 0));
    assert_eq!(lanes.lanes.len(), 0);
}

#[test]
fn clearing_keeps_what_is_on_its_way() {
    check(
        "
        0 offer a x
        1 offer b x
        2 failed x
        2 offer c y
        3 offer d y
        4 clear
        5 offer b x
        6 taken y
        7 taken x
        8 look
        ",
        expect![[r#"
            0 offer a x => a
            1 offer b x
            2 failed x (next at 1005)
            2 offer c y => c (next at 1005)
            3 offer d y (next at 1005)
            4 clear => clears a,b,d
            5 offer b x => b
            6 taken y
            7 taken x
            8 look => 0 fail, oldest None
        "#]],
    );
}
