//! A handler that is no `async fn`.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &Context) {}

    #[handler(private)]
    fn price(&self) -> u32 {
        7
    }
}
