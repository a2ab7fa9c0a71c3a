//! What is awaited by several at once.

use super::*;

#[test]
fn combinators_v7() {
    check(
        &greeter(
            "v7",
            "chunk 040c00000000000908e497c3bfa2345801 040d0000000000190a0747726565746572120567726565741a0322782250025803
             chunk 00060000000000160a14120101220d12011122060a020103280428012801
             chunk 00060000000000150a13120101220c12011122050a0101280428012801
             suspend
             chunk 00010000000000152213120101220c12011122050a0101280428012801
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040c00000000000908e497c3bfa2345801 040d0000000000190a07477265657465721205677265657
                say
                  Sleep 08e497c3bfa2345801
                  Call 0a0747726565746572120567726565741a0322782250025803 -> service
            chunk 00060000000000160a14120101220d12011122060a020103280428012801
                awaiting FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1, 3)))
            chunk 00060000000000150a13120101220c12011122050a0101280428012801
                awaiting FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1)))
            suspend
                half-close
            chunk 00010000000000152213120101220c12011122050a0101280428012801
                say
                  suspended FirstCompleted(signal 1, FirstCompleted(signal 17, AllSucceededOrFirstFailed(1)))
            end
                finished
        "#]],
    );
}

#[test]
fn combinators_v6() {
    check(
        &greeter("v6", "chunk 00010000000000070a010112020111"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 00010000000000070a010112020111
                say
                  suspended FirstCompleted(1, signal 1, signal 17)
                half-close
        "#]],
    );
}
