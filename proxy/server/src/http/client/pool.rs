//! Which connection a request goes over. Connects once for concurrent callers, and hands out no
//! more places on a connection than the peer allows.

use super::{
    Config, Error, Protocol, Unusable,
    connect::{Address, Connector, Guard},
    http1::Exclusive,
    http2::Shared,
};
use foldhash::HashMap;
use hyper::{
    Uri,
    http::uri::{Authority, Scheme},
};
use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// All connections, by address.
pub(super) struct Pool {
    pub config: Config,
    pub connector: Connector,
    /// Everything that runs beside the callers.
    pub tasks: TaskTracker,
    pub shutdown: CancellationToken,
    hosts: Mutex<HashMap<Key, Arc<Host>>>,
}

/// Whether it is TLS, where it goes, and what is spoken there.
type Key = (bool, Authority, Protocol);

/// The connections of one address.
#[derive(Debug)]
pub(super) struct Host {
    pub address: Address,
    state: Mutex<State>,
    /// A place was given back.
    released: Notify,
}

#[derive(Debug, Default)]
struct State {
    shared: Vec<Arc<Shared>>,
    /// The one attempt to connect that everybody waits for.
    connecting: Option<watch::Receiver<Connected>>,
    idle: Vec<(Exclusive, Instant)>,
    /// HTTP/1.1 connections, idle or not.
    seats: usize,
}

/// How the attempt to connect ended, once it did.
type Connected = Option<Result<(), Error>>;

/// The right to one more request at once on a shared connection.
#[derive(Debug)]
pub(super) struct Place {
    pub connection: Arc<Shared>,
    host: Arc<Host>,
}

/// The right to one HTTP/1.1 connection.
#[derive(Debug)]
pub(super) struct Seat(pub Arc<Host>);

enum Pick {
    Place(Place),
    Connecting(watch::Receiver<Connected>),
    Connect(watch::Sender<Connected>, watch::Receiver<Connected>),
    Full,
}

enum Pick1 {
    Idle(Exclusive),
    Connect(Seat),
    Full,
}

impl Pool {
    pub(super) fn new(
        config: Config,
        guard: Option<Guard>,
        shutdown: CancellationToken,
    ) -> Result<Arc<Pool>, Unusable> {
        let timeout = Duration::from_millis(config.connect_timeout_ms);
        let connector = Connector::new(timeout, config.extra_ca_file.as_deref(), guard)?;
        let tasks = TaskTracker::new();
        let hosts = Mutex::default();
        let pool = Arc::new(Pool { config, connector, tasks, shutdown, hosts });
        pool.tasks.spawn(sweep(Arc::downgrade(&pool), pool.shutdown.clone(), pool.idle()));
        Ok(pool)
    }

    /// The connections to the address of `uri`.
    pub(super) fn host(&self, uri: &Uri, protocol: Protocol) -> Result<Arc<Host>, Error> {
        let known = |authority: &Authority| {
            let tls = uri.scheme() == Some(&Scheme::HTTPS);
            let key = (tls, authority.clone(), protocol);
            (uri.scheme() == Some(&Scheme::HTTP) || tls).then_some(key)
        };
        let Some(key) = uri.authority().and_then(known) else {
            return Err(Error::address(uri, "expected http:// or https:// and a host"));
        };
        let mut hosts = self.hosts.lock().expect("nobody panics while holding the lock");
        if let Some(host) = hosts.get(&key) {
            return Ok(host.clone());
        }
        let (state, released) = (Mutex::default(), Notify::new());
        let host = Arc::new(Host { address: Address::of(uri)?, state, released });
        hosts.insert(key, host.clone());
        Ok(host)
    }

    /// A place on an HTTP/2 connection.
    pub(super) async fn place(self: &Arc<Self>, host: &Arc<Host>) -> Result<Place, Error> {
        match host.free(&self.config) {
            Some(place) => Ok(place),
            // Boxed, because it is large and seldom needed.
            None => Box::pin(self.new_place(host)).await,
        }
    }

    /// A place on a connection that is made, or as soon as one is given back.
    async fn new_place(self: &Arc<Self>, host: &Arc<Host>) -> Result<Place, Error> {
        let deadline = self.patience();
        loop {
            let mut released = std::pin::pin!(host.released.notified());
            released.as_mut().enable();
            let mut connected = match host.pick(&self.config) {
                Pick::Place(place) => return Ok(place),
                Pick::Connecting(connected) => connected,
                Pick::Connect(tell, connected) => {
                    self.tasks.spawn(self.clone().connect(host.clone(), tell));
                    connected
                }
                Pick::Full => {
                    self.wait_for(released, deadline, host).await?;
                    continue;
                }
            };
            match connected.wait_for(Option::is_some).await {
                Ok(result) => result.clone().unwrap_or(Ok(()))?,
                Err(_) => return Err(self.closing(host)),
            }
        }
    }

    /// An HTTP/1.1 connection, and whether it is a new one.
    pub(super) async fn exclusive(
        self: &Arc<Self>,
        host: &Arc<Host>,
        fresh: bool,
    ) -> Result<(Exclusive, bool), Error> {
        let deadline = self.patience();
        loop {
            let mut released = std::pin::pin!(host.released.notified());
            released.as_mut().enable();
            match host.pick1(self.config.connections_per_authority_max, fresh) {
                Pick1::Idle(connection) => return Ok((connection, false)),
                Pick1::Connect(seat) => return Ok((Exclusive::connect(self, seat).await?, true)),
                Pick1::Full => self.wait_for(released, deadline, host).await?,
            }
        }
    }

    pub(super) async fn closed(&self) {
        self.shutdown.cancelled().await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn connect(self: Arc<Self>, host: Arc<Host>, tell: watch::Sender<Connected>) {
        let result = Shared::connect(&self, &host).await;
        let mut state = host.state();
        state.connecting = None;
        let told = result.map(|connection| state.shared.push(connection));
        drop(state);
        // Those who waited may have given up.
        let _ = tell.send(Some(told));
    }

    async fn wait_for(
        &self,
        released: impl Future<Output = ()>,
        deadline: Instant,
        host: &Host,
    ) -> Result<(), Error> {
        timeout_at(deadline, released).await.map_err(|_| Error::Busy {
            authority: host.address.authority.clone(),
            connections_max: self.config.connections_per_authority_max,
        })
    }

    fn patience(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.config.connect_timeout_ms)
    }

    fn idle(&self) -> Duration {
        Duration::from_millis(self.config.idle_ms)
    }

    fn closing(&self, host: &Host) -> Error {
        let reason = "shutting down".to_owned();
        Error::Connect { authority: host.address.authority.clone(), reason }
    }

    /// Closes what nobody has used for `idle`, and forgets addresses without connections.
    fn close_idle(&self, idle: Duration) {
        let mut hosts = self.hosts.lock().expect("nobody panics while holding the lock");
        hosts.retain(|_, host| {
            let mut state = host.state();
            state.shared.retain(|connection| !connection.is_idle_for(idle));
            let old = |(connection, since): &mut (Exclusive, Instant)| {
                connection.is_closed() || since.elapsed() >= idle
            };
            let closed: Vec<_> = state.idle.extract_if(.., old).collect();
            drop(state);
            // Their seats lock the state.
            drop(closed);
            let state = host.state();
            let empty = state.shared.is_empty() && state.seats == 0 && state.connecting.is_none();
            // Somebody who holds the host may be about to put a connection into it.
            !empty || Arc::strong_count(host) > 1
        });
    }
}

/// Looks for idle connections now and then, as long as the pool is there.
async fn sweep(pool: std::sync::Weak<Pool>, shutdown: CancellationToken, idle: Duration) {
    let mut ticks = tokio::time::interval((idle / 4).max(Duration::from_millis(10)));
    while shutdown.run_until_cancelled(ticks.tick()).await.is_some() {
        let Some(pool) = pool.upgrade() else { return };
        pool.close_idle(idle);
    }
}

impl Host {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding the lock")
    }

    fn free(self: &Arc<Self>, config: &Config) -> Option<Place> {
        self.free_of(&self.state(), config)
    }

    fn free_of(self: &Arc<Self>, state: &State, config: &Config) -> Option<Place> {
        let free = |c: &&Arc<Shared>| c.take(config.streams_per_connection_max);
        let connection = state.shared.iter().find(free)?.clone();
        Some(Place { connection, host: self.clone() })
    }

    fn pick(self: &Arc<Self>, config: &Config) -> Pick {
        let mut state = self.state();
        if let Some(place) = self.free_of(&state, config) {
            return Pick::Place(place);
        }
        if let Some(connecting) = &state.connecting {
            return Pick::Connecting(connecting.clone());
        }
        if state.shared.len() >= config.connections_per_authority_max {
            return Pick::Full;
        }
        let (tell, connected) = watch::channel(None);
        state.connecting = Some(connected.clone());
        Pick::Connect(tell, connected)
    }

    fn pick1(self: &Arc<Self>, seats_max: usize, fresh: bool) -> Pick1 {
        let mut state = self.state();
        let mut dead = Vec::new();
        while !fresh && let Some((connection, _)) = state.idle.pop() {
            if !connection.is_closed() {
                drop(state);
                return Pick1::Idle(connection);
            }
            dead.push(connection);
        }
        let full = state.seats - dead.len() >= seats_max;
        if !full {
            state.seats += 1;
        }
        drop(state);
        // Their seats lock the state again.
        drop(dead);
        if full { Pick1::Full } else { Pick1::Connect(Seat(self.clone())) }
    }

    /// Takes back an HTTP/1.1 connection that is ready for another request.
    pub(super) fn keep(&self, connection: Exclusive) {
        self.state().idle.push((connection, Instant::now()));
        self.released.notify_one();
    }

    /// Forgets a shared connection that is closed or closing.
    pub(super) fn retire(&self, connection: &Arc<Shared>) {
        self.state().shared.retain(|other| !Arc::ptr_eq(other, connection));
        self.released.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connection.give_back();
        self.host.released.notify_one();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.state().seats -= 1;
        self.0.released.notify_one();
    }
}

#[cfg(test)]
impl Pool {
    /// How many connections are kept, of both protocols.
    pub(super) fn kept(&self) -> usize {
        let hosts = self.hosts.lock().unwrap();
        let kept = |host: &Arc<Host>| {
            let state = host.state();
            state.shared.len() + state.idle.len()
        };
        hosts.values().map(kept).sum()
    }
}
