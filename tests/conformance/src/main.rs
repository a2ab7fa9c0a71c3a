//! The services that the conformance suite calls, written with our own SDK. Names and behaviour are
//! those of the suite's other programs, so that it can be run against any sidecar with ours in
//! their place.
//!
//! `PORT` says where it listens, `MODE` how (`bidi`, `rr` or `h1`), `SINK_URL` where the outside is,
//! `NAME_SUFFIX` is put behind all names of services, `ONLY` lists those to be served, `VERSION`
//! tells one deployment from another.

mod calls;
mod cancels;
mod combine;
mod fails;
mod mismatch;
mod places;
mod plain;
mod sink;
mod state;
mod steps;
mod suspend;
mod time;
mod wakes;
mod workflow;

use holdfast_sdk::{BoxError, Endpoint, Error, Request, Terminal};
use serde_json::{Value, json};
use std::env;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;

/// Far more than any test waits.
const HOUR: Duration = Duration::from_secs(3600);

/// The name under which a service of the suite is deployed here.
fn deployed(service: &str) -> String {
    format!("{service}{}", env::var("NAME_SUFFIX").unwrap_or_default())
}

fn version() -> String {
    env::var("VERSION").unwrap_or_else(|_| "v1".to_owned())
}

/// A text of an argument; empty if it is not there.
fn text<'a>(argument: &'a Value, name: &str) -> &'a str {
    argument[name].as_str().unwrap_or_default()
}

fn number(argument: &Value, name: &str) -> i64 {
    argument[name].as_i64().unwrap_or_default()
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or_default())
}

/// The place in the sink that the test chose, and a part of it.
fn slot(argument: &Value, part: &str) -> String {
    format!("{}{part}", text(argument, "slot"))
}

/// The failure that an argument describes.
fn terminal(argument: &Value) -> Terminal {
    let code = argument["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let failure = Terminal::new(text(argument, "message")).code(code.unwrap_or(500));
    let metadata = argument["metadata"].as_object().into_iter().flatten();
    metadata.fold(failure, |failure, (key, value)| {
        failure.with(key, value.as_str().unwrap_or_default())
    })
}

fn described(failure: &Terminal) -> Value {
    let metadata: serde_json::Map<String, Value> =
        failure.metadata().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let metadata = if metadata.is_empty() { Value::Null } else { Value::Object(metadata) };
    json!({ "code": failure.http_code(), "message": failure.message(), "metadata": metadata })
}

/// A request that a test describes: `{service, handler, key?, body?, idem?, headers?}`.
fn request(described: &Value) -> Request<Value> {
    let service = deployed(text(described, "service"));
    let handler = text(described, "handler");
    let mut request = match described.get("body") {
        Some(body) => Request::new(service, handler, body),
        None => Request::new(service, handler, &()),
    };
    if let Some(key) = described["key"].as_str() {
        request = request.key(key);
    }
    if let Some(key) = described["idem"].as_str() {
        request = request.idempotency_key(key);
    }
    for (name, value) in described["headers"].as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().unwrap_or_default());
    }
    request
}

fn request_to(service: &str, handler: &str, body: Value) -> Request<Value> {
    request(&json!({ "service": service, "handler": handler, "body": body }))
}

fn again<T>(why: impl Into<String>) -> Result<T, Error> {
    Err(Error::retry(why.into()))
}

fn endpoint(request_response: bool) -> Endpoint {
    let only = env::var("ONLY").ok();
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|it| it == name));
    let mut builder = Endpoint::builder();
    if request_response {
        builder = builder.request_response();
    }
    macro_rules! bind {
        ($($name:literal => $service:expr),* $(,)?) => {
            $(if wanted($name) { builder = builder.bind_as(deployed($name), $service); })*
        };
    }
    bind! {
        "CfEcho" => plain::Echo,
        "CfFail" => fails::Fail,
        "CfRun" => steps::Runs,
        "CfKv" => state::Kv,
        "CfKvLazy" => state::KvLazy,
        "CfLock" => state::Lock,
        "CfFlow" => workflow::Flow,
        "CfProxy" => calls::Proxy,
        "CfTime" => time::Time,
        "CfAwk" => wakes::Awk,
        "CfSig" => wakes::Sig,
        "CfComb" => combine::Comb,
        "CfCancel" => cancels::Cancel,
        "CfCancelObj" => cancels::CancelObj,
        "CfNd" => mismatch::Nd,
        "CfSusp" => suspend::Susp,
        "CfPriv" => places::Priv,
        "CfHalf" => places::Half,
        "CfVer" => places::Ver,
        "CfKeep" => places::Keep,
        "CfWork" => places::Work,
    }
    if version() != "v1" {
        bind! { "CfVerExtra" => places::VerExtra }
    }
    builder.build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mode = env::var("MODE").unwrap_or_default();
    let port = env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(9080);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    endpoint(mode == "rr").serve_until(listener, std::future::pending()).await;
    Ok(())
}
