//! A saga: a checkout that reserves, charges and ships, and undoes what it did if a later part fails
//! for good.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its steps tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

/// What is bought. Nothing that costs more than this can be charged.
const LIMIT: u32 = 1000;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Cart {
    id: String,
    total: u32,
}

struct Checkout {
    effects: Effects,
}

#[service(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Checkout {
    /// Buys what is in a cart, wholly or not at all.
    async fn checkout(&self, ctx: &Context, cart: Cart) -> Result<String> {
        self.undo_later(ctx, &cart, "release-stock");
        self.step(ctx, &cart.id, "reserve-stock").await?;
        self.undo_later(ctx, &cart, "void-payment");
        ctx.run("charge", async || self.charge(&cart).await).await?;
        self.step(ctx, &cart.id, "ship").await?;
        Ok(format!("{} is on its way", cart.id))
    }
}

impl Checkout {
    /// Said before the thing is done: whether it was done is not known after a crash.
    fn undo_later(&self, ctx: &Context, cart: &Cart, step: &'static str) {
        let (effects, id) = (self.effects.clone(), cart.id.clone());
        ctx.on_failure(move |ctx| async move {
            let undo = async || effects.perform(&id, step, None).await.map_err(Error::retry);
            ctx.run(step, undo).await?;
            Ok(())
        });
    }

    async fn charge(&self, cart: &Cart) -> Result<String> {
        if cart.total > LIMIT {
            return Err(Terminal::new("the card was declined").code(402).into());
        }
        self.effects.perform(&cart.id, "charge", None).await.map_err(Error::retry)
    }

    async fn step(&self, ctx: &Context, id: &str, step: &str) -> Result<String> {
        let effect = async || self.effects.perform(id, step, None).await.map_err(Error::retry);
        Ok(ctx.run(step, effect).await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let checkout = Checkout { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(checkout).build()).await
}
