//! A listener for an endpoint that has none.
//!
//! HTTP/2 without TLS and HTTP/1.1 on the same port, as the peer begins. Every connection has the
//! listener as its parent, which waits for all of them in the end.

use super::Endpoint;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::future::Future;
use std::io;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Attempts at the same time on one connection.
const STREAMS_MAX: u32 = 4096;

/// How long handlers have to come to an end or to a wait when the process is about to end.
const DRAIN_MAX: Duration = Duration::from_secs(30);

/// After an accept that failed, since all files are open, say.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

impl Endpoint {
    /// Serves an address until the process ends.
    ///
    /// ```no_run
    /// # async fn run() -> std::io::Result<()> {
    /// let endpoint = holdfast_sdk::Endpoint::builder().build();
    /// endpoint.listen("127.0.0.1:9080").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it cannot listen there.
    pub async fn listen(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        self.serve_until(listener, std::future::pending()).await;
        Ok(())
    }

    /// Serves a listener until a future ends; then handlers suspend where they wait, and what is
    /// being executed may come to its end.
    ///
    /// ```no_run
    /// # async fn run() -> std::io::Result<()> {
    /// let endpoint = holdfast_sdk::Endpoint::builder().build();
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:9080").await?;
    /// endpoint.serve_until(listener, async { tokio::signal::ctrl_c().await.unwrap() }).await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn serve_until(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let mut connections = JoinSet::new();
        let (stopping, _) = watch::channel(false);
        self.accept_until(&listener, stop, &mut connections, &stopping).await;
        drop(listener);
        self.drain();
        stopping.send_replace(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_MAX, ended).await.is_err() {
            tracing::warn!("attempts are cut off that did not end in {DRAIN_MAX:?}");
        }
    }

    async fn accept_until(
        &self,
        listener: &TcpListener,
        stop: impl Future<Output = ()>,
        connections: &mut JoinSet<()>,
        stopping: &watch::Sender<bool>,
    ) {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => return,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let connection = connection(self.clone(), stream, stopping.subscribe());
                        connections.spawn(connection);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(ACCEPT_AGAIN).await;
                    }
                },
            }
        }
    }
}

async fn connection(endpoint: Endpoint, stream: TcpStream, mut stopping: watch::Receiver<bool>) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection without nodelay");
    }
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http2().max_concurrent_streams(STREAMS_MAX);
    let serving = server.serve_connection(TokioIo::new(stream), endpoint);
    let mut serving = std::pin::pin!(serving);
    let stopped = async move { stopping.wait_for(|stopping| *stopping).await.is_ok() };
    let ended = tokio::select! {
        ended = serving.as_mut() => Some(ended),
        _ = stopped => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "connection ended");
    }
}
