//! One exchange on an HTTP/2 connection: the request body flows out while the response flows in.
//! Dropping either end of it resets the stream with CANCEL.

use super::pool::Place;
use crate::http::Body;
use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream};
use http_body::{Body as _, Frame};
use std::{
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

/// So many bytes of a request are handed over without asking whether the peer has room for them. They
/// wait in the connection if it has none; a stream that is new has none until the head of the request
/// was written, so who asked for it would send the head alone, and the body when told.
const UNASKED_BYTES_MAX: usize = 16 << 10;

/// The request body on its way out. It has no task of its own: whoever waits for the response, or
/// reads it, drives it. Dropped, it sends what it was given until then, and cancels the rest.
pub(super) struct Outflow {
    body: Body,
    stream: SendStream<Bytes>,
    /// A piece of the body that the peer's windows have no room for yet.
    rest: Bytes,
    /// How many bytes may still be sent unasked.
    unasked_bytes: usize,
    ended: bool,
}

impl Outflow {
    pub(super) fn new(body: Body, stream: SendStream<Bytes>) -> Outflow {
        let (rest, unasked_bytes) = (Bytes::new(), UNASKED_BYTES_MAX);
        Outflow { body, stream, rest, unasked_bytes, ended: false }
    }

    /// Sends what there is, as far as the peer's windows allow.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        while !self.ended {
            match self.step(cx) {
                Poll::Pending => return,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(end)) => {
                    self.ended = true;
                    if end == End::Broken {
                        self.stream.send_reset(Reason::CANCEL);
                    }
                }
            }
        }
    }

    /// That the peer wants no more of it is told by what is sent next, and by the response.
    fn step(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if !self.rest.is_empty() {
            return self.send_rest(cx);
        }
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else {
            // Fails only on a stream that is closed already: then this is no news.
            let _ = self.stream.send_data(Bytes::new(), true);
            return Poll::Ready(Err(End::Sent));
        };
        let Ok(frame) = frame else {
            return Poll::Ready(Err(End::Broken));
        };
        Poll::Ready(match frame.into_data() {
            Ok(data) => self.send(data),
            Err(frame) => match frame.into_trailers() {
                Ok(trailers) => self.stream.send_trailers(trailers).map_err(|_| End::Unwanted),
                Err(_) => Ok(()),
            },
        })
    }

    /// Sends a piece, or asks for room for it.
    fn send(&mut self, data: Bytes) -> Result<(), End> {
        if data.len() > self.unasked_bytes {
            self.rest = data;
            self.stream.reserve_capacity(self.rest.len());
            return Ok(());
        }
        self.unasked_bytes -= data.len();
        let last = self.body.is_end_stream();
        if data.is_empty() && !last {
            return Ok(());
        }
        self.stream.send_data(data, last).map_err(|_| End::Unwanted)?;
        if last { Err(End::Sent) } else { Ok(()) }
    }

    fn send_rest(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        let Some(Ok(capacity)) = ready!(self.stream.poll_capacity(cx)) else {
            return Poll::Ready(Err(End::Unwanted));
        };
        let piece = self.rest.split_to(capacity.min(self.rest.len()));
        if !piece.is_empty() && self.stream.send_data(piece, false).is_err() {
            return Poll::Ready(Err(End::Unwanted));
        }
        if !self.rest.is_empty() {
            // After the piece, which would be counted against it otherwise.
            self.stream.reserve_capacity(self.rest.len());
        }
        Poll::Ready(Ok(()))
    }
}

impl std::fmt::Debug for Outflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outflow").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl Drop for Outflow {
    fn drop(&mut self) {
        self.drive(&mut Context::from_waker(Waker::noop()));
        if !self.ended {
            self.stream.send_reset(Reason::CANCEL);
        }
    }
}

/// How a request body ends.
#[derive(Debug, PartialEq)]
enum End {
    Sent,
    /// The peer wants no more of it. The response may still be good.
    Unwanted,
    Broken,
}

/// The incoming half.
#[derive(Debug)]
pub(super) struct Inflow {
    pub stream: RecvStream,
    outflow: Option<Outflow>,
    _place: Place,
}

impl Inflow {
    pub(super) fn new(stream: RecvStream, outflow: Option<Outflow>, place: Place) -> Inflow {
        Inflow { stream, outflow, _place: place }
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        if let Some(outflow) = &mut self.outflow {
            outflow.drive(cx);
        }
        match ready!(self.stream.poll_data(cx)) {
            Some(Ok(data)) => {
                // An error would say that the stream is closed: nothing to give back.
                let _ = self.stream.flow_control().release_capacity(data.len());
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Some(Err(error)) if error.reason() == Some(Reason::NO_ERROR) => Poll::Ready(None),
            Some(Err(error)) => Poll::Ready(Some(Err(error))),
            None => match ready!(self.stream.poll_trailers(cx)) {
                Ok(Some(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
                Ok(None) => Poll::Ready(None),
                Err(error) if error.reason() == Some(Reason::NO_ERROR) => Poll::Ready(None),
                Err(error) => Poll::Ready(Some(Err(error))),
            },
        }
    }
}
