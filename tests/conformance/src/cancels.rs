//! Cancellation: it reaches the await, what is called, and what has to be undone.

use crate::{HOUR, millis, number, request_to, sink, slot, text};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

pub struct Cancel;

#[service(
    name = "CfCancel",
    retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms")
)]
impl Cancel {
    async fn block(&self, ctx: &Context, asked: Value) -> Result<String> {
        let blocked = async {
            ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
            match text(&asked, "kind") {
                "sleep" => ctx.sleep(HOUR).await,
                "awk" => ctx.awakeable::<()>().1.await,
                "call" => {
                    let leaf = json!({ "slot": asked["slot"] });
                    ctx.call(request_to("CfCancel", "leaf", leaf)).await.map(drop)
                }
                "sig" => ctx.signal::<()>("never").await,
                _ => Ok(()),
            }
        };
        if let Err(failure) = blocked.await {
            if failure.is_cancelled() {
                ctx.run("note", async || sink::hit(&slot(&asked, "/cancelled")).await).await?;
            }
            return Err(failure.into());
        }
        Ok("not cancelled".to_owned())
    }

    async fn leaf(&self, ctx: &Context, asked: Value) -> Result<()> {
        let waited = async {
            ctx.run("leaf", async || sink::hit(&slot(&asked, "/leaf")).await).await?;
            ctx.awakeable::<()>().1.await
        };
        if let Err(failure) = waited.await {
            if failure.is_cancelled() {
                ctx.run("note", async || sink::hit(&slot(&asked, "/leafCancelled")).await).await?;
            }
            return Err(failure.into());
        }
        Ok(())
    }

    async fn tree(&self, ctx: &Context, asked: Value) -> Result<()> {
        let depth = number(&asked, "depth");
        let waited = async {
            ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
            if depth > 0 {
                let below = json!({ "slot": asked["slot"], "depth": depth - 1 });
                return ctx.call(request_to("CfCancel", "tree", below)).await.map(drop);
            }
            ctx.awakeable::<()>().1.await
        };
        if let Err(failure) = waited.await {
            let place = slot(&asked, "/order");
            ctx.run("note", async || sink::push(&place, &depth.to_string()).await).await?;
            return Err(failure.into());
        }
        Ok(())
    }

    async fn saga(&self, ctx: &Context, asked: Value) -> Result<String> {
        let log = slot(&asked, "/log");
        for step in 0..3 {
            let undo = log.clone();
            ctx.on_failure(move |ctx| async move {
                let name = format!("undo{step}");
                ctx.run(&name, async || sink::push(&undo, &name).await).await?;
                Ok(())
            });
            let name = format!("do{step}");
            ctx.run(&name, async || sink::push(&log, &name).await).await?;
            if asked["failAt"] == json!(step) {
                return Err(Terminal::new(format!("step {step} failed")).code(422).into());
            }
        }
        ctx.run("ready", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
        ctx.sleep(HOUR).await?;
        Ok("booked".to_owned())
    }

    async fn stubborn(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let waited = async {
            ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
            ctx.sleep(HOUR).await
        };
        let caught = match waited.await {
            Err(failure) if failure.is_cancelled() => true,
            other => other.map(|()| false)?,
        };
        ctx.sleep(millis(20)).await?;
        let value = ctx.run("go on", async || sink::hit(&slot(&asked, "/after")).await).await?;
        Ok(json!({ "caught": caught, "v": value }))
    }

    async fn sender(&self, ctx: &Context, asked: Value) -> Result<()> {
        ctx.send(request_to("CfCancel", "leaf", json!({ "slot": asked["slot"] })));
        ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
        ctx.sleep(HOUR).await?;
        Ok(())
    }

    async fn busy(&self, ctx: &Context, asked: Value) -> Result<String> {
        ctx.unrecorded(sink::hit(&slot(&asked, "/arrived"))).await?;
        ctx.run("gate", async || sink::gate(&slot(&asked, "/gate")).await).await?;
        ctx.sleep(millis(10)).await?;
        Ok("through".to_owned())
    }
}

pub struct CancelObj;

#[object(
    name = "CfCancelObj",
    retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms")
)]
impl CancelObj {
    async fn hold(&self, ctx: &ObjectContext, asked: Value) -> Result<()> {
        ctx.set("held", text(&asked, "slot"));
        ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
        Ok(ctx.awakeable::<()>().1.await?)
    }

    async fn ping(&self, _: &ObjectContext) -> String {
        "pong".to_owned()
    }

    async fn held(&self, ctx: &SharedObjectContext) -> Result<Option<String>> {
        Ok(ctx.get("held").await?)
    }
}
