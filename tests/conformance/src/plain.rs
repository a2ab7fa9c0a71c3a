//! Values in and out, headers, chance, time.

use crate::{again, sink, slot};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{Raw, Text};
use serde_json::{Value, json};
use std::time::{Duration, UNIX_EPOCH};

pub struct Echo;

/// Plain request/response handlers
#[service(name = "CfEcho", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Echo {
    async fn json(&self, _: &Context, value: Value) -> Value {
        value
    }

    async fn greet(&self, _: &Context, name: String) -> String {
        format!("Hello {name}")
    }

    async fn nothing(&self, _: &Context) {}

    async fn nullish(&self, _: &Context) -> Value {
        Value::Null
    }

    async fn raw(&self, _: &Context, bytes: Raw) -> Raw {
        bytes
    }

    async fn text(&self, _: &Context, text: Text) -> Text {
        Text(text.0.chars().rev().collect())
    }

    async fn size(&self, _: &Context, text: String) -> usize {
        text.chars().count()
    }

    async fn make(&self, _: &Context, length: usize) -> String {
        "x".repeat(length)
    }

    async fn headers(&self, ctx: &Context) -> Value {
        ctx.headers().map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }

    async fn info(&self, ctx: &Context) -> Value {
        json!({ "id": ctx.invocation_id(), "service": "CfEcho", "handler": ctx.handler() })
    }

    async fn slow(&self, ctx: &Context, ms: u64) -> u64 {
        ctx.unrecorded(tokio::time::sleep(Duration::from_millis(ms))).await;
        ms
    }

    async fn rand(&self, ctx: &Context, asked: Value) -> Result<String> {
        let drawn = format!("{}/{}", ctx.uuid(), ctx.random_f64());
        ctx.unrecorded(sink::push(&slot(&asked, "/seen"), &drawn)).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, "/attempt"))).await? {
            ..3 => again("once more"),
            _ => Ok(drawn),
        }
    }

    async fn clock(&self, ctx: &Context, asked: Value) -> Result<u64> {
        let now = ctx.now().await?.duration_since(UNIX_EPOCH)?;
        let now = u64::try_from(now.as_millis())?;
        ctx.unrecorded(sink::push(&slot(&asked, "/seen"), &now.to_string())).await?;
        match ctx.unrecorded(sink::hit(&slot(&asked, "/attempt"))).await? {
            ..2 => again("once more"),
            _ => Ok(now),
        }
    }
}
