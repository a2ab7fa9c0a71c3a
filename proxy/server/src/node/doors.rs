//! The doors of a sidecar, and the watchers of its services: tasks that end together.

use crate::admin::{self, Admin};
use crate::bridge::a2a::{self, A2a};
use crate::bridge::mcp::{self, Mcp};
use crate::clock::Clock;
use crate::config::Config;
use crate::guard::Guard;
use crate::http::Inbound;
use crate::http::door::{self, Door};
use crate::http::{Crowd, listen};
use crate::ingress::{self, Ingress};
use crate::invoker::{self, Invoker};
use crate::notifier::Notifier;
use crate::partition::Router;
use crate::query::{self, Query, model, sql::Sql};
use crate::registry::{Limit, Registration, Registry, exposure::Exposure, watch::Watch};
use crate::tasks::{Tasks, desk};
use crate::telemetry;
use holdfast_machine::id::{InvocationId, PartitionId};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What the doors lead to.
pub struct Behind {
    pub registry: Registry,
    pub router: Router,
    pub clock: Arc<dyn Clock>,
    pub metrics: Arc<telemetry::Metrics>,
    pub attempts: Invoker,
    pub notifier: Notifier,
    /// The agents of A2A.
    pub agents: a2a::Core,
    pub tasks: Tasks,
    /// Stands before the doors for agents.
    pub guard: Guard,
    /// What agents see.
    pub exposure: Exposure,
}

/// Doors at work.
pub struct Doors {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    broken: CancellationToken,
}

impl Doors {
    pub fn open(
        config: &Config,
        ingress: listen::Listener,
        admin: listen::Listener,
        behind: Behind,
    ) -> Doors {
        let doors = Doors {
            tasks: TaskTracker::new(),
            shutdown: CancellationToken::new(),
            broken: CancellationToken::new(),
        };
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            ingress = %format_args!("http://{}", ingress.address()),
            admin = %format_args!("http://{}", admin.address()),
            data = %config.store.directory.display(),
            "holdfast is ready"
        );
        let mut told = config.admin.clone();
        told.ingress_endpoint.get_or_insert_with(|| reachable(ingress.address()));
        doors.open_ingress(config, ingress, &behind);
        doors.watch_services(config, &behind.registry);
        doors.open_admin(config, told, admin, behind);
        doors
    }

    /// What other doors on the same listener do not take is for the ingress.
    fn open_ingress(&self, config: &Config, listener: listen::Listener, behind: &Behind) {
        let others = door::Doors::new(self.bridges(config, behind));
        let ingress = Arc::new(Ingress::new(
            config.ingress.clone(),
            behind.registry.clone(),
            behind.router.clone(),
            behind.clock.clone(),
            behind.metrics.register("ingress", ingress::Metrics::new),
        ));
        let connections = config.listen.connections.clone();
        // Boxed, so that a connection without a request keeps no room for one.
        let front = move |request: hyper::Request<Inbound>| -> door::Answering {
            let Some(door) = others.of(&request) else {
                let ingress = ingress.clone();
                return Box::pin(async move { ingress.answer(request).await });
            };
            door.answer(door::boxed(request))
        };
        let crowd = Crowd::new(super::worker_threads(config.worker_threads));
        self.tasks.spawn(listen::serve(listener, connections, front, crowd, self.shutdown.clone()));
    }

    /// The doors for agents and for those who answer, which share the listener of the ingress.
    fn bridges(&self, config: &Config, behind: &Behind) -> Vec<Arc<dyn Door>> {
        let scopes = |own: &Option<Vec<String>>| own.as_ref().unwrap_or(&config.mcp.scopes).clone();
        let (tasks, guard) = (behind.tasks.clone(), behind.guard.clone());
        let asks = desk::Door::new(tasks, guard, scopes(&config.asks.scopes));
        let mut doors: Vec<Arc<dyn Door>> = vec![Arc::new(asks)];
        if config.mcp.enabled {
            let behind = mcp::Behind {
                guard: behind.guard.clone(),
                exposure: behind.exposure.clone(),
                tasks: behind.tasks.clone(),
                metrics: behind.metrics.register("mcp", mcp::Metrics::new),
                shutdown: self.shutdown.clone(),
                home: self.tasks.clone(),
            };
            doors.push(Arc::new(Mcp::new(config.mcp.clone(), behind)));
        }
        if config.a2a.enabled {
            let (core, guard) = (behind.agents.clone(), behind.guard.clone());
            let scopes = scopes(&config.a2a.scopes);
            doors.push(Arc::new(A2a::new(core, guard, scopes, self.shutdown.clone())));
        }
        doors
    }

    fn open_admin(
        &self,
        config: &Config,
        told: admin::Config,
        listener: listen::Listener,
        behind: Behind,
    ) {
        let Behind { registry, router, clock, metrics, attempts, notifier, tasks, .. } = behind;
        let live = Arc::new(Live { attempts, notifier });
        let query = Query::new(router.store().clone(), live.clone());
        let sql = Sql::new(router.store().clone(), live, config.query.clone());
        let admin = Admin::new(admin::Parts {
            config: told,
            registry,
            router,
            query,
            sql,
            asks: desk::Desk::new(tasks),
            clock,
            metrics: Arc::new(move || metrics.encode()),
        });
        let (shutdown, broken) = (self.shutdown.clone(), self.broken.clone());
        self.tasks.spawn(async move {
            if let Err(error) = admin.run(listener.into_socket(), shutdown).await {
                tracing::error!(%error, "the admin door is broken");
                broken.cancel();
            }
        });
    }

    fn watch_services(&self, config: &Config, registry: &Registry) {
        for url in &config.services {
            let watch = Watch::new(registry.clone(), Registration::new(url));
            self.tasks.spawn(watch.run(self.shutdown.clone()));
        }
    }

    /// Waits until a door breaks by itself.
    pub async fn broken(&self) {
        self.broken.cancelled().await;
    }

    /// Takes nothing more in, and waits for what is open.
    pub async fn close(self, patience: Duration) {
        self.shutdown.cancel();
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!("requests were still open; they are dropped, what was accepted goes on");
        }
    }
}

/// Where a client on this machine reaches a listener.
pub(super) fn reachable(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        let loopback: IpAddr = match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        address.set_ip(loopback);
    }
    format!("http://{address}/")
}

/// The seam between who looks on and who runs.
struct Live {
    attempts: Invoker,
    notifier: Notifier,
}

impl query::Live for Live {
    fn attempt(&self, invocation: InvocationId) -> Option<query::Attempt> {
        let running = self.attempts.view().of(invocation)?;
        Some(query::Attempt {
            number: running.attempt,
            started_at: running.started_at,
            deployment: Some(running.pin.deployment),
        })
    }

    fn waits(&self, invocation: InvocationId) -> Option<query::Waits> {
        let invoker::Waits { limit, running, concurrency, .. } = self.attempts.waits(invocation)?;
        Some(query::Waits { limit, running, concurrency })
    }

    fn ahead(&self, invocation: InvocationId) -> Option<usize> {
        self.attempts.ahead(invocation)
    }

    fn limits(&self) -> model::Limits {
        let standings = self.attempts.standings();
        let counts = (standings.running, standings.waiting_for_all);
        model::Limits {
            attempts: model::Places::new(standings.max, counts, standings.oldest),
            limits: standings.limits.into_iter().map(limit).collect(),
        }
    }

    fn delivery(&self, partition: PartitionId, sequence: u64) -> Option<query::Delivery> {
        let delivery = self.notifier.delivery(partition, sequence)?;
        Some(query::Delivery {
            tries: delivery.tries,
            last_error: delivery.last_error,
            next_try_at: delivery.next_try_at,
        })
    }
}

fn limit(standing: invoker::Standing) -> model::Limit {
    let Limit { subject, concurrency, origin } = standing.limit;
    let counts = (standing.running, standing.waiting);
    model::Limit {
        limit: subject.to_string(),
        service: subject.service,
        handler: subject.handler,
        key_prefix: subject.key_prefix,
        from: origin.as_str().into(),
        places: model::Places::new(concurrency as usize, counts, standing.oldest),
    }
}
