//! Sleeps.

use super::*;

#[test]
fn a_sleep_that_suspended_is_replayed() {
    let entries = "040000000000000872060a0433353030 040c00000000001308dcc1c1bfa234580162086d792d736c656570 800c00000000000408012200";
    let [input, sleep, slept] = *entries.split(' ').collect::<Vec<_>>() else { panic!("three") };
    check(
        &format!(
            "open Greeter/sleep v6 id=inv_1bTLRbgmzI2y09RaFW6B610aA8iBVH1gZP seed=15749587119524422821 unchanged=3 partial
             entry {input}
             entry {sleep}
             entry {slept}
             sends 00000000000000530a18d62191331df4998a01a227f0532ad3b67201c6b7765a39051226696e765f3162544c5262676d7a49327930395261465736423631306141386942564831675a5018032801400348a5c9c892a5c1f1c8da01 {entries}
             head 200
             chunk 040100000000000b72090a0722736c65707422 0003000000000000
             end"
        ),
        expect![[r#"
            open
                sends Start, Input, Sleep, SleepCompletion
            head 200
            chunk 040100000000000b72090a0722736c65707422 0003000000000000
                say
                  Output 72090a0722736c65707422
                  completed
                half-close
            end
                finished
        "#]],
    );
}
