//! A call that was not made yet: what, with what, and how.

use crate::attempt::Target;
use crate::payload;
use serde::Serialize;
use std::fmt;
use std::marker::PhantomData;

/// A call that was not made yet. It is the same whether it is made from a handler
/// ([`Context::call`](crate::Context::call)) or from outside ([`Ingress`](crate::Ingress)).
///
/// The clients that the macros generate give these; a handler without such a client is called by
/// name.
///
/// ```
/// use holdfast_sdk::Request;
///
/// let request: Request<String> = Request::new("Greeter", "greet", "Ada")
///     .idempotency_key("greet-ada")
///     .header("x-tenant", "acme");
/// # let _ = request;
/// ```
pub struct Request<T> {
    target: Target,
    pub(crate) content_type: Option<&'static str>,
    error: Option<payload::Error>,
    output: PhantomData<fn() -> T>,
}

impl<T> Request<T> {
    /// A call of a handler of a service by their names.
    ///
    /// ```
    /// # use holdfast_sdk::Request;
    /// let request: Request<String> = Request::new("Greeter", "greet", "Ada");
    /// # let _ = request;
    /// ```
    pub fn new<I: Serialize + ?Sized>(
        service: impl Into<String>,
        handler: impl Into<String>,
        input: &I,
    ) -> Request<T> {
        let (parameter, content_type, error) = match payload::encode(input) {
            Ok(encoded) => (encoded.bytes, encoded.content_type, None),
            Err(error) => (Default::default(), None, Some(error)),
        };
        let (service, handler) = (service.into(), handler.into());
        let target = Target { service, handler, parameter, ..Target::default() };
        Request { target, content_type, error, output: PhantomData }
    }

    /// Of which object or workflow.
    ///
    /// ```
    /// # use holdfast_sdk::Request;
    /// let request: Request<i64> = Request::new("Counter", "add", &1).key("visits");
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Request<T> {
        self.target.key = key.into();
        self
    }

    /// The same service under another name, where it is deployed under one.
    ///
    /// ```
    /// # use holdfast_sdk::Request;
    /// let request: Request<i64> = Request::new("Counter", "add", &1).service("CounterOfTests");
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn service(mut self, service: impl Into<String>) -> Request<T> {
        self.target.service = service.into();
        self
    }

    /// However often a request with this key is made, the handler runs once.
    ///
    /// ```
    /// # use holdfast_sdk::Request;
    /// let request: Request<()> = Request::new("Mail", "send", "Hi").idempotency_key("mail-7");
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Request<T> {
        self.target.idempotency_key = Some(key.into());
        self
    }

    /// A header for the callee.
    ///
    /// ```
    /// # use holdfast_sdk::Request;
    /// let request: Request<()> = Request::new("Mail", "send", "Hi").header("x-tenant", "acme");
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Request<T> {
        self.target.headers.push((name.into(), value.into()));
        self
    }

    /// What is called, and why its input cannot be written, if it cannot.
    pub(crate) fn into_parts(self) -> (Target, Option<payload::Error>) {
        (self.target, self.error)
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = &self.target;
        f.debug_struct("Request")
            .field("service", &target.service)
            .field("key", &target.key)
            .field("handler", &target.handler)
            .field("input_bytes", &target.parameter.len())
            .finish_non_exhaustive()
    }
}
