//! Objects: one exclusive invocation at a time for each key, and their state.

use super::check;
use expect_test::expect;

#[test]
fn a_key_is_held_by_one_and_goes_on_in_order() {
    check(
        "
        0 invoke a Counter/k/add
        1 invoke b Counter/k/add
        2 invoke c Counter/k/add
        2 invoke d Counter/k/get
        2 invoke e Counter/other/add
        3 dump
        4 a#1 sleep 1 10; suspend first(1)
        10 due
        11 a#2 output x; end
        12 b#1 fail oops after=1
        13 due
        13 b#2 output x; end
        14 c#1 output x; end
        15 d#1 output x; end
        15 e#1 output x; end
        15 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 invoke b Counter/k/add
              reply accepted b, new
            2 invoke c Counter/k/add
              reply accepted c, new
            2 invoke d Counter/k/get
              reply accepted d, new
              invoke d#1
            2 invoke e Counter/other/add
              reply accepted e, new
              invoke e#1
            3 dump
              | invocation a running, attempt 1, journal 1/1, root a
              | invocation b inboxed 0, attempt 0, journal 1/1, root b
              | invocation c inboxed 1, attempt 0, journal 1/1, root c
              | invocation d running, attempt 1, journal 1/1, root d
              | invocation e running, attempt 1, journal 1/1, root e
              | journal a 0:Input
              | journal b 0:Input
              | journal c 0:Input
              | journal d 0:Input
              | journal e 0:Input
              | lock Counter/k a 0..2
              | lock Counter/other e 0..0
              | inbox Counter/k 0 b
              | inbox Counter/k 1 c
              | running a
              | running d
              | running e
            4 a#1 sleep 1 10; suspend first(1)
              wake at 10
            10 due
              invoke a#2
            11 a#2 output x; end
              ended a "x"
              invoke b#1
            12 b#1 fail oops after=1
              wake at 13
            13 due
              invoke b#2
            13 b#2 output x; end
              ended b "x"
              invoke c#1
            14 c#1 output x; end
              ended c "x"
            15 d#1 output x; end
              ended d "x"
            15 e#1 output x; end
              ended e "x"
            15 dump
              | nothing
        "#]],
    );
}

#[test]
fn who_leaves_the_inbox_is_passed_over() {
    check(
        "
        0 invoke a Counter/k/add
        1 invoke b Counter/k/add
        2 invoke c Counter/k/add
        3 invoke d Counter/k/add
        4 cancel b
        5 kill c
        6 a#1 output x; end
        7 d#1 output x; end
        7 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 invoke b Counter/k/add
              reply accepted b, new
            2 invoke c Counter/k/add
              reply accepted c, new
            3 invoke d Counter/k/add
              reply accepted d, new
            4 cancel b
              ended b [409] canceled
              reply done
            5 kill c
              ended c [409] killed
              reply done
            6 a#1 output x; end
              ended a "x"
              invoke d#1
            7 d#1 output x; end
              ended d "x"
            7 dump
              | nothing
        "#]],
    );
}

#[test]
fn state_is_read_and_written() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 got n; get n 1; set n 5; get n 2; set m 6; keys 3
        2 dump
        3 a#1 clear m; keys 4; set x 1; clear-all; keys 5; set z 9
        4 a#1 output x; end
        4 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 got n; get n 1; set n 5; get n 2; set m 6; keys 3
              notify a#1 3:GetLazyStateCompletion 1=void
              notify a#1 6:GetLazyStateCompletion 2="5"
              notify a#1 9:GetLazyStateKeysCompletion 3="m","n"
            2 dump
              | invocation a running, attempt 1, journal 7/10, pin 1, root a
              | journal a 0:Input
              | journal a 1:GetEagerState
              | journal a 2:GetLazyState
              | journal a 3:GetLazyStateCompletion 1=void
              | journal a 4:SetState
              | journal a 5:GetLazyState
              | journal a 6:GetLazyStateCompletion 2="5"
              | journal a 7:SetState
              | journal a 8:GetLazyStateKeys
              | journal a 9:GetLazyStateKeysCompletion 3="m","n"
              | lock Counter/k a 0..0
              | notified a 1 @3
              | notified a 2 @6
              | notified a 3 @9
              | running a
              | state Counter/k m="6"
              | state Counter/k n="5"
            3 a#1 clear m; keys 4; set x 1; clear-all; keys 5; set z 9
              notify a#1 12:GetLazyStateKeysCompletion 4="n"
              notify a#1 16:GetLazyStateKeysCompletion 5=
            4 a#1 output x; end
              ended a "x"
            4 dump
              | state Counter/k z="9"
        "#]],
    );
}

#[test]
fn a_failed_attempt_rolls_nothing_back() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 set n 5; fail oops code=500 fail
        1 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 set n 5; fail oops code=500 fail
              ended a [500] oops
            1 dump
              | state Counter/k n="5"
        "#]],
    );
}

#[test]
fn patches_wait_in_the_inbox() {
    check(
        "
        0 patch Counter/k n=1
        1 invoke a Counter/k/add
        2 patch Counter/k n=2 m=3
        2 invoke b Counter/k/add
        2 patch Counter/k version=stale n=9
        2 dump
        3 a#1 output x; end
        3 dump
        4 b#1 set n 7; output x; end
        5 patch Counter/k
        5 dump
        ",
        expect![[r#"
            0 patch Counter/k n=1
              reply done
            1 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            2 patch Counter/k n=2 m=3
              reply appended
            2 invoke b Counter/k/add
              reply accepted b, new
            2 patch Counter/k version=stale n=9
              reply appended
            2 dump
              | invocation a running, attempt 1, journal 1/1, root a
              | invocation b inboxed 1, attempt 0, journal 1/1, root b
              | journal a 0:Input
              | journal b 0:Input
              | lock Counter/k a 0..3
              | inbox Counter/k 0 patch
              | inbox Counter/k 1 b
              | inbox Counter/k 2 patch
              | running a
              | state Counter/k n="1"
            3 a#1 output x; end
              ended a "x"
              invoke b#1
            3 dump
              | invocation b running, attempt 1, journal 1/1, root b
              | journal b 0:Input
              | lock Counter/k b 2..3
              | inbox Counter/k 2 patch
              | running b
              | state Counter/k m="3"
              | state Counter/k n="2"
            4 b#1 set n 7; output x; end
              ended b "x"
            5 patch Counter/k
              reply done
            5 dump
              | nothing
        "#]],
    );
}

/// The versions are those that existing tools compute.
#[test]
fn a_patch_can_ask_for_a_version() {
    check(
        "
        0 patch Counter/k version=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU name=bob
        1 patch Counter/k version=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU name=eve
        2 patch Counter/k version=tDqA04Lj3_qJ-PgNPTecXDGZgpwy6jm2Ni2BYqJIthM name=eve
        2 dump
        ",
        expect![[r#"
            0 patch Counter/k version=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU name=bob
              reply done
            1 patch Counter/k version=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU name=eve
              reply mismatch, it is tDqA04Lj3_qJ-PgNPTecXDGZgpwy6jm2Ni2BYqJIthM
            2 patch Counter/k version=tDqA04Lj3_qJ-PgNPTecXDGZgpwy6jm2Ni2BYqJIthM name=eve
              reply done
            2 dump
              | state Counter/k name="eve"
        "#]],
    );
}

#[test]
fn calling_the_key_one_holds_fails_at_once() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 call 1 2 Counter/k/add; suspend first(2)
        2 a#2 call 3 4 Counter/k/add idem=i; call 5 6 Counter/k/get; call 7 8 Counter/other/add
        3 a#2 send 9 Counter/k/add
        4 a#2 output x; end
        4 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 call 1 2 Counter/k/add; suspend first(2)
              notify a#1 2:CallInvocationIdCompletion 1=A
              invoke a#2
            2 a#2 call 3 4 Counter/k/add idem=i; call 5 6 Counter/k/get; call 7 8 Counter/other/add
              notify a#2 5:CallInvocationIdCompletion 3=B
              notify a#2 7:CallInvocationIdCompletion 5=C
              notify a#2 9:CallInvocationIdCompletion 7=D
              invoke C#1
              invoke D#1
              notify a#2 10:CallCompletion 4=[409] what this invocation would wait for needs the key that it holds, and could never begin; call another key, or call one-way (HF0095)
            3 a#2 send 9 Counter/k/add
              notify a#2 12:CallInvocationIdCompletion 9=E
            4 a#2 output x; end
              ended a "x"
              invoke E#1
            4 dump
              | invocation D running, attempt 1, journal 1/1, for a 8, root a
              | invocation E running, attempt 1, journal 1/1, root a
              | invocation C running, attempt 1, journal 1/1, for a 6, root a
              | journal D 0:Input
              | journal E 0:Input
              | journal C 0:Input
              | lock Counter/k E 1..1
              | lock Counter/other D 0..0
              | running D
              | running E
              | running C
        "#]],
    );
}

#[test]
fn latching_onto_what_waits_for_ones_own_key_fails_too() {
    check(
        "
        0 invoke a Counter/k/add
        1 invoke b Counter/k/add idem=i
        2 a#1 call 1 2 Counter/k/add idem=i
        3 a#1 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 invoke b Counter/k/add idem=i
              reply accepted b, new
            2 a#1 call 1 2 Counter/k/add idem=i
              notify a#1 2:CallInvocationIdCompletion 1=b
              notify a#1 3:CallCompletion 2=[409] what this invocation would wait for needs the key that it holds, and could never begin; call another key, or call one-way (HF0095)
            3 a#1 output x; end
              ended a "x"
              invoke b#1
        "#]],
    );
}

#[test]
fn a_delayed_invocation_queues_when_its_time_has_come() {
    check(
        "
        0 invoke a Counter/k/add at=10
        1 invoke b Counter/k/add
        10 due
        11 b#1 output x; end
        ",
        expect![[r#"
            0 invoke a Counter/k/add at=10
              reply accepted a, new, starts at 10
              wake at 10
            1 invoke b Counter/k/add
              reply accepted b, new
              invoke b#1
            10 due
            11 b#1 output x; end
              ended b "x"
              invoke a#1
        "#]],
    );
}

#[test]
fn state_that_was_sent_is_only_recorded() {
    check(
        "
        0 invoke a Counter/k/add
        1 a#1 got n; got-keys; set n 1; got n; got-keys; output x; end
        1 dump
        ",
        expect![[r#"
            0 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            1 a#1 got n; got-keys; set n 1; got n; got-keys; output x; end
              ended a "x"
            1 dump
              | state Counter/k n="1"
        "#]],
    );
}

/// Nobody waits for the answer of a patch that had to queue: one that does not fit is dropped.
#[test]
fn a_queued_patch_of_another_version_changes_nothing() {
    check(
        "
        0 patch Counter/k n=1
        1 invoke a Counter/k/add
        2 patch Counter/k version=nonsense n=2
        3 patch Counter/k m=3
        4 a#1 set n 7; output x; end
        4 dump
        ",
        expect![[r#"
            0 patch Counter/k n=1
              reply done
            1 invoke a Counter/k/add
              reply accepted a, new
              invoke a#1
            2 patch Counter/k version=nonsense n=2
              reply appended
            3 patch Counter/k m=3
              reply appended
            4 a#1 set n 7; output x; end
              ended a "x"
            4 dump
              | state Counter/k m="3"
        "#]],
    );
}
