//! More than one input.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &Context, _thing: String, _amount: u32) {}
}
