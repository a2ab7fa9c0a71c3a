//! Steps that fail, panic, and are tried again.

use super::*;
use crate::{Error, RetryPolicy, Terminal};
use expect_test::expect;
use std::time::Duration;

async fn flaky(ctx: Context, policy: Option<RetryPolicy>) -> Result<String> {
    let step = ctx.run("flaky", async || -> Result<String> { Err(Error::retry("no luck")) });
    let step = match policy {
        Some(policy) => step.retry(policy),
        None => step,
    };
    Ok(step.await.unwrap_or_else(|error| format!("gave up: {error}")))
}

fn failed_before(count: u32, ms: u64) -> Say {
    start_with(2, |start| {
        start.retry_count_since_last_stored_entry = count;
        start.duration_since_last_stored_entry = ms;
    })
}

#[test]
fn a_failed_step_ends_the_attempt() {
    v7(|ctx| flaky(ctx, None)).hears([start(1), input("null")]).check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `flaky`
        < Error 500 no luck [about command 1, Run]
    "#]]);
}

#[test]
fn its_policy_says_when_it_is_tried_again() {
    let policy = RetryPolicy::new().initial_delay(Duration::from_millis(50)).max_attempts(3);
    v7(move |ctx| flaky(ctx, Some(policy))).hears([start(1), input("null")]).check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `flaky`
        < Error 500 no luck [about command 1, Run] [again after 50 ms]
    "#]]);
    v7(move |ctx| flaky(ctx, Some(policy)))
        .hears([failed_before(1, 60), input("null"), held_run(1, "flaky")])
        .check(expect![[r#"
            > Start 2 entries
            > Input null
            > Run 1 `flaky`
            < Error 500 no luck [about command 1, Run] [again after 100 ms]
        "#]]);
    v7(move |ctx| flaky(ctx, Some(policy)))
        .hears([failed_before(2, 200), input("null"), held_run(1, "flaky")])
        .hears([ack(1)])
        .check(expect![[r#"
            > Start 2 entries
            > Input null
            > Run 1 `flaky`
            < ProposeRunCompletion 1 failure 500 no luck, asks for an ack
            > ProposeRunCompletionAck 1
            < Output "gave up: no luck"
            < End
        "#]]);
}

#[test]
fn what_failed_before_a_new_command_does_not_count() {
    let policy = RetryPolicy::new().initial_delay(Duration::from_millis(50)).max_attempts(3);
    v7(move |ctx| flaky(ctx, Some(policy)))
        .hears([
            start_with(1, |start| start.retry_count_since_last_stored_entry = 2),
            input("null"),
        ])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Run 1 `flaky`
            < Error 500 no luck [about command 1, Run] [again after 50 ms]
        "#]]);
}

#[test]
fn a_policy_can_be_used_up_by_time() {
    let policy = RetryPolicy::new().max_duration(Duration::from_secs(1));
    v7(move |ctx| flaky(ctx, Some(policy)))
        .hears([failed_before(1, 1001), input("null"), held_run(1, "flaky")])
        .check(expect![[r#"
            > Start 2 entries
            > Input null
            > Run 1 `flaky`
            < ProposeRunCompletion 1 failure 500 no luck, asks for an ack
        "#]]);
}

#[test]
fn a_terminal_failure_is_recorded() {
    v7(|ctx| async move {
        let step = ctx.run("pay", async || -> Result<()> {
            Err(Terminal::new("card expired").code(402).into())
        });
        Ok(step.await?)
    })
    .hears([start(1), input("null")])
    .hears([ack(1)])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `pay`
        < ProposeRunCompletion 1 failure 402 card expired, asks for an ack
        > ProposeRunCompletionAck 1
        < Output failure 402 card expired
        < End
    "#]]);
}

#[test]
fn a_panic_is_a_failure() {
    v7(|ctx| async move {
        ctx.run("boom", async || -> Result<()> { panic!("at the disco") }).await?;
        Ok(())
    })
    .hears([start(1), input("null")])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `boom`
        < Error 500 panicked: at the disco [about command 1, Run]
    "#]]);
    v7(|_| async move { if true { panic!("outside of {}", "a step") } else { Ok(()) } })
        .hears([start(1), input("null")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Error 500 panicked: outside of a step
        "#]]);
}

#[test]
fn an_error_can_say_when_or_that_a_person_is_needed() {
    v7(|_| async move { Err::<(), _>(Error::retry("later").after(Duration::from_secs(9))) })
        .hears([start(1), input("null")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Error 500 later [again after 9000 ms]
        "#]]);
    v7(|_| async move { Err::<(), _>(Error::pause("look at this")) })
        .hears([start(1), input("null")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Error 500 look at this [Pause]
        "#]]);
}

#[test]
fn what_was_done_is_undone_in_reverse() {
    async fn trip(ctx: Context) -> Result<()> {
        for place in ["flight", "hotel"] {
            ctx.on_failure(move |ctx| async move {
                Ok(ctx.run(&format!("undo {place}"), async || Ok(())).await?)
            });
            ctx.run(place, async || Ok(())).await?;
        }
        Err(Terminal::new("no car left").code(409).into())
    }
    v7(trip)
        .hears([start(1), input("null")])
        .hears([ack(1)])
        .hears([ack(2)])
        .hears([ack(3)])
        .hears([ack(4)])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Run 1 `flight`
            < ProposeRunCompletion 1 , asks for an ack
            > ProposeRunCompletionAck 1
            < Run 2 `hotel`
            < ProposeRunCompletion 2 , asks for an ack
            > ProposeRunCompletionAck 2
            < Run 3 `undo hotel`
            < ProposeRunCompletion 3 , asks for an ack
            > ProposeRunCompletionAck 3
            < Run 4 `undo flight`
            < ProposeRunCompletion 4 , asks for an ack
            > ProposeRunCompletionAck 4
            < Output failure 409 no car left
            < End
        "#]]);
}
