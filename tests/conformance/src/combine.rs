//! Several durable futures at once.

use crate::{again, millis, number, request_to, sink, slot, text};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{BoxDurable, join_all, race, try_join_all, unordered};
use serde_json::{Value, json};

pub struct Comb;

#[service(name = "CfComb", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Comb {
    async fn run(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let mut all = vec![];
        for asked in asked["ops"].as_array().into_iter().flatten() {
            all.push(future(ctx, asked).await?);
        }
        combined(text(&asked, "mode"), all, number(&asked, "ms")).await
    }

    /// A race whose outcome must stay the same over retries.
    async fn stable(&self, ctx: &Context, asked: Value) -> Result<&'static str> {
        let names = ["slow", "fast", "mid"];
        let (which, nap) = race([60, 5, 40].map(|ms| ctx.sleep(millis(ms)))).await;
        nap?;
        ctx.unrecorded(sink::push(&slot(&asked, "/seen"), names[which])).await?;
        if ctx.unrecorded(sink::hit(&slot(&asked, "/n"))).await? < 4 {
            ctx.unrecorded(tokio::time::sleep(millis(40))).await;
            return again("again");
        }
        Ok(names[which])
    }
}

async fn future<'a>(ctx: &'a Context, asked: &Value) -> Result<BoxDurable<'a, Value>> {
    let value = asked["v"].clone();
    let ms = millis(number(asked, "ms").max(1));
    let message = text(asked, "message").to_owned();
    Ok(match text(asked, "t") {
        "sleep" => {
            let value = if value.is_null() { json!("slept") } else { value };
            ctx.sleep(millis(number(asked, "ms"))).map_ok(move |()| value).boxed()
        }
        "awk" => {
            let (id, told) = ctx.awakeable();
            ctx.run("publish", async || sink::put(&slot(asked, ""), &id).await).await?;
            told.boxed()
        }
        "run" => {
            let step = async move || {
                tokio::time::sleep(ms).await;
                Ok(value)
            };
            ctx.run("op", step).boxed()
        }
        "bad" => {
            let step = async move || -> Result<Value> {
                tokio::time::sleep(ms).await;
                Err(Terminal::new(message).into())
            };
            ctx.run("bad", step).boxed()
        }
        "call" => {
            let request = request_to("CfTime", "sleep", asked["ms"].clone());
            ctx.call(request).map_ok(move |_| value).boxed()
        }
        "badcall" => {
            ctx.call(request_to("CfFail", "terminal", json!({ "message": message }))).boxed()
        }
        "sig" => ctx.signal(text(asked, "name")).boxed(),
        other => return Err(Terminal::new(format!("op {other}")).into()),
    })
}

async fn combined(mode: &str, mut all: Vec<BoxDurable<'_, Value>>, ms: i64) -> Result<Value> {
    match mode {
        "all" => Ok(Value::Array(try_join_all(all).await?)),
        "race" => Ok(race(all).await.1?),
        "any" => match all.len() {
            0 => Err(Terminal::new("all failed: ").into()),
            _ => any(all).await,
        },
        "settled" => {
            let settled = join_all(all).await?.into_iter().map(|ended| match ended {
                Ok(value) => json!({ "ok": value }),
                Err(failure) => json!({ "err": failure.message() }),
            });
            Ok(settled.collect())
        }
        "timeout" => {
            let first = all.swap_remove(0);
            let within = first.or_timeout(millis(ms)).await?;
            Ok(within.unwrap_or_else(|| json!("timed out")))
        }
        "nested" => {
            let last = all.remove(2);
            let both = try_join_all(all).map_ok(Value::Array).boxed();
            Ok(race([both, last]).await.1?)
        }
        "raceThenRest" => {
            let count = all.len();
            let mut results = vec![Value::Null; count];
            let mut first = None;
            let mut all = unordered(all);
            while let Some((which, result)) = all.next().await {
                results[which] = result?;
                first.get_or_insert_with(|| results[which].clone());
            }
            Ok(json!({ "first": first, "all": results }))
        }
        other => Err(Terminal::new(format!("mode {other}")).into()),
    }
}

/// The first that ends well, or the messages of all in their order.
async fn any(all: Vec<BoxDurable<'_, Value>>) -> Result<Value> {
    let mut messages = vec![String::new(); all.len()];
    let mut all = unordered(all);
    while let Some((which, result)) = all.next().await {
        match result {
            Ok(value) => return Ok(value),
            Err(failure) if failure.is_cancelled() => return Err(failure.into()),
            Err(failure) => messages[which] = failure.message().to_owned(),
        }
    }
    Err(Terminal::new(format!("all failed: {}", messages.join(","))).into())
}
