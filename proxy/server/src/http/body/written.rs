//! A body that is written piece by piece while it is being sent. It is a queue between two ends that
//! mostly live in one task, so the end that already runs is never woken. Never holds more pieces than
//! it was made for.

use super::{Body, BoxError};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::BodyExt;
use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

/// Writes a body while it is being sent. Dropped without an end, it resets the stream
/// (HTTP/2: `CANCEL`) or breaks the connection (HTTP/1.1).
#[derive(Debug)]
pub struct BodyWriter(Arc<Pipe>);

/// Nobody reads the body any more: the stream was reset or the connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the peer does not read the request any more")]
pub struct Gone;

/// The writer was dropped before it finished.
#[derive(Debug, thiserror::Error)]
#[error("the request was abandoned")]
struct Abandoned;

/// A body and its writer; at most `pieces_max` pieces wait between them.
pub fn channel(pieces_max: usize) -> (BodyWriter, Body) {
    let pipe = Arc::new(Pipe { pieces_max, flow: Mutex::default() });
    (BodyWriter(pipe.clone()), Written(pipe).boxed_unsync())
}

#[derive(Debug)]
struct Pipe {
    pieces_max: usize,
    flow: Mutex<Flow>,
}

#[derive(Debug, Default)]
struct Flow {
    pieces: VecDeque<Bytes>,
    /// What comes after them, once it is known.
    end: Option<End>,
    /// Nobody reads any more.
    gone: bool,
    /// Waits for a piece or the end.
    reader: Option<Waker>,
    /// Waits for room.
    writer: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Finished,
    Abandoned,
}

impl Pipe {
    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().expect("nobody panics while holding the lock")
    }

    /// Changes what the reader sees, and wakes it unless `here` is its own task.
    fn put(&self, here: Option<&Waker>, change: impl FnOnce(&mut Flow)) {
        let mut flow = self.flow();
        change(&mut flow);
        let reader = flow.reader.take();
        drop(flow);
        if let Some(reader) = reader
            && !here.is_some_and(|here| reader.will_wake(here))
        {
            reader.wake();
        }
    }

    fn end(&self, here: Option<&Waker>, end: End) {
        self.put(here, |flow| {
            flow.end.get_or_insert(end);
        });
    }

    fn poll_room(&self, cx: &Context<'_>) -> Poll<Result<(), Gone>> {
        let mut flow = self.flow();
        if flow.gone {
            return Poll::Ready(Err(Gone));
        }
        if flow.pieces.len() < self.pieces_max {
            return Poll::Ready(Ok(()));
        }
        remember(&mut flow.writer, cx);
        Poll::Pending
    }
}

fn remember(waker: &mut Option<Waker>, cx: &Context<'_>) {
    match waker {
        Some(known) => known.clone_from(cx.waker()),
        None => *waker = Some(cx.waker().clone()),
    }
}

impl BodyWriter {
    /// Hands on one piece; waits while too many wait.
    ///
    /// # Errors
    /// `Gone` when nobody will read it.
    pub async fn write(&self, piece: Bytes) -> Result<(), Gone> {
        self.reserve().await.map(|room| room.write(piece))
    }

    /// Ends the body in good order.
    pub fn finish(self) {
        self.0.end(None, End::Finished);
    }

    /// Room for one piece. Cancel safe.
    ///
    /// # Errors
    /// `Gone` when nobody will read it.
    pub async fn reserve(&self) -> Result<Room<'_>, Gone> {
        poll_fn(|cx| self.0.poll_room(cx)).await?;
        Ok(Room { pipe: &self.0, here: None })
    }

    /// As `reserve`, for the task that reads the body too: it is not woken by what is written, and
    /// has to read afterwards.
    ///
    /// # Errors
    /// As `reserve`.
    pub fn poll_reserve<'a>(&'a self, cx: &'a Context<'_>) -> Poll<Result<Room<'a>, Gone>> {
        self.0.poll_room(cx).map_ok(|()| Room { pipe: &self.0, here: Some(cx.waker()) })
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        self.0.end(None, End::Abandoned);
    }
}

/// Room for one more piece of a body.
pub struct Room<'a> {
    pipe: &'a Pipe,
    /// Of the task that is not to be woken.
    here: Option<&'a Waker>,
}

impl Room<'_> {
    pub fn write(self, piece: Bytes) {
        self.pipe.put(self.here, |flow| flow.pieces.push_back(piece));
    }

    /// Ends the body in good order.
    pub fn finish(self) {
        self.pipe.end(self.here, End::Finished);
    }
}

struct Written(Arc<Pipe>);

impl http_body::Body for Written {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut flow = self.0.flow();
        let Some(piece) = flow.pieces.pop_front() else {
            return match flow.end {
                Some(End::Finished) => Poll::Ready(None),
                Some(End::Abandoned) => {
                    // Once: after an error a body is over.
                    flow.end = Some(End::Finished);
                    Poll::Ready(Some(Err(Box::new(Abandoned))))
                }
                None => {
                    remember(&mut flow.reader, cx);
                    Poll::Pending
                }
            };
        };
        let writer = flow.writer.take();
        drop(flow);
        if let Some(writer) = writer {
            writer.wake();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        let flow = self.0.flow();
        flow.pieces.is_empty() && flow.end == Some(End::Finished)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let mut flow = self.0.flow();
        flow.gone = true;
        flow.pieces.clear();
        let writer = flow.writer.take();
        drop(flow);
        if let Some(writer) = writer {
            writer.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::read_body;
    use http_body::Body as _;
    use std::{
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        task::Wake,
    };

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[tokio::test]
    async fn no_more_pieces_wait_than_may() {
        let (writer, mut body) = channel(1);
        writer.write(Bytes::from_static(b"a")).await.unwrap();
        let mut second = Box::pin(writer.write(Bytes::from_static(b"b")));
        let waits = poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending()));
        assert!(waits.await);
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "a");
        second.await.unwrap();
        writer.finish();
        assert_eq!(read_body(body, 10).await.unwrap(), "b");
    }

    #[tokio::test]
    async fn a_body_without_an_end_is_broken_after_its_last_piece() {
        let (writer, mut body) = channel(2);
        writer.write(Bytes::from_static(b"a")).await.unwrap();
        drop(writer);
        assert!(body.frame().await.unwrap().is_ok());
        assert_eq!(body.frame().await.unwrap().unwrap_err().to_string(), Abandoned.to_string());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_writer_hears_that_nobody_reads() {
        let (writer, body) = channel(1);
        writer.write(Bytes::from_static(b"a")).await.unwrap();
        let mut waits = Box::pin(writer.write(Bytes::from_static(b"b")));
        assert!(poll_fn(|cx| Poll::Ready(waits.as_mut().poll(cx).is_pending())).await);
        drop(body);
        assert_eq!(waits.await, Err(Gone));
    }

    #[test]
    fn only_another_task_is_woken() {
        let (here, there) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        let (writer, mut body) = channel(2);
        let (of_here, of_there) = (Waker::from(here.clone()), Waker::from(there.clone()));
        let cx = Context::from_waker(&of_here);
        for (reader, count) in [(&of_here, 0), (&of_there, 1)] {
            let mut reads = Context::from_waker(reader);
            let frame = Pin::new(&mut body).poll_frame(&mut reads);
            assert!(frame.is_pending());
            let Poll::Ready(Ok(room)) = writer.poll_reserve(&cx) else { panic!("there is room") };
            room.write(Bytes::from_static(b"a"));
            assert_eq!(here.0.load(Relaxed) + there.0.load(Relaxed), count);
            assert!(Pin::new(&mut body).poll_frame(&mut reads).is_ready());
        }
    }
}
