//! Failures: for good, for a while, until someone mends something.

use crate::{again, described, number, request_to, sink, slot, terminal};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

pub struct Fail;

#[service(name = "CfFail", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Fail {
    async fn terminal(&self, _: &Context, asked: Value) -> Result<()> {
        Err(terminal(&asked).into())
    }

    async fn flaky(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let count = ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        if count < number(&asked, "until") {
            return again(format!("attempt {count} fails"));
        }
        Ok(count)
    }

    #[handler(name = "flakyCoded")]
    async fn flaky_coded(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let count = ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        if count < number(&asked, "until") {
            let code = u16::try_from(number(&asked, "code"))?;
            return Err(Error::retry(format!("attempt {count} fails")).code(code));
        }
        Ok(count)
    }

    async fn always(&self, ctx: &Context, asked: Value) -> Result<()> {
        ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        again("never works")
    }

    #[handler(name = "whileBroken")]
    async fn while_broken(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let count = ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        if ctx.unrecorded(sink::get(&slot(&asked, "/fixed"))).await? != "yes" {
            return again("still broken");
        }
        Ok(count)
    }

    #[handler(
        name = "killAfter3",
        retry(
            initial_interval = "20ms",
            factor = 1.3,
            max_interval = "250ms",
            max_attempts = 3,
            on_max_attempts = "kill"
        )
    )]
    async fn kill_after_3(&self, ctx: &Context, asked: Value) -> Result<()> {
        ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        again("gives up after three")
    }

    #[handler(
        name = "pauseAfter2",
        retry(
            initial_interval = "20ms",
            factor = 1.3,
            max_interval = "250ms",
            max_attempts = 2,
            on_max_attempts = "pause"
        )
    )]
    async fn pause_after_2(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let count = ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        if ctx.unrecorded(sink::get(&slot(&asked, "/fixed"))).await? != "yes" {
            return again("paused by design");
        }
        Ok(count)
    }

    #[handler(name = "viaCall")]
    async fn via_call(&self, ctx: &Context, asked: Value) -> Result<Value> {
        Ok(ctx.call(request_to("CfFail", "terminal", asked)).await?)
    }

    #[handler(name = "viaCatch")]
    async fn via_catch(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let failed = ctx.call(request_to("CfFail", "terminal", asked)).await.err();
        Ok(json!({ "caught": failed.as_ref().map(described) }))
    }

    #[handler(name = "runTerminal")]
    async fn run_terminal(&self, ctx: &Context, asked: Value) -> Result<()> {
        Ok(ctx.run("boom", async || -> Result<()> { Err(terminal(&asked).into()) }).await?)
    }
}
