//! One exchange on an HTTP/2 connection: the request body flows out while the response flows in.
//! Dropping either end of it resets the stream with CANCEL.

use super::pool::Place;
use crate::http::Body;
use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream};
use http_body::{Body as _, Frame};
use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::sync::oneshot;

/// Held by whoever waits for the response; dropping it cancels what is left of the request.
#[derive(Debug)]
pub(super) struct Interest {
    _dropped: oneshot::Sender<()>,
}

/// Sends a request body until its end, its failure, or the end of the interest in the response.
pub(super) struct Outflow {
    body: Body,
    stream: SendStream<Bytes>,
    interest: oneshot::Receiver<()>,
}

impl Outflow {
    pub(super) fn new(body: Body, stream: SendStream<Bytes>) -> (Outflow, Interest) {
        let (sender, interest) = oneshot::channel();
        (Outflow { body, stream, interest }, Interest { _dropped: sender })
    }

    pub(super) async fn run(self) {
        let Outflow { mut body, mut stream, interest } = self;
        let done = tokio::select! {
            // What was written before the interest ended still goes out.
            biased;
            done = pump(&mut body, &mut stream) => done,
            _ = interest => Flow::Broken,
        };
        if done == Flow::Broken {
            stream.send_reset(Reason::CANCEL);
        }
    }
}

#[derive(Debug, PartialEq)]
enum Flow {
    Ended,
    /// The peer wants no more of it. The response may still be good.
    Unwanted,
    Broken,
}

async fn pump(body: &mut Body, stream: &mut SendStream<Bytes>) -> Flow {
    loop {
        let frame = poll_fn(|cx| match stream.poll_reset(cx) {
            Poll::Ready(_) => Poll::Ready(Err(Flow::Unwanted)),
            Poll::Pending => Pin::new(&mut *body).poll_frame(cx).map(Ok),
        });
        let sent = match frame.await {
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => send(data, stream).await,
                Err(frame) => match frame.into_trailers() {
                    Ok(trailers) => stream.send_trailers(trailers).map_err(|_| Flow::Unwanted),
                    Err(_) => Ok(()),
                },
            },
            Ok(Some(Err(_))) => Err(Flow::Broken),
            Ok(None) => {
                // Fails only on a stream that is closed already: then this is no news.
                let _ = stream.send_data(Bytes::new(), true);
                Err(Flow::Ended)
            }
            Err(flow) => Err(flow),
        };
        if let Err(flow) = sent {
            return flow;
        }
    }
}

/// Sends `data` as the peer's windows allow.
async fn send(mut data: Bytes, stream: &mut SendStream<Bytes>) -> Result<(), Flow> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let capacity = poll_fn(|cx| match stream.poll_reset(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => stream.poll_capacity(cx),
        });
        let Some(Ok(capacity)) = capacity.await else {
            return Err(Flow::Unwanted);
        };
        let piece = data.split_to(capacity.min(data.len()));
        if !piece.is_empty() {
            stream.send_data(piece, false).map_err(|_| Flow::Unwanted)?;
        }
    }
    Ok(())
}

/// The incoming half.
#[derive(Debug)]
pub(super) struct Inflow {
    pub stream: RecvStream,
    _interest: Option<Interest>,
    _place: Place,
}

impl Inflow {
    pub(super) fn new(stream: RecvStream, interest: Option<Interest>, place: Place) -> Inflow {
        Inflow { stream, _interest: interest, _place: place }
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
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
