//! What is still to be sent to a service. Never copies it.

use crate::http::body::BodyWriter;
use bytes::Bytes;
use std::collections::VecDeque;

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
            writer.try_finish();
        }
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes all that waits, and gives the number of bytes; never returns where nothing waits.
    /// Cancel safe.
    pub(super) async fn flush(&mut self) -> usize {
        let mut written = 0;
        while let Some(writer) = self.writer.as_ref().filter(|_| self.is_due()) {
            let Ok(room) = writer.reserve().await else {
                // The response says what this means.
                self.abandon();
                break;
            };
            let Some(piece) = self.pieces.pop_front() else {
                room.finish();
                self.writer = None;
                break;
            };
            self.bytes -= piece.len();
            written += piece.len();
            room.write(piece);
        }
        match written {
            0 => std::future::pending().await,
            written => written,
        }
    }

    fn is_due(&self) -> bool {
        !self.pieces.is_empty() || self.ends
    }
}
