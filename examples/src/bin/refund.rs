//! A service that refunds an order: three steps whose results are recorded, a human's approval that
//! may take days, and a waiting period. Whatever dies meanwhile, no recorded step runs again.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its steps tell what they did.

use bytes::Bytes;
use examples::{effects::Effects, http::Error, serve::serve};
use restate_sdk::prelude::*;
use restate_sdk::serde::{Deserialize, PayloadMetadata};
use serde_json::json;
use std::time::Duration;

/// Between the approval and the money; short, because a demo waits for it.
const COOLING_OFF: Duration = Duration::from_secs(3);

/// What a caller sends.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    /// In the currency of the order.
    amount: f64,
}

/// What the approver sends to the awakeable.
#[derive(serde::Deserialize)]
struct Approval {
    approved: bool,
    by: Option<String>,
}

struct Refund {
    effects: Effects,
}

// The timeout is short, so that one can watch the handler being suspended.
#[service(
    name = "Refund",
    inactivity_timeout = "1s",
    invocation_retry_policy(initial_interval = "100ms", factor = 2.0, max_interval = "1s")
)]
impl Refund {
    #[handler]
    async fn refund(
        &self,
        ctx: Context<'_>,
        order: Order,
    ) -> HandlerResult<Json<serde_json::Value>> {
        // Deliberately outside of any step: it shows how often the handler was entered.
        self.effects.perform(ctx.invocation_id(), "attempt", None).await?;

        let checked = self.step(&ctx, "check-order", &order.order_id).await?;
        let reserved = self.step(&ctx, "reserve-amount", &order.amount.to_string()).await?;
        let (awakeable, answer) = ctx.awakeable::<Json<Approval>>();
        let asked = self.step(&ctx, "ask-approver", &awakeable).await?;

        let Json(approval) = answer.await?;
        ctx.sleep(COOLING_OFF).await?;
        Ok(Json(json!({
            "status": if approval.approved { "refunded" } else { "declined" },
            "orderId": order.order_id,
            "amount": order.amount,
            "by": approval.by,
            "receipts": { "check-order": checked, "reserve-amount": reserved, "ask-approver": asked },
        })))
    }
}

impl Refund {
    /// One recorded step: its effect may be tried more than once, its result is recorded once.
    async fn step(
        &self,
        ctx: &Context<'_>,
        name: &str,
        detail: &str,
    ) -> Result<String, TerminalError> {
        let id = ctx.invocation_id();
        ctx.run(|| async { Ok(self.effects.perform(id, name, Some(detail)).await?) })
            .name(name)
            .await
    }
}

impl Deserialize for Order {
    type Error = serde_json::Error;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, Self::Error> {
        serde_json::from_slice(bytes)
    }
}

impl PayloadMetadata for Order {
    fn json_schema() -> Option<serde_json::Value> {
        Some(json!({
            "type": "object",
            "properties": { "orderId": { "type": "string" }, "amount": { "type": "number" } },
            "required": ["orderId", "amount"],
        }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let refund = Refund { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(refund).build()).await
}
