//! The context of another kind.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &ObjectContext) {}
}

struct Cart;

#[object]
impl Cart {
    async fn add(&self, _ctx: &Context) {}
}
