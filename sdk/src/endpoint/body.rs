//! The response of an attempt: what the handler says, as long as it has something to say.

use crate::drive::Drive;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::watch;

/// The body of a response of an [`Endpoint`](crate::Endpoint): an attempt under way, or an answer.
///
/// ```
/// fn is_body<B: http_body::Body<Data = bytes::Bytes>>() {}
/// is_body::<holdfast_sdk::Body>();
/// ```
pub struct Body(Inside);

enum Inside {
    Full(Option<Bytes>),
    Attempt(Box<Attempt>),
}

/// An attempt and the request that it reads.
struct Attempt {
    drive: Drive,
    request: Option<Pin<Box<dyn Chunks>>>,
    draining: watch::Receiver<bool>,
    /// Made when there is something to wait for: many attempts end at once.
    drain: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    drained: bool,
}

/// A request body whose type is forgotten.
trait Chunks: Send {
    /// The next bytes; `None` at the end, `Err` if the connection broke.
    fn poll_chunk(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Bytes, ()>>>;
}

impl<B: HttpBody<Data = Bytes> + Send> Chunks for B {
    fn poll_chunk(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, ()>>> {
        loop {
            return match std::task::ready!(self.as_mut().poll_frame(task)) {
                None => Poll::Ready(None),
                Some(Err(_)) => Poll::Ready(Some(Err(()))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Poll::Ready(Some(Ok(data))),
                    Err(_trailers) => continue,
                },
            };
        }
    }
}

impl Body {
    pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
        Body(Inside::Full(Some(bytes.into())))
    }

    pub(super) fn attempt<B>(drive: Drive, request: B, draining: watch::Receiver<bool>) -> Body
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
    {
        Body(Inside::Attempt(Box::new(Attempt {
            drive,
            request: Some(Box::pin(request)),
            draining,
            drain: None,
            drained: false,
        })))
    }
}

/// Until the process is about to end.
async fn told(mut draining: watch::Receiver<bool>) {
    if draining.wait_for(|draining| *draining).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().0 {
            Inside::Full(bytes) => Poll::Ready(
                bytes.take().filter(|bytes| !bytes.is_empty()).map(|bytes| Ok(Frame::data(bytes))),
            ),
            Inside::Attempt(attempt) => {
                attempt.poll(task).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inside::Full(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Inside::Attempt(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inside::Full(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Inside::Attempt(_) => SizeHint::default(),
        }
    }
}

impl Attempt {
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.read(task).is_err() {
            // The sidecar gave up on this attempt; nobody listens any more.
            return Poll::Ready(None);
        }
        loop {
            self.drive.advance(task.waker());
            let output = self.drive.take_output();
            if !output.is_empty() {
                return Poll::Ready(Some(output));
            }
            if self.drive.is_closed() {
                // The response ends after the request did, as the sidecar expects.
                return if self.request.is_none() { Poll::Ready(None) } else { Poll::Pending };
            }
            if self.drained || self.poll_drain(task).is_pending() {
                return Poll::Pending;
            }
            self.drained = true;
            self.drive.handle_drain();
        }
    }

    /// Until the process is about to end.
    fn poll_drain(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let draining = &self.draining;
        let drain = self.drain.get_or_insert_with(|| Box::pin(told(draining.clone())));
        drain.as_mut().poll(task)
    }

    /// Takes all that came.
    fn read(&mut self, task: &mut Context<'_>) -> Result<(), ()> {
        while let Some(request) = &mut self.request {
            match request.as_mut().poll_chunk(task) {
                Poll::Pending => break,
                Poll::Ready(Some(Ok(bytes))) => self.drive.handle_bytes(bytes),
                Poll::Ready(Some(Err(()))) => return Err(()),
                Poll::Ready(None) => {
                    self.request = None;
                    self.drive.handle_end();
                }
            }
        }
        Ok(())
    }
}
