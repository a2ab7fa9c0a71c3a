//! Calls and sends from handler to handler.

use crate::plain::EchoClient;
use crate::state::KvClient;
use crate::{again, deployed, millis, number, request, request_to, sink, slot, text};
use holdfast_sdk::prelude::*;
use holdfast_sdk::try_join_all;
use serde_json::{Value, json};

pub struct Proxy;

#[service(name = "CfProxy", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Proxy {
    async fn call(&self, ctx: &Context, asked: Value) -> Result<Value> {
        Ok(ctx.call(request(&asked)).await?)
    }

    #[handler(name = "callId")]
    async fn call_id(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let call = ctx.call(request(&asked));
        let id = call.invocation_id().await?;
        Ok(json!({ "id": id, "result": call.await? }))
    }

    async fn send(&self, ctx: &Context, asked: Value) -> Result<String> {
        let sent = match number(&asked, "delay") {
            ms @ 1.. => ctx.send_after(millis(ms), request(&asked)),
            _ => ctx.send(request(&asked)),
        };
        Ok(sent.await?)
    }

    async fn batch(&self, ctx: &Context, all: Vec<Value>) -> Result<Vec<Value>> {
        let mut results = vec![];
        for asked in &all {
            if asked["await"] == true {
                results.push(ctx.call(request(asked)).await?);
            } else {
                ctx.send(request(asked));
                results.push(Value::Null);
            }
        }
        Ok(results)
    }

    async fn fan(&self, ctx: &Context, all: Vec<Value>) -> Result<Vec<Value>> {
        Ok(try_join_all(all.iter().map(|asked| ctx.call(request(asked)))).await?)
    }

    #[handler(name = "sendFlaky")]
    async fn send_flaky(&self, ctx: &Context, asked: Value) -> Result<String> {
        let id = ctx.send(request(&asked["target"])).await?;
        if ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? <= number(&asked, "failures") {
            return again("after the send");
        }
        Ok(id)
    }

    #[handler(name = "callFlaky")]
    async fn call_flaky(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let value = ctx.call(request(&asked["target"])).await?;
        if ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? <= number(&asked, "failures") {
            return again("after the call");
        }
        Ok(value)
    }

    async fn cancel(&self, ctx: &Context, id: String) {
        ctx.cancel(&id);
    }

    async fn attach(&self, ctx: &Context, id: String) -> Result<Value> {
        Ok(ctx.attach(&id).await?)
    }

    async fn typed(&self, ctx: &Context, asked: Value) -> Result<Value> {
        let kv = KvClient::new(text(&asked, "key"));
        let add = || kv.add(number(&asked, "n")).service(deployed("CfKv"));
        let hello = ctx.call(EchoClient::greet("typed").service(deployed("CfEcho"))).await?;
        let sum = ctx.call(add()).await?;
        ctx.send(add());
        Ok(json!({ "hello": hello, "sum": sum }))
    }

    async fn nest(&self, ctx: &Context, depth: i64) -> Result<i64> {
        if depth <= 0 {
            return Ok(0);
        }
        let below = ctx.call(request_to("CfProxy", "nest", json!(depth - 1))).await?;
        Ok(1 + below.as_i64().unwrap_or(-1000))
    }
}
