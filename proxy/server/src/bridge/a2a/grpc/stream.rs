//! Responses of gRPC: messages one after another, then how it ended. What is streamed is pulled
//! while the peer reads, so a slow one costs no memory; one that goes away ends nothing but the
//! stream.

use super::{
    convert,
    frame::framed,
    status::{GRPC, Status},
};
use crate::bridge::a2a::core::Events;
use crate::http::{Body, BoxError};
use bytes::Bytes;
use http::{HeaderValue, Response, header::CONTENT_TYPE};
use http_body::Frame;
use http_body_util::BodyExt;
use prost::Message;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, timeout_at};

/// One message.
pub fn said(message: &impl Message) -> Response<Body> {
    response(Frames::new(End { first: Some(framed(message)) }))
}

/// All events of a stream, until the deadline.
pub fn streamed(events: Events, deadline: Option<Duration>) -> Response<Body> {
    let until = deadline.map(|allowed| Instant::now() + allowed);
    response(Frames::new(Pulled { events, until }))
}

fn response(
    frames: impl http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
) -> Response<Body> {
    let mut response = Response::new(frames.boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    response
}

/// Where messages come from.
trait Source: Sized + Send + 'static {
    /// The next message, or how it ended.
    fn next(self) -> impl Future<Output = (Self, Result<Bytes, Status>)> + Send;
}

/// One message that is there.
struct End {
    first: Option<Bytes>,
}

impl Source for End {
    async fn next(mut self) -> (Self, Result<Bytes, Status>) {
        let next = self.first.take().ok_or_else(Status::ok);
        (self, next)
    }
}

/// Events of a task.
struct Pulled {
    events: Events,
    until: Option<Instant>,
}

impl Source for Pulled {
    async fn next(mut self) -> (Self, Result<Bytes, Status>) {
        let pulled = match self.until {
            None => Ok(self.events.next().await),
            Some(until) => timeout_at(until, self.events.next()).await,
        };
        let next = match pulled {
            Err(_) => Err(Status::too_late()),
            Ok(None) => Err(Status::ok()),
            Ok(Some(Err(error))) => Err(Status::from(&error)),
            Ok(Some(Ok(event))) => Ok(framed(&convert::streamed(event.payload))),
        };
        (self, next)
    }
}

/// A body whose frames are pulled.
struct Frames<S> {
    /// `None`: the trailers were given.
    #[expect(clippy::type_complexity, reason = "it is named nowhere else")]
    pulling: Option<Pin<Box<dyn Future<Output = (S, Result<Bytes, Status>)> + Send>>>,
}

impl<S: Source> Frames<S> {
    fn new(source: S) -> Frames<S> {
        Frames { pulling: Some(Box::pin(source.next())) }
    }
}

impl<S: Source> http_body::Body for Frames<S> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(pulling) = &mut self.pulling else {
            return Poll::Ready(None);
        };
        let (source, next) = ready!(pulling.as_mut().poll(cx));
        Poll::Ready(Some(Ok(match next {
            Ok(message) => {
                self.pulling = Some(Box::pin(source.next()));
                Frame::data(message)
            }
            Err(status) => {
                self.pulling = None;
                Frame::trailers(status.trailers())
            }
        })))
    }

    fn is_end_stream(&self) -> bool {
        self.pulling.is_none()
    }
}
