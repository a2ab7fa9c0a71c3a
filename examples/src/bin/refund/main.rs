//! A service that refunds an order: three steps whose results are recorded, a human's approval that
//! may take days, and a waiting period. Whatever dies meanwhile, no recorded step runs again.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its steps tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Between the approval and the money; short, because a demo waits for it.
const COOLING_OFF: Duration = Duration::from_secs(3);

/// What a caller sends.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    /// In the currency of the order.
    amount: f64,
}

/// What the approver sends to the awakeable.
#[derive(Serialize, Deserialize)]
struct Approval {
    approved: bool,
    by: Option<String>,
}

/// What a caller gets.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    status: Status,
    order_id: String,
    amount: f64,
    by: Option<String>,
    receipts: Receipts,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Refunded,
    Declined,
}

/// What each step returned when it was recorded.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct Receipts {
    check_order: String,
    reserve_amount: String,
    ask_approver: String,
}

struct Refund {
    effects: Effects,
}

// The timeout is short, so that one can watch the handler being suspended.
#[service(
    inactivity_timeout = "1s",
    retry(initial_interval = "100ms", factor = 2.0, max_interval = "1s"),
    expose = "mcp,a2a"
)]
impl Refund {
    /// Refunds an order, once a human has approved it.
    #[handler(title = "Refund an order")]
    async fn refund(&self, ctx: &Context, order: Order) -> Result<Outcome> {
        // Deliberately outside of any step: it shows how often the handler was entered.
        let attempt = self.effects.perform(ctx.invocation_id(), "attempt", None);
        ctx.unrecorded(attempt).await.map_err(Error::retry)?;

        let check_order = self.step(ctx, "check-order", &order.order_id).await?;
        let reserve_amount = self.step(ctx, "reserve-amount", &order.amount.to_string()).await?;
        let (awakeable, answer) = ctx.awakeable::<Approval>();
        let ask_approver = self.step(ctx, "ask-approver", &awakeable).await?;

        let approval = answer.await?;
        ctx.sleep(COOLING_OFF).await?;
        Ok(Outcome {
            status: if approval.approved { Status::Refunded } else { Status::Declined },
            order_id: order.order_id,
            amount: order.amount,
            by: approval.by,
            receipts: Receipts { check_order, reserve_amount, ask_approver },
        })
    }
}

impl Refund {
    /// One recorded step: its effect may be tried more than once, its result is recorded once.
    async fn step(&self, ctx: &Context, name: &str, detail: &str) -> Result<String> {
        let id = ctx.invocation_id();
        let effect =
            async || self.effects.perform(id, name, Some(detail)).await.map_err(Error::retry);
        Ok(ctx.run(name, effect).await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let refund = Refund { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(refund).build()).await
}
