//! Cancellation: the current await fails, and the calls under way are cancelled along.

use super::*;
use crate::Request;
use expect_test::expect;
use std::time::Duration;

#[test]
fn the_current_await_fails() {
    v7(|ctx| async move { Ok(ctx.sleep(Duration::from_secs(9)).await?) })
        .hears([start(1), input("null")])
        .hears([cancel()])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Sleep 1
            < AwaitingOn first(1, s1)
            > Signal cancel
            < Output failure 409 cancelled
            < End
        "#]]);
}

#[test]
fn one_can_go_on_after_it() {
    v7(|ctx| async move {
        let cancelled = ctx.sleep(Duration::from_secs(9)).await.unwrap_err();
        assert!(cancelled.is_cancelled());
        ctx.run("clean up", async || Ok(())).await?;
        ctx.sleep(Duration::from_secs(1)).await?;
        Ok("cleaned up")
    })
    .hears([start(1), input("null")])
    .hears([cancel()])
    .hears([ack(2), slept(3)])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < AwaitingOn first(1, s1)
        > Signal cancel
        < Run 2 `clean up`
        < ProposeRunCompletion 2 , asks for an ack
        > ProposeRunCompletionAck 2
        > SleepCompletion 3 nothing
        < Sleep 3
        < Output "cleaned up"
        < End
    "#]]);
}

async fn call(ctx: Context) -> Result<String> {
    Ok(ctx.call(Request::new("Other", "work", &1)).await?)
}

#[test]
fn calls_are_cancelled_along() {
    v7(call)
        .hears([start(1), input("null")])
        .hears([runs_as(1, "inv_child")])
        .hears([cancel()])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Call 1 2 Other/work 1
            < AwaitingOn first(2, s1)
            > CallInvocationIdCompletion 1 inv_child
            > Signal cancel
            < SendSignal 1 to inv_child
            < Output failure 409 cancelled
            < End
        "#]]);
}

#[test]
fn it_waits_for_the_ids_of_the_calls() {
    v7(call)
        .hears([start(1), input("null")])
        .hears([cancel()])
        .hears([runs_as(1, "inv_child")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Call 1 2 Other/work 1
            < AwaitingOn first(2, s1)
            > Signal cancel
            > CallInvocationIdCompletion 1 inv_child
            < SendSignal 1 to inv_child
            < Output failure 409 cancelled
            < End
        "#]]);
    v7(call)
        .hears([start(3), input("null"), held_call(1, 2, "work", "1"), cancel(), Say::End])
        .check(expect![[r#"
            > Start 3 entries
            > Input null
            > Call 1 2 Other/work 1
            > Signal cancel
            > the request ends
            < Suspension first(1)
        "#]]);
}

#[test]
fn a_replay_of_it_takes_the_same_turns() {
    v7(call)
        .hears([
            start(4),
            input("null"),
            held_call(1, 2, "work", "1"),
            runs_as(1, "inv_child"),
            cancel(),
            Say::End,
        ])
        .check(expect![[r#"
            > Start 4 entries
            > Input null
            > Call 1 2 Other/work 1
            > CallInvocationIdCompletion 1 inv_child
            > Signal cancel
            > the request ends
            < SendSignal 1 to inv_child
            < Output failure 409 cancelled
            < End
        "#]]);
}

#[test]
fn a_call_that_has_ended_is_left_alone() {
    v7(|ctx| async move {
        let _: String = ctx.call(Request::new("Other", "work", &1)).await?;
        Ok(ctx.sleep(Duration::from_secs(9)).await?)
    })
    .hears([start(1), input("null")])
    .hears([runs_as(1, "inv_child"), called(2, "\"done\"")])
    .hears([cancel()])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Call 1 2 Other/work 1
        < AwaitingOn first(2, s1)
        > CallInvocationIdCompletion 1 inv_child
        > CallCompletion 2 "done"
        < Sleep 3
        < AwaitingOn first(3, s1)
        > Signal cancel
        < Output failure 409 cancelled
        < End
    "#]]);
}

#[test]
fn all_that_is_awaited_together_fails_together() {
    v7(|ctx| async move {
        let naps = [1, 2].map(|secs| ctx.sleep(Duration::from_secs(secs)));
        let ended = crate::join_all(naps).await?;
        Ok(ended.iter().filter(|nap| nap.is_err()).count())
    })
    .hears([start(1), input("null")])
    .hears([cancel()])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < Sleep 2
        < AwaitingOn first(s1, all(1, 2))
        > Signal cancel
        < Output 2
        < End
    "#]]);
}

#[test]
fn it_is_kept_until_something_is_awaited() {
    v7(|ctx| async move {
        ctx.unrecorded(std::future::ready(())).await;
        Ok(ctx.sleep(Duration::from_secs(9)).await?)
    })
    .hears([start(2), input("null"), cancel()])
    .check(expect![[r#"
        > Start 2 entries
        > Input null
        > Signal cancel
        < Sleep 1
        < Output failure 409 cancelled
        < End
    "#]]);
}
