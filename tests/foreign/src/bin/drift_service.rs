//! A service with the mistake that durable handlers must not make: what it does depends on
//! something that no step recorded, here on how often it was entered. It shows what a journal
//! mismatch looks like. `PORT` says where it listens.

use foreign::{http::Error, serve::serve};
use restate_sdk::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[derive(Default)]
struct Drift {
    entered: AtomicU32,
}

#[service(
    name = "Drift",
    invocation_retry_policy(
        initial_interval = "20ms",
        factor = 1.0,
        max_attempts = 3,
        on_max_attempts = "pause"
    )
)]
impl Drift {
    /// Pays, and breaks; then, entered again, wants to refund what it has not paid.
    #[handler]
    async fn settle(&self, ctx: Context<'_>, order: String) -> HandlerResult<String> {
        let first = self.entered.fetch_add(1, Relaxed) == 0;
        let step = if first { "pay" } else { "refund" };
        let receipt: String =
            ctx.run(|| async { Ok(format!("{step} {order}")) }).name(step).await?;
        if first {
            return Err(std::io::Error::other("the bank hung up").into());
        }
        Ok(receipt)
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve(Endpoint::builder().bind(Drift::default()).build()).await
}
