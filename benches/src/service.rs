//! The handlers under load, on our own SDK. Each is the smallest of its kind, so that a call costs what
//! the journal costs.

use holdfast_sdk::prelude::*;
use holdfast_sdk::{Endpoint, Raw};
use std::sync::atomic::{AtomicU64, Ordering};

/// The handlers that have no key.
#[derive(Default)]
pub struct Bench {
    received: AtomicU64,
}

#[service]
impl Bench {
    /// Gives back what it got.
    async fn echo(&self, _: &Context, body: Raw) -> Raw {
        body
    }

    /// Three recorded steps, one after the other.
    async fn steps(&self, ctx: &Context, name: String) -> Result<String> {
        for step in ["one", "two", "three"] {
            ctx.run(step, async || Ok(name.len())).await?;
        }
        Ok(name)
    }

    /// Calls another handler and awaits it.
    async fn chain(&self, ctx: &Context, name: String) -> Result<Raw> {
        Ok(ctx.call(BenchClient::echo(Raw::from(name))).await?)
    }

    /// Waits for an awakeable that another invocation completes.
    async fn awakeable(&self, ctx: &Context) -> Result<u32> {
        let (id, completed) = ctx.awakeable();
        ctx.send(BenchClient::complete(id));
        Ok(completed.await?)
    }

    async fn complete(&self, ctx: &Context, id: String) {
        ctx.resolve_awakeable(&id, &7);
    }

    /// Sends so many messages.
    async fn send(&self, ctx: &Context, count: u32) {
        for _ in 0..count {
            ctx.send(BenchClient::receive());
        }
    }

    /// What a message does: it is counted, in memory.
    async fn receive(&self, _: &Context) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// How many messages came since the service started.
    async fn received(&self, _: &Context) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// A number for each key.
pub struct BenchCounter;

#[object]
impl BenchCounter {
    async fn add(&self, ctx: &ObjectContext, more: u64) -> Result<u64> {
        let total = ctx.get("total").await?.unwrap_or(0) + more;
        ctx.set("total", &total);
        Ok(total)
    }
}

/// All of them.
pub fn endpoint() -> Endpoint {
    Endpoint::builder().bind(Bench::default()).bind(BenchCounter).build()
}
