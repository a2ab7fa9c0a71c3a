//! The attribute on the implementation of a trait, where it belongs on the trait.

use holdfast_sdk::prelude::*;

trait Sells {
    async fn buy(&self, ctx: &Context);
}

struct Shop;

#[service]
impl Sells for Shop {
    async fn buy(&self, _ctx: &Context) {}
}
