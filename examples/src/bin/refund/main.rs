//! A service that refunds an order: three steps whose results are recorded, a human's approval that
//! may take days, and a waiting period. Whatever dies meanwhile, no recorded step runs again. Agents
//! see it as the tool `refund` (MCP) and as the agent `refund` (A2A).
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its steps tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    Answer, BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Between the approval and the money; short, because a demo waits for it.
const COOLING_OFF: Duration = Duration::from_secs(1);

/// What a caller sends.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: String,
    /// In the currency of the order.
    #[schemars(range(min = 0.0))]
    amount: f64,
    /// How long to wait before anybody is asked, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

/// What the approver is asked for.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Approval {
    /// Whether the money goes back.
    approved: bool,
    /// For whoever looks at it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

/// What a caller gets.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    status: Status,
    order_id: String,
    amount: f64,
    /// Who approved it, or did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pay_back: Option<String>,
}

struct Refund {
    effects: Effects,
}

// The timeout is short, so that one can watch the handler being suspended.
#[service(
    inactivity_timeout = "1s",
    retry(initial_interval = "100ms", factor = 2.0, max_interval = "1s"),
    expose = "mcp,a2a",
    agent = "refund"
)]
impl Refund {
    /// Refunds an order, once a human has approved it.
    #[handler(
        title = "Refund an order",
        tool = "refund",
        metadata(
            "holdfast.asks" = "true",
            "holdfast.destructive" = "true",
            "holdfast.openWorld" = "true"
        )
    )]
    async fn refund(&self, ctx: &Context, order: Order) -> Result<Outcome> {
        // Deliberately outside of any step: it shows how often the handler was entered.
        let attempt = self.effects.perform(ctx.invocation_id(), "attempt", None);
        ctx.unrecorded(attempt).await.map_err(Error::retry)?;

        let check_order = self.step(ctx, "check-order", &order.order_id).await?;
        let reserve_amount = self.step(ctx, "reserve-amount", &order.amount.to_string()).await?;
        if let Some(delay_ms) = order.delay_ms {
            ctx.sleep(Duration::from_millis(delay_ms)).await?;
        }

        let question = format!("Refund {:.2} for order {}?", order.amount, order.order_id);
        let (approved, by) = match ctx.ask::<Approval>(&question).to("approvers").begin().await? {
            Answer::Accept { content, by, .. } => (content.approved, by),
            Answer::Decline { by, .. } | Answer::Cancel { by, .. } => (false, by),
        };
        let pay_back = match approved {
            true => {
                ctx.sleep(COOLING_OFF).await?;
                Some(self.step(ctx, "pay-back", &order.amount.to_string()).await?)
            }
            false => None,
        };
        Ok(Outcome {
            status: if approved { Status::Refunded } else { Status::Declined },
            order_id: order.order_id,
            amount: order.amount,
            by,
            receipts: Receipts { check_order, reserve_amount, pay_back },
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
