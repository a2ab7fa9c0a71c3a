//! Bodies of requests and responses: ready ones, bounded reading of foreign ones, and one that is
//! written piece by piece while it is being sent. Never buffers without a bound.

mod written;

pub use written::{BodyWriter, Gone, Room, channel};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, Empty, Full, combinators::UnsyncBoxBody};
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout;

/// How long the body of a request may take to come.
const BODY_WAIT: Duration = Duration::from_secs(60);

/// So much of a body that is refused is read, for so long.
const DRAIN_BYTES_MAX: usize = 1 << 20;
const DRAIN_WAIT: Duration = Duration::from_secs(2);

/// Any error a body can end in.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body of any kind.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// A body that is all there.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body of no bytes.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body that keeps something, such as the place of its request, until its last byte.
pub fn keeping(kept: impl Send + Unpin + 'static, body: Body) -> Body {
    Keeping { body, _kept: kept }.boxed_unsync()
}

struct Keeping<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> http_body::Body for Keeping<T> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Why a body could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is larger than {bytes_max} bytes; send less or raise the bound")]
    TooLarge { bytes_max: usize },
    #[error("the body ended early: {0}")]
    Broken(String),
}

/// Reads `body` to its end and gives its bytes, without a copy where it came in one piece.
///
/// # Errors
/// `TooLarge` as soon as more than `bytes_max` bytes are known to come, `Broken` when the peer
/// stops in the middle.
pub async fn read_body<B>(body: B, bytes_max: usize) -> Result<Bytes, BodyError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let too_large = BodyError::TooLarge { bytes_max };
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large);
    }
    let mut body = std::pin::pin!(body);
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| BodyError::Broken(error.to_string()))?;
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        if first.len() + rest.len() + piece.len() > bytes_max {
            return Err(too_large);
        }
        if first.is_empty() {
            first = piece;
        } else {
            rest.extend_from_slice(&piece);
        }
        if body.is_end_stream() {
            break;
        }
    }
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

/// Reads `body` as `read_body` does, and waits for it a minute at most: who sends slowly must not
/// keep a place from others for as long as they like.
///
/// # Errors
/// `Broken` where the time is over, too.
pub async fn read_body_in_time<B>(body: B, bytes_max: usize) -> Result<Bytes, BodyError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    read_body_within(BODY_WAIT, body, bytes_max).await
}

async fn read_body_within<B>(wait: Duration, body: B, bytes_max: usize) -> Result<Bytes, BodyError>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let late = || BodyError::Broken(format!("it did not come within {wait:?}"));
    let mut body = std::pin::pin!(body);
    let read = timeout(wait, read_body(body.as_mut(), bytes_max)).await;
    if let Ok(Err(BodyError::TooLarge { .. })) = &read {
        // A connection that is closed before the client has sent it all may break before it reads why.
        let _ = timeout(DRAIN_WAIT, drain(body.as_mut())).await;
    }
    read.unwrap_or_else(|_| Err(late()))
}

/// Reads on, and forgets, a bounded rest of a body that is refused.
async fn drain<B>(mut body: Pin<&mut B>)
where
    B: http_body::Body<Data = Bytes>,
{
    let mut drained = 0;
    while drained < DRAIN_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        drained += frame.data_ref().map_or(0, Bytes::len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_body_is_not_waited_for_without_end() {
        let wait = Duration::from_millis(50);
        let (writer, body) = channel(1);
        writer.write(Bytes::from_static(b"x")).await.unwrap();
        let late = BodyError::Broken("it did not come within 50ms".into());
        assert_eq!(read_body_within(wait, body, 1024).await, Err(late));
        let ready = full(Bytes::from_static(b"xy"));
        assert_eq!(read_body_in_time(ready, 1024).await.unwrap(), "xy");
    }
}
