//! Several futures at once.

use super::*;
use crate::{Durably, Request};
use expect_test::expect;
use std::time::Duration;

async fn race(ctx: Context) -> Result<usize> {
    let naps = [3, 1, 2].map(|secs| ctx.sleep(Duration::from_secs(secs)));
    let (which, nap) = crate::race(naps).await;
    nap?;
    Ok(which)
}

#[test]
fn the_journal_says_who_was_first() {
    v7(race).hears([start(1), input("null")]).hears([slept(2), slept(1)]).check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < Sleep 2
        < Sleep 3
        < AwaitingOn first(s1, first(1, 2, 3))
        > SleepCompletion 2 nothing
        > SleepCompletion 1 nothing
        < Output 1
        < End
    "#]]);
    v7(race)
        .hears([
            start(6),
            input("null"),
            held_sleep(1),
            held_sleep(2),
            held_sleep(3),
            slept(3),
            slept(1),
        ])
        .check(expect![[r#"
            > Start 6 entries
            > Input null
            > Sleep 1
            > Sleep 2
            > Sleep 3
            > SleepCompletion 3 nothing
            > SleepCompletion 1 nothing
            < Output 2
            < End
        "#]]);
}

#[test]
fn a_suspension_tells_how_futures_belong_together() {
    v7(|ctx| async move {
        let both = crate::join_all([1, 2].map(|secs| ctx.sleep(Duration::from_secs(secs))));
        let (_, told) = ctx.awakeable::<()>();
        let first = crate::race([both.map_ok(|_| ()).boxed(), told.boxed()]);
        first.await.1?;
        Ok(())
    })
    .hears([start(1), input("null")])
    .hears([slept(2)])
    .hears([Say::End])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < Sleep 2
        < AwaitingOn first(s1, first(s17, all(1, 2)))
        > SleepCompletion 2 nothing
        < AwaitingOn first(s1, first(s17, all(1)))
        > the request ends
        < Suspension first(s1, first(s17, all(1)))
    "#]]);
}

#[test]
fn older_versions_know_only_lists() {
    in_version(Version::V6, |ctx| async move {
        let both = crate::join_all([1, 2].map(|secs| ctx.sleep(Duration::from_secs(secs))));
        let _ = both.or_timeout(Duration::from_secs(9)).await?;
        Ok(())
    })
    .hears([start(1), input("null"), Say::End])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        > the request ends
        < Sleep 1
        < Sleep 2
        < Sleep 3
        < Suspension first(1, 2, 3, s1)
    "#]]);
}

#[test]
fn what_a_select_leaves_behind_is_no_longer_awaited() {
    v7(|ctx| async move {
        let (_, told) = ctx.awakeable::<String>();
        let said = crate::select! {
            told = told => told?,
            nap = ctx.sleep(Duration::from_secs(1)) => { nap?; "nobody".to_owned() }
        };
        ctx.signal::<()>("go on").await?;
        Ok(said)
    })
    .hears([start(1), input("null")])
    .hears([slept(1)])
    .hears([signal(17, "\"too late\""), named_signal("go on", "")])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < AwaitingOn first(1, s17, s1)
        > SleepCompletion 1 nothing
        < AwaitingOn first(s1, `go on`)
        > Signal 17 "too late"
        > Signal `go on` 
        < Output "nobody"
        < End
    "#]]);
}

#[test]
fn steps_run_at_the_same_time_and_end_in_any_order() {
    v7(|ctx| async move {
        let steps = ["a", "b"].map(|name| ctx.run(name, async move || Ok(name.to_owned())));
        Ok(crate::try_join_all(steps).await?.concat())
    })
    .hears([start(1), input("null")])
    .hears([ack(2), ack(1)])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Run 1 `a`
        < Run 2 `b`
        < ProposeRunCompletion 1 "a", asks for an ack
        < ProposeRunCompletion 2 "b", asks for an ack
        > ProposeRunCompletionAck 2
        > ProposeRunCompletionAck 1
        < Output "ab"
        < End
    "#]]);
}

#[test]
fn the_first_failure_or_the_first_success_counts() {
    let failed = || done(MessageType::CALL_COMPLETION, 2, Outcome::failure(409, "no"));
    async fn calls(ctx: &Context) -> [crate::Call<'_, String>; 2] {
        [1, 2].map(|n| ctx.call(Request::new("Other", "work", &n)))
    }
    v7(|ctx| async move { Ok(crate::try_join_all(calls(&ctx).await).await?) })
        .hears([start(1), input("null")])
        .hears([failed()])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Call 1 2 Other/work 1
            < Call 3 4 Other/work 2
            < AwaitingOn first(s1, all_ok(2, 4))
            > CallCompletion 2 failure 409 no
            < Output failure 409 no
            < End
        "#]]);
    v7(|ctx| async move { Ok(crate::first_ok(calls(&ctx).await).await?) })
        .hears([start(1), input("null")])
        .hears([failed()])
        .hears([called(4, "\"yes\"")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Call 1 2 Other/work 1
            < Call 3 4 Other/work 2
            < AwaitingOn first(s1, first_ok(2, 4))
            > CallCompletion 2 failure 409 no
            < AwaitingOn first(s1, first_ok(4))
            > CallCompletion 4 "yes"
            < Output "yes"
            < End
        "#]]);
}

#[test]
fn join_takes_all_sorts() {
    v7(|ctx| async move {
        let (nap, number) = crate::try_join!(
            async { Ok::<_, crate::Error>(ctx.sleep(Duration::from_secs(1)).await?) },
            async { Ok(ctx.run("seven", async || Ok(7)).await?) },
        )?;
        Ok((nap, number))
    })
    .hears([start(1), input("null")])
    .hears([ack(2)])
    .hears([slept(1)])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < Run 2 `seven`
        < ProposeRunCompletion 2 7, asks for an ack
        < AwaitingOn first(1, 2, s1)
        > ProposeRunCompletionAck 2
        < AwaitingOn first(1, s1)
        > SleepCompletion 1 nothing
        < Output [null,7]
        < End
    "#]]);
}

#[test]
fn signals_of_one_name_are_given_in_their_order() {
    v7(|ctx| async move {
        let mut said = vec![];
        for _ in 0..3 {
            said.push(ctx.signal::<u32>("next").await?);
        }
        Ok(said)
    })
    .hears([start(3), input("null"), named_signal("next", "1"), named_signal("next", "2")])
    .hears([named_signal("next", "3")])
    .check(expect![[r#"
        > Start 3 entries
        > Input null
        > Signal `next` 1
        > Signal `next` 2
        < AwaitingOn first(s1, `next`)
        > Signal `next` 3
        < Output [1,2,3]
        < End
    "#]]);
}

#[test]
fn results_come_as_they_come() {
    v7(|ctx| async move {
        let mut naps = crate::unordered([3, 1, 2].map(|secs| ctx.sleep(Duration::from_secs(secs))));
        let mut order = vec![];
        while let Some((which, nap)) = naps.next().await {
            nap?;
            order.push(which);
        }
        Ok(order)
    })
    .hears([start(1), input("null")])
    .hears([slept(2), slept(3), slept(1)])
    .check(expect![[r#"
        > Start 1 entries
        > Input null
        < Sleep 1
        < Sleep 2
        < Sleep 3
        < AwaitingOn first(s1, first(1, 2, 3))
        > SleepCompletion 2 nothing
        > SleepCompletion 3 nothing
        > SleepCompletion 1 nothing
        < Output [1,2,0]
        < End
    "#]]);
}
