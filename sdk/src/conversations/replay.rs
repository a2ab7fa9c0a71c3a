//! Handlers that are called again with their journal.

use super::*;
use expect_test::expect;

async fn two_steps(ctx: Context) -> Result<String> {
    let one: String = ctx.run("one", async || Ok("a".to_owned())).await?;
    let two: String = ctx.run("two", async || Ok("b".to_owned())).await?;
    Ok(one + &two)
}

#[test]
fn steps_are_done_once_and_acknowledged() {
    v7(two_steps).hears([start(1), input("null")]).hears([ack(1)]).hears([ack(2)]).check(expect![
        [r#"
            > Start 1 entries
            > Input null
            < Run 1 `one`
            < ProposeRunCompletion 1 "a", asks for an ack
            > ProposeRunCompletionAck 1
            < Run 2 `two`
            < ProposeRunCompletion 2 "b", asks for an ack
            > ProposeRunCompletionAck 2
            < Output "ab"
            < End
        "#]
    ]);
}

#[test]
fn a_replay_takes_what_is_recorded_and_goes_on() {
    v7(two_steps)
        .hears([start(3), input("null"), held_run(1, "one"), ran(1, "\"recorded\"")])
        .hears([ack(2)])
        .check(expect![[r#"
            > Start 3 entries
            > Input null
            > Run 1 `one`
            > RunCompletion 1 "recorded"
            < Run 2 `two`
            < ProposeRunCompletion 2 "b", asks for an ack
            > ProposeRunCompletionAck 2
            < Output "recordedb"
            < End
        "#]]);
}

#[test]
fn a_step_that_was_begun_and_not_recorded_is_done_again() {
    v7(two_steps).hears([start(2), input("null"), held_run(1, "one")]).check(expect![[r#"
        > Start 2 entries
        > Input null
        > Run 1 `one`
        < ProposeRunCompletion 1 "a", asks for an ack
    "#]]);
}

#[test]
fn older_versions_get_the_whole_completion() {
    in_version(Version::V6, two_steps)
        .hears([start(1), input("null")])
        .hears([ran(1, "\"a\"")])
        .hears([ran(2, "\"b\"")])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < Run 1 `one`
            < ProposeRunCompletion 1 "a"
            > RunCompletion 1 "a"
            < Run 2 `two`
            < ProposeRunCompletion 2 "b"
            > RunCompletion 2 "b"
            < Output "ab"
            < End
        "#]]);
}

#[test]
fn without_an_open_request_each_step_suspends() {
    v7(two_steps).hears([start(1), input("null"), Say::End]).check(expect![[r#"
        > Start 1 entries
        > Input null
        > the request ends
        < Run 1 `one`
        < ProposeRunCompletion 1 "a", asks for an ack
        < Suspension first(1, s1)
    "#]]);
    in_version(Version::V5, two_steps).hears([start(1), input("null"), Say::End]).check(expect![[
        r#"
            > Start 1 entries
            > Input null
            > the request ends
            < Run 1 `one`
            < ProposeRunCompletion 1 "a"
            < Suspension first(1, s1)
        "#
    ]]);
}

#[test]
fn an_output_that_is_in_the_journal_is_not_given_twice() {
    let output = pb::OutputCommand {
        name: String::new(),
        result: Some(pb::output_command::Result::Value(pb::Value { content: "7".into() })),
    };
    v7(|_| async { Ok(7) })
        .hears([start(2), input("null"), frame(MessageType::OUTPUT, &output)])
        .check(expect![[r#"
            > Start 2 entries
            > Input null
            > Output 7
            < End
        "#]]);
}

#[test]
fn state_is_read_from_the_start_and_replayed_from_the_journal() {
    async fn count(ctx: Context) -> Result<u32> {
        let ctx = <crate::ObjectContext as crate::context::FromContext>::from_context(ctx);
        let count = ctx.get::<u32>("count").await?.unwrap_or(0) + 1;
        ctx.set("count", &count);
        assert_eq!(ctx.get("count").await?, Some(count));
        assert_eq!(ctx.keys().await?, ["count", "other"]);
        ctx.clear("other");
        assert_eq!(ctx.keys().await?, ["count"]);
        ctx.clear_all();
        assert_eq!(ctx.get::<u32>("count").await?, None);
        Ok(count)
    }
    let with_state = |entries| {
        start_with(entries, |start| {
            start.state_map = vec![entry("count", "4"), entry("other", "1")];
        })
    };
    v7(count).hears([with_state(1), input("null")]).check(expect![[r#"
        > Start 1 entries
        > Input null
        < GetEagerState count is 4
        < SetState count = 5
        < GetEagerState count is 5
        < GetEagerStateKeys count, other
        < ClearState other
        < GetEagerStateKeys count
        < ClearAllState
        < GetEagerState count is nothing
        < Output 5
        < End
    "#]]);
    let get = pb::GetEagerStateCommand {
        key: "count".into(),
        name: String::new(),
        result: Some(pb::get_eager_state_command::Result::Value(pb::Value { content: "3".into() })),
    };
    let set = pb::SetStateCommand {
        key: "count".into(),
        name: String::new(),
        value: Some(pb::Value { content: "4".into() }),
    };
    v7(count)
        .hears([
            with_state(3),
            input("null"),
            frame(MessageType::GET_EAGER_STATE, &get),
            frame(MessageType::SET_STATE, &set),
        ])
        .check(expect![[r#"
            > Start 3 entries
            > Input null
            > GetEagerState count is 3
            > SetState count = 4
            < GetEagerState count is 4
            < GetEagerStateKeys count, other
            < ClearState other
            < GetEagerStateKeys count
            < ClearAllState
            < GetEagerState count is nothing
            < Output 4
            < End
        "#]]);
}

#[test]
fn state_that_was_not_sent_is_asked_for() {
    async fn read(ctx: Context) -> Result<Option<u32>> {
        let ctx = <crate::ObjectContext as crate::context::FromContext>::from_context(ctx);
        Ok(ctx.get("count").await?)
    }
    v7(read)
        .hears([start_with(1, |start| start.partial_state = true), input("null")])
        .hears([done(MessageType::GET_LAZY_STATE_COMPLETION, 1, value("5"))])
        .check(expect![[r#"
            > Start 1 entries
            > Input null
            < GetLazyState 1 count
            < AwaitingOn first(1, s1)
            > GetLazyStateCompletion 1 5
            < Output 5
            < End
        "#]]);
}

#[test]
fn chance_is_the_same_in_every_attempt() {
    let draw = |entries: Vec<Say>| {
        let drawn = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let into = drawn.clone();
        v7(move |ctx| async move {
            *into.lock().unwrap() = format!("{} {}", ctx.uuid(), ctx.random_f64());
            Ok(())
        })
        .hears(entries);
        drawn.lock().unwrap().clone()
    };
    assert_eq!(draw(vec![start(1), input("1")]), draw(vec![start(1), input("2")]));
}
