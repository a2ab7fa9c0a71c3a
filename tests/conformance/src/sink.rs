//! The outside of the suite: counters, lists, values and gates behind an HTTP address.
//!
//! Connections are kept, so that thousands of small requests do not use up the ports.

use holdfast_sdk::BoxError;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use std::sync::LazyLock;

type Http = Client<HttpConnector, String>;
type Answer<T> = Result<T, BoxError>;

static HTTP: LazyLock<Http> =
    LazyLock::new(|| Client::builder(TokioExecutor::new()).build(HttpConnector::new()));

/// Counts, and gives the new count.
pub async fn hit(place: &str) -> holdfast_sdk::Result<i64> {
    let count = ask("hit", place, "").await.map_err(holdfast_sdk::Error::retry)?;
    Ok(count.parse()?)
}

pub async fn put(place: &str, value: &str) -> holdfast_sdk::Result<()> {
    ask("put", place, value).await.map_err(holdfast_sdk::Error::retry).map(drop)
}

pub async fn get(place: &str) -> holdfast_sdk::Result<String> {
    ask("get", place, "").await.map_err(holdfast_sdk::Error::retry)
}

/// Adds to a list.
pub async fn push(place: &str, value: &str) -> holdfast_sdk::Result<()> {
    ask("push", place, value).await.map_err(holdfast_sdk::Error::retry).map(drop)
}

/// Waits until the test opens the gate.
pub async fn gate(place: &str) -> holdfast_sdk::Result<()> {
    while ask("gate", place, "").await.map_err(holdfast_sdk::Error::retry)? != "open" {}
    Ok(())
}

async fn ask(what: &str, place: &str, body: &str) -> Answer<String> {
    use http_body_util::BodyExt;
    let base = std::env::var("SINK_URL")?;
    let url = format!("{}/{what}?k={}", base.trim_end_matches('/'), escaped(place));
    let request = hyper::Request::post(url).body(body.to_owned())?;
    let answer = HTTP.request(request).await?;
    let bytes = answer.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(bytes.to_vec())?)
}

fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let one = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
