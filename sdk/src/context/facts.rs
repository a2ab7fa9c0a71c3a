//! What a handler can know of its own invocation, and chance that replay gives again.

use super::kinds::{Context, SharedObjectContext};
use crate::attempt::{CODE_INTERNAL, Failed};
use std::panic::Location;
use std::sync::PoisonError;

impl Context {
    /// The id of this invocation, `inv_...`: the same in all its attempts.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn whoami(ctx: &Context) -> Result<String> {
    ///     Ok(ctx.invocation_id().to_owned())
    /// }
    /// ```
    pub fn invocation_id(&self) -> &str {
        &self.shared.facts().invocation
    }

    /// The name of the service that runs.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn target(ctx: &Context) -> String {
    ///     format!("{}/{}", ctx.service(), ctx.handler())
    /// }
    /// ```
    pub fn service(&self) -> &str {
        &self.shared.facts().service
    }

    /// The name of the handler that runs.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn target(ctx: &Context) -> String {
    ///     format!("{}/{}", ctx.service(), ctx.handler())
    /// }
    /// ```
    pub fn handler(&self) -> &str {
        &self.shared.facts().handler
    }

    /// The headers of the caller, in their order; names from outside are in lower case.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn tenant(ctx: &Context) -> Option<&str> {
    ///     ctx.headers().find(|(name, _)| *name == "x-tenant").map(|(_, value)| value)
    /// }
    /// ```
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.shared.facts().headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a header of the caller; upper and lower case do not matter.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn tenant(ctx: &Context) -> &str {
    ///     ctx.header("x-tenant").unwrap_or("nobody")
    /// }
    /// ```
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// A random number, the same in every attempt. Not for secrets.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn dice(ctx: &Context) -> u64 {
    ///     1 + ctx.random_u64() % 6
    /// }
    /// ```
    #[track_caller]
    pub fn random_u64(&self) -> u64 {
        self.forbid_inside_of_steps("chance");
        self.shared.random.lock().unwrap_or_else(PoisonError::into_inner).next_u64()
    }

    /// A random number from 0 up to, but not including, 1; the same in every attempt.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn one_in_ten(ctx: &Context) -> bool {
    ///     ctx.random_f64() < 0.1
    /// }
    /// ```
    #[track_caller]
    pub fn random_f64(&self) -> f64 {
        const MANTISSA_BITS: u32 = 53;
        (self.random_u64() >> (64 - MANTISSA_BITS)) as f64 / (1u64 << MANTISSA_BITS) as f64
    }

    /// A random UUID, the same in every attempt: good as an idempotency key for other systems.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn charge(ctx: &Context) -> Result<()> {
    ///     let idempotency_key = ctx.uuid();
    ///     ctx.run("charge", async || { println!("charge with {idempotency_key}"); Ok(()) }).await?;
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn uuid(&self) -> String {
        self.forbid_inside_of_steps("chance");
        self.shared.random.lock().unwrap_or_else(PoisonError::into_inner).uuid()
    }

    /// Whether the handler does, at this moment, what an earlier attempt did.
    ///
    /// Nothing that a handler decides may depend on it. Logs need not ask: they are silent in a
    /// replay by themselves.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn count_once(ctx: &Context) {
    ///     if !ctx.is_replaying() {
    ///         // add to a metric of this process
    ///     }
    /// }
    /// ```
    pub fn is_replaying(&self) -> bool {
        self.shared.attempt().is_replaying()
    }

    /// What is used inside of a step is not used in a replay, so that everything after it would
    /// differ.
    #[track_caller]
    pub(super) fn forbid_inside_of_steps(&self, what: &str) {
        let at = Location::caller();
        let mut attempt = self.shared.attempt();
        if let Some(inside) = attempt.inside().map(str::to_owned) {
            let message = format!(
                "the handler uses {what} of its context at {at} from inside of {inside}; use it \
                 outside and take the result along: what happens inside is not replayed"
            );
            attempt.fail(Failed::new(CODE_INTERNAL, message));
        }
    }
}

impl SharedObjectContext {
    /// The key of this object or workflow.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// fn whose(ctx: &ObjectContext) -> String {
    ///     format!("the cart of {}", ctx.key())
    /// }
    /// ```
    pub fn key(&self) -> &str {
        &self.shared.facts().key
    }
}
