//! The hands that call services: a bounded number of attempts at once, each one request. Carries
//! bytes and keeps time; what they mean is decided by the attempt, and what becomes of them by
//! the partition. Never reads or writes a table.

mod asking;
mod config;
mod conversation;
mod error;
mod metrics;
mod outgoing;
mod places;
mod pressure;
mod route;
#[cfg(test)]
mod tests;
mod view;

pub use config::Config;
pub use error::Error;
pub use metrics::Metrics;
pub use places::{Standing, Standings, Waits};
pub use view::{Running, View};

use crate::chance;
use crate::clock::Clock;
use crate::http::client::Client;
use crate::http::identity::Signer;
use crate::partition::{Admission, Admitted, Handle, Hands, News, Place, Router};
use crate::registry::{Bounds, Limit, Registry};
use asking::Asking;
use conversation::Conversation;
use holdfast_machine::{
    attempt::{Attempt, Head, Start},
    command::{AttemptEnd, AttemptSaid, Failed, Reaction},
    id::InvocationId,
    model::{Callee, Target},
    retry::RetryPolicy,
};
use hyper::{Request, header::HeaderValue};
use places::{Answer, Grant, Places, Ticket};
use route::Route;
use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};
use tokio::sync::mpsc::Receiver;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use view::{Live, Wish};

/// Runs attempts. Cheap to clone.
#[derive(Clone)]
pub struct Invoker {
    shared: Arc<Shared>,
}

/// What the invoker works with.
pub struct Parts {
    pub client: Client,
    pub registry: Registry,
    pub bounds: Bounds,
    pub clock: Arc<dyn Clock>,
    /// Signs each request, where the operator has given a key.
    pub signer: Option<Signer>,
    /// Sent to services as `x-restate-cluster-name`.
    pub cluster_name: String,
    pub metrics: Metrics,
}

struct Shared {
    /// Itself, for the places that it hands out.
    me: Weak<Shared>,
    config: Config,
    /// As it is sent.
    cluster_name: Result<HeaderValue, String>,
    parts: Parts,
    places: Places,
    view: View,
    tasks: TaskTracker,
    /// Where attempts run; partitions start them from threads of their own.
    runtime: tokio::runtime::Handle,
    /// No attempt may begin any more.
    closing: CancellationToken,
    /// None may go on.
    cutting: CancellationToken,
    waiters: OnceLock<Box<dyn Waiters>>,
}

/// Those who wait for a place: the partitions of their attempts.
trait Waiters: Send + Sync {
    /// There is a place for an attempt.
    ///
    /// # Errors
    /// Gives the place back where nobody wants it any more.
    fn start(&self, waits: Ticket, place: Place) -> Result<(), Place>;

    /// An attempt has to ask for its place again.
    fn ask_again(&self, waits: Ticket);
}

impl Waiters for Router {
    fn start(&self, (invocation, attempt): Ticket, place: Place) -> Result<(), Place> {
        self.of(invocation).start_attempt(invocation, attempt, place)
    }

    fn ask_again(&self, (invocation, attempt): Ticket) {
        self.of(invocation).ask_again(invocation, attempt);
    }
}

/// What an attempt needs of its partition; the seam by which the invoker is tested alone.
trait Partition: Send + Sync + 'static {
    fn say(&self, said: AttemptSaid);
    fn room(&self) -> impl Future<Output = ()> + Send;
}

impl Partition for Handle {
    fn say(&self, said: AttemptSaid) {
        Handle::say(self, said);
    }

    fn room(&self) -> impl Future<Output = ()> + Send {
        Handle::room(self)
    }
}

impl<P: Partition> Partition for Arc<P> {
    fn say(&self, said: AttemptSaid) {
        (**self).say(said);
    }

    fn room(&self) -> impl Future<Output = ()> + Send {
        (**self).room()
    }
}

impl Invoker {
    /// Call it inside of the tokio runtime that attempts shall run on.
    pub fn new(config: Config, parts: Parts) -> Invoker {
        let shared = Arc::new_cyclic(|me: &Weak<Shared>| Shared {
            me: me.clone(),
            places: Places::new(config.concurrent_attempts_max, parts.clock.clone()),
            config,
            cluster_name: route::cluster_name(&parts.cluster_name),
            parts,
            view: View::default(),
            tasks: TaskTracker::new(),
            runtime: tokio::runtime::Handle::current(),
            closing: CancellationToken::new(),
            cutting: CancellationToken::new(),
            waiters: OnceLock::new(),
        });
        let (of_metrics, of_registry) = (shared.me.clone(), shared.me.clone());
        shared.parts.metrics.look_at(move || Some(of_metrics.upgrade()?.places.standings()));
        shared.parts.registry.when_changed(move |schema| {
            if let Some(shared) = of_registry.upgrade() {
                shared.limit(&schema.limits);
            }
        });
        Invoker { shared }
    }

    /// Plugs in the partitions, which are made after their hands.
    pub fn plug(&self, router: Router) {
        self.plug_with(Box::new(router));
    }

    fn plug_with(&self, waiters: Box<dyn Waiters>) {
        // A second router would be the same one.
        let _ = self.shared.waiters.set(waiters);
    }

    /// What runs now.
    pub fn view(&self) -> View {
        self.shared.view.clone()
    }

    /// How many attempts run and wait, in all and under each limit.
    pub fn standings(&self) -> Standings {
        self.shared.places.standings()
    }

    /// What `invocation` waits for, where it waits for a place.
    pub fn waits(&self, invocation: InvocationId) -> Option<Waits> {
        self.shared.places.waits(invocation)
    }

    /// How many wait for the same as `invocation` and came before it.
    pub fn ahead(&self, invocation: InvocationId) -> Option<usize> {
        self.shared.places.ahead(invocation)
    }

    /// Watches over the attempts until `shutdown`; then asks them to suspend, and cuts off those
    /// that have not done so within `drain_ms`. The partitions must still listen.
    pub async fn run(self, shutdown: CancellationToken) {
        let _ = shutdown.run_until_cancelled(pressure::watch(&self.shared)).await;
        let shared = &self.shared;
        shared.closing.cancel();
        shared.places.close();
        shared.tasks.close();
        shared.want_of_all(Wish::Suspend);
        let drain = Duration::from_millis(shared.config.drain_ms);
        if tokio::time::timeout(drain, shared.tasks.wait()).await.is_err() {
            tracing::info!(attempts = shared.tasks.len(), "cutting off attempts that still run");
        }
        shared.cutting.cancel();
        shared.want_of_all(Wish::Cut);
        shared.tasks.wait().await;
    }
}

impl Hands for Invoker {
    fn admit(&self, invocation: InvocationId, attempt: u32, target: Option<&Target>) -> Admission {
        let (answer, grants) = self.shared.places.admit((invocation, attempt), target);
        self.shared.hand_out(grants);
        match answer {
            Answer::Seat(seat) => Admission::Admitted(Place::new(self.shared.clone(), seat)),
            Answer::Waits => Admission::Waits,
            Answer::WhichTarget => Admission::WhichTarget,
        }
    }

    fn start(&self, attempt: Admitted) {
        let Admitted { start, news, partition, place } = attempt;
        self.shared.clone().start(start, news, partition, place);
    }

    fn withdraw(&self, invocation: InvocationId, attempt: u32) -> bool {
        self.shared.places.withdraw((invocation, attempt))
    }

    fn callee(&self, service: &str, handler: &str) -> Option<Callee> {
        self.shared.parts.registry.callee(service, handler)
    }
}

impl crate::partition::Places for Shared {
    fn give_back(&self, seat: u64) {
        self.hand_out(self.places.give_back(seat));
    }
}

impl Shared {
    /// Begins an attempt that has a place.
    fn start<P: Partition>(
        self: Arc<Self>,
        start: Start,
        news: Receiver<News>,
        partition: P,
        place: Place,
    ) {
        if self.closing.is_cancelled() {
            return; // Nothing was said, so the next process begins it again.
        }
        let (tasks, runtime) = (self.tasks.clone(), self.runtime.clone());
        // Not here: the partition has other things to do than to prepare a request. And boxed where
        // it runs: what is large would be moved from hand to hand otherwise.
        let running = async move {
            Box::pin(self.drive(start, news, partition, place.seat())).await;
            drop(place);
        };
        tasks.spawn_on(running, &runtime);
    }

    async fn drive<P: Partition>(
        &self,
        start: Start,
        news: Receiver<News>,
        partition: P,
        seat: u64,
    ) {
        self.parts.metrics.started();
        let mut promise = Promise::of(&start, partition);
        let schema = self.parts.registry.schema();
        let routed = Route::of(&start, &schema, &self.parts.bounds);
        match routed.and_then(|route| self.conversation(&promise, start, news, (route, seat))) {
            Ok(conversation) => conversation.run().await,
            Err(error) => promise.fail(error),
        }
        promise.keep();
    }

    fn conversation<P: Partition>(
        &self,
        promise: &Promise<P>,
        start: Start,
        news: Receiver<News>,
        (route, seat): (Route, u64),
    ) -> Result<Conversation<Arc<P>>, Error> {
        let Parts { client, registry, clock, metrics, .. } = &self.parts;
        let now = clock.now();
        let live = Live::new(&start, route.pin(), seat, now);
        let attempt = Attempt::new(now, start, route.terms(registry, chance::u64()));
        let head = attempt.request_head();
        let request = self.request(&route, &head, &live.target)?;
        let (pieces_max, protocol) = (self.config.request_pieces_max, route.deployment.protocol);
        let (me, of_live) = (self.me.clone(), live.clone());
        let remake = move || me.upgrade()?.request(&route, &head, &of_live.target).ok();
        let asking = Asking::new(client.clone(), protocol, Box::new(remake), pieces_max.max(1));
        let (outgoing, incoming) = asking.ask(request);
        self.view.begin(live.clone());
        // Who begins while all are asked, or counted, may not have been in sight.
        self.hand_out(self.places.recount(seat, &live.target));
        if self.closing.is_cancelled() {
            live.want(Wish::Suspend);
        }
        if self.cutting.is_cancelled() {
            live.want(Wish::Cut);
        }
        Ok(Conversation {
            attempt,
            live,
            partition: promise.partition.clone(),
            news: Some(news),
            ended: false,
            asking: Some(asking),
            outgoing,
            incoming,
            clock: clock.clone(),
            metrics: metrics.clone(),
            backlog_bytes_max: self.config.backlog_bytes_max,
            view: self.view.clone(),
        })
    }

    fn request(&self, route: &Route, head: &Head, target: &Target) -> Result<Request<()>, Error> {
        route.request(head, target, &self.cluster_name, self.parts.signer.as_ref())
    }

    fn want_of_all(&self, wish: Wish) {
        for live in self.view.all() {
            live.want(wish);
        }
    }

    /// Gives their places to those who waited; one that nobody wants any more goes to the next.
    fn hand_out(&self, grants: Vec<Grant>) {
        let mut grants = VecDeque::from(grants);
        while let Some(Grant { ticket, seat }) = grants.pop_front() {
            let (Some(me), Some(waiters)) = (self.me.upgrade(), self.waiters.get()) else {
                return; // Nobody can wait yet, or nobody is there any more.
            };
            if let Err(place) = waiters.start(ticket, Place::new(me, seat)) {
                grants.extend(self.places.give_back(place.into_seat()));
            }
        }
    }

    /// These limits count from now on.
    fn limit(&self, limits: &[Limit]) {
        let seat = |live: &Arc<Live>| (live.seat, live.target.clone());
        let (grants, again) =
            self.places.set(limits, || self.view.all().iter().map(seat).collect());
        self.hand_out(grants);
        for waits in again {
            if let Some(waiters) = self.waiters.get() {
                waiters.ask_again(waits);
            }
        }
    }
}

/// The partition waits for the end of each attempt that began: one that dies of a bug is said to
/// have failed.
struct Promise<P: Partition> {
    partition: Arc<P>,
    invocation: InvocationId,
    attempt: u32,
    jitter: u64,
    kept: bool,
}

impl<P: Partition> Promise<P> {
    fn of(start: &Start, partition: P) -> Promise<P> {
        Promise {
            partition: Arc::new(partition),
            invocation: start.invocation,
            attempt: start.attempt,
            jitter: chance::u64(),
            kept: false,
        }
    }

    fn keep(&mut self) {
        self.kept = true;
    }

    /// The attempt failed without a conversation.
    fn fail(&mut self, error: Error) {
        tracing::debug!(invocation = %self.invocation, %error, "attempt cannot begin");
        self.kept = true;
        self.partition.say(AttemptSaid {
            invocation: self.invocation,
            attempt: self.attempt,
            pin: None,
            said: vec![],
            end: Some(AttemptEnd::Failed(Box::new(Failed {
                failure: error.into_failure(),
                reaction: Reaction::Retry,
                // The handler's own policy belongs to the registration that is missing.
                policy: RetryPolicy::default(),
                jitter: self.jitter,
                counts_for_entry: false,
            }))),
        });
    }
}

impl<P: Partition> Drop for Promise<P> {
    fn drop(&mut self) {
        if !self.kept && std::thread::panicking() {
            tracing::error!(invocation = %self.invocation, "an attempt died of a bug");
            self.fail(Error::Bug);
        }
    }
}
