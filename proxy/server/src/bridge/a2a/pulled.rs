//! Bodies that are pulled by the connection that reads them: a slow reader costs no memory and holds
//! up nobody, and one that goes away ends nothing but its stream. What is in them the bindings know.

use crate::http::{Body, BoxError};
use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::BodyExt;
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Where the pieces of a body come from.
pub trait Source: Sized + Send + 'static {
    /// What comes next; not asked again after the end.
    fn next(&mut self) -> impl Future<Output = Next> + Send;
}

/// What comes next in a body.
pub enum Next {
    Piece(Bytes),
    /// A piece, and the end after it.
    Last(Bytes),
    /// The end, with these trailers.
    Trailers(HeaderMap),
    End,
}

/// The body that a source makes.
pub fn pulled(source: impl Source) -> Body {
    Pulled { pulling: Some(Box::pin(pull(source))) }.boxed_unsync()
}

type Pulling<S> = Pin<Box<dyn Future<Output = (S, Next)> + Send>>;

async fn pull<S: Source>(mut source: S) -> (S, Next) {
    let next = source.next().await;
    (source, next)
}

struct Pulled<S> {
    /// `None`: the end was told.
    pulling: Option<Pulling<S>>,
}

impl<S: Source> http_body::Body for Pulled<S> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(pulling) = &mut self.pulling else {
            return Poll::Ready(None);
        };
        let (source, next) = ready!(pulling.as_mut().poll(cx));
        self.pulling = None;
        Poll::Ready(match next {
            Next::Piece(bytes) => {
                self.pulling = Some(Box::pin(pull(source)));
                Some(Ok(Frame::data(bytes)))
            }
            Next::Last(bytes) => Some(Ok(Frame::data(bytes))),
            Next::Trailers(trailers) => Some(Ok(Frame::trailers(trailers))),
            Next::End => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.pulling.is_none()
    }
}
