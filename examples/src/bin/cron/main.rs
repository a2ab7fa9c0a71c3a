//! A job that comes again: an object that sends itself the next call.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its ticks tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Job {
    every_ms: u64,
    /// How often, if not for ever.
    times: Option<u32>,
}

struct Cron {
    effects: Effects,
}

#[object(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Cron {
    /// Begins a job, or replaces it.
    async fn start(&self, ctx: &ObjectContext, job: Job) -> Result<()> {
        let generation = ctx.get::<u32>("generation").await?.unwrap_or(0) + 1;
        ctx.set("generation", &generation);
        ctx.set("job", &job);
        ctx.set("ticks", &0);
        ctx.send(CronClient::new(ctx.key()).tick(generation));
        Ok(())
    }

    /// Does it once. Called by itself; one of an older generation does nothing.
    #[handler(private)]
    async fn tick(&self, ctx: &ObjectContext, generation: u32) -> Result<()> {
        let Some(job) = ctx.get::<Job>("job").await? else {
            return Ok(());
        };
        if ctx.get("generation").await? != Some(generation) {
            return Ok(());
        }
        let key = ctx.key();
        let work = async || self.effects.perform(key, "tick", None).await.map_err(Error::retry);
        ctx.run("tick", work).await?;
        let ticks = ctx.get::<u32>("ticks").await?.unwrap_or(0) + 1;
        ctx.set("ticks", &ticks);
        if job.times.is_none_or(|times| ticks < times) {
            let next = CronClient::new(key).tick(generation);
            ctx.send_after(Duration::from_millis(job.every_ms), next);
        }
        Ok(())
    }

    /// Ends it.
    async fn stop(&self, ctx: &ObjectContext) {
        ctx.clear("job");
    }

    /// How often it ran.
    async fn ticks(&self, ctx: &SharedObjectContext) -> Result<u32> {
        Ok(ctx.get("ticks").await?.unwrap_or(0))
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let cron = Cron { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(cron).build()).await
}
