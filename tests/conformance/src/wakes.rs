//! Awakeables and signals.

use crate::{again, millis, number, sink, slot, terminal, text};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

pub struct Awk;

#[service(name = "CfAwk", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Awk {
    async fn wait(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let (id, told) = ctx.awakeable();
        ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
        Ok(told.await?)
    }

    #[handler(name = "waitCatch")]
    async fn wait_catch(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let (id, told) = ctx.awakeable::<Value>();
        ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
        Ok(match told.await {
            Ok(value) => json!({ "value": value }),
            Err(failure) => json!({ "error": failure.message(), "code": failure.http_code() }),
        })
    }

    async fn two(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let (x, told_x) = ctx.awakeable::<Value>();
        let (y, told_y) = ctx.awakeable::<Value>();
        let publish = ctx.run("publish", async || {
            sink::put(&slot(&asked, "/x"), &x).await?;
            sink::put(&slot(&asked, "/y"), &y).await
        });
        publish.await?;
        Ok(json!([told_x.await?, told_y.await?]))
    }

    async fn timeout(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let (id, told) = ctx.awakeable::<Value>();
        ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
        Ok(match told.or_timeout(millis(number(&asked, "ms"))).await? {
            Some(value) => json!({ "value": value }),
            None => json!({ "timeout": true }),
        })
    }

    async fn flaky(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let (id, told) = ctx.awakeable();
        ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
        ctx.unrecorded(sink::push(&slot(&asked, "/ids"), &id)).await?;
        let value = told.await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, "/n"))).await? {
            ..3 => again("after the awakeable"),
            _ => Ok(value),
        }
    }

    async fn resolve(&self, ctx: &Context, asked: Value) {
        ctx.resolve_awakeable(text(&asked, "id"), &asked["v"]);
    }

    async fn reject(&self, ctx: &Context, asked: Value) {
        ctx.reject_awakeable(text(&asked, "id"), terminal(&asked));
    }
}

pub struct Sig;

#[service(name = "CfSig", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Sig {
    async fn wait(&self, ctx: &Context, asked: Value) -> Result<Value> {
        Ok(ctx.signal(text(&asked, "name")).await?)
    }

    #[handler(name = "waitCatch")]
    async fn wait_catch(&self, ctx: &Context, asked: Value) -> Result<Value> {
        Ok(match ctx.signal::<Value>(text(&asked, "name")).await {
            Ok(value) => json!({ "value": value }),
            Err(failure) => json!({ "error": failure.message() }),
        })
    }

    #[handler(name = "waitAll")]
    async fn wait_all(&self, ctx: &Context, names: Vec<String>) -> Result<Vec<Value>> {
        let all = names.iter().map(|name| ctx.signal(name));
        Ok(holdfast_sdk::try_join_all(all).await?)
    }

    #[handler(name = "waitSeq")]
    async fn wait_seq(&self, ctx: &Context, asked: Value) -> Result<Vec<Value>> {
        let mut said = vec![];
        for _ in 0..number(&asked, "n") {
            said.push(ctx.signal(text(&asked, "name")).await?);
        }
        Ok(said)
    }

    async fn timeout(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let signal = ctx.signal::<Value>(text(&asked, "name"));
        Ok(match signal.or_timeout(millis(number(&asked, "ms"))).await? {
            Some(value) => json!({ "value": value }),
            None => json!({ "timeout": true }),
        })
    }

    async fn send(&self, ctx: &Context, asked: Value) {
        ctx.send_signal(text(&asked, "id"), text(&asked, "name"), &asked["v"]);
    }

    async fn fail(&self, ctx: &Context, asked: Value) {
        ctx.send_failure(text(&asked, "id"), text(&asked, "name"), terminal(&asked));
    }
}
