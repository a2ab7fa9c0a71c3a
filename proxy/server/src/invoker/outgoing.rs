//! What is still to be sent to a service. Never copies it.

use crate::http::body::BodyWriter;
use bytes::Bytes;
use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

/// Pieces of a request body that wait for room in it, and its end.
#[derive(Default)]
pub(super) struct Outgoing {
    writer: Option<BodyWriter>,
    pieces: VecDeque<Bytes>,
    bytes: usize,
    ends: bool,
}

impl Outgoing {
    pub(super) fn new(writer: BodyWriter) -> Outgoing {
        Outgoing { writer: Some(writer), ..Outgoing::default() }
    }

    pub(super) fn push(&mut self, pieces: Vec<Bytes>) {
        if self.writer.is_some() {
            self.bytes += pieces.iter().map(Bytes::len).sum::<usize>();
            self.pieces.extend(pieces);
        }
    }

    /// The body ends after what was pushed.
    pub(super) fn end(&mut self) {
        self.ends = true;
    }

    /// Drops the writer without an end: the stream is reset.
    pub(super) fn abandon(&mut self) {
        *self = Outgoing::default();
    }

    /// Ends the body now if all that is missing is its end.
    pub(super) fn settle(&mut self) {
        if self.ends
            && self.pieces.is_empty()
            && let Some(writer) = self.writer.take()
        {
            writer.finish();
        }
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes what waits as far as there is room, and gives the number of bytes; told again when
    /// there is more room. Whoever calls this has to drive the request afterwards.
    pub(super) fn pour(&mut self, cx: &mut Context<'_>) -> usize {
        let before = self.bytes;
        while let Some(writer) = self.writer.as_ref().filter(|_| self.is_due()) {
            let Poll::Ready(room) = writer.poll_reserve(cx) else {
                break;
            };
            let Ok(room) = room else {
                // The response says what this means.
                self.abandon();
                return 0;
            };
            let Some(piece) = self.pieces.pop_front() else {
                room.finish();
                self.writer = None;
                break;
            };
            self.bytes -= piece.len();
            room.write(piece);
        }
        before - self.bytes
    }

    fn is_due(&self) -> bool {
        !self.pieces.is_empty() || self.ends
    }
}
