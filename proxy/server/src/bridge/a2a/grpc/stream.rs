//! Responses of gRPC: messages one after another, then how it ended.

use super::{
    convert,
    frame::framed,
    status::{GRPC, Status},
};
use crate::bridge::a2a::core::Events;
use crate::bridge::a2a::pulled::{Next, Source, pulled};
use crate::http::Body;
use bytes::Bytes;
use http::{HeaderValue, Response, header::CONTENT_TYPE};
use prost::Message;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// One message.
pub fn said(message: &impl Message) -> Response<Body> {
    response(Said { message: Some(framed(message)) })
}

/// All events of a stream, until the deadline.
pub fn streamed(events: Events, deadline: Option<Duration>) -> Response<Body> {
    let until = deadline.map(|allowed| Instant::now() + allowed);
    response(Streamed { events, until })
}

fn response(messages: impl Source) -> Response<Body> {
    let mut response = Response::new(pulled(messages));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    response
}

/// One message that is there.
struct Said {
    message: Option<Bytes>,
}

impl Source for Said {
    async fn next(&mut self) -> Next {
        self.message.take().map_or_else(|| end(&Status::ok()), Next::Piece)
    }
}

/// Events of a task.
struct Streamed {
    events: Events,
    until: Option<Instant>,
}

impl Source for Streamed {
    async fn next(&mut self) -> Next {
        let pulled = match self.until {
            None => Ok(self.events.next().await),
            Some(until) => timeout_at(until, self.events.next()).await,
        };
        match pulled {
            Err(_) => end(&Status::too_late()),
            Ok(None) => end(&Status::ok()),
            Ok(Some(Err(error))) => end(&Status::from(&error)),
            Ok(Some(Ok(event))) => Next::Piece(framed(&convert::streamed(event.payload))),
        }
    }
}

fn end(status: &Status) -> Next {
    Next::Trailers(status.trailers())
}
