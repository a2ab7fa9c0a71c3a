//! A TCP stream whose acknowledgements are never delayed. A service whose server leaves Nagle on
//! would otherwise wait 40 ms for each of them.

use std::{
    io,
    os::fd::AsRawFd,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// A stream that acknowledges at once what it read.
#[derive(Debug)]
pub struct Quick(TcpStream);

impl Quick {
    /// Also turns Nagle off in our direction.
    pub fn new(stream: TcpStream) -> io::Result<Quick> {
        stream.set_nodelay(true)?;
        Ok(Quick(stream))
    }

    /// The kernel forgets the wish whenever it likes, so it is repeated after each read.
    fn acknowledge_now(&self) {
        let on: libc::c_int = 1;
        // SAFETY: the descriptor is open as long as `self.0`, and `on` outlives the call, which
        // reads exactly its size. A failure changes timing only, so it is not looked at.
        unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_QUICKACK,
                (&raw const on).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            );
        }
    }
}

impl AsyncRead for Quick {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.acknowledge_now();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Quick {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
