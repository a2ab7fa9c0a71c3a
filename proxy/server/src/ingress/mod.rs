//! The HTTP door: calls, sends, outcomes, awakeables. It translates requests into commands and
//! replies into responses. It decides nothing, never cancels because a client went away, and never
//! answers for an invocation before the partition did.

mod answer;
mod attach;
mod awakeable;
mod call;
mod config;
mod cors;
mod errand;
mod error;
mod headers;
mod metrics;
mod named;
mod route;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use error::Error;
pub use metrics::Metrics;

use crate::clock::Clock;
use crate::http::{Body, BodyError, read_body};
use crate::partition::Router;
use crate::registry::Registry;
use bytes::Bytes;
use cors::Cors;
use errand::Errand;
use http::{Method, Request, Response};
use metrics::{InProgress, Kind};
use named::Named;
use route::{Route, Wish};
use std::{sync::Arc, time::Instant};

/// The HTTP door. Share it in an `Arc`.
pub struct Ingress {
    config: Config,
    registry: Registry,
    router: Router,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
}

impl Ingress {
    pub fn new(
        config: Config,
        registry: Registry,
        router: Router,
        clock: Arc<dyn Clock>,
        metrics: Metrics,
    ) -> Ingress {
        Ingress { config, registry, router, clock, metrics }
    }

    /// Answers one request. Dropping the future leaves what was accepted to run on.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        if request.body().size_hint().lower() > self.config.request_bytes_max as u64 {
            return answer::too_large_at_once();
        }
        let cors = Cors::of(request.headers());
        let mut response = match *request.method() {
            Method::OPTIONS => cors::preflight(&request),
            _ => self.counted(request).await,
        };
        cors.allow(response.headers_mut());
        response
    }

    async fn counted<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let began = Instant::now();
        let in_progress = InProgress::enter(&self.metrics);
        let (kind, response) = if in_progress.before < self.config.requests_max {
            self.admitted(request).await
        } else {
            let error = Error::TooManyRequests { max: self.config.requests_max };
            (Kind::Other, answer::refusal(&error, None))
        };
        self.metrics.answered(kind, answer::status(&response), began.elapsed());
        response
    }

    async fn admitted<B>(&self, request: Request<B>) -> (Kind, Response<Body>)
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let errand = match self.read(request).await {
            Ok(errand) => errand,
            Err(error) => return (Kind::Other, answer::refusal(&error, None)),
        };
        let (kind, invocation) = (errand.kind(), errand.invocation());
        let response = self.carry_out(errand).await.unwrap_or_else(|error| {
            // What was not accepted has no id that anybody could use.
            let invocation = invocation.filter(|_| !error.is_overload());
            answer::refusal(&error, invocation)
        });
        (kind, response)
    }

    /// Understands a request, its body included.
    async fn read<B>(&self, request: Request<B>) -> Result<Errand, Error>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let (head, body) = request.into_parts();
        let schema = self.registry.schema();
        match route::parse(&head.method, head.uri.path(), &schema)? {
            Route::Call(called) => {
                called.check(&head)?;
                self.plan_call(&head, self.body(body).await?, &called)
            }
            Route::Send(called) => {
                called.check(&head)?;
                self.plan_send(&head, self.body(body).await?, &called)
            }
            Route::Outcome(wish, named) => Ok(Errand::outcome(wish, &named, &schema)),
            Route::OutcomeOfBody(wish) => {
                let named = Named::by_body(&self.body(body).await?)?;
                Ok(Errand::outcome(wish, &named, &schema))
            }
            Route::Lookup => {
                let named = Named::by_body(&self.body(body).await?)?;
                Ok(Errand::Told(answer::id(named.id())))
            }
            Route::Awakeable(answer, awakeable) => {
                let value = awakeable::value(answer, self.body(body).await?);
                Ok(Errand::Complete { awakeable, value })
            }
            Route::Cancel(named) => Ok(Errand::Cancel { invocation: named.id() }),
            Route::CancelOfBody => {
                let named = Named::by_body(&self.body(body).await?)?;
                Ok(Errand::Cancel { invocation: named.id() })
            }
            Route::Health => Ok(Errand::Told(answer::health(schema.services.keys()))),
        }
    }

    async fn carry_out(&self, errand: Errand) -> Result<Response<Body>, Error> {
        match errand {
            Errand::Call { invocation, handler, again } => {
                self.call(invocation, handler, again).await
            }
            Errand::Send { invocation } => self.send(invocation).await,
            Errand::Outcome { wish: Wish::Attach, invocation, handler } => {
                self.attach(invocation, handler).await
            }
            Errand::Outcome { wish: Wish::Output, invocation, handler } => {
                self.output(invocation, handler).await
            }
            Errand::Complete { awakeable, value } => self.complete(awakeable, value).await,
            Errand::Cancel { invocation } => self.cancel(invocation).await,
            Errand::Told(response) => Ok(response),
        }
    }

    async fn body<B>(&self, body: B) -> Result<Bytes, Error>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        read_body(body, self.config.request_bytes_max).await.map_err(|error| match error {
            BodyError::TooLarge { bytes_max } => Error::BodyTooLarge { max: bytes_max },
            BodyError::Broken(reason) => Error::BodyBroken(reason),
        })
    }
}
