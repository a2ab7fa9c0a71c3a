//! Services to play with from a terminal: a greeter, counters that each have a key, and a sign-up
//! that waits for somebody to confirm it. `PORT` says where it listens.
//!
//! `holdfast call Greeter/greet -d '"Ada"'`, `holdfast call Counter/hits/add -d 2`,
//! `holdfast send Signup/ada/run -d '"ada@example.com"'`.

use foreign::{http::Error, serve::serve};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;

/// The state of a counter, and what a held one waits for.
const COUNT: &str = "count";
const AWAKEABLE: &str = "awakeable";
/// The promise of a sign-up.
const CONFIRMED: &str = "confirmed";

struct Greeter;

#[service(name = "Greeter")]
impl Greeter {
    #[handler]
    async fn greet(&self, _: Context<'_>, name: String) -> HandlerResult<String> {
        if name.is_empty() {
            return Err(TerminalError::new_with_code(400, "a greeting needs a name").into());
        }
        Ok(format!("Hello {name}"))
    }
}

struct Counter;

// The timeouts are short, so that one can watch handlers being suspended.
#[object(name = "Counter", inactivity_timeout = "200ms")]
impl Counter {
    #[handler]
    async fn add(&self, ctx: ObjectContext<'_>, number: i64) -> HandlerResult<i64> {
        let count = ctx.get::<i64>(COUNT).await?.unwrap_or(0) + number;
        ctx.set(COUNT, count);
        Ok(count)
    }

    #[handler]
    async fn get(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<i64> {
        Ok(ctx.get::<i64>(COUNT).await?.unwrap_or(0))
    }

    /// Holds the key until somebody resolves the awakeable whose id is in the state.
    #[handler]
    async fn hold(&self, ctx: ObjectContext<'_>) -> HandlerResult<String> {
        let (id, answer) = ctx.awakeable::<String>();
        ctx.set(AWAKEABLE, id);
        let answer = answer.await?;
        ctx.clear(AWAKEABLE);
        Ok(answer)
    }

    /// The mistake of everybody's first object: it calls its own key, which it holds itself.
    #[handler]
    async fn add_through_itself(&self, ctx: ObjectContext<'_>, number: i64) -> HandlerResult<i64> {
        let target = RequestTarget::object("Counter", ctx.key(), "add");
        Ok(ctx.request::<_, i64>(target, number).call().await?)
    }
}

struct Signup;

#[workflow(name = "Signup", inactivity_timeout = "200ms")]
impl Signup {
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, address: String) -> HandlerResult<String> {
        let by = ctx.promise::<String>(CONFIRMED).await?;
        Ok(format!("{address} is confirmed by {by}"))
    }

    #[handler]
    async fn confirm(&self, ctx: SharedWorkflowContext<'_>, by: String) -> HandlerResult<()> {
        ctx.resolve_promise(CONFIRMED, by);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve(Endpoint::builder().bind(Greeter).bind(Counter).bind(Signup).build()).await
}
