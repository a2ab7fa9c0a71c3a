//! Two handlers of one name, and two runs of one workflow.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, _ctx: &Context) {}

    #[handler(name = "buy")]
    async fn buy_more(&self, _ctx: &Context) {}
}

struct Signup;

#[workflow]
impl Signup {
    async fn run(&self, _ctx: &WorkflowContext) {}

    async fn run_again(&self, _ctx: &WorkflowContext) {}
}
