//! Steps: done once, replayed, tried again, given up.

use crate::{again, described, millis, number, sink, slot, terminal};
use holdfast_sdk::prelude::*;
use holdfast_sdk::try_join_all;
use serde_json::{Value, json};

pub struct Runs;

#[service(name = "CfRun", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Runs {
    async fn once(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let count = ctx.run("hit", || async { sink::hit(&slot(&asked, "/run")).await }).await?;
        let attempt = ctx.unrecorded(sink::hit(&slot(&asked, "/attempt"))).await?;
        if attempt <= number(&asked, "failures") {
            return again("after the run");
        }
        Ok(count)
    }

    async fn seq(&self, ctx: &Context, asked: Value) -> Result<Vec<i64>> {
        let mut counts = vec![];
        for step in 0..number(&asked, "n") {
            let place = slot(&asked, &format!("/{step}"));
            counts.push(ctx.run(&format!("s{step}"), async || sink::hit(&place).await).await?);
            if asked["failEach"] == true {
                let gone = slot(&asked, &format!("/gone/{step}"));
                if ctx.unrecorded(sink::hit(&gone)).await? == 1 {
                    return again(format!("after step {step}"));
                }
            }
        }
        Ok(counts)
    }

    async fn par(&self, ctx: &Context, asked: Value) -> Result<Vec<i64>> {
        let steps = (0..number(&asked, "n")).map(|step| {
            let place = slot(&asked, &format!("/{step}"));
            ctx.run(&format!("p{step}"), async move || sink::hit(&place).await)
        });
        let counts = try_join_all(steps).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, "/attempt"))).await? {
            1 => again("after all"),
            _ => Ok(counts),
        }
    }

    async fn kinds(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let number = ctx.run("num", async || Ok(42)).await?;
        let text = ctx.run("str", async || Ok("søme ✓".to_owned())).await?;
        let nothing = ctx.run("nul", async || Ok(Value::Null)).await?;
        let object = ctx.run("obj", async || Ok(json!({ "a": [1, 2, { "b": true }] }))).await?;
        let array = ctx.run("arr", async || Ok(Vec::<i64>::new())).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? {
            1 => again("replay it"),
            _ => Ok(json!({
                "num": number, "str": text, "nul": nothing, "obj": object, "arr": array,
            })),
        }
    }

    async fn large(&self, ctx: &Context, asked: Value) -> Result<usize> {
        let length = usize::try_from(number(&asked, "n"))?;
        let text = ctx.run("large", async || Ok("y".repeat(length))).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? {
            1 => again("replay it"),
            _ => Ok(text.len()),
        }
    }

    async fn flaky(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let steady = RetryPolicy::new().initial_delay(millis(10)).factor(1.0);
        Ok(ctx.run("flaky", || flaky(&asked)).retry(steady).await?)
    }

    #[handler(name = "flakyDefault")]
    async fn flaky_default(&self, ctx: &Context, asked: Value) -> Result<i64> {
        Ok(ctx.run("flaky", || flaky(&asked)).await?)
    }

    async fn bounded(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let policy = RetryPolicy::new()
            .initial_delay(millis(10))
            .factor(1.0)
            .max_attempts(u32::try_from(number(&asked, "max"))?);
        let step = ctx.run("bounded", || hopeless(&asked, "bounded failure")).retry(policy);
        gave_up(step.await, asked["rethrow"] == true)
    }

    #[handler(name = "boundedMs")]
    async fn bounded_ms(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let policy = RetryPolicy::new()
            .initial_delay(millis(50))
            .factor(1.0)
            .max_duration(millis(number(&asked, "ms")));
        let step = ctx.run("bounded", || hopeless(&asked, "too slow to work")).retry(policy);
        gave_up(step.await, false)
    }

    async fn terminal(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let step = ctx.run("t", async || -> Result<()> {
            sink::hit(&slot(&asked, "/run")).await?;
            Err(terminal(&asked).into())
        });
        let failed = step.await.err();
        match ctx.unrecorded(sink::hit(&slot(&asked, "/attempt"))).await? {
            1 => again("replay the failure"),
            _ => Ok(failed.as_ref().map(described).unwrap_or_default()),
        }
    }
}

async fn flaky(asked: &Value) -> Result<i64> {
    let count = sink::hit(&slot(asked, "")).await?;
    if count < number(asked, "until") {
        return again(format!("run attempt {count} fails"));
    }
    Ok(count)
}

async fn hopeless(asked: &Value, why: &str) -> Result<()> {
    sink::hit(&slot(asked, "")).await?;
    again(why)
}

fn gave_up(step: Result<(), Terminal>, rethrow: bool) -> Result<Value> {
    match step {
        Err(failure) if rethrow => Err(failure.into()),
        Err(failure) => Ok(json!({ "gaveUp": true, "message": failure.message() })),
        Ok(()) => Ok(json!({ "gaveUp": false, "message": "" })),
    }
}
