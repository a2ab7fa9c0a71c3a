//! What is registered is there again after a start, and a watched service stays up to date.

use super::endpoint::{self, Endpoint, GREETER, manifest, memory, open};
use crate::http::client::Protocol;
use crate::http::testing::until;
use crate::registry::{
    Change, Error, Fault, Overrides, Registration, Registry, Update, Usage, watch::Watch,
};
use crate::store::memory::Trouble;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

fn force(uri: &str) -> Registration {
    Registration { force: true, ..Registration::new(uri) }
}

#[tokio::test]
async fn what_is_registered_is_there_again() {
    let (store, endpoint) = (memory(), Endpoint::offering(GREETER).await);
    let registry = open(store.reopen().unwrap());
    let registered = registry.register(Registration::new(endpoint.uri())).await.unwrap();
    assert_eq!(registered.change, Change::Created);
    let hidden = Overrides { public: Some(false), ..Overrides::default() };
    registry.patch("Greeter", hidden).await.unwrap();

    let again = open(store.reopen().unwrap()).schema();
    let service = &again.services["Greeter"];
    assert_eq!((service.revision, service.public), (1, false));
    assert_eq!(service.deployment, registered.deployment.id);
    assert!(!service.handlers["greet"].public);
    let deployment = &again.deployments[&registered.deployment.id];
    assert_eq!(deployment.uri.to_string(), format!("{}/", endpoint.uri()));
    assert_eq!(deployment.sdk_version.as_deref(), Some("restate-sdk-test/1.0"));
    assert!(deployment.services["Greeter"].public, "an override is not of the deployment");
}

#[tokio::test]
async fn an_address_is_asked_again_only_with_force() {
    let (registry, endpoint) = (open(memory()), Endpoint::offering(GREETER).await);
    let first = registry.register(Registration::new(endpoint.uri())).await.unwrap();
    let second =
        registry.register(Registration::new(format!("{}/", endpoint.uri()))).await.unwrap();
    assert_eq!((second.change, endpoint.asked()), (Change::Unchanged, 1));
    let third = registry.register(force(&endpoint.uri())).await.unwrap();
    assert_eq!((third.change, endpoint.asked()), (Change::Overwritten, 2));
    assert_eq!(third.deployment.id, first.deployment.id);
    assert_eq!(registry.schema().services["Greeter"].revision, 2);
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let (registry, endpoint) = (open(memory()), Endpoint::offering(GREETER).await);
    let dry = Registration { dry_run: true, ..Registration::new(endpoint.uri()) };
    let registered = registry.register(dry).await.unwrap();
    assert_eq!(registered.deployment.services.len(), 1);
    assert!(registry.schema().services.is_empty());
}

#[tokio::test]
async fn a_failed_commit_changes_nothing_that_is_seen() {
    let (store, endpoint) = (memory(), Endpoint::offering(GREETER).await);
    store.plan(1, Trouble::Fail);
    let registry = open(store);
    let error = registry.register(Registration::new(endpoint.uri())).await.unwrap_err();
    assert!(matches!(error, Error::Store(_)), "{error}");
    assert!(registry.schema().services.is_empty());
}

#[tokio::test]
async fn a_deployment_in_use_stays_unless_forced() {
    let registry = open(memory());
    let (old, new) = (Endpoint::offering(GREETER).await, Endpoint::offering(GREETER).await);
    let old = registry.register(Registration::new(old.uri())).await.unwrap().deployment.id;
    let latest = registry.remove(old, Usage::Pinned(0)).await.unwrap_err();
    assert!(latest.to_string().contains("latest deployment of `Greeter`"), "{latest}");
    registry.register(Registration::new(new.uri())).await.unwrap();
    let pinned = registry.remove(old, Usage::Pinned(2)).await.unwrap_err();
    assert!(pinned.to_string().contains("2 invocations"), "{pinned}");
    registry.remove(old, Usage::Pinned(0)).await.unwrap();
    assert_eq!(registry.schema().services["Greeter"].revision, 2);
    let gone = registry.remove(old, Usage::Forced).await;
    assert_eq!(gone, Err(Error::UnknownDeployment(old)));
}

#[tokio::test]
async fn an_update_without_a_change_asks_nobody() {
    let (registry, endpoint) = (open(memory()), Endpoint::offering(GREETER).await);
    let id = registry.register(Registration::new(endpoint.uri())).await.unwrap().deployment.id;
    registry.update(id, Update::default()).await.unwrap();
    assert_eq!(endpoint.asked(), 1);
    let headers = Some([("x-key".to_owned(), "value".to_owned())].into());
    let update = Update { additional_headers: headers, ..Update::default() };
    let updated = registry.update(id, update).await.unwrap();
    assert_eq!((updated.additional_headers.len(), endpoint.asked()), (1, 2));
    assert_eq!(updated.services["Greeter"].revision, 1);
}

/// Starts to watch, and stops when it is dropped.
struct Watched {
    registry: Registry,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Watched {
    fn start(uri: &str) -> Watched {
        let registry = open(memory());
        let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
        let watch = Watch::new(registry.clone(), Registration::new(uri));
        tasks.spawn(watch.run(shutdown.clone()));
        Watched { registry, shutdown, tasks }
    }

    fn revision(&self, service: &str) -> u32 {
        self.registry.schema().services.get(service).map_or(0, |service| service.revision)
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[tokio::test]
async fn a_watched_service_is_waited_for_and_registered_again_when_it_changes() {
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap();
    drop(held);
    let watched = Watched::start(&format!("http://{address}"));
    let endpoint = Endpoint::start_at(address, manifest(GREETER)).await;
    until(|| watched.revision("Greeter") == 1).await;
    endpoint.answer(manifest(r#"[{"name":"Other","ty":"SERVICE","handlers":[]}]"#));
    until(|| watched.revision("Other") == 1).await;
    assert_eq!(watched.revision("Greeter"), 0, "it is not offered any more");
    watched.stop().await;
}

#[tokio::test]
async fn a_watched_service_keeps_the_metadata_that_somebody_gave_it() {
    let endpoint = Endpoint::offering(GREETER).await;
    let watched = Watched::start(&endpoint.uri());
    until(|| watched.revision("Greeter") == 1).await;
    let url = "http://hooks/1";
    let metadata = [(crate::registry::NOTIFY_URL.to_owned(), url.to_owned())].into();
    let wish = Registration { metadata, force: true, ..Registration::new(endpoint.uri()) };
    let deployment = watched.registry.register(wish.clone()).await.unwrap().deployment;
    assert_eq!(deployment.notify, Some(url.parse().unwrap()));
    endpoint.answer(manifest(r#"[{"name":"Other","ty":"SERVICE","handlers":[]}]"#));
    until(|| watched.revision("Other") == 1).await;
    let schema = watched.registry.schema();
    assert!(schema.notifies && schema.deployments[&deployment.id].notify == deployment.notify);
    watched.stop().await;

    let metadata = [(crate::registry::NOTIFY_URL.to_owned(), "hooks/1".to_owned())].into();
    let wish = Registration { metadata, ..wish };
    let refused = open(memory()).register(wish).await.unwrap_err();
    assert_eq!((refused.code(), refused.fault()), ("HF0190", Fault::Request));
}

#[tokio::test]
async fn a_watched_service_that_stays_the_same_keeps_its_revision() {
    let endpoint = Endpoint::offering(GREETER).await;
    let watched = Watched::start(&endpoint.uri());
    until(|| endpoint.asked() >= 3).await;
    assert_eq!(watched.revision("Greeter"), 1);
    watched.stop().await;
}

#[tokio::test]
async fn a_watched_service_of_http1_only_is_registered_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watched = Watched::start(&format!("http://{}", listener.local_addr().unwrap()));
    let mut tasks = JoinSet::new();
    tasks.spawn(endpoint::old_server(listener, manifest(GREETER)));
    until(|| watched.revision("Greeter") == 1).await;
    let schema = watched.registry.schema();
    let deployment = schema.deployments.values().next().unwrap();
    assert_eq!(deployment.protocol, Protocol::Http1);
    watched.stop().await;
}
