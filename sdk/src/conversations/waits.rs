//! Waiting, suspending, and being asked to.

use super::*;
use expect_test::expect;
use std::time::Duration;

#[test]
fn a_closed_request_asks_to_suspend() {
    v7(|ctx| async move { Ok(ctx.sleep(Duration::from_secs(9)).await?) })
        .hears([start(1), input("null")])
        .hears([Say::End])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Sleep 1
            < AwaitingOn first(1, s1)
            > the request ends
            < Suspension first(1, s1)
        "#]]);
}

#[test]
fn a_process_that_is_to_end_suspends_its_handlers() {
    v7(|ctx| async move { Ok(ctx.sleep(Duration::from_secs(9)).await?) })
        .hears([start(1), input("null")])
        .hears([Say::Drain])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Sleep 1
            < AwaitingOn first(1, s1)
            > the process is to end
            < Suspension first(1, s1)
        "#]]);
}

#[test]
fn a_process_that_is_to_end_suspends_what_begins_meanwhile() {
    v7(|ctx| async move { Ok(ctx.sleep(Duration::from_secs(9)).await?) })
        .hears([Say::Drain, start(1)])
        .hears([input("null")])
        .check(expect![[r#"
            > the process is to end
            > Start 1 entries
            > Input null
            < Sleep 1
            < Suspension first(1, s1)
        "#]]);
}

#[test]
fn what_is_being_executed_comes_to_its_end_first() {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let attempt = v7(|ctx| async move {
        ctx.run("slow", async || Ok(told.await?)).await?;
        Ok(())
    })
    .hears([start(1), input("null")])
    .hears([Say::End]);
    assert!(!attempt.is_closed(), "the step still runs");
    tell.send(()).unwrap();
    attempt.go_on().check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `slow`
        > the request ends
        < ProposeRunCompletion 1 , asks for an ack
        < Suspension first(1, s1)
    "#]]);
}

#[test]
fn an_awakeable_has_an_id_that_anybody_can_complete() {
    v7(|ctx| async move {
        let (id, told) = ctx.awakeable::<String>();
        assert_eq!(id, "sign_1BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAAAAEQ");
        Ok(told.await?)
    })
    .hears([start(1), input("null")])
    .hears([signal(17, "\"hello\"")])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < AwaitingOn first(s17, s1)
        > Signal 17 "hello"
        < Output "hello"
        < End
    "#]]);
}

#[test]
fn a_result_that_cannot_be_read_fails_the_attempt() {
    v7(|ctx| async move {
        let (_, told) = ctx.awakeable::<u32>();
        Ok(told.await?)
    })
    .hears([start(1), input("null")])
    .hears([signal(17, "\"secret\"")])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < AwaitingOn first(s17, s1)
        > Signal 17 "secret"
        < Error 500 8 bytes cannot be read as a `u32`: not of the expected type (line 1 column 8), awaited at sdk/src/conversations/waits.rs:LINE
    "#]]);
}
