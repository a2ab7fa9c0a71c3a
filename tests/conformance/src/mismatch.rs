//! Handlers that do something else in their second attempt.

use crate::{again, deployed, millis, sink, slot, text};
use holdfast_sdk::Request;
use holdfast_sdk::prelude::*;
use serde_json::Value;

pub struct Nd;

#[object(name = "CfNd")]
impl Nd {
    #[handler(retry(
        initial_interval = "20ms",
        factor = 1.3,
        max_interval = "250ms",
        max_attempts = 4,
        on_max_attempts = "pause"
    ))]
    async fn pausing(&self, ctx: &ObjectContext, asked: Value) -> Result<String> {
        crooked(ctx, &asked).await
    }

    #[handler(retry(
        initial_interval = "20ms",
        factor = 1.3,
        max_interval = "250ms",
        max_attempts = 4,
        on_max_attempts = "kill"
    ))]
    async fn killing(&self, ctx: &ObjectContext, asked: Value) -> Result<String> {
        crooked(ctx, &asked).await
    }

    async fn state(&self, ctx: &SharedObjectContext) -> Result<Vec<String>> {
        let mut keys = ctx.keys().await?;
        keys.sort();
        Ok(keys)
    }
}

async fn crooked(ctx: &ObjectContext, asked: &Value) -> Result<String> {
    let attempt = ctx.unrecorded(sink::hit(&slot(asked, "/n"))).await?;
    let fixed = ctx.unrecorded(sink::get(&slot(asked, "/fixed"))).await? == "yes";
    let straight = attempt == 1 || fixed;
    let add = |key: &str, handler: &str| -> Request<Value> {
        Request::new(deployed("CfKv"), handler, &1).key(key)
    };
    let other = text(asked, "other");
    match text(asked, "kind") {
        "key" => ctx.set(if straight { "left" } else { "right" }, &attempt),
        "command" if straight => ctx.sleep(millis(5)).await?,
        "command" => drop(ctx.call(add(other, "add")).await?),
        "target" if straight => drop(ctx.send(add(other, "add"))),
        "target" => drop(ctx.send(add(&format!("{other}-wrong"), "add"))),
        "shorter" if !straight => return Ok("cut short".to_owned()),
        "shorter" => {
            ctx.set("left", &attempt);
            ctx.sleep(millis(5)).await?;
        }
        "handler" => drop(ctx.send(add(other, if straight { "add" } else { "clearAll" }))),
        _ => {}
    }
    ctx.run("sync", async || Ok(())).await?;
    match attempt {
        1 => again("first attempt ends here"),
        _ => Ok("straight".to_owned()),
    }
}
