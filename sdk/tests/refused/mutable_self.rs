//! A handler that wants the service for itself.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&mut self, _ctx: &Context) {}
}
