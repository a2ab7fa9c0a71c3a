//! One HTTP/2 connection, shared by many requests.

use super::{
    Error, Protocol, ResponseBody,
    pool::{Host, Pool},
    stream::{Inflow, Outflow},
};
use crate::http::{Body, seldom::seldom};
use bytes::Bytes;
use h2::{
    Ping,
    client::{Builder, Connection, SendRequest},
};
use http_body::Body as _;
use hyper::{Request, Response, Version, header};
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::Poll,
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

/// Largest DATA frame that is accepted, in bytes: the protocol's own default, said aloud.
const FRAME_BYTES_MAX: u32 = 16_384;
/// Largest header list that is accepted, in bytes.
const HEADER_BYTES_MAX: u32 = 64 << 10;

/// A connection and how much of it is in use.
#[derive(Debug)]
pub(super) struct Shared {
    sender: SendRequest<Bytes>,
    used: AtomicUsize,
    last_used: Mutex<Instant>,
}

impl Shared {
    /// Connects, and waits until the peer has said how many streams it allows.
    pub(super) async fn connect(pool: &Arc<Pool>, host: &Arc<Host>) -> Result<Arc<Shared>, Error> {
        let limit = Duration::from_millis(pool.config.connect_timeout_ms);
        let authority = &host.address.authority;
        let stream = pool.connector.open(&host.address, Protocol::Http2).await?;
        // Broken, not refused: somebody is there who may speak something else.
        let fail = |reason: String| Error::Broken { authority: authority.clone(), reason };
        let handshake = Builder::new()
            .initial_window_size(pool.config.stream_window_bytes)
            .initial_connection_window_size(pool.config.connection_window_bytes)
            .max_frame_size(FRAME_BYTES_MAX)
            .max_header_list_size(HEADER_BYTES_MAX)
            .enable_push(false)
            // None until the peer's SETTINGS say otherwise: `streams` waits for them.
            .initial_max_send_streams(0)
            .handshake::<_, Bytes>(stream);
        let (sender, connection) = match timeout(limit, handshake).await {
            Ok(parts) => parts.map_err(|error| fail(error.to_string()))?,
            Err(_) => return Err(fail("it did not take the HTTP/2 preface".to_owned())),
        };
        let last_used = Mutex::new(Instant::now());
        let shared = Arc::new(Shared { sender, used: AtomicUsize::new(0), last_used });
        let (ended, mut streams) = watch::channel(Ok(0));
        let driver = Driver {
            connection,
            streams: ended,
            shared: Arc::downgrade(&shared),
            host: Arc::downgrade(host),
        };
        pool.tasks.spawn(driver.run(pool.clone()));
        let ready = streams.wait_for(|streams| *streams != Ok(0));
        match timeout(limit, ready).await {
            Ok(Ok(streams)) => match &*streams {
                Ok(_) => Ok(shared),
                Err(reason) => Err(fail(format!("it does not speak HTTP/2: {reason}"))),
            },
            Ok(Err(_)) => Err(fail("the connection was closed at once".to_owned())),
            Err(_) => Err(fail("it does not speak HTTP/2: no SETTINGS came".to_owned())),
        }
    }

    /// Takes one place if there is one. Called under the lock of the host.
    pub(super) fn take(&self, streams_max: usize) -> bool {
        let max = streams_max.min(self.sender.current_max_send_streams());
        if self.used.load(Relaxed) >= max {
            return false;
        }
        self.used.fetch_add(1, Relaxed);
        true
    }

    pub(super) fn give_back(&self) {
        *self.last_used.lock().expect("nobody panics while holding the lock") = Instant::now();
        self.used.fetch_sub(1, Relaxed);
    }

    pub(super) fn is_idle_for(&self, idle: Duration) -> bool {
        let last_used = *self.last_used.lock().expect("nobody panics while holding the lock");
        self.used.load(Relaxed) == 0 && last_used.elapsed() >= idle
    }
}

/// Sends one request. A connection that turns out to be closed before anything was sent is left
/// for another, once.
pub(super) async fn send(
    pool: &Arc<Pool>,
    host: Arc<Host>,
    request: Request<Body>,
) -> Result<Response<ResponseBody>, Error> {
    let mut place = pool.place(&host).await?;
    let mut sender = match place.connection.sender.clone().ready().await {
        Ok(sender) => sender,
        Err(_) => {
            host.retire(&place.connection);
            place = pool.place(&host).await?;
            let ready = place.connection.sender.clone().ready().await;
            ready.map_err(|error| refused(&host, &error))?
        }
    };
    let (head, body) = head_and_body(request);
    let ends_at_once = body.is_end_stream();
    let sent = sender.send_request(head, ends_at_once);
    let (response, stream) = sent.map_err(|error| {
        host.retire(&place.connection);
        refused(&host, &error)
    })?;
    let mut outflow = (!ends_at_once).then(|| Outflow::new(body, stream));
    let mut response = pin!(response);
    let response = poll_fn(|cx| {
        if let Some(outflow) = &mut outflow {
            outflow.drive(cx);
        }
        response.as_mut().poll(cx)
    });
    let response = match response.await {
        Ok(response) => response,
        Err(error) if is_unseen(&error) => {
            if error.is_go_away() {
                host.retire(&place.connection);
            }
            return Err(refused(&host, &error));
        }
        Err(error) => return Err(broken(&host, &error)),
    };
    Ok(response.map(|stream| ResponseBody::from(Inflow::new(stream, outflow, place))))
}

/// Whether the peer says that it did nothing with the stream: it refused it, or it goes away and
/// names an earlier stream as its last. (The streams that it looked at end otherwise.)
fn is_unseen(error: &h2::Error) -> bool {
    let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
    error.is_remote() && (refused || error.is_go_away())
}

fn refused(host: &Host, error: &h2::Error) -> Error {
    Error::Refused { authority: host.address.authority.clone(), reason: told(error) }
}

fn broken(host: &Host, error: &h2::Error) -> Error {
    Error::Broken { authority: host.address.authority.clone(), reason: told(error) }
}

/// What happened, in words.
pub(super) fn told(error: &h2::Error) -> String {
    match error.reason() {
        Some(reason) if error.is_remote() && error.is_go_away() => {
            format!("the service closes the connection ({reason:?})")
        }
        Some(reason) if error.is_remote() => format!("the service reset the stream ({reason:?})"),
        _ => error.to_string(),
    }
}

/// HTTP/2 has no connection headers, and the authority is in the URI.
fn head_and_body(request: Request<Body>) -> (Request<()>, Body) {
    let (mut parts, body) = request.into_parts();
    parts.version = Version::HTTP_2;
    for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE] {
        parts.headers.remove(name);
    }
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        parts.headers.entry(header::CONTENT_LENGTH).or_insert(length.into());
    }
    (Request::from_parts(parts, ()), body)
}

/// Drives one connection until it ends, is found dead, or is not wanted any more.
struct Driver<T> {
    connection: Connection<T, Bytes>,
    /// How many streams the peer allows, as soon as it said so; or why there is no connection.
    streams: watch::Sender<Result<usize, String>>,
    shared: Weak<Shared>,
    host: Weak<Host>,
}

impl<T: super::connect::Stream> Driver<T> {
    async fn run(mut self, pool: Arc<Pool>) {
        let interval = Duration::from_millis(pool.config.keep_alive_interval_ms);
        let patience = Duration::from_millis(pool.config.keep_alive_timeout_ms);
        let pings = self.connection.ping_pong();
        let shutdown = pool.shutdown.clone();
        // The pool is made free with its last client, not with its last connection.
        drop(pool);
        let halt = async {
            tokio::select! {
                () = keep_alive(pings, interval, patience) => "no answer to PING",
                () = shutdown.cancelled() => "shutting down",
            }
        };
        let halt = pin!(halt);
        let reason = tokio::select! {
            biased;
            ended = drive(&mut self.connection, &self.streams) => ended,
            halt = seldom(halt) => halt.to_owned(),
        };
        if let (Some(host), Some(shared)) = (self.host.upgrade(), self.shared.upgrade()) {
            host.retire(&shared);
            tracing::debug!(authority = host.address.authority, reason, "connection closed");
        }
        // Who waits for the first word of the peer hears that there is none.
        let _ = self.streams.send_replace(Err(reason));
    }
}

async fn drive<T: super::connect::Stream>(
    connection: &mut Connection<T, Bytes>,
    streams: &watch::Sender<Result<usize, String>>,
) -> String {
    let mut gathered = false;
    let mut known = Ok(0);
    let ended = poll_fn(|cx| {
        // Whoever else is about to run may have frames too: they go out in one write.
        gathered = !gathered;
        if gathered {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let ended = Pin::new(&mut *connection).poll(cx);
        let now = Ok(connection.max_concurrent_send_streams());
        if now != known {
            known.clone_from(&now);
            let _ = streams.send_replace(now);
        }
        ended
    });
    match ended.await {
        Ok(()) => "closed by the service".to_owned(),
        Err(error) => told(&error),
    }
}

/// Returns when a PING was not answered in time.
async fn keep_alive(pings: Option<h2::PingPong>, interval: Duration, patience: Duration) {
    let Some(mut pings) = pings else {
        return std::future::pending().await;
    };
    loop {
        sleep(interval).await;
        match timeout(patience, pings.ping(Ping::opaque())).await {
            Ok(Ok(_)) => {}
            // The connection itself says why.
            Ok(Err(_)) => return std::future::pending().await,
            Err(_) => return,
        }
    }
}
