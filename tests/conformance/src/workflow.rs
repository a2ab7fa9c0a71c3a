//! A workflow and its promises.

use crate::{millis, number, sink, slot, terminal, text};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

pub struct Flow;

#[workflow(name = "CfFlow", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Flow {
    async fn run(&self, ctx: &WorkflowContext, asked: Value) -> Result<Value> {
        ctx.set("step", "started");
        if asked["slot"].is_string() {
            ctx.run("count", async || sink::hit(&slot(&asked, "/runs")).await).await?;
        }
        match text(&asked, "mode") {
            "echo" => Ok(json!({ "key": ctx.key(), "input": asked })),
            "fail" => Err(Terminal::new("workflow says no").code(409).into()),
            "promise" => {
                let value = ctx.promise("p").await?;
                ctx.set("step", "got");
                Ok(value)
            }
            "catch" => Ok(match ctx.promise::<Value>("p").await {
                Ok(value) => json!({ "got": value }),
                Err(failure) => json!({ "rejected": failure.message() }),
            }),
            "two" => {
                let first: Value = ctx.promise("a").await?;
                let second: Value = ctx.promise("b").await?;
                Ok(json!([first, second]))
            }
            "self" => {
                ctx.resolve_promise("mine", "from run").await?;
                ctx.set("step", "resolved");
                Ok(ctx.promise("p").await?)
            }
            "timeout" => {
                let within = ctx.promise("p").or_timeout(millis(number(&asked, "ms")));
                Ok(within.await?.unwrap_or_else(|| json!("timed out")))
            }
            "sleep" => {
                ctx.sleep(millis(number(&asked, "ms"))).await?;
                ctx.set("step", "slept");
                Ok(json!("slept"))
            }
            mode => Err(Terminal::new(format!("no such mode: {mode}")).into()),
        }
    }

    async fn resolve(&self, ctx: &SharedWorkflowContext, asked: Value) -> Result<()> {
        Ok(ctx.resolve_promise(text(&asked, "name"), &asked["v"]).await?)
    }

    async fn reject(&self, ctx: &SharedWorkflowContext, asked: Value) -> Result<()> {
        Ok(ctx.reject_promise(text(&asked, "name"), terminal(&asked)).await?)
    }

    async fn peek(&self, ctx: &SharedWorkflowContext, name: String) -> Result<Value> {
        let value = ctx.peek_promise::<Value>(&name).await?;
        Ok(json!({ "done": value.is_some(), "v": value }))
    }

    async fn wait(&self, ctx: &SharedWorkflowContext, name: String) -> Result<Value> {
        Ok(ctx.promise(&name).await?)
    }

    async fn step(&self, ctx: &SharedWorkflowContext) -> Result<Option<String>> {
        Ok(ctx.get("step").await?)
    }

    async fn key(&self, ctx: &SharedWorkflowContext) -> String {
        ctx.key().to_owned()
    }
}
