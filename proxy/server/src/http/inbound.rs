//! The body of a request, as it comes in over one of our connections. Says when the request is whole,
//! and never does anything to its bytes.

use super::{listen::Peer, socket::Receipts};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The body of a request, as it comes in.
#[derive(Debug)]
pub struct Inbound {
    body: Incoming,
    peer: Peer,
    receipts: Receipts,
}

impl Inbound {
    pub(super) fn new(body: Incoming, peer: Peer, receipts: &Receipts) -> Inbound {
        let inbound = Inbound { body, peer, receipts: receipts.clone() };
        inbound.look_for_the_end();
        inbound
    }

    pub fn peer(&self) -> Peer {
        self.peer
    }

    fn look_for_the_end(&self) {
        if self.body.is_end_stream() {
            self.receipts.whole();
        }
    }
}

impl Body for Inbound {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            None => self.receipts.whole(),
            Some(_) => self.look_for_the_end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
