//! Sagas: what a handler has done, it can promise to undo if it fails.

use super::kinds::Context;
use crate::error::{Error, Result};
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;

/// Undoes one thing.
pub(crate) type Undo =
    Box<dyn FnOnce(Context) -> Pin<Box<dyn Future<Output = Result<()>> + Send>> + Send>;

impl Context {
    /// Says how to undo what was just done, or is about to be, should the invocation fail.
    ///
    /// When the handler returns a [`Terminal`](crate::Terminal), also because it was cancelled,
    /// everything said is done in reverse order, each as durable as the handler itself: use the
    /// context that the closure is given. An error that is tried again is tried again there too.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # #[derive(Clone)] struct Flights;
    /// # impl Flights {
    /// #     async fn book(&self, _id: &str) -> std::io::Result<()> { Ok(()) }
    /// #     async fn cancel(&self, _id: &str) -> std::io::Result<()> { Ok(()) }
    /// # }
    /// async fn trip(ctx: &Context, flights: &Flights) -> Result<()> {
    ///     let id = ctx.uuid();
    ///     let undo = (flights.clone(), id.clone());
    ///     ctx.on_failure(|ctx| async move {
    ///         let (flights, id) = undo;
    ///         ctx.run("cancel flight", async || Ok(flights.cancel(&id).await?)).await?;
    ///         Ok(())
    ///     });
    ///     ctx.run("book flight", async || Ok(flights.book(&id).await?)).await?;
    ///     Err(Terminal::new("no hotel left").code(409).into()) // the flight is cancelled
    /// }
    /// ```
    pub fn on_failure<F, R>(&self, undo: F)
    where
        F: FnOnce(Context) -> R + Send + 'static,
        R: Future<Output = Result<()>> + Send + 'static,
    {
        let undo: Undo = Box::new(move |context| Box::pin(undo(context)));
        self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner).push(undo);
    }

    /// Forgets how to undo what was done so far: from here on it stays.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn trip(ctx: &Context) -> Result<()> {
    ///     ctx.on_failure(async |_ctx| Ok(()));
    ///     ctx.keep_what_was_done();
    ///     Err(Terminal::new("only the confirmation was not sent").into())
    /// }
    /// ```
    pub fn keep_what_was_done(&self) {
        self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The handler came to its end: if it failed for good, undoes what it did.
    pub(crate) async fn settle<T>(&self, result: Result<T>) -> Result<T> {
        let failure = match result {
            Err(error) if error.terminal().is_some() => error,
            result => return result,
        };
        loop {
            let undo = self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(undo) = undo else {
                return Err(failure);
            };
            match undo(Context::new(self.shared.clone())).await {
                Err(error) if error.terminal().is_none() => return Err::<T, Error>(error),
                // What cannot be undone must not keep the rest from being undone.
                Err(error) => tracing::error!(%error, "something could not be undone"),
                Ok(()) => {}
            }
        }
    }
}
