//! A service to be called thousands of times while things are killed. Its handler leaves each common
//! kind of entry in the journal and returns what its steps recorded, so that the caller can hold
//! it against an outside count.
//!
//! `Load/work {"id": "7"}` returns `{"id": "7", "steps": [one, two, three], "child": value}`, where
//! each value is one that `EFFECTS_URL` was told under that id and the steps `one`, `two`,
//! `three`, `child`. `Load/gated` and `Account/{key}/charge` with the same input wait in a step until
//! the gate at `GATE_URL` lets them pass, as the steps `gated` and `charge`. `Load/tick` tells
//! `EFFECTS_URL` for which time a schedule called it, with its invocation as the step. `PORT` says
//! where it listens, `GATED_LIMIT` how many `gated` may run at once, by the metadata of the handler.
//!
//! `Load/fill {"id": "7", "bytes": 100}` records and returns so many bytes that do not compress;
//! `Load/wait {"id": "7"}` returns what its first awakeable is resolved with.
//!
//! With `IDENTITY_KEY` (`publickeyv1_…`) it takes only requests that are signed by that key.

use foreign::{effects::Effects, gate::Gate, http::Error, identity, serve::serve};
use restate_sdk::context::RequestTarget;
use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};
use restate_sdk::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

/// Long enough to become a timer, short enough for thousands of them.
const NAP: Duration = Duration::from_millis(20);

/// Named by the caller, so that effects can be counted without knowing invocation ids.
#[derive(serde::Serialize, serde::Deserialize)]
struct Work {
    id: String,
}

/// How much is to be recorded.
#[derive(serde::Serialize, serde::Deserialize)]
struct Fill {
    id: String,
    bytes: usize,
}

struct Load {
    effects: Effects,
    gate: Gate,
}

struct Account {
    gate: Gate,
}

#[service(
    name = "Load",
    invocation_retry_policy(initial_interval = "50ms", factor = 1.5, max_interval = "500ms")
)]
impl Load {
    #[handler]
    async fn work(&self, ctx: Context<'_>, Json(work): Json<Work>) -> HandlerResult<Json<Value>> {
        let id = work.id.as_str();
        let one = self.step(&ctx, id, "one").await?;
        let target = RequestTarget::service("Load", "child");
        let call = ctx.request::<_, String>(target, Json(Work { id: id.to_owned() }));
        let child = call.call().await?;
        let two = self.step(&ctx, id, "two").await?;
        ctx.sleep(NAP).await?;
        let three = self.step(&ctx, id, "three").await?;
        Ok(Json(json!({ "id": id, "steps": [one, two, three], "child": child })))
    }

    #[handler]
    async fn child(&self, ctx: Context<'_>, Json(work): Json<Work>) -> HandlerResult<String> {
        Ok(self.step(&ctx, &work.id, "child").await?)
    }

    #[handler]
    async fn fill(&self, ctx: Context<'_>, Json(fill): Json<Fill>) -> HandlerResult<String> {
        let made = ctx.run(|| async move { Ok(format!("{}:{}", fill.id, noise(fill.bytes)?)) });
        Ok(made.name("fill").await?)
    }

    #[handler]
    async fn wait(&self, ctx: Context<'_>, Json(_): Json<Work>) -> HandlerResult<String> {
        let (_, answer) = ctx.awakeable::<String>();
        Ok(answer.await?)
    }

    #[handler]
    async fn gated(&self, ctx: Context<'_>, Json(work): Json<Work>) -> HandlerResult<String> {
        ctx.run(|| async { Ok(self.gate.pass(&work.id, "gated").await?) }).name("gated").await?;
        Ok(work.id)
    }

    #[handler]
    async fn tick(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let planned = ctx.headers().get("x-holdfast-scheduled-at");
        let planned = planned.ok_or_else(|| TerminalError::new("no schedule called"))?;
        let invocation = ctx.invocation_id();
        Ok(ctx.run(|| async { Ok(self.effects.perform(planned, invocation, None).await?) }).await?)
    }
}

#[object(
    name = "Account",
    invocation_retry_policy(initial_interval = "50ms", factor = 1.5, max_interval = "500ms")
)]
impl Account {
    #[handler]
    async fn charge(
        &self,
        ctx: ObjectContext<'_>,
        Json(work): Json<Work>,
    ) -> HandlerResult<String> {
        ctx.run(|| async { Ok(self.gate.pass(&work.id, "charge").await?) }).name("charge").await?;
        Ok(work.id)
    }
}

/// Letters drawn by chance.
fn noise(bytes: usize) -> Result<String, Error> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut chance = vec![0; bytes];
    getrandom::fill(&mut chance)?;
    Ok(chance.into_iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)])).collect())
}

impl Load {
    async fn step(&self, ctx: &Context<'_>, id: &str, name: &str) -> Result<String, TerminalError> {
        ctx.run(|| async { Ok(self.effects.perform(id, name, None).await?) }).name(name).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let gate = Gate::from_env();
    let load = Load { effects: Effects::from_env(), gate: gate.clone() };
    let mut options = ServiceOptions::new();
    if let Ok(limit) = std::env::var("GATED_LIMIT") {
        let gated = HandlerOptions::new().metadata("holdfast.limit.concurrency", limit);
        options = options.handler("gated", gated);
    }
    let load = load.into_service_definition().options(options);
    let endpoint = Endpoint::builder().bind(load).bind(Account { gate });
    serve(identity::from_env(endpoint)?.build()).await
}
