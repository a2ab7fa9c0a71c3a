//! A helper among the handlers.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &Context) -> Result<()> {
        self.charge().await
    }

    async fn charge(&self) -> Result<()> {
        Ok(())
    }
}
