//! Durable handlers in Rust.
//!
//! A handler is an `async fn`. What it does through its [`Context`] is written into a journal by
//! the Holdfast sidecar; when anything dies, the handler is called again with that journal, and
//! what it did before returns its recorded result. See `docs/sdk.md` for the guide.
//!
//! ```no_run
//! use holdfast_sdk::prelude::*;
//! use std::time::Duration;
//!
//! struct Greeter;
//!
//! #[service]
//! impl Greeter {
//!     async fn greet(&self, ctx: &Context, name: String) -> Result<String> {
//!         let greeting = ctx.run("think", async || Ok(format!("Hello {name}"))).await?;
//!         ctx.sleep(Duration::from_secs(3600)).await?; // nothing is held in memory
//!         Ok(greeting)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     Endpoint::builder().bind(Greeter).build().listen("127.0.0.1:9080").await
//! }
//! ```

#![warn(missing_docs)]

mod attempt;
mod context;
#[cfg(test)]
mod conversations;
mod drive;
mod endpoint;
mod error;
mod ingress;
mod panics;
mod payload;
mod quiet;
mod request;
mod schema;
mod service;
pub mod testing;
mod wake;

pub use attempt::RetryPolicy;
pub use context::{
    Answer, Artifact, Ask, BoxDurable, Call, Context, Durable, Durably, FirstOk, JoinAll, MapOk,
    ObjectContext, OrTimeout, Race, Run, Sent, SharedObjectContext, SharedWorkflowContext,
    TryJoinAll, Unordered, Unrecorded, WorkflowContext, first_ok, join_all, race, try_join_all,
    unordered,
};
pub use endpoint::{Body, Builder, Endpoint, IdentityKeyError};
pub use error::{BoxError, Error, Result, Terminal};

/// Makes a service of an `impl` block or a trait: every `async fn` in it is a handler, with
/// `&self`, a [`&Context`](Context) and at most one input.
///
/// With it come a client of the same name with `Client` behind, whose functions give
/// [`Request`]s, and, of a trait, a wrapper with `Service` behind to bind what implements it.
///
/// | option | what it says |
/// |---|---|
/// | `name = "Greeter"` | its name; else that of the type |
/// | `inactivity_timeout = "1m"` | how long an attempt may be idle before it is asked to suspend |
/// | `abort_timeout = "10m"` | how long it may take to obey |
/// | `journal_retention = "1d"` | how long journals of what has ended are kept |
/// | `idempotency_retention = "1d"` | how long results are kept for the same idempotency key |
/// | `lazy_state` | state is asked for when it is read, not sent along |
/// | `private` | only other services may call it |
/// | `retry(initial_interval = "100ms", factor = 2.0, max_interval = "10s", max_attempts = 9, on_max_attempts = "pause")` | how attempts that fail are repeated; `"kill"` ends the invocation |
/// | `expose = "mcp,a2a"`, `tool`, `agent`, `skill`, `title`, `description` | how agents see it |
/// | `metadata("key" = "value")` | anything else that the sidecar reads |
/// | `crate = "path::to::sdk"` | where this crate is found, if it is not `::holdfast_sdk` |
///
/// A handler has the same options, `crate` aside, in `#[handler(…)]`, and `workflow_retention` if
/// it is the run of a workflow. Documentation goes into the manifest.
///
/// ```
/// use holdfast_sdk::prelude::*;
///
/// struct Mail;
///
/// /// Sends mail.
/// #[service(inactivity_timeout = "10s", expose = "mcp")]
/// impl Mail {
///     /// Sends one.
///     #[handler(title = "Send a mail", retry(max_attempts = 5, on_max_attempts = "kill"))]
///     async fn send(&self, ctx: &Context, to: String) -> Result<()> {
///         ctx.run("smtp", async || { println!("to {to}"); Ok(()) }).await?;
///         Ok(())
///     }
/// }
///
/// async fn elsewhere(ctx: &Context) {
///     ctx.send(MailClient::send("ada@example.com"));
/// }
/// ```
pub use holdfast_sdk_macros::service;

/// Makes an object of an `impl` block or a trait: like [`service`], and each call is for a key.
///
/// Handlers with a [`&ObjectContext`](ObjectContext) run one at a time for each key and may write
/// its state; those with a [`&SharedObjectContext`](SharedObjectContext) run beside them and may
/// read it.
///
/// ```
/// use holdfast_sdk::prelude::*;
///
/// struct Counter;
///
/// #[object]
/// impl Counter {
///     async fn add(&self, ctx: &ObjectContext, more: i64) -> Result<i64> {
///         let total = ctx.get("total").await?.unwrap_or(0) + more;
///         ctx.set("total", &total);
///         Ok(total)
///     }
///
///     async fn total(&self, ctx: &SharedObjectContext) -> Result<i64> {
///         Ok(ctx.get("total").await?.unwrap_or(0))
///     }
/// }
///
/// async fn visit(ctx: &Context) -> Result<i64> {
///     Ok(ctx.call(CounterClient::new("visits").add(1)).await?)
/// }
/// ```
pub use holdfast_sdk_macros::object;

/// Makes a workflow of an `impl` block or a trait: like [`service`], and each key runs once.
///
/// The handler with a [`&WorkflowContext`](WorkflowContext) is its run; those with a
/// [`&SharedWorkflowContext`](SharedWorkflowContext) can be called as long as the run is kept, and
/// meet it through promises.
///
/// ```
/// use holdfast_sdk::prelude::*;
///
/// struct Signup;
///
/// #[workflow]
/// impl Signup {
///     #[handler(workflow_retention = "7d")]
///     async fn run(&self, ctx: &WorkflowContext, email: String) -> Result<String> {
///         let code: String = ctx.promise("confirmed").await?;
///         Ok(format!("{email} confirmed with {code}"))
///     }
///
///     async fn confirm(&self, ctx: &SharedWorkflowContext, code: String) -> Result<()> {
///         Ok(ctx.resolve_promise("confirmed", &code).await?)
///     }
/// }
/// ```
pub use holdfast_sdk_macros::workflow;

/// Goes on with the first of several futures that is ready; the others are dropped before.
///
/// Futures are looked at in the order in which they are written. Which durable one is ready first is
/// decided by the journal, so that it is the same in every attempt.
///
/// ```
/// use holdfast_sdk::prelude::*;
/// use holdfast_sdk::select;
/// use std::time::Duration;
///
/// async fn ask(ctx: &Context) -> Result<String> {
///     let (_id, answer) = ctx.awakeable::<String>();
///     select! {
///         answer = answer => Ok(answer?),
///         _ = ctx.sleep(Duration::from_secs(60)) => Ok("nobody answered".to_owned()),
///     }
/// }
/// ```
pub use holdfast_sdk_macros::select;

/// Awaits several futures at the same time, and gives a tuple of what they gave.
///
/// ```
/// use holdfast_sdk::prelude::*;
/// use std::time::Duration;
///
/// async fn both(ctx: &Context) -> Result<u32> {
///     let nap = ctx.sleep(Duration::from_secs(60));
///     let (nap, number) = holdfast_sdk::join!(nap, ctx.run("count", async || Ok(7)));
///     nap?;
///     Ok(number?)
/// }
/// ```
pub use holdfast_sdk_macros::join;

/// Awaits several futures at the same time; the first failure is the failure of all.
///
/// ```
/// use holdfast_sdk::prelude::*;
///
/// async fn both(ctx: &Context) -> Result<String> {
///     let (name, age) = holdfast_sdk::try_join!(
///         ctx.run("name", async || Ok("Ada".to_owned())),
///         ctx.run("age", async || Ok(36)),
///     )?;
///     Ok(format!("{name} is {age}"))
/// }
/// ```
pub use holdfast_sdk_macros::try_join;

pub use ingress::{AuthoritiesError, Ingress, IngressError};
pub use payload::{Proto, Raw, Text};
pub use request::Request;
pub use schemars;
pub use service::Service;
#[doc(hidden)]
pub use service::{Running, generated};

/// What a file with handlers needs.
///
/// ```
/// use holdfast_sdk::prelude::*;
/// ```
pub mod prelude {
    pub use crate::{
        Context, Durably, Endpoint, Error, ObjectContext, Result, RetryPolicy, SharedObjectContext,
        SharedWorkflowContext, Terminal, WorkflowContext, object, service, workflow,
    };
}
