//! A TCP stream whose acknowledgements are never waited for. A peer whose end leaves Nagle on
//! would otherwise wait 40 ms for each of them.

use std::{
    io,
    os::fd::AsRawFd,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// A stream that acknowledges at once what it read, or as soon as its `Receipts` say so.
#[derive(Debug)]
pub struct Quick {
    stream: TcpStream,
    receipts: Option<Receipts>,
}

impl Quick {
    /// Also turns Nagle off in our direction.
    pub fn new(stream: TcpStream) -> io::Result<Quick> {
        stream.set_nodelay(true)?;
        Ok(Quick { stream, receipts: None })
    }

    /// As `new`; what was read is acknowledged when `receipts` are due.
    pub fn with_receipts(stream: TcpStream, receipts: Receipts) -> io::Result<Quick> {
        Ok(Quick { receipts: Some(receipts), ..Quick::new(stream)? })
    }

    /// The kernel forgets the wish whenever it likes, so it is repeated.
    fn acknowledge_now(&self) {
        let on: libc::c_int = 1;
        // SAFETY: the descriptor is open as long as `self.stream`, and `on` outlives the call, which
        // reads exactly its size. A failure changes timing only, so it is not looked at.
        unsafe {
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_QUICKACK,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            );
        }
    }

    /// Something was read, or nothing was there.
    fn has_read(&self, anything: bool) {
        let now = match &self.receipts {
            None => anything,
            Some(receipts) if anything => receipts.are_due_at_once(),
            Some(receipts) => receipts.are_due(),
        };
        if now {
            self.acknowledge_now();
        }
    }
}

/// What the server of a connection knows about the acknowledgements that its stream owes: none is
/// waited for where a request is whole, because the answer carries it, and that is an exchange with
/// the system and a packet less for each request.
#[derive(Debug, Clone, Default)]
pub struct Receipts(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    /// Something was read that is not acknowledged.
    owed: AtomicBool,
    /// What was read was a whole request.
    whole: AtomicBool,
    /// Everything that is read is to be acknowledged at once.
    each: AtomicBool,
    /// It is to be acknowledged when next nothing is there.
    due: AtomicBool,
}

impl Receipts {
    /// The request is whole: its answer comes next.
    pub fn whole(&self) {
        self.0.whole.store(true, Relaxed);
    }

    /// From now on everything that is read is acknowledged at once: where requests come side by side,
    /// one that is whole says nothing of the others.
    pub fn each(&self) {
        self.0.each.store(true, Relaxed);
    }

    /// Whether the stream has to be read from once more, because the rest of what was read may wait
    /// for its acknowledgement. Asked when nothing goes on any more.
    pub fn settle(&self) -> bool {
        let owed = self.0.owed.load(Relaxed);
        if owed {
            self.0.owed.store(false, Relaxed);
            self.0.due.store(!self.0.whole.load(Relaxed), Relaxed);
        }
        owed && self.0.due.load(Relaxed)
    }

    /// Something was read.
    fn are_due_at_once(&self) -> bool {
        let each = self.0.each.load(Relaxed);
        self.0.owed.store(!each, Relaxed);
        self.0.whole.store(false, Relaxed);
        each
    }

    fn are_due(&self) -> bool {
        self.0.due.load(Relaxed) && self.0.due.swap(false, Relaxed)
    }
}

impl AsyncRead for Quick {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        match &read {
            Poll::Ready(Ok(())) if buf.filled().len() > before => self.has_read(true),
            Poll::Pending => self.has_read(false),
            Poll::Ready(_) => {}
        }
        read
    }
}

impl AsyncWrite for Quick {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_acknowledged_and_a_whole_request_is_not() {
        let receipts = Receipts::default();
        assert!(!receipts.settle() && !receipts.are_due(), "nothing was read");
        assert!(!receipts.are_due_at_once(), "the rest of it may come with the next read");
        assert!(receipts.settle() && receipts.are_due(), "its rest may wait for that");
        assert!(!receipts.settle() && !receipts.are_due(), "once is enough");
        assert!(!receipts.are_due_at_once());
        receipts.whole();
        assert!(!receipts.settle() && !receipts.are_due(), "its answer does it");
        assert!(!receipts.are_due_at_once());
        assert!(receipts.settle(), "a piece of the next one");
        receipts.each();
        assert!(receipts.are_due_at_once() && !receipts.settle(), "side by side");
    }
}
