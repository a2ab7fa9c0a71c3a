//! Schedules: what is due is called once, whatever happens meanwhile.

use super::{check, check_on};
use expect_test::expect;

#[test]
fn what_is_due_is_called_and_the_next_time_is_set() {
    check(
        "
        0 put n Greeter/greet hi cron=@every_5s
        4999 due
        5000 due
        5001 dump
        5100 A#1 output x; end
        5100 dump
        10000 due
        10002 kill B
        10003 dump
        ",
        expect![[r#"
            0 put n Greeter/greet hi cron=@every_5s
              wake at 5000
              reply stored, new
            4999 due
            5000 due
              wake at 10000
              invoke A#1
            5001 dump
              | schedule n, next 10000, run A for 5000 at 5000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | journal A 0:Input
              | running A
              | timer 10000 Schedule n 0
            5100 A#1 output x; end
              ended A "x"
              wake at 105100
            5100 dump
              | schedule n, next 10000, run A for 5000 at 5000 ended 5100, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A completed "x", attempt 1, journal 2/2, pin 1, of n for 5000, root A
              | journal A 0:Input
              | journal A 1:Output
              | timer 10000 Schedule n 0
              | timer 105100 Forget A 0
            10000 due
              wake at 15000
              invoke B#1
            10002 kill B
              abort B#1
              ended B [409] killed
              wake at 110002
              reply done
            10003 dump
              | schedule n, next 15000, run B for 10000 at 10000 failed 10002 [409] killed, 2 runs, 0 caught up, 0 skipped, 0 failed
              | invocation B completed [409] killed, attempt 1, journal 1/1, of n for 10000, root B
              | invocation A completed "x", attempt 1, journal 2/2, pin 1, of n for 5000, root A
              | journal B 0:Input
              | journal A 0:Input
              | journal A 1:Output
              | timer 15000 Schedule n 0
              | timer 105100 Forget A 0
              | timer 110002 Forget B 0
        "#]],
    );
}

#[test]
fn times_that_were_missed_have_one_run_for_the_latest() {
    check(
        "
        0 put n Greeter/greet cron=@every_5s
        33000 due
        33000 dump
        33001 due
        35000 due
        ",
        expect![[r#"
            0 put n Greeter/greet cron=@every_5s
              wake at 5000
              reply stored, new
            33000 due
              wake at 35000
              invoke A#1
            33000 dump
              | schedule n, next 35000, run A for 30000 at 33000 running, 1 runs, 1 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 30000, root A
              | journal A 0:Input
              | running A
              | timer 35000 Schedule n 0
            33001 due
            35000 due
              wake at 40000
              invoke B#1
        "#]],
    );
}

#[test]
fn or_none_where_they_are_to_be_skipped() {
    check(
        "
        0 put n Greeter/greet cron=@every_20s catch-up=skip
        53000 due
        53000 dump
        66000 due
        66000 dump
        ",
        expect![[r#"
            0 put n Greeter/greet cron=@every_20s catch-up=skip
              wake at 20000
              reply stored, new
            53000 due
              wake at 60000
            53000 dump
              | schedule n, next 60000, 0 runs, 0 caught up, 1 skipped, 0 failed
              | timer 60000 Schedule n 0
            66000 due
              wake at 80000
              invoke A#1
            66000 dump
              | schedule n, next 80000, run A for 60000 at 66000 running, 1 runs, 0 caught up, 1 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 60000, root A
              | journal A 0:Input
              | running A
              | timer 80000 Schedule n 0
        "#]],
    );
}

#[test]
fn a_run_waits_for_no_other_unless_it_is_told_to() {
    check(
        "
        0 put a Greeter/greet cron=@every_5s
        0 put s Greeter/greet cron=@every_5s overlap=skip
        5000 due
        10000 due
        10001 trigger s
        10002 dump
        12000 B#1 output x; end
        15000 due
        15001 dump
        ",
        expect![[r#"
            0 put a Greeter/greet cron=@every_5s
              wake at 5000
              reply stored, new
            0 put s Greeter/greet cron=@every_5s overlap=skip
              wake at 5000
              reply stored, new
            5000 due
              wake at 10000
              invoke A#1
              wake at 10000
              invoke B#1
            10000 due
              wake at 15000
              invoke C#1
              wake at 15000
            10001 trigger s
              reply not triggered: B is running
            10002 dump
              | schedule a, next 15000, run C for 10000 at 10000 running, 2 runs, 0 caught up, 0 skipped, 0 failed
              | schedule s, next 15000, run B for 5000 at 5000 running, 1 runs, 0 caught up, 1 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for a, of a for 5000, root A
              | invocation B running, attempt 1, journal 1/1, for s, of s for 5000, root B
              | invocation C running, attempt 1, journal 1/1, for a, of a for 10000, root C
              | journal A 0:Input
              | journal B 0:Input
              | journal C 0:Input
              | running A
              | running B
              | running C
              | timer 15000 Schedule a 0
              | timer 15000 Schedule s 0
            12000 B#1 output x; end
              ended B "x"
              wake at 112000
            15000 due
              wake at 20000
              invoke D#1
              wake at 20000
              invoke E#1
            15001 dump
              | schedule a, next 20000, run D for 15000 at 15000 running, 3 runs, 0 caught up, 0 skipped, 0 failed
              | schedule s, next 20000, run E for 15000 at 15000 running, 2 runs, 0 caught up, 1 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for a, of a for 5000, root A
              | invocation B completed "x", attempt 1, journal 2/2, pin 1, of s for 5000, root B
              | invocation D running, attempt 1, journal 1/1, for a, of a for 15000, root D
              | invocation C running, attempt 1, journal 1/1, for a, of a for 10000, root C
              | invocation E running, attempt 1, journal 1/1, for s, of s for 15000, root E
              | journal A 0:Input
              | journal B 0:Input
              | journal B 1:Output
              | journal D 0:Input
              | journal C 0:Input
              | journal E 0:Input
              | running A
              | running D
              | running C
              | running E
              | timer 20000 Schedule a 0
              | timer 20000 Schedule s 0
              | timer 112000 Forget B 0
        "#]],
    );
}

#[test]
fn what_is_missed_while_paused_is_not_made_up_for() {
    check(
        "
        0 put n Greeter/greet cron=@every_5s
        1000 hold n
        1001 hold n
        1001 dump
        6000 due
        11000 put n Greeter/greet cron=@every_5s catch-up=skip
        12000 release n
        12001 release n
        12001 dump
        15000 due
        ",
        expect![[r#"
            0 put n Greeter/greet cron=@every_5s
              wake at 5000
              reply stored, new
            1000 hold n
              reply done
            1001 hold n
              reply done
            1001 dump
              | schedule n paused, 0 runs, 0 caught up, 0 skipped, 0 failed
            6000 due
            11000 put n Greeter/greet cron=@every_5s catch-up=skip
              reply stored, known
            12000 release n
              wake at 15000
              reply done
            12001 release n
              reply done
            12001 dump
              | schedule n, next 15000, 0 runs, 0 caught up, 0 skipped, 0 failed
              | timer 15000 Schedule n 0
            15000 due
              wake at 20000
              invoke A#1
        "#]],
    );
}

#[test]
fn a_person_may_want_a_run_now() {
    check(
        "
        0 trigger n
        0 put n Counter/k/add cron=0_0_1_1_*
        1000 hold n
        2000 trigger n
        2000 trigger n
        2000 dump
        3000 trigger n called=Other
        ",
        expect![[r#"
            0 trigger n
              reply unknown
            0 put n Counter/k/add cron=0_0_1_1_*
              wake at 31536000000
              reply stored, new
            1000 hold n
              reply done
            2000 trigger n
              reply triggered A
              invoke A#1
            2000 trigger n
              reply triggered B
            2000 dump
              | schedule n paused, run B asked for 2000 at 2000 running, 2 runs, 0 caught up, 0 skipped, 0 failed
              | invocation B inboxed 0, attempt 0, journal 1/1, for n, of n for 2000, root B
              | invocation A running, attempt 1, journal 1/1, for n, of n for 2000, root A
              | journal B 0:Input
              | journal A 0:Input
              | lock Counter/k A 0..1
              | inbox Counter/k 0 B
              | running A
            3000 trigger n called=Other
              reply not triggered: the schedule was changed at the same time; try again
        "#]],
    );
}

#[test]
fn another_plan_keeps_what_happened_and_begins_anew_with_other_times() {
    check(
        "
        0 put n Greeter/greet cron=@every_5s
        5000 due
        7000 put n Greeter/greet cron=@every_5s
        7000 put n Greeter/other cron=@every_5s
        7000 dump
        8000 put n Greeter/other cron=@every_10s
        8000 dump
        9000 put n Greeter/other cron=0_0_30_2_*
        9000 put n Greeter/other cron=@every_10s tz=Europe/Atlantis
        9000 dump
        18000 due
        ",
        expect![[r#"
            0 put n Greeter/greet cron=@every_5s
              wake at 5000
              reply stored, new
            5000 due
              wake at 10000
              invoke A#1
            7000 put n Greeter/greet cron=@every_5s
              reply stored, known
            7000 put n Greeter/other cron=@every_5s
              reply stored, known
            7000 dump
              | schedule n, next 10000, run A for 5000 at 5000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | journal A 0:Input
              | running A
              | timer 10000 Schedule n 0
            8000 put n Greeter/other cron=@every_10s
              wake at 18000
              reply stored, known
            8000 dump
              | schedule n, next 18000, run A for 5000 at 5000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | journal A 0:Input
              | running A
              | timer 18000 Schedule n 0
            9000 put n Greeter/other cron=0_0_30_2_*
              reply no cadence: `0 0 30 2 *` is never due: no such day ever comes
            9000 put n Greeter/other cron=@every_10s tz=Europe/Atlantis
              reply no cadence: `Europe/Atlantis` is not a time zone; write a name of the IANA database, as `Europe/Berlin`, or `UTC`
            9000 dump
              | schedule n, next 18000, run A for 5000 at 5000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | journal A 0:Input
              | running A
              | timer 18000 Schedule n 0
            18000 due
              wake at 28000
              invoke B#1
        "#]],
    );
}

#[test]
fn what_is_deleted_is_due_no_more_and_its_run_goes_on() {
    check(
        "
        0 delete n
        0 put n Greeter/greet cron=@every_5s
        5000 due
        6000 delete n
        6000 dump
        10000 due
        11000 put n Greeter/greet cron=@every_5s
        16000 due
        16001 A#1 output x; end
        16001 dump
        ",
        expect![[r#"
            0 delete n
              reply unknown
            0 put n Greeter/greet cron=@every_5s
              wake at 5000
              reply stored, new
            5000 due
              wake at 10000
              invoke A#1
            6000 delete n
              reply done
            6000 dump
              | invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | journal A 0:Input
              | running A
            10000 due
            11000 put n Greeter/greet cron=@every_5s
              wake at 16000
              reply stored, new
            16000 due
              wake at 21000
              invoke B#1
            16001 A#1 output x; end
              ended A "x"
              wake at 116001
            16001 dump
              | schedule n, next 21000, run B for 16000 at 16000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A completed "x", attempt 1, journal 2/2, pin 1, of n for 5000, root A
              | invocation B running, attempt 1, journal 1/1, for n, of n for 16000, root B
              | journal A 0:Input
              | journal A 1:Output
              | journal B 0:Input
              | running B
              | timer 21000 Schedule n 0
              | timer 116001 Forget A 0
        "#]],
    );
}

#[test]
fn a_target_that_is_gone_or_has_no_key_is_told_and_not_lost() {
    check(
        "
        0 put g Gone/greet cron=@every_5s
        0 put w WfMail/k/run cron=@every_5s
        5000 due
        5000 dump
        6000 put g Greeter/greet cron=@every_5s
        10000 due
        10000 dump
        ",
        expect![[r#"
            0 put g Gone/greet cron=@every_5s
              wake at 5000
              reply stored, new
            0 put w WfMail/k/run cron=@every_5s
              wake at 5000
              reply stored, new
            5000 due
              wake at 10000
              wake at 10000
            5000 dump
              | schedule w, next 10000, 0 runs, 0 caught up, 0 skipped, 1 failed, for 5000: HF0181 `WfMail/run` runs once for each key; put `{time}` into the key, which stands for the time of the run
              | schedule g, next 10000, 0 runs, 0 caught up, 0 skipped, 1 failed, for 5000: HF0180 nothing is registered for `Gone/greet`; register a deployment that has it
              | timer 10000 Schedule w 0
              | timer 10000 Schedule g 0
            6000 put g Greeter/greet cron=@every_5s
              reply stored, known
            10000 due
              wake at 15000
              wake at 15000
              invoke A#1
            10000 dump
              | schedule w, next 15000, 0 runs, 0 caught up, 0 skipped, 2 failed, for 10000: HF0181 `WfMail/run` runs once for each key; put `{time}` into the key, which stands for the time of the run
              | schedule g, next 15000, run A for 10000 at 10000 running, 1 runs, 0 caught up, 0 skipped, 1 failed
              | invocation A running, attempt 1, journal 1/1, for g, of g for 10000, root A
              | journal A 0:Input
              | running A
              | timer 15000 Schedule w 0
              | timer 15000 Schedule g 0
        "#]],
    );
}

#[test]
fn a_workflow_has_a_key_for_each_time() {
    check(
        "
        0 put n WfMail/daily-{time}/run cron=*_*_*_*_*
        60000 due
        60001 A#1 output x; end
        120000 due
        120000 dump
        ",
        expect![[r#"
            0 put n WfMail/daily-{time}/run cron=*_*_*_*_*
              wake at 60000
              reply stored, new
            60000 due
              wake at 120000
              invoke A#1
            60001 A#1 output x; end
              ended A "x"
              wake at 160001
            120000 due
              wake at 180000
              invoke B#1
            120000 dump
              | schedule n, next 180000, run B for 120000 at 120000 running, 2 runs, 0 caught up, 0 skipped, 0 failed
              | invocation B running, attempt 1, journal 1/1, for n, of n for 120000, root B
              | invocation A completed "x", attempt 1, journal 2/2, pin 1, of n for 60000, root A
              | journal B 0:Input
              | journal A 0:Input
              | journal A 1:Output
              | running B
              | timer 160001 Forget A 0
              | timer 180000 Schedule n 0
        "#]],
    );
}

#[test]
fn a_key_of_another_partition_is_called_once_and_answers() {
    check_on(
        3,
        "
        0 put n Counter/k4/add cron=@every_5s overlap=skip
        5000 due
        5000 recover
        5001 route
        5001 dump
        10000 due
        10001 A#1 output x; end
        10002 recover
        10003 route
        10003 dump
        15000 due
        ",
        expect![[r#"
            0 put n Counter/k4/add cron=@every_5s overlap=skip
              wake at 5000
              reply stored, new
            5000 due
              wake at 10000
              send to 2 .1: invoke A
            5000 recover
              wake at 10000
              send to 2 .1: invoke A
            5001 route
              partition 2 takes 0.1
              invoke A#1
            5001 dump
              | 0: schedule n, next 10000, run A for 5000 at 5000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | 0: meta [08, 02, 10, 02]
              | 0: timer 10000 Schedule n 0
              | 2: dedup [08, 01]
              | 2: invocation A running, attempt 1, journal 1/1, for n, of n for 5000, root A
              | 2: journal A 0:Input
              | 2: lock Counter/k4 A 0..0
              | 2: running A
            10000 due
              wake at 15000
            10001 A#1 output x; end
              send to 0 .1: n "x"
              ended A "x"
              wake at 110001
            10002 recover
              wake at 15000
              wake at 110001
              send to 0 .1: n "x"
            10003 route
              partition 0 takes 2.1
            10003 dump
              | 0: schedule n, next 15000, run A for 5000 at 5000 ended 10003, 1 runs, 0 caught up, 1 skipped, 0 failed
              | 0: dedup [08, 01]
              | 0: meta [08, 02, 10, 02]
              | 0: timer 15000 Schedule n 0
              | 2: dedup [08, 01]
              | 2: invocation A completed "x", attempt 1, journal 2/2, pin 1, of n for 5000, root A
              | 2: journal A 0:Input
              | 2: journal A 1:Output
              | 2: meta [08, 02, 10, 02]
              | 2: timer 110001 Forget A 0
            15000 due
              wake at 20000
              send to 2 .2: invoke B
        "#]],
    );
}

#[test]
fn clocks_that_change_neither_lose_nor_repeat_a_run() {
    // 2026-03-29 in Berlin: 02:30 does not exist; the clocks go on at 01:00 UTC.
    check(
        "
        1774700000000 put n Greeter/greet cron=30_2_*_*_* tz=Europe/Berlin
        1774746000000 due
        1774830000000 due
        1774830000000 dump
        ",
        expect![[r#"
            1774700000000 put n Greeter/greet cron=30_2_*_*_* tz=Europe/Berlin
              wake at 1774746000000
              reply stored, new
            1774746000000 due
              wake at 1774830600000
              invoke A#1
            1774830000000 due
            1774830000000 dump
              | schedule n, next 1774830600000, run A for 1774746000000 at 1774746000000 running, 1 runs, 0 caught up, 0 skipped, 0 failed
              | invocation A running, attempt 1, journal 1/1, for n, of n for 1774746000000, root A
              | journal A 0:Input
              | running A
              | timer 1774830600000 Schedule n 0
        "#]],
    );
}
