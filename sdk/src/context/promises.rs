//! Promises of a workflow: completed once, by any of its handlers, seen by all.

use super::durable::{Durable, read_done, read_optional, read_value};
use super::kinds::SharedWorkflowContext;
use crate::error::Terminal;
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::panic::Location;

impl SharedWorkflowContext {
    /// The value of a promise, once it is completed.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn confirmed(ctx: &WorkflowContext) -> Result<String> {
    ///     Ok(ctx.promise("confirmed").await?)
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the value"]
    pub fn promise<T: DeserializeOwned>(&self, name: &str) -> Durable<'_, T> {
        let at = Location::caller();
        let leaf = self.shared.act(|attempt| attempt.get_promise(name, at));
        Durable::new(self, leaf, at, read_value)
    }

    /// The value of a promise if it is completed already.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn is_confirmed(ctx: &SharedWorkflowContext) -> Result<bool> {
    ///     Ok(ctx.peek_promise::<String>("confirmed").await?.is_some())
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to get the value"]
    pub fn peek_promise<T: DeserializeOwned>(&self, name: &str) -> Durable<'_, Option<T>> {
        let at = Location::caller();
        let leaf = self.shared.act(|attempt| attempt.peek_promise(name, at));
        Durable::new(self, leaf, at, read_optional)
    }

    /// Completes a promise. Awaiting this tells whether it was the first to do so; it fails with
    /// code 409 if not.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn confirm(ctx: &SharedWorkflowContext, code: String) -> Result<()> {
    ///     Ok(ctx.resolve_promise("confirmed", &code).await?)
    /// }
    /// ```
    #[track_caller]
    pub fn resolve_promise<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Durable<'_, ()> {
        let at = Location::caller();
        let value = self.encoded("a promise", value).unwrap_or_default();
        self.complete_promise(name, Ok(value), at)
    }

    /// Lets the awaiting of a promise fail.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn refuse(ctx: &SharedWorkflowContext) -> Result<()> {
    ///     Ok(ctx.reject_promise("confirmed", Terminal::new("too many tries")).await?)
    /// }
    /// ```
    #[track_caller]
    pub fn reject_promise(&self, name: &str, failure: Terminal) -> Durable<'_, ()> {
        let at = Location::caller();
        self.complete_promise(name, Err(failure), at)
    }

    fn complete_promise(
        &self,
        name: &str,
        result: Result<Bytes, Terminal>,
        at: crate::attempt::At,
    ) -> Durable<'_, ()> {
        let result = result.map_err(Terminal::into_failure);
        let leaf = self.shared.act(|attempt| attempt.complete_promise(name, result, at));
        Durable::new(self, leaf, at, read_done)
    }
}
