//! What no client can bring about: a store that cannot be read, as each binding tells it.

use super::*;
use crate::bridge::a2a::{grpc, jsonrpc, rest};
use crate::clock::Manual;
use crate::partition;
use crate::store::{Batch, Durability, Sequence, Store, memory::Memory};
use crate::telemetry;
use bytes::Bytes;
use holdfast_machine::{
    id::{InvocationId, PartitionId, Partitions, TaskId},
    time::Timestamp,
};
use http::HeaderMap;
use serde_json::Value;

/// A store in which the invocation of a task is no invocation.
fn unreadable(id: TaskId) -> Arc<Memory> {
    let store = Memory::new(Partitions(1));
    let lease = store.acquire(PartitionId(0)).unwrap();
    let key = [&b"i\0\0"[..], &id.invocation().to_bytes()].concat();
    let writes = [(key, Some(Bytes::from_static(b"\xff\xff\xff")))].into();
    let (fence, sequence) = (lease.fence, Sequence(lease.applied.0 + 1));
    store.commit(&Batch { fence, sequence, writes, durability: Durability::Sync }).unwrap();
    Arc::new(store.reopen().unwrap())
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_an_internal_error_on_each_binding() {
    let id = TaskId::new(InvocationId::from_bytes([9; 24]), 7);
    let clock = Arc::new(Manual::new(Timestamp(1_000)));
    let metrics = partition::Metrics::new(&telemetry::Metrics::new());
    let config = partition::Config::default();
    let (router, _waiting) =
        partition::start(config, unreadable(id), clock.clone(), metrics).unwrap();
    let tasks = Tasks::new(router, clock);

    let fault = tasks.get("anonymous", id).await.unwrap_err();
    let error = refused(&id.to_string(), fault);
    assert!(matches!(error, Error::Internal(_)), "{error:?}");

    let body = async |response: http::Response<crate::http::Body>| {
        let bytes = crate::http::read_body(response.into_body(), 1 << 20).await.unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()["error"].clone()
    };
    let told = jsonrpc::refused_unread(&error);
    assert_eq!((told.status().as_u16(), &told.headers()["x-holdfast-error"]), (200, &code()));
    let told = body(told).await;
    assert_eq!((&told["code"], &told["data"][0]["reason"]), (&Value::from(-32603), &reason()));

    let told = rest::refused(&HeaderMap::new(), &error);
    assert_eq!((told.status().as_u16(), &told.headers()["x-holdfast-error"]), (500, &code()));
    let told = body(told).await;
    assert_eq!(
        (&told["status"], &told["details"][0]["reason"]),
        (&Value::from("INTERNAL"), &reason())
    );

    let told = grpc::refused(&error);
    assert_eq!(
        (told.status().as_u16(), told.headers()["grpc-status"].as_bytes()),
        (200, &b"13"[..])
    );
    assert!(told.headers().contains_key("grpc-status-details-bin"));
}

fn code() -> http::HeaderValue {
    http::HeaderValue::from_static("HF0253")
}

fn reason() -> Value {
    "INTERNAL_ERROR".into()
}
