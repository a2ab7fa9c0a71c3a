//! Handlers that contradict their journal: noticed, told, never obeyed.

use super::*;
use expect_test::expect;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn another_command_is_refused_with_both_sides() {
    v7(|ctx| async move {
        ctx.sleep(Duration::ZERO).await?;
        Ok(())
    })
    .hears([start(2), input("null"), held_call(1, 2, "add", "1")])
    .check(expect![[r#"
        > Start 2 entries
        > Input null
        > Call 1 2 Other/add 1
        < Error 570 journal mismatch at command 1: the journal holds Call `Other/add`, but the handler gives Sleep at sdk/src/conversations/mismatch.rs:LINE; the handler must do the same in each attempt: do not change the code under a running invocation, and put chance, time and reads from outside into `ctx.run` [about command 1, Sleep]
    "#]]);
}

#[test]
fn another_parameter_is_refused_without_showing_it() {
    v7(|ctx| async move {
        ctx.call(crate::Request::<()>::new("Other", "add", &2)).await?;
        Ok(())
    })
    .hears([start(2), input("null"), held_call(1, 2, "add", "1")])
    .check(expect![[r#"
        > Start 2 entries
        > Input null
        > Call 1 2 Other/add 1
        < Error 570 journal mismatch at command 1: the journal holds Call `Other/add`, but the handler gives Call `Other/add` at sdk/src/conversations/mismatch.rs:LINE; the parameter differs; the handler must do the same in each attempt: do not change the code under a running invocation, and put chance, time and reads from outside into `ctx.run` [about command 1, Call]
    "#]]);
}

#[test]
fn the_order_of_keys_in_json_does_not_matter() {
    v7(|ctx| async move {
        let parameter = serde_json::json!({"a": 1, "b": 2});
        ctx.call(crate::Request::<()>::new("Other", "add", &parameter)).await?;
        Ok(())
    })
    .hears([start(2), input("null"), held_call(1, 2, "add", "{\"b\": 2, \"a\": 1}")])
    .check(expect![[r#"
        > Start 2 entries
        > Input null
        > Call 1 2 Other/add {"b": 2, "a": 1}
        < AwaitingOn first(2, s1)
    "#]]);
}

#[test]
fn a_handler_that_ends_before_its_journal_is_refused() {
    v7(|_| async { Ok("cut short") })
        .hears([start(2), input("null"), held_sleep(1)])
        .check(expect![[r#"
            > Start 2 entries
            > Input null
            > Sleep 1
            < Error 570 journal mismatch at command 1: the journal holds Sleep, but the handler ends with a value; the handler must do the same in each attempt: do not change the code under a running invocation, and put chance, time and reads from outside into `ctx.run` [about command 1, Output]
        "#]]);
}

#[test]
fn waiting_for_what_the_journal_does_not_have_is_refused() {
    v7(|ctx| async move {
        ctx.sleep(Duration::ZERO).await?;
        ctx.run("step", async || Ok(())).await?;
        Ok(())
    })
    .hears([start(3), input("null"), held_sleep(1), held_run(2, "step")])
    .check(expect![[r#"
        > Start 3 entries
        > Input null
        > Sleep 1
        > Run 2 `step`
        < Error 570 journal mismatch at command 2: the journal holds Run `step`, but the handler waits at sdk/src/conversations/mismatch.rs:LINE for a result that the journal does not have; the handler must do the same in each attempt: do not change the code under a running invocation, and put chance, time and reads from outside into `ctx.run` [about command 2, Run]
    "#]]);
}

#[test]
fn nothing_is_done_after_a_mismatch() {
    let done = Arc::new(AtomicBool::new(false));
    let step = done.clone();
    v7(|ctx| async move {
        ctx.send(crate::Request::<()>::new("Other", "add", &1));
        ctx.send(crate::Request::<()>::new("Other", "add", &2));
        let step = async || {
            step.store(true, Ordering::SeqCst);
            Ok(())
        };
        ctx.run("step", step).await?;
        Ok(())
    })
    .hears([start(2), input("null"), held_sleep(1)])
    .check(expect![[r#"
        > Start 2 entries
        > Input null
        > Sleep 1
        < Error 570 journal mismatch at command 1: the journal holds Sleep, but the handler gives OneWayCall `Other/add` at sdk/src/conversations/mismatch.rs:LINE; the handler must do the same in each attempt: do not change the code under a running invocation, and put chance, time and reads from outside into `ctx.run` [about command 1, OneWayCall]
    "#]]);
    assert!(!done.load(Ordering::SeqCst), "not the step either");
}

#[test]
fn the_context_is_not_for_use_inside_of_a_step() {
    v7(|ctx| async move {
        ctx.run("step", async || Ok(ctx.sleep(Duration::ZERO).await?)).await?;
        Ok(())
    })
    .hears([start(1), input("null")])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `step`
        < Error 500 the handler gives Sleep at sdk/src/conversations/mismatch.rs:LINE from inside of the step `step`; use the context outside of it: what happens inside is not replayed
    "#]]);
    v7(|ctx| async move { Ok(ctx.run("step", async || Ok(ctx.uuid())).await?) })
        .hears([start(1), input("null")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Run 1 `step`
            < Error 500 the handler uses chance of its context at sdk/src/conversations/mismatch.rs:LINE from inside of the step `step`; use it outside and take the result along: what happens inside is not replayed
        "#]]);
}

#[test]
fn a_sidecar_that_breaks_the_protocol_is_told_so() {
    let handler = |ctx: Context| async move { Ok(ctx.sleep(Duration::ZERO).await?) };
    v7(handler).hears([start(0)]).check(expect![[r#"
        > Start 0 entries
        < Error 500 the sidecar sent no entries; expected at least the input
    "#]]);
    v7(handler).hears([input("null")]).check(expect![[r#"
        > Input null
        < Error 571 the sidecar broke the service protocol: Input (0x0400) instead of Start
    "#]]);
    v7(handler).hears([start(2), input("null"), Say::End]).check(expect![[r#"
        > Start 2 entries
        > Input null
        > the request ends
        < Error 571 the sidecar broke the service protocol: the request ended 1 entries before its replay did
    "#]]);
    v7(handler).hears([start(1), held_sleep(1)]).check(expect![[r#"
        > Start 1 entries
        > Sleep 1
        < Error 571 the sidecar broke the service protocol: the journal does not begin with its input
    "#]]);
    v7(handler).hears([start(1), input("null"), ack(9)]).check(expect![[r#"
        > Start 1 entries
        > Input null
        > ProposeRunCompletionAck 9
        < Error 571 the sidecar broke the service protocol: an acknowledgement of a step that was not proposed
    "#]]);
    v7(handler).hears([start(1), input("null"), held_sleep(1)]).check(expect![[r#"
        > Start 1 entries
        > Input null
        > Sleep 1
        < Error 571 the sidecar broke the service protocol: Sleep (0x040c) after the replay
    "#]]);
}
