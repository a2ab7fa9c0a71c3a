//! Handlers that are suspended wherever they wait for a moment.

use crate::{number, request_to, sink, slot};
use holdfast_sdk::prelude::*;
use serde_json::Value;

pub struct Susp;

#[service(
    name = "CfSusp",
    inactivity_timeout = "100ms",
    abort_timeout = "60s",
    retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms")
)]
impl Susp {
    async fn wait(&self, ctx: &Context, asked: Value) -> Result<Value> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/attempts"))).await?;
        let (id, told) = ctx.awakeable();
        let publish = ctx.run("publish", async || {
            sink::hit(&slot(&asked, "/run")).await?;
            sink::put(&slot(&asked, ""), &id).await
        });
        publish.await?;
        Ok(told.await?)
    }

    async fn sleep(&self, ctx: &Context, asked: Value) -> Result<i64> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/attempts"))).await?;
        ctx.sleep(crate::millis(number(&asked, "ms"))).await?;
        Ok(ctx.run("after", async || sink::hit(&slot(&asked, "/run")).await).await?)
    }

    async fn call(&self, ctx: &Context, asked: Value) -> Result<Value> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/attempts"))).await?;
        Ok(ctx.call(request_to("CfTime", "sleep", asked["ms"].clone())).await?)
    }

    async fn hops(&self, ctx: &Context, asked: Value) -> Result<Vec<Value>> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/attempts"))).await?;
        let mut said = vec![];
        for hop in 0..number(&asked, "n") {
            let (id, told) = ctx.awakeable();
            let publish = ctx.run(&format!("publish{hop}"), async || {
                sink::hit(&slot(&asked, &format!("/run{hop}"))).await?;
                sink::put(&slot(&asked, &format!("/{hop}")), &id).await
            });
            publish.await?;
            said.push(told.await?);
        }
        Ok(said)
    }
}
