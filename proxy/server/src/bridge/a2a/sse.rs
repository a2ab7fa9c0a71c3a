//! Events as a stream of server-sent events. A quiet stream says so from time to time, so that
//! nobody between takes it for dead.

use super::core::{Event, Events};
use super::error::Error;
use super::pulled::{Next, Source, pulled};
use crate::http::Body;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, header};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How a binding writes what is in a stream.
pub trait Dress: Send + Sync + 'static {
    fn event(&self, event: &Event) -> Value;
    fn error(&self, error: &Error) -> Value;
}

const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");
const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// When something is said although nothing has happened.
#[derive(Debug, Clone)]
pub struct Pace {
    /// After it a comment.
    pub silence: Duration,
    /// At it the end.
    pub shutdown: CancellationToken,
}

/// A response that goes on until the events end.
pub fn response(events: Events, dress: impl Dress, pace: Pace) -> Response<Body> {
    let mut response = Response::new(pulled(Stream { events, dress, pace }));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, NO_CACHE);
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

struct Stream<D> {
    events: Events,
    dress: D,
    pace: Pace,
}

impl<D: Dress> Source for Stream<D> {
    async fn next(&mut self) -> Next {
        let next = self.pace.shutdown.run_until_cancelled(self.events.next());
        match timeout(self.pace.silence, next).await {
            Err(_) => Next::Piece(KEEP_ALIVE),
            Ok(None) => Next::Last(written(None, &self.dress.error(&shutting_down()))),
            Ok(Some(None)) => Next::End,
            Ok(Some(Some(Err(error)))) => Next::Last(written(None, &self.dress.error(&error))),
            Ok(Some(Some(Ok(event)))) => {
                Next::Piece(written(Some(&event), &self.dress.event(&event)))
            }
        }
    }
}

fn shutting_down() -> Error {
    let message = "the sidecar shuts down; subscribe again".to_owned();
    Error::Overloaded { message, code: "HF0032", retry_after_seconds: 1 }
}

/// One event; one without a place in the stream is an error.
fn written(event: Option<&Event>, value: &Value) -> Bytes {
    match event {
        Some(event) => format!("id: {}\ndata: {value}\n\n", event.cursor).into(),
        None => format!("event: error\ndata: {value}\n\n").into(),
    }
}
