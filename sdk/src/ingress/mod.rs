//! Calling handlers from outside: from a web server, a script, a test.
//!
//! Here nothing is durable but what the sidecar has accepted. A request with an idempotency key may
//! be made again when nobody knows whether it arrived; one without is made again only if it did
//! certainly not.

mod ask;
mod connect;

pub use connect::AuthoritiesError;

use crate::error::Terminal;
use crate::payload::Encoded;
use crate::request::Request;
use crate::{BoxError, RetryPolicy};
use ask::{Answer, Ask, encode, of_request, read, refused};
use bytes::Bytes;
use connect::Connector;
use holdfast_wire::percent::escaped;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The ingress of a sidecar, by its address. Cheap to clone; connections are kept and shared.
///
/// ```no_run
/// # use holdfast_sdk::prelude::*;
/// # use holdfast_sdk::Ingress;
/// # struct Greeter;
/// # #[service]
/// # impl Greeter {
/// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
/// # }
/// # async fn run() -> Result<(), holdfast_sdk::IngressError> {
/// let ingress = Ingress::new("http://127.0.0.1:8080");
/// let greeting = ingress.call(GreeterClient::greet("Ada").idempotency_key("greet-ada")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ingress {
    http: Client<Connector, Full<Bytes>>,
    base: String,
    retry: RetryPolicy,
    /// Sent with every request.
    headers: Vec<(String, String)>,
}

/// Why a request from outside has no result.
///
/// ```
/// # use holdfast_sdk::{IngressError, Terminal};
/// fn status(error: &IngressError) -> u16 {
///     match error {
///         IngressError::Failed(failure) => failure.http_code(),
///         IngressError::Refused { status, .. } => *status,
///         _ => 502,
///     }
/// }
/// assert_eq!(status(&IngressError::Failed(Terminal::new("no").code(404))), 404);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngressError {
    /// The handler failed for good. Asking again gives the same.
    #[error("{0}")]
    Failed(Terminal),
    /// The sidecar did not take the request.
    #[error("the sidecar refused the request with {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The sidecar did not answer. Whether it took the request is unknown, unless it has an
    /// idempotency key and is made again.
    #[error("the sidecar does not answer: {0}")]
    NoAnswer(#[source] BoxError),
    /// An input that cannot be written or an output that cannot be read.
    #[error("{0}")]
    Payload(String),
}

/// What the sidecar answers where a result is not there yet.
const NOT_READY: u16 = 470;

impl Ingress {
    /// The ingress at an address like `http://127.0.0.1:8080`, or `https://` where a proxy in front
    /// of it speaks TLS. Trusted are the certificates that the machine trusts; see
    /// [`Ingress::trusting`].
    ///
    /// ```
    /// # use holdfast_sdk::Ingress;
    /// let ingress = Ingress::new("https://holdfast.example.com");
    /// # let _ = ingress;
    /// ```
    pub fn new(address: impl Into<String>) -> Ingress {
        let base = address.into().trim_end_matches('/').to_owned();
        let retry = RetryPolicy::new().max_attempts(5);
        Ingress { http: client(Connector::default()), base, retry, headers: vec![] }
    }

    /// Trusts these authorities too, certificates in PEM, where `https://` addresses have one of
    /// your own.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{BoxError, Ingress};
    /// # fn run() -> Result<(), BoxError> {
    /// let authority = std::fs::read("authority.pem")?;
    /// let ingress = Ingress::new("https://holdfast.internal").trusting(&authority)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no certificate in it.
    pub fn trusting(self, pem: &[u8]) -> Result<Ingress, AuthoritiesError> {
        Ok(Ingress { http: client(Connector::trusting(pem)?), ..self })
    }

    /// Sends a header with every request, such as the token that a proxy in front asks for.
    ///
    /// ```
    /// # use holdfast_sdk::Ingress;
    /// let ingress = Ingress::new("https://holdfast.example.com")
    ///     .header("authorization", "Bearer 4f6b");
    /// # let _ = ingress;
    /// ```
    ///
    /// # Panics
    /// When this is no header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Ingress {
        let (name, value) = (name.into(), value.into());
        assert!(HeaderName::try_from(name.as_str()).is_ok(), "`{name}` is no name of a header");
        let sendable = HeaderValue::try_from(value.as_str()).is_ok();
        assert!(sendable, "the value of the header `{name}` has letters that no header may have");
        self.headers.push((name, value));
        self
    }

    /// How often a request is made that got no answer; else five times.
    ///
    /// ```
    /// # use holdfast_sdk::{Ingress, RetryPolicy};
    /// let once = RetryPolicy::new().max_attempts(1);
    /// let ingress = Ingress::new("http://127.0.0.1:8080").retry(once);
    /// # let _ = ingress;
    /// ```
    #[must_use]
    pub fn retry(self, policy: RetryPolicy) -> Ingress {
        Ingress { retry: policy, ..self }
    }

    /// Calls a handler and waits for its result.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{Ingress, Request};
    /// # async fn run(ingress: Ingress) -> Result<(), holdfast_sdk::IngressError> {
    /// let total: i64 = ingress.call(Request::new("Counter", "add", &1).key("visits")).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no result.
    pub async fn call<T: DeserializeOwned>(&self, request: Request<T>) -> Result<T, IngressError> {
        let ask = of_request(request, "")?;
        read(&self.asked(&ask).await?.body)
    }

    /// Begins an invocation, and gives its id.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{Ingress, Request};
    /// # async fn run(ingress: Ingress) -> Result<(), holdfast_sdk::IngressError> {
    /// let mail: Request<()> = Request::new("Mail", "send", "Hi").idempotency_key("mail-7");
    /// let invocation = ingress.send(mail).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it was not begun.
    pub async fn send<T>(&self, request: Request<T>) -> Result<String, IngressError> {
        self.sent(of_request(request, "/send")?).await
    }

    /// Begins an invocation after a while, and gives its id now.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{Ingress, Request};
    /// # use std::time::Duration;
    /// # async fn run(ingress: Ingress) -> Result<(), holdfast_sdk::IngressError> {
    /// let mail: Request<()> = Request::new("Mail", "send", "Hi");
    /// let invocation = ingress.send_after(Duration::from_secs(60), mail).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it was not accepted.
    pub async fn send_after<T>(
        &self,
        delay: Duration,
        request: Request<T>,
    ) -> Result<String, IngressError> {
        self.sent(of_request(request, &format!("/send?delay={}ms", delay.as_millis()))?).await
    }

    async fn sent(&self, ask: Ask) -> Result<String, IngressError> {
        let accepted: Value = read(&self.asked(&ask).await?.body)?;
        let id = accepted["invocationId"].as_str().map(str::to_owned);
        id.ok_or_else(|| IngressError::Payload("an answer without invocation id".to_owned()))
    }

    /// Waits for the result of an invocation.
    ///
    /// ```no_run
    /// # use holdfast_sdk::Ingress;
    /// # async fn run(ingress: Ingress, invocation: String) -> Result<(), holdfast_sdk::IngressError> {
    /// let result: String = ingress.attach(&invocation).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no result.
    pub async fn attach<T: DeserializeOwned>(&self, invocation: &str) -> Result<T, IngressError> {
        read(&self.asked(&Ask::get(format!("/restate/attach/{}", escaped(invocation)))).await?.body)
    }

    /// The result of an invocation, if it is done.
    ///
    /// ```no_run
    /// # use holdfast_sdk::Ingress;
    /// # async fn run(ingress: Ingress, invocation: String) -> Result<(), holdfast_sdk::IngressError> {
    /// let done = ingress.output_of::<String>(&invocation).await?.is_some();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it failed, or nothing is known of it.
    pub async fn output_of<T: DeserializeOwned>(
        &self,
        invocation: &str,
    ) -> Result<Option<T>, IngressError> {
        self.output(&Ask::get(format!("/restate/output/{}", escaped(invocation)))).await
    }

    /// Waits for the result of what was begun with the same request: of the run of a workflow by
    /// its key, of anything else by its idempotency key. Begins nothing.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{Ingress, Request};
    /// # async fn run(ingress: Ingress) -> Result<(), holdfast_sdk::IngressError> {
    /// let mail = || Request::<()>::new("Mail", "send", "Hi").idempotency_key("mail-7");
    /// ingress.send(mail()).await?;
    /// ingress.attach_request(mail()).await?; // here, or in another program
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no result, or nothing is known of it.
    pub async fn attach_request<T: DeserializeOwned>(
        &self,
        request: Request<T>,
    ) -> Result<T, IngressError> {
        read(&self.asked(&ask::about_request(request, "/restate/attach")?).await?.body)
    }

    /// The result of what was begun with the same request, if it is done.
    ///
    /// ```no_run
    /// # use holdfast_sdk::{Ingress, Request};
    /// # async fn run(ingress: Ingress) -> Result<(), holdfast_sdk::IngressError> {
    /// let signup: Request<String> = Request::new("Signup", "run", &()).key("ada");
    /// let done = ingress.output_of_request(signup).await?.is_some();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it failed, or nothing is known of it.
    pub async fn output_of_request<T: DeserializeOwned>(
        &self,
        request: Request<T>,
    ) -> Result<Option<T>, IngressError> {
        self.output(&ask::about_request(request, "/restate/output")?).await
    }

    /// Completes an awakeable.
    ///
    /// ```no_run
    /// # use holdfast_sdk::Ingress;
    /// # async fn run(ingress: Ingress, id: String) -> Result<(), holdfast_sdk::IngressError> {
    /// ingress.resolve_awakeable(&id, "approved").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the sidecar did not take it.
    pub async fn resolve_awakeable<V: Serialize + ?Sized>(
        &self,
        id: &str,
        value: &V,
    ) -> Result<(), IngressError> {
        let path = format!("/restate/awakeables/{}/resolve", escaped(id));
        self.completed(path, encode(value)?).await
    }

    /// Lets the awaiting of an awakeable fail.
    ///
    /// ```no_run
    /// # use holdfast_sdk::Ingress;
    /// # async fn run(ingress: Ingress, id: String) -> Result<(), holdfast_sdk::IngressError> {
    /// ingress.reject_awakeable(&id, "not readable").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the sidecar did not take it.
    pub async fn reject_awakeable(&self, id: &str, reason: &str) -> Result<(), IngressError> {
        let path = format!("/restate/awakeables/{}/reject", escaped(id));
        self.completed(path, encode(&crate::Text::from(reason))?).await
    }

    /// The first completion counts, so that it may be sent again.
    async fn completed(&self, path: String, value: Encoded) -> Result<(), IngressError> {
        self.asked(&Ask::post(path, value)).await.map(drop)
    }

    async fn output<T: DeserializeOwned>(&self, ask: &Ask) -> Result<Option<T>, IngressError> {
        match self.asked(ask).await {
            Err(IngressError::Refused { status: NOT_READY, .. }) => Ok(None),
            answer => read(&answer?.body).map(Some),
        }
    }

    /// Asks until there is an answer, as long as that is harmless.
    async fn asked(&self, ask: &Ask) -> Result<Answer, IngressError> {
        let begun = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (error, harmless) = match self.ask_once(ask).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer),
                Ok(answer) if answer.may_pass() => (refused(&answer), ask.repeatable),
                Ok(answer) => return Err(refused(&answer)),
                Err((error, sent)) => (IngressError::NoAnswer(error), ask.repeatable || !sent),
            };
            match self.retry.next_delay(attempts, begun.elapsed()) {
                Some(delay) if harmless => tokio::time::sleep(delay).await,
                _ => return Err(error),
            }
        }
    }

    /// An error says besides whether the request may have arrived.
    async fn ask_once(&self, ask: &Ask) -> Result<Answer, (BoxError, bool)> {
        let url = format!("{}{}", self.base, ask.path);
        let mut request = http::Request::builder().method(&ask.method).uri(url);
        for (name, value) in self.headers.iter().chain(&ask.headers) {
            request = request.header(name, value);
        }
        if let Some(content_type) = ask.content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(Full::new(ask.body.clone())).map_err(|e| (e.into(), false))?;
        let answer = self.http.request(request).await.map_err(|error| {
            let sent = !error.is_connect();
            (error.into(), sent)
        })?;
        let status = answer.status();
        let source = answer.headers().get("x-restate-error-source");
        let by_handler = source.is_some_and(|source| source == "invocation");
        let body = answer.into_body().collect().await.map_err(|e| (e.into(), true))?.to_bytes();
        Ok(Answer { status, by_handler, body })
    }
}

fn client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
}
