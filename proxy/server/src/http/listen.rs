//! Listening: HTTP/1.1 and HTTP/2 with prior knowledge on one port, bounded and drained. Never
//! knows what is asked of it.

use crate::http::{
    Body,
    crowd::Crowd,
    inbound::Inbound,
    patience::Patience,
    seldom::seldom,
    socket::{Quick, Receipts},
    tasks::Tracked,
};
use hyper::{Request, Response, Version, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use std::{
    convert::Infallible,
    future::Future,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// Pause after `accept` failed, mostly for want of file descriptors, in ms.
const ACCEPT_PAUSE_MS: u64 = 50;
/// Bytes of one request on HTTP/2 that may be on their way unread.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// Bytes of all requests of one HTTP/2 connection that may be on their way unread.
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;
/// Bytes of the head of a request.
const HEADER_BYTES_MAX: u32 = 64 << 10;

/// Settings of one listener.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Connections at once; more wait in the accept queue of the system.
    pub connections_max: usize,
    /// How long a client may take over the head of a request, and how long a connection of
    /// HTTP/1.1 may wait for its next request, in ms.
    pub header_read_timeout_ms: u64,
    /// Requests at once on one HTTP/2 connection.
    pub streams_per_connection_max: u32,
    /// A PING is sent after this long without a frame, in ms.
    pub keep_alive_interval_ms: u64,
    /// A connection whose PING is not answered within this long is dropped, in ms.
    pub keep_alive_timeout_ms: u64,
    /// How long requests may go on after shutdown began, in ms.
    pub drain_ms: u64,
    /// Connections that are carried by the threads that do everything else; those beyond get as many
    /// threads of their own. 0: none does.
    pub few_connections: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            connections_max: 10_000,
            header_read_timeout_ms: 60_000,
            streams_per_connection_max: 1_000,
            keep_alive_interval_ms: 40_000,
            keep_alive_timeout_ms: 20_000,
            drain_ms: 5_000,
            few_connections: 64,
        }
    }
}

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{address} is in use by another program; stop it or choose another address")]
    InUse { address: SocketAddr },
    #[error("cannot listen on {address}: {reason}")]
    Bind { address: SocketAddr, reason: String },
}

/// A bound port.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// Where a request came from; an extension of the requests that doors take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

impl Listener {
    /// The socket, for another server than `serve`.
    pub fn into_socket(self) -> TcpListener {
        self.socket
    }

    /// The address, with the port that was chosen for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Binds `address`. Call it inside of a tokio runtime.
///
/// # Errors
/// `InUse` and `Bind`; both name the address.
pub fn bind(address: SocketAddr) -> Result<Listener, Error> {
    let open = || -> io::Result<Listener> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        // A restart must not wait for the connections of the process before.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let socket = socket.listen(BACKLOG)?;
        let address = socket.local_addr()?;
        Ok(Listener { socket, address })
    };
    open().map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Error::InUse { address },
        _ => Error::Bind { address, reason: error.to_string() },
    })
}

/// Answers requests with `service` until `shutdown`; then takes no more, lets those that run
/// end within `drain_ms`, and returns when all are gone. `crowd` carries those connections that are
/// more than a few.
pub async fn serve<S, F>(
    listener: Listener,
    config: Config,
    service: S,
    crowd: Crowd,
    shutdown: CancellationToken,
) where
    S: Fn(Request<Inbound>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let tasks = TaskTracker::new();
    let connections_max = config.connections_max.min(Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(connections_max));
    let server = Server {
        protocol: Arc::new(protocol(&config, &tasks)),
        first_request: Duration::from_millis(config.header_read_timeout_ms),
        drain: Duration::from_millis(config.drain_ms),
        service,
        shutdown: shutdown.clone(),
    };
    while let Some(accepted) = shutdown.run_until_cancelled(accept(&listener, &places)).await {
        match accepted {
            Ok((stream, peer, place)) => {
                let server = server.clone();
                let converse = async move |stream| {
                    server.converse(stream, peer).await;
                    drop(place);
                };
                let open = connections_max - places.available_permits();
                match crowd.handle_of(open, config.few_connections) {
                    None => drop(tasks.spawn(converse(stream))),
                    Some(handle) => match moved(stream, handle) {
                        Ok(stream) => drop(tasks.spawn_on(converse(stream), handle)),
                        Err(error) => tracing::debug!(%peer, %error, "connection lost"),
                    },
                }
            }
            Err(error) => {
                tracing::warn!(address = %listener.address, %error, "cannot accept a connection");
                sleep(Duration::from_millis(ACCEPT_PAUSE_MS)).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// A connection, watched by another runtime.
fn moved(stream: TcpStream, handle: &Handle) -> io::Result<TcpStream> {
    let stream = stream.into_std()?;
    let _entered = handle.enter();
    TcpStream::from_std(stream)
}

async fn accept(
    listener: &Listener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.socket.accept().await?;
    Ok((stream, peer, place))
}

fn protocol(config: &Config, tasks: &TaskTracker) -> Builder<Tracked> {
    let mut builder = Builder::new(Tracked(tasks.clone()));
    builder.http1().header_read_timeout(Duration::from_millis(config.header_read_timeout_ms));
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_millis(config.keep_alive_interval_ms))
        .keep_alive_timeout(Duration::from_millis(config.keep_alive_timeout_ms))
        .max_concurrent_streams(config.streams_per_connection_max)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_header_list_size(HEADER_BYTES_MAX);
    builder
}

#[derive(Clone)]
struct Server<S> {
    protocol: Arc<Builder<Tracked>>,
    first_request: Duration,
    drain: Duration,
    service: S,
    shutdown: CancellationToken,
}

impl<S, F> Server<S>
where
    S: Fn(Request<Inbound>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    /// One connection, from its first byte to its last.
    async fn converse(self, stream: TcpStream, peer: SocketAddr) {
        let receipts = &Receipts::default();
        let Ok(stream) = Quick::with_receipts(stream, receipts.clone()) else {
            return;
        };
        let asked = AtomicBool::new(false);
        let answer = service_fn(|request: Request<Incoming>| {
            asked.store(true, Relaxed);
            if request.version() == Version::HTTP_2 {
                receipts.each();
            }
            let inbound = |body| Inbound::new(body, Peer(peer), receipts);
            let response = (self.service)(request.map(inbound));
            async move { Ok::<_, Infallible>(response.await) }
        });
        let mut protocol = self.protocol.as_ref().clone();
        protocol.http1().timer(Patience::default());
        let connection = protocol.serve_connection(TokioIo::new(stream), answer);
        let mut connection = pin!(connection);
        // The first bytes decide about the protocol, and no timer of it runs before.
        let silent = async {
            sleep(self.first_request).await;
            if asked.load(Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        let halt = async {
            tokio::select! {
                () = silent => Halt::Silent,
                () = self.shutdown.cancelled() => Halt::Shutdown,
            }
        };
        let halt = pin!(halt);
        let mut halt = seldom(halt);
        let ended = tokio::select! {
            biased;
            ended = Acknowledging { connection: connection.as_mut(), receipts } => ended,
            halt = &mut halt => match halt {
                Halt::Silent => return,
                Halt::Shutdown => {
                    connection.as_mut().graceful_shutdown();
                    let rest = Acknowledging { connection, receipts };
                    timeout(self.drain, rest).await.unwrap_or(Ok(()))
                }
            },
        };
        if let Err(error) = ended {
            tracing::debug!(%peer, %error, "connection ended");
        }
    }
}

/// Why a connection is not waited for any longer.
enum Halt {
    /// Its client asked for nothing in time.
    Silent,
    Shutdown,
}

/// A connection that is looked at once more where its client may wait for an acknowledgement.
struct Acknowledging<'c, C> {
    connection: Pin<&'c mut C>,
    receipts: &'c Receipts,
}

impl<C: Future> Future for Acknowledging<'_, C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        let mut ended = self.connection.as_mut().poll(cx);
        if ended.is_pending() && self.receipts.settle() {
            ended = self.connection.as_mut().poll(cx);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{
        client::{Client, Protocol},
        empty, full, read_body,
        testing::until,
    };
    use std::sync::atomic::AtomicUsize;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        sync::Notify,
        task::JoinHandle,
    };

    struct Running {
        address: SocketAddr,
        shutdown: CancellationToken,
        serving: JoinHandle<()>,
    }

    fn run<S, F>(config: Config, service: S) -> Running
    where
        S: Fn(Request<Inbound>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, shutdown) = (listener.address(), CancellationToken::new());
        let crowd = Crowd::new(1);
        let serving = tokio::spawn(serve(listener, config, service, crowd, shutdown.clone()));
        Running { address, shutdown, serving }
    }

    async fn ask(client: &Client, protocol: Protocol, address: SocketAddr) -> Option<String> {
        let request = Request::get(format!("http://{address}/")).body(empty()).unwrap();
        let response = client.send(protocol, request).await.ok()?;
        let body = read_body(response.into_body(), 1024).await.unwrap();
        Some(String::from_utf8(body.to_vec()).unwrap())
    }

    fn client() -> Client {
        Client::new(Default::default(), CancellationToken::new()).unwrap()
    }

    #[tokio::test]
    async fn one_port_speaks_both() {
        let running = run(Config::default(), async |request: Request<Inbound>| {
            let peer = request.body().peer().0.ip();
            Response::new(full(format!("{:?} {peer}", request.version())))
        });
        let client = client();
        let (http1, http2) = (Protocol::Http1, Protocol::Http2);
        assert_eq!(ask(&client, http1, running.address).await.unwrap(), "HTTP/1.1 127.0.0.1");
        assert_eq!(ask(&client, http2, running.address).await.unwrap(), "HTTP/2.0 127.0.0.1");
        running.shutdown.cancel();
        running.serving.await.unwrap();
    }

    #[tokio::test]
    async fn a_port_in_use_is_told() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let error = bind(listener.address()).unwrap_err();
        assert!(matches!(error, Error::InUse { address } if address == listener.address()));
    }

    /// The names of the threads that carry five connections.
    async fn threads(few_connections: usize, connections_max: usize) -> Vec<String> {
        let config = Config { few_connections, connections_max, ..Config::default() };
        let running = run(config, async |_: Request<Inbound>| {
            // Over a pause that only a runtime with a clock of its own can end.
            sleep(Duration::from_millis(1)).await;
            Response::new(full(std::thread::current().name().unwrap_or_default().to_owned()))
        });
        let clients: Vec<_> = (0..5).map(|_| client()).collect();
        let mut threads = vec![];
        for client in &clients {
            threads.push(ask(client, Protocol::Http1, running.address).await.unwrap());
        }
        running.shutdown.cancel();
        running.serving.await.unwrap();
        let crowd = |name: &String| if name.contains("crowd") { "crowd" } else { "here" };
        threads.iter().map(crowd).map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn connections_beyond_a_few_have_threads_of_their_own() {
        assert_eq!(threads(3, 100).await, ["here", "here", "here", "crowd", "crowd"]);
        assert_eq!(threads(3, usize::MAX).await, ["here", "here", "here", "crowd", "crowd"]);
        assert_eq!(threads(0, 100).await, ["here"; 5]);
    }

    #[tokio::test]
    async fn shutdown_lets_requests_end() {
        let (inside, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (count, wait) = (inside.clone(), go.clone());
        let running = run(Config::default(), move |_| {
            let wait = wait.clone();
            count.fetch_add(1, Relaxed);
            async move {
                wait.notified().await;
                Response::new(full("done"))
            }
        });
        let (client, address) = (client(), running.address);
        let asked = [Protocol::Http1, Protocol::Http2].map(|protocol| {
            let client = client.clone();
            tokio::spawn(async move { ask(&client, protocol, address).await })
        });
        until(|| inside.load(Relaxed) == 2).await;
        running.shutdown.cancel();
        until(|| std::net::TcpStream::connect(address).is_err()).await;
        go.notify_waiters();
        for asked in asked {
            assert_eq!(asked.await.unwrap().as_deref(), Some("done"));
        }
        running.serving.await.unwrap();
    }

    #[tokio::test]
    async fn a_drain_has_an_end() {
        let config = Config { drain_ms: 20, ..Config::default() };
        let (inside, running) = {
            let inside = Arc::new(AtomicUsize::new(0));
            let count = inside.clone();
            let running = run(config, move |_| {
                count.fetch_add(1, Relaxed);
                std::future::pending()
            });
            (inside, running)
        };
        let (client, address) = (client(), running.address);
        let asked = tokio::spawn(async move { ask(&client, Protocol::Http2, address).await });
        until(|| inside.load(Relaxed) == 1).await;
        running.shutdown.cancel();
        running.serving.await.unwrap();
        assert_eq!(asked.await.unwrap(), None);
    }

    #[tokio::test]
    async fn silent_clients_are_hung_up_on() {
        let config = Config { header_read_timeout_ms: 30, ..Config::default() };
        let running = run(config, async |_| Response::new(empty()));
        let mut silent = TcpStream::connect(running.address).await.unwrap();
        assert_eq!(silent.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn clients_that_ask_no_more_are_hung_up_on() {
        let config = Config { header_read_timeout_ms: 30, ..Config::default() };
        let running = run(config, async |_| Response::new(full("x")));
        let mut client = TcpStream::connect(running.address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", answer.escape_ascii());
    }

    #[tokio::test]
    async fn a_request_may_come_in_pieces() {
        let running = run(Config::default(), async |request: Request<Inbound>| {
            Response::new(full(read_body(request.into_body(), 100).await.unwrap()))
        });
        let mut client = TcpStream::connect(running.address).await.unwrap();
        client.set_nodelay(true).unwrap();
        let pieces = ["POST / HTTP/1.1\r\nho", "st: h\r\nconnection: close\r\n"];
        for piece in pieces.into_iter().chain(["content-length: 4\r\n\r\n", "ab", "cd"]) {
            client.write_all(piece.as_bytes()).await.unwrap();
            // So that the server finds the piece alone.
            tokio::task::yield_now().await;
        }
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(answer.ends_with(b"\r\n\r\nabcd"), "{}", answer.escape_ascii());
    }

    #[tokio::test]
    async fn no_more_connections_than_allowed() {
        let config = Config { connections_max: 1, ..Config::default() };
        let running = run(config, async |_| Response::new(full("x")));
        let first = client();
        assert_eq!(ask(&first, Protocol::Http2, running.address).await.unwrap(), "x");
        let second = client();
        let mut asked = std::pin::pin!(ask(&second, Protocol::Http2, running.address));
        let early = timeout(Duration::from_millis(50), asked.as_mut()).await;
        assert!(early.is_err(), "the second connection was accepted");
        drop(first);
        // Without its client the first connection is idle; its server closes it at shutdown.
        running.shutdown.cancel();
        running.serving.await.unwrap();
        assert_eq!(asked.await, None);
    }
}
