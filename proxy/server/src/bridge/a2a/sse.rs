//! Events as a stream of server-sent events: pulled by the connection that reads them, so that a
//! slow reader holds up nobody, and gone with it.

use super::core::{Event, Events};
use super::error::Error;
use crate::http::{Body, BoxError};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, header};
use http_body::Frame;
use http_body_util::BodyExt;
use serde_json::Value;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

/// How a binding writes what is in a stream.
pub trait Dress: Send + Sync + Unpin + 'static {
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
    let quiet = Box::pin(tokio::time::sleep(pace.silence));
    let pull = Some(Box::pin(pull(events, pace.shutdown.clone())) as Pulling);
    let stream = Stream { pull, dress, pace, quiet };
    let mut response = Response::new(stream.boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, NO_CACHE);
    headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

type Pulled = (Events, Option<Result<Event, Error>>);
type Pulling = Pin<Box<dyn Future<Output = Pulled> + Send>>;

async fn pull(mut events: Events, shutdown: CancellationToken) -> Pulled {
    let next = shutdown.run_until_cancelled(events.next()).await;
    let next = next.unwrap_or_else(|| {
        let message = "the sidecar shuts down; subscribe again".to_owned();
        Some(Err(Error::Overloaded { message, code: "HF0032", retry_after_seconds: 1 }))
    });
    (events, next)
}

struct Stream<D> {
    /// `None` after the last event.
    pull: Option<Pulling>,
    dress: D,
    pace: Pace,
    quiet: Pin<Box<Sleep>>,
}

impl<D: Dress> http_body::Body for Stream<D> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(pulling) = self.pull.as_mut() else {
            return Poll::Ready(None);
        };
        let text = match pulling.as_mut().poll(cx) {
            Poll::Ready((events, next)) => {
                self.pull = match next {
                    Some(Ok(_)) => Some(Box::pin(pull(events, self.pace.shutdown.clone()))),
                    _ => None,
                };
                match next {
                    None => return Poll::Ready(None),
                    Some(Ok(event)) => written(Some(&event), &self.dress.event(&event)),
                    Some(Err(error)) => written(None, &self.dress.error(&error)),
                }
            }
            Poll::Pending => {
                if self.quiet.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                KEEP_ALIVE
            }
        };
        let next = Instant::now() + self.pace.silence;
        self.quiet.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }
}

/// One event; one without a place in the stream is an error.
fn written(event: Option<&Event>, value: &Value) -> Bytes {
    match event {
        Some(event) => format!("id: {}\ndata: {value}\n\n", event.cursor).into(),
        None => format!("event: error\ndata: {value}\n\n").into(),
    }
}
