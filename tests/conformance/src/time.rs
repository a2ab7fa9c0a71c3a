//! Timers.

use crate::{again, millis, number, sink, slot};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{try_join_all, unordered};
use serde_json::Value;

pub struct Time;

#[service(name = "CfTime", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Time {
    async fn sleep(&self, ctx: &Context, ms: i64) -> Result<i64> {
        ctx.sleep(millis(ms)).await?;
        Ok(ms)
    }

    async fn many(&self, ctx: &Context, asked: Value) -> Result<i64> {
        let (count, ms) = (number(&asked, "n"), number(&asked, "ms"));
        try_join_all((0..count).map(|at| ctx.sleep(millis(ms + at % 7)))).await?;
        Ok(count)
    }

    async fn seq(&self, ctx: &Context, asked: Value) -> Result<i64> {
        for _ in 0..number(&asked, "n") {
            ctx.sleep(millis(number(&asked, "ms"))).await?;
        }
        Ok(number(&asked, "n"))
    }

    async fn order(&self, ctx: &Context, all: Vec<i64>) -> Result<Vec<i64>> {
        let mut naps = unordered(all.iter().map(|ms| ctx.sleep(millis(*ms))));
        let mut order = vec![];
        while let Some((which, nap)) = naps.next().await {
            nap?;
            order.push(all[which]);
        }
        Ok(order)
    }

    #[handler(name = "hitAfter")]
    async fn hit_after(&self, ctx: &Context, asked: Value) -> Result<i64> {
        ctx.run("before", async || sink::hit(&slot(&asked, "/before")).await).await?;
        ctx.sleep(millis(number(&asked, "ms"))).await?;
        Ok(ctx.run("after", async || sink::hit(&slot(&asked, "/after")).await).await?)
    }

    async fn flaky(&self, ctx: &Context, asked: Value) -> Result<String> {
        ctx.sleep(millis(number(&asked, "ms"))).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? {
            ..3 => again("after the sleep"),
            _ => Ok("done".to_owned()),
        }
    }
}
