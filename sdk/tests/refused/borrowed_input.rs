//! An input that nobody owns.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &Context, _thing: &str) {}
}
