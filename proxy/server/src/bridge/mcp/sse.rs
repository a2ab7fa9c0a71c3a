//! Responses that are streams of events. What makes the events runs while the response is read, and
//! ends with it: a client that goes away takes its stream along. A quiet stream says so from time
//! to time, so that nobody between takes it for dead.

use super::metrics::Outcome;
use crate::http::{Body, BoxError};
use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body::Frame;
use http_body_util::BodyExt;
use serde_json::Value;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::mpsc,
    time::{Instant, Sleep, sleep},
};

/// Events that may wait to be sent.
const WAITING_MAX: usize = 16;
/// A comment is sent after this long without an event.
const QUIET: Duration = Duration::from_secs(15);

/// Where the events of one stream are put.
#[derive(Clone)]
pub(super) struct Events(mpsc::Sender<Bytes>);

/// Nobody reads the stream any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone;

impl Events {
    pub async fn send(&self, message: &Value) -> Result<(), Gone> {
        let event = Bytes::from(format!("data: {message}\n\n"));
        self.0.send(event).await.map_err(|_| Gone)
    }
}

/// A response of the events that `make` sends until it ends.
pub(super) fn stream<F>(make: impl FnOnce(Events) -> F) -> Response<Body>
where
    F: Future<Output = ()> + Send + 'static,
{
    stream_with(QUIET, make)
}

fn stream_with<F>(quiet: Duration, make: impl FnOnce(Events) -> F) -> Response<Body>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, events) = mpsc::channel(WAITING_MAX);
    let making: Making = Box::pin(make(Events(sender)));
    let timer = Box::pin(sleep(quiet));
    let body = Stream { making: Some(making), events, quiet, timer };
    let mut response = Response::new(body.boxed_unsync());
    response.extensions_mut().insert(Outcome::Stream);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

type Making = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Stream {
    /// `None`: it has ended.
    making: Option<Making>,
    events: mpsc::Receiver<Bytes>,
    quiet: Duration,
    timer: Pin<Box<Sleep>>,
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(making) = &mut self.making
            && making.as_mut().poll(context).is_ready()
        {
            self.making = None;
        }
        let bytes = match self.events.poll_recv(context) {
            Poll::Ready(Some(event)) => event,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => {
                ready!(self.timer.as_mut().poll(context));
                Bytes::from_static(b":\n\n")
            }
        };
        let next = Instant::now() + self.quiet;
        self.timer.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    };

    #[tokio::test]
    async fn events_come_in_order_and_the_stream_ends() {
        let response = stream(async |events| {
            for number in 0..40 {
                events.send(&json!(number)).await.unwrap();
            }
        });
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected: String = (0..40).map(|number| format!("data: {number}\n\n")).collect();
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn a_quiet_stream_sends_comments() {
        let (say, mut heard) = mpsc::channel::<()>(1);
        let response = stream_with(Duration::from_millis(5), async move |events| {
            heard.recv().await;
            events.send(&json!("late")).await.unwrap();
        });
        let mut body = response.into_body();
        for _ in 0..2 {
            let comment = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(comment, ":\n\n");
        }
        say.send(()).await.unwrap();
        let rest = body.collect().await.unwrap().to_bytes();
        assert!(rest.ends_with(b"data: \"late\"\n\n"), "{rest:?}");
    }

    #[tokio::test]
    async fn whoever_goes_away_ends_what_makes_the_events() {
        struct Dropped(Arc<AtomicBool>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let mark = Dropped(dropped.clone());
        let response = stream(async move |events| {
            events.send(&json!(1)).await.unwrap();
            std::future::pending::<()>().await;
            drop(mark);
        });
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        assert!(!dropped.load(Relaxed));
        drop(body);
        assert!(dropped.load(Relaxed));
    }
}
