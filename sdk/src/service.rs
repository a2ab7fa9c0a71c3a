//! What the macros make of a definition: what is known of a service, and how it is called.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::payload;
use bytes::Bytes;
use holdfast_wire::manifest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::pin::Pin;
use std::sync::Arc;

/// A service, object or workflow that can be served. The macros write this.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// struct Greeter;
///
/// #[service]
/// impl Greeter {
///     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> {
///         Ok(format!("Hello {name}"))
///     }
/// }
///
/// let endpoint = holdfast_sdk::Endpoint::builder().bind(Greeter).build();
/// # let _ = endpoint;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no service: nothing says what its handlers are",
    note = "put `#[holdfast_sdk::service]`, `#[holdfast_sdk::object]` or \
            `#[holdfast_sdk::workflow]` on the `impl` block with its handlers"
)]
pub trait Service: Send + Sync + 'static {
    #[doc(hidden)]
    fn describe() -> manifest::Service;

    /// Runs a handler, given by its place in the description.
    #[doc(hidden)]
    fn handle(self: Arc<Self>, handler: usize, context: Context, input: Bytes) -> Running;
}

/// A handler that runs.
#[doc(hidden)]
pub type Running = Pin<Box<dyn Future<Output = Result<Bytes>> + Send>>;

/// What the code of the macros needs. Not for anybody else, and no promise.
#[doc(hidden)]
pub mod generated {
    use super::*;

    pub use crate::context::FromContext;
    pub use crate::schema::{Describe, DescribeAny, DescribePlain, DescribeSchema};
    pub use bytes::Bytes;
    pub use holdfast_wire::manifest;

    /// Runs a handler from its input to its output.
    pub async fn run<I, O, F>(
        context: &Context,
        input: Bytes,
        handler: impl FnOnce(I) -> F + Send,
    ) -> Result<Bytes>
    where
        I: DeserializeOwned + Send,
        O: Serialize + Send,
        F: Future<Output = Result<O>> + Send,
    {
        let result = match read_input(&input) {
            Ok(input) => handler(input).await,
            Err(error) => Err(error),
        };
        let output = context.settle(result).await?;
        Ok(payload::encode(&output)?.bytes)
    }

    /// An input that cannot be read is the caller's fault, and will not get better.
    fn read_input<I: DeserializeOwned>(input: &Bytes) -> Result<I> {
        payload::decode(input).map_err(|error| {
            let message = format!("the input of the handler: {error}");
            Error::from(crate::Terminal::new(message).code(400))
        })
    }

    /// A result of a handler, whatever kind of error it has.
    pub fn result<T, E: Into<Error>>(result: std::result::Result<T, E>) -> Result<T> {
        result.map_err(Into::into)
    }
}
