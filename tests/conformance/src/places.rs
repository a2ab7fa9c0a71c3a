//! Who may call, which version answers, what is kept, and work for crashes.

use crate::{again, millis, number, request, sink, slot, text, version};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

pub struct Priv;

#[service(name = "CfPriv", private)]
impl Priv {
    async fn greet(&self, _: &Context, name: String) -> String {
        format!("psst {name}")
    }
}

pub struct Half;

#[service(name = "CfHalf")]
impl Half {
    async fn open(&self, _: &Context) -> &'static str {
        "open"
    }

    #[handler(private)]
    async fn closed(&self, _: &Context) -> &'static str {
        "closed"
    }
}

pub struct Ver;

#[object(name = "CfVer", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Ver {
    async fn version(&self, _: &SharedObjectContext) -> String {
        version()
    }

    async fn hold(&self, ctx: &ObjectContext, asked: Value) -> Result<Value> {
        let (id, told) = ctx.awakeable::<Value>();
        ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
        let first = ctx.run("v", async || Ok(version())).await?;
        Ok(json!([first, told.await?, version()]))
    }

    #[handler(retry(
        initial_interval = "20ms",
        factor = 1.3,
        max_interval = "250ms",
        max_attempts = 2,
        on_max_attempts = "pause"
    ))]
    async fn broken(&self, ctx: &ObjectContext, asked: Value) -> Result<Value> {
        let first = ctx.run("v", async || Ok(version())).await?;
        ctx.unrecorded(sink::hit(&slot(&asked, ""))).await?;
        match version().as_str() {
            "v1" => again("v1 cannot do this"),
            now => Ok(json!([first, now])),
        }
    }
}

pub struct VerExtra;

#[service(name = "CfVerExtra")]
impl VerExtra {
    async fn hello(&self, _: &Context) -> String {
        format!("extra {}", version())
    }
}

pub struct Keep;

#[service(
    name = "CfKeep",
    journal_retention = "1h",
    idempotency_retention = "1h",
    retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms")
)]
impl Keep {
    async fn steps(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let one = ctx.run("one", async || sink::hit(&slot(&asked, "/one")).await).await?;
        ctx.sleep(millis(5)).await?;
        let two = ctx.run("two", async || sink::hit(&slot(&asked, "/two")).await).await?;
        Ok(json!({ "one": one, "two": two, "v": asked["v"] }))
    }

    async fn maybe(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let one = ctx.run("one", async || sink::hit(&slot(&asked, "/one")).await).await?;
        if ctx.unrecorded(sink::get(&slot(&asked, "/ok"))).await? != "yes" {
            return Err(Terminal::new("not yet").code(503).into());
        }
        Ok(json!({ "one": one }))
    }
}

pub struct Work;

#[service(name = "CfWork", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Work {
    async fn job(&self, ctx: &Context, asked: Value) -> Result<Vec<String>> {
        let mut tokens = vec![];
        for step in 0..number(&asked, "n") {
            let place = slot(&asked, &format!("/{}/{step}", text(&asked, "job")));
            let hit = async || Ok(format!("{step}:{}", sink::hit(&place).await?));
            let token = ctx.run(&format!("step{step}"), hit).await?;
            ctx.unrecorded(sink::push(&format!("{place}/recorded"), &token)).await?;
            tokens.push(token);
            if number(&asked, "ms") > 0 {
                ctx.sleep(millis(number(&asked, "ms"))).await?;
            }
        }
        let counted = json!({
            "service": "CfKv", "handler": "add", "key": asked["counter"], "body": 1,
        });
        ctx.send(request(&counted));
        Ok(tokens)
    }

    async fn gated(&self, ctx: &Context, asked: Value) -> Result<Vec<i64>> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/attempts"))).await?;
        let half = number(&asked, "n");
        let mut counts = vec![];
        for step in 0..2 * half {
            if step == half {
                ctx.run("gate", async || sink::gate(&slot(&asked, "/gate")).await).await?;
            }
            let place = slot(&asked, &format!("/{step}"));
            counts.push(ctx.run(&format!("step{step}"), async || sink::hit(&place).await).await?);
        }
        Ok(counts)
    }
}
