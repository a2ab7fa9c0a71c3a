//! Connections to services: h2c with prior knowledge, HTTP/1.1, TLS with ALPN; pooled, bounded,
//! and with acknowledgements that are never delayed. Never sends a request twice that the peer
//! may have seen.

mod connect;
mod http1;
mod http2;
mod pool;
mod stream;
#[cfg(test)]
mod tests;

use crate::http::{Body, BoxError};
use bytes::Bytes;
use connect::Address;
pub use connect::Guard;
use http_body::{Frame, SizeHint};
use hyper::{Request, Response, Uri, body::Incoming};
use pool::Pool;
use std::{
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio_util::sync::CancellationToken;

/// Which HTTP is spoken to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Protocol {
    Http1,
    /// Prior knowledge on `http://`, ALPN on `https://`.
    Http2,
}

/// Settings of the connections to services.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How long name lookup, TCP and TLS may take together, in ms.
    pub connect_timeout_ms: u64,
    /// A PING is sent after this long without a frame, in ms.
    pub keep_alive_interval_ms: u64,
    /// A connection whose PING is not answered within this long is dropped, in ms.
    pub keep_alive_timeout_ms: u64,
    /// A connection that nobody uses is closed after this long, in ms.
    pub idle_ms: u64,
    /// Requests at once on one HTTP/2 connection; the peer's own limit counts where it is lower.
    pub streams_per_connection_max: usize,
    /// Connections to one address; more requests wait for `connect_timeout_ms`, then fail.
    pub connections_per_authority_max: usize,
    /// Bytes of one response that may be on their way unread.
    pub stream_window_bytes: u32,
    /// Bytes of all responses of one connection that may be on their way unread.
    pub connection_window_bytes: u32,
    /// A PEM file of certificate authorities that are trusted beside those of the system.
    pub extra_ca_file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            connect_timeout_ms: 10_000,
            keep_alive_interval_ms: 40_000,
            keep_alive_timeout_ms: 20_000,
            idle_ms: 300_000,
            streams_per_connection_max: 128,
            connections_per_authority_max: 512,
            stream_window_bytes: 2 << 20,
            connection_window_bytes: 5 << 20,
            extra_ca_file: None,
        }
    }
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("`{uri}` is not an address to send to: {reason}")]
    Address { uri: String, reason: &'static str },
    #[error("cannot connect to {authority}: {reason}")]
    Connect { authority: String, reason: String },
    #[error("the TLS handshake with {authority} failed: {reason}")]
    Tls { authority: String, reason: String },
    #[error("the connection to {authority} broke: {reason}")]
    Broken { authority: String, reason: String },
    #[error("{authority} refused the request without looking at it: {reason}")]
    Refused { authority: String, reason: String },
    #[error("all {connections_max} connections to {authority} are in use")]
    Busy { authority: String, connections_max: usize },
}

impl Error {
    fn address(uri: &Uri, reason: &'static str) -> Error {
        Error::Address { uri: uri.to_string(), reason }
    }
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error("cannot read certificate authorities from `{path}`: {reason}")]
    Authorities { path: String, reason: String },
}

/// Sends requests over pooled connections. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    pool: Arc<Pool>,
}

impl Client {
    /// Connections live until `shutdown` at the longest. Call it inside of a tokio runtime.
    ///
    /// # Errors
    /// When `extra_ca_file` cannot be read.
    pub fn new(config: Config, shutdown: CancellationToken) -> Result<Client, Unusable> {
        Ok(Client { pool: Pool::new(config, None, shutdown)? })
    }

    /// As `new`, for addresses that strangers name: a name is resolved once for each connection,
    /// all its addresses are shown to `guard`, and the connection goes to one of those.
    ///
    /// # Errors
    /// As `new`.
    pub fn guarded(
        config: Config,
        guard: Guard,
        shutdown: CancellationToken,
    ) -> Result<Client, Unusable> {
        Ok(Client { pool: Pool::new(config, Some(guard), shutdown)? })
    }

    /// Sends `request`, whose URI is absolute. Answers when the response head is there. Dropping
    /// the future before, or the body of the response after, cancels the request. The body of the
    /// request flows while this future, or then the body of the response, is polled.
    ///
    /// # Errors
    /// See `Error`; only after `Broken` may the peer have seen the request.
    pub async fn send(
        &self,
        protocol: Protocol,
        request: Request<Body>,
    ) -> Result<Response<ResponseBody>, Error> {
        let host = self.pool.host(request.uri(), protocol)?;
        match protocol {
            // Boxed, so that the other has no room for it.
            Protocol::Http1 => Box::pin(http1::send(&self.pool, host, request)).await,
            Protocol::Http2 => http2::send(&self.pool, host, request).await,
        }
    }

    /// Which protocol the peer of `uri` chooses: by ALPN on `https://`; `Http2` on `http://`,
    /// where nobody can ask.
    ///
    /// # Errors
    /// When there is no connection.
    pub async fn negotiate(&self, uri: &Uri) -> Result<Protocol, Error> {
        self.pool.connector.negotiate(&Address::of(uri)?).await
    }

    /// Waits, after `shutdown`, until all connections are closed.
    pub async fn closed(&self) {
        self.pool.closed().await;
    }
}

/// The body of a response. Keeps its place on the connection until it is dropped; dropped before
/// its end, it cancels the request.
#[derive(Debug)]
pub struct ResponseBody(Flow);

#[derive(Debug)]
enum Flow {
    Http1(Incoming),
    Http2(stream::Inflow),
}

impl From<Incoming> for ResponseBody {
    fn from(incoming: Incoming) -> ResponseBody {
        ResponseBody(Flow::Http1(incoming))
    }
}

impl From<stream::Inflow> for ResponseBody {
    fn from(inflow: stream::Inflow) -> ResponseBody {
        ResponseBody(Flow::Http2(inflow))
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Flow::Http1(incoming) => {
                Pin::new(incoming).poll_frame(cx).map_err(|error| http1::told(&error).into())
            }
            Flow::Http2(inflow) => {
                inflow.poll_frame(cx).map_err(|error| http2::told(&error).into())
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Flow::Http1(incoming) => incoming.is_end_stream(),
            Flow::Http2(inflow) => inflow.stream.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Flow::Http1(incoming) => incoming.size_hint(),
            Flow::Http2(_) => SizeHint::default(),
        }
    }
}
