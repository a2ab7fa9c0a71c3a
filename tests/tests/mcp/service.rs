//! Handlers that live in the test, so that no sidecar that is killed takes them along.

use holdfast_sdk::prelude::*;
use holdfast_sdk::schemars::{self, JsonSchema};
use holdfast_sdk::{Answer, Endpoint, Error, Terminal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    amount: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    approved: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Said {
    text: String,
}

/// Said to be an object with an amount.
#[derive(Deserialize)]
struct Odd;

impl Serialize for Odd {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        json!({ "amount": "much" }).serialize(serializer)
    }
}

impl JsonSchema for Odd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Odd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let amount = json!({ "type": "integer" });
        schemars::json_schema!({ "type": "object", "properties": { "amount": amount } })
    }
}

struct Shop;

#[service(expose = "mcp", inactivity_timeout = "50ms")]
impl Shop {
    /// Gives money back.
    #[handler(tool = "refund", metadata("holdfast.asks" = "true"))]
    async fn refund(&self, ctx: &Context, order: Order) -> Result<Value> {
        if order.order_id == "bad" {
            return Err(Terminal::new("there is no order bad").into());
        }
        let question = format!("Refund {} for {}?", order.amount, order.order_id);
        let approved = match ctx.ask::<Approval>(&question).begin().await? {
            Answer::Accept { content, .. } => content.approved,
            Answer::Decline { .. } | Answer::Cancel { .. } => false,
        };
        Ok(json!({ "status": if approved { "refunded" } else { "declined" } }))
    }

    /// Says it again.
    #[handler(tool = "echo", metadata("holdfast.tasks" = "forbidden"))]
    async fn echo(&self, _ctx: &Context, said: Said) -> Result<String> {
        Ok(said.text)
    }

    /// Sleeps for a minute.
    #[handler]
    async fn slow(&self, ctx: &Context) -> Result<()> {
        ctx.progress("sleeping").await?;
        Ok(ctx.sleep(Duration::from_secs(60)).await?)
    }

    /// Says what it gives, and gives something else.
    #[handler]
    async fn odd(&self, _ctx: &Context) -> Result<Odd> {
        Ok(Odd)
    }

    /// Breaks for good.
    #[handler(retry(initial_interval = "1ms", max_attempts = 1, on_max_attempts = "kill"))]
    async fn broken(&self, _ctx: &Context) -> Result<()> {
        Err(Error::retry("the shop is closed"))
    }
}

struct Counter;

#[object(expose = "mcp")]
impl Counter {
    /// Adds to a sum.
    #[handler]
    async fn add(&self, ctx: &ObjectContext, number: i64) -> Result<i64> {
        let sum = ctx.get::<i64>("sum").await?.unwrap_or_default() + number;
        ctx.set("sum", &sum);
        Ok(sum)
    }
}

/// Served until it is dropped.
pub struct Service {
    pub url: String,
    _runtime: Runtime,
}

impl Service {
    pub fn start() -> Service {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let endpoint = Endpoint::builder().bind(Shop).bind(Counter).build();
        runtime.spawn(async move {
            endpoint.serve_until(listener, std::future::pending()).await;
        });
        Service { url, _runtime: runtime }
    }
}
