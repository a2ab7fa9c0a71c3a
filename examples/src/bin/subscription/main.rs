//! An object with timers: a subscription that renews itself until it is cancelled.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its renewals tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Plan {
    price: u32,
    /// A month in the real world.
    period_ms: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Standing {
    plan: Option<Plan>,
    /// Periods that were paid.
    paid: u32,
}

struct Subscription {
    effects: Effects,
}

#[object(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Subscription {
    /// Begins, or changes the plan from the next period on.
    async fn subscribe(&self, ctx: &ObjectContext, plan: Plan) -> Result<()> {
        let begins = ctx.get::<Plan>("plan").await?.is_none();
        ctx.set("plan", &plan);
        if begins {
            ctx.send(SubscriptionClient::new(ctx.key()).renew());
        }
        Ok(())
    }

    /// Pays for a period, and comes back when it is over. Called by itself.
    #[handler(private)]
    async fn renew(&self, ctx: &ObjectContext) -> Result<()> {
        let Some(plan) = ctx.get::<Plan>("plan").await? else {
            return Ok(()); // cancelled meanwhile
        };
        let (key, price) = (ctx.key(), plan.price.to_string());
        let pay = async || self.effects.perform(key, "pay", Some(&price)).await;
        ctx.run("pay", async || pay().await.map_err(Error::retry)).await?;
        let paid = ctx.get::<u32>("paid").await?.unwrap_or(0);
        ctx.set("paid", &(paid + 1));
        let period = Duration::from_millis(plan.period_ms);
        ctx.send_after(period, SubscriptionClient::new(key).renew());
        Ok(())
    }

    /// Ends it with the current period.
    async fn unsubscribe(&self, ctx: &ObjectContext) {
        ctx.clear("plan");
    }

    /// How it stands, without waiting for anything.
    async fn standing(&self, ctx: &SharedObjectContext) -> Result<Standing> {
        let plan = ctx.get("plan").await?;
        Ok(Standing { plan, paid: ctx.get("paid").await?.unwrap_or(0) })
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let subscription = Subscription { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(subscription).build()).await
}
