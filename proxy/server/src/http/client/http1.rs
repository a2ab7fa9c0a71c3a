//! One HTTP/1.1 connection: one request at a time, kept open between them.

use super::{
    Error, Protocol, ResponseBody,
    pool::{Host, Pool, Seat},
};
use crate::http::Body;
use hyper::{
    Request, Response, Uri, Version,
    client::conn::http1::{self, SendRequest},
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;
use std::{pin::Pin, sync::Arc};

/// A connection that belongs to one caller at a time.
#[derive(Debug)]
pub(super) struct Exclusive {
    sender: SendRequest<Body>,
    seat: Seat,
}

impl Exclusive {
    pub(super) async fn connect(pool: &Arc<Pool>, seat: Seat) -> Result<Exclusive, Error> {
        let stream = pool.connector.open(&seat.0.address, Protocol::Http1).await?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = handshake.map_err(|error| broken(&seat.0, &error))?;
        let shutdown = pool.shutdown.clone();
        // Boxed, because the compiler cannot see through the type of a body's error.
        let connection: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>> =
            Box::pin(connection);
        pool.tasks.spawn(async move {
            // How a connection ends is told by the request that was on it.
            let _ = shutdown.run_until_cancelled(connection).await;
        });
        Ok(Exclusive { sender, seat })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Goes back to the pool once the exchange is over in both directions.
    async fn come_back(mut self) {
        if self.sender.ready().await.is_ok() {
            let host = self.seat.0.clone();
            host.keep(self);
        }
    }
}

/// Sends one request. A kept connection that turns out to be closed before anything was sent is
/// left for a new one, once.
pub(super) async fn send(
    pool: &Arc<Pool>,
    host: Arc<Host>,
    request: Request<Body>,
) -> Result<Response<ResponseBody>, Error> {
    let (mut connection, fresh) = pool.exclusive(&host, false).await?;
    let mut sent = connection.sender.try_send_request(origin_form(request, &host)).await;
    if !fresh
        && let Err(error) = &mut sent
        && let Some(request) = error.take_message()
    {
        drop(connection);
        (connection, _) = pool.exclusive(&host, true).await?;
        sent = connection.sender.try_send_request(request).await;
    }
    let response = sent.map_err(|error| broken(&host, error.error()))?;
    pool.tasks.spawn(connection.come_back());
    Ok(response.map(ResponseBody::from))
}

fn broken(host: &Host, error: &hyper::Error) -> Error {
    Error::Broken { authority: host.address.authority.clone(), reason: told(error) }
}

/// The error with its cause.
pub(super) fn told(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn origin_form(mut request: Request<Body>, host: &Host) -> Request<Body> {
    *request.version_mut() = Version::HTTP_11;
    if !request.headers().contains_key(header::HOST)
        && let Ok(authority) = HeaderValue::from_str(&host.address.authority)
    {
        request.headers_mut().insert(header::HOST, authority);
    }
    let origin = request.uri().path_and_query().cloned();
    *request.uri_mut() = origin.map_or_else(|| Uri::from_static("/"), Uri::from);
    request
}
