//! A workflow: a signup that waits for its confirmation, or for too long.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where its steps tell what they did.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Application {
    email: String,
    /// How long the link is good.
    patience_ms: u64,
}

struct Signup {
    effects: Effects,
}

#[workflow(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Signup {
    /// Once for each user.
    #[handler(workflow_retention = "7d")]
    async fn run(&self, ctx: &WorkflowContext, application: Application) -> Result<String> {
        let secret = ctx.uuid();
        ctx.set("secret", &secret);
        ctx.set("step", "waits for the confirmation");
        let mail = async || {
            let sent = self.effects.perform(ctx.key(), "mail", Some(&secret)).await;
            sent.map_err(Error::retry)
        };
        ctx.run("mail", mail).await?;
        let patience = Duration::from_millis(application.patience_ms);
        match ctx.promise::<()>("confirmed").or_timeout(patience).await? {
            Some(()) => {
                ctx.set("step", "signed up");
                Ok(format!("welcome, {}", application.email))
            }
            None => Err(Terminal::new("the link has expired").code(410).into()),
        }
    }

    /// What the link in the mail leads to.
    async fn confirm(&self, ctx: &SharedWorkflowContext, secret: String) -> Result<()> {
        if ctx.get::<String>("secret").await? != Some(secret) {
            return Err(Terminal::new("this is not the link that was sent").code(403).into());
        }
        Ok(ctx.resolve_promise("confirmed", &()).await?)
    }

    /// How far it is.
    async fn step(&self, ctx: &SharedWorkflowContext) -> Result<Option<String>> {
        Ok(ctx.get("step").await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let signup = Signup { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(signup).build()).await
}
