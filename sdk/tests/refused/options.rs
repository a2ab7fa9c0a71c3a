//! Options that there are not, and values that mean nothing.

use holdfast_sdk::prelude::*;

struct One;

#[service(timeout = "1s")]
impl One {
    async fn go(&self, _ctx: &Context) {}
}

struct Two;

#[service(inactivity_timeout = "soon")]
impl Two {
    async fn go(&self, _ctx: &Context) {}
}

struct Three;

#[service(retry(on_max_attempts = "panic"))]
impl Three {
    async fn go(&self, _ctx: &Context) {}
}

struct Four;

#[service(name = "restate.Four")]
impl Four {
    async fn go(&self, _ctx: &Context) {}
}

struct Five;

#[service]
impl Five {
    #[handler(workflow_retention = "1d")]
    async fn go(&self, _ctx: &Context) {}
}
