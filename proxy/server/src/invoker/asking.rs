//! The request of one attempt, which is made again where the service refused it unseen: a server
//! that is closing its connection or has no stream left is no failed attempt. Keeps what was sent
//! until the head of the response is there, and never asks again after it.

use super::{conversation::Incoming, outgoing::Outgoing};
use crate::http::{
    body,
    client::{Client, Protocol},
};
use bytes::Bytes;
use hyper::Request;
use std::time::Duration;

/// How often it is asked in vain.
const REFUSALS_MAX: u32 = 5;
/// Between two of them, times their number; not before the first, which may be about an old
/// connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Makes the head of the request again, where it is needed again.
pub(super) type Remake = Box<dyn Fn() -> Option<Request<()>> + Send + Sync>;

/// A request as long as nothing has come back.
pub(super) struct Asking {
    client: Client,
    protocol: Protocol,
    remake: Remake,
    /// Pieces that may wait in the body.
    pieces_max: usize,
    sent: Vec<Bytes>,
    ends: bool,
    refusals: u32,
}

impl Asking {
    pub(super) fn new(
        client: Client,
        protocol: Protocol,
        remake: Remake,
        pieces_max: usize,
    ) -> Asking {
        Asking { client, protocol, remake, pieces_max, sent: vec![], ends: false, refusals: 0 }
    }

    /// Makes the request. All that was to be sent goes with it.
    pub(super) fn ask(&self, request: Request<()>) -> (Outgoing, Incoming) {
        let (writer, body) = body::channel(self.pieces_max);
        let request = request.map(|()| body);
        let (client, protocol) = (self.client.clone(), self.protocol);
        let pause = PAUSE * self.refusals.saturating_sub(1);
        let sending = async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            client.send(protocol, request).await
        };
        let mut outgoing = Outgoing::new(writer);
        outgoing.push(self.sent.clone());
        if self.ends {
            outgoing.end();
        }
        (outgoing, Incoming::Asked(Box::pin(sending)))
    }

    /// Makes the request again; `None` where it was refused too often.
    pub(super) fn again(&mut self) -> Option<(Outgoing, Incoming)> {
        self.refusals += 1;
        if self.refusals >= REFUSALS_MAX {
            return None;
        }
        Some(self.ask((self.remake)()?))
    }

    pub(super) fn sends(&mut self, pieces: &[Bytes]) {
        self.sent.extend_from_slice(pieces);
    }

    pub(super) fn ends(&mut self) {
        self.ends = true;
    }
}
