//! What is made of what services answer.

use super::endpoint::{Answer, Endpoint, GREETER, V4, config, discovery, manifest, old_server};
use crate::http::client::Protocol;
use crate::registry::Error;
use crate::registry::discovery::{Address, Discovered, parse_address};
use expect_test::{Expect, expect};
use std::collections::BTreeMap;
use tokio::net::TcpListener;

async fn ask(uri: &str, timeout_ms: u64) -> Result<Discovered, Error> {
    let mut config = config();
    config.discovery.timeout_ms = timeout_ms;
    let address = Address {
        uri: parse_address(uri).unwrap(),
        protocol: Protocol::Http2,
        additional_headers: BTreeMap::new(),
    };
    discovery(&config).ask(&address).await
}

fn told(result: Result<Discovered, Error>, uri: &str) -> String {
    match result {
        Ok(found) => {
            let names: Vec<_> = found.manifest.services.iter().map(|it| it.name.as_str()).collect();
            format!("{names:?} over {:?} by {:?}", found.protocol, found.sdk_version.unwrap())
        }
        Err(error) => {
            let known = error.restate_code().unwrap_or("-");
            format!("{} {known} {error}", error.code()).replace(uri, "URI")
        }
    }
}

async fn check(answer: Answer, expected: Expect) {
    let endpoint = Endpoint::start(answer).await;
    let told = told(ask(&endpoint.uri(), 2_000).await, &endpoint.uri());
    expected.assert_eq(&format!("{told}; asked {}", endpoint.asked()));
}

#[tokio::test]
async fn a_manifest_is_read() {
    check(
        manifest(GREETER),
        expect![[r#"["Greeter"] over Http2 by "restate-sdk-test/1.0"; asked 1"#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_no_manifest_is_final() {
    let html = Answer { content_type: "text/html", body: "<html>".into(), ..manifest("[]") };
    check(html, expect!["HF0043 META0013 URI/ answers with content type `text/html`, but a manifest is `application/vnd.restate.endpointmanifest.vN+json`; is it a service of a supported SDK?; asked 1"]).await;
    check(Answer { body: "garbage".into(), ..manifest("[]") }, expect!["HF0044 META0013 the manifest of URI/ cannot be used: discovery answered with something that is not JSON: expected value at line 1 column 1; asked 1"]).await;
    let odd = r#"[{"name":"Greeter","ty":"SERVICE","handlers":[{"name":"g","ty":"EXCLUSIVE"}]}]"#;
    check(manifest(odd), expect!["HF0044 META0013 the manifest of URI/ cannot be used: handler `Greeter/g`: type `exclusive` does not go with a service; expected no type; asked 1"]).await;
    let ours = GREETER.replace("Greeter", "restateGreeter");
    check(manifest(&ours), expect!["HF0049 META0005 the service name `restateGreeter` is reserved: names that are `openapi` or begin with `restate` or `holdfast.` belong to the server; rename the service; asked 1"]).await;
    check(manifest(&GREETER.replace("Greeter", "mcp")), expect!["HF0060 META0005 the service `mcp` would be hidden by the door `/mcp` of the ingress; rename the service, or move the door in the configuration; asked 1"]).await;
}

#[tokio::test]
async fn a_protocol_that_is_not_ours_is_final() {
    let old = manifest(GREETER).body.replace(r#"n":5"#, r#"n":1"#).replace(r#"n":7"#, r#"n":3"#);
    check(Answer { body: old, ..manifest("[]") }, expect!["HF0045 META0012 URI/ cannot be spoken to, this server speaks protocol versions 5 to 7: service speaks protocol versions 1 to 3, all older than V5, the oldest we speak; update the SDK of the service; asked 1"]).await;
    let new = manifest(GREETER).body.replace(r#"n":5"#, r#"n":8"#).replace(r#"n":7"#, r#"n":9"#);
    check(Answer { body: new, ..manifest("[]") }, expect!["HF0045 META0012 URI/ cannot be spoken to, this server speaks protocol versions 5 to 7: service speaks protocol versions 8 to 9, all newer than V7, the newest allowed here; raise the limit or update the sidecar; asked 1"]).await;
}

#[tokio::test]
async fn statuses_are_final_or_for_now() {
    let status =
        |status| Answer { status, content_type: "text/plain", body: "oh".into(), hangs: false };
    check(status(404), expect!["HF0041 META0003 URI/ answers 404; the service listens there, but not under this path: give the address that its SDK serves, without /discover; asked 1"]).await;
    check(status(401), expect!["HF0059 META0003 URI/ answers 401; it wants signed requests: this server has no identity key; configure one; asked 1"]).await;
    check(status(415), expect!["HF0042 META0003 URI/ answers 415: oh; asked 1"]).await;
    check(status(503), expect!["HF0042 META0003 URI/ answers 503: oh; asked 4"]).await;
}

#[tokio::test]
async fn silence_is_told_from_absence() {
    let answer = Answer { status: 200, content_type: V4, body: String::new(), hangs: true };
    let endpoint = Endpoint::start(answer).await;
    let silent = told(ask(&endpoint.uri(), 200).await, &endpoint.uri());
    expect!["HF0047 META0003 URI/ accepts the request and then says nothing for 200 ms; its runtime may be too old for its SDK (the TypeScript SDK 1.17 needs Node 22), see the log of the service"].assert_eq(&silent);

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let absent = ask(&uri, 2_000).await.unwrap_err();
    assert!(matches!(&absent, Error::Unreachable { attempts: 4, .. }), "{absent}");
}

#[tokio::test]
async fn a_service_of_http1_only_gets_a_hint() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(old_server(listener, manifest(GREETER)));
    let told = told(ask(&uri, 2_000).await, &uri);
    expect![[r#"HF0046 META0014 URI/ does not speak HTTP/2, but it answers HTTP/1.1; register it with `--http1` (`"use_http_11": true`), or serve HTTP/2 without TLS (h2c)"#]].assert_eq(&told);
}

#[test]
fn addresses_are_normalised_or_refused() {
    let texts = [
        "http://a:1",
        "http://a:1/",
        "https://a/b/",
        "http://a/b?x=y",
        "a:1",
        "ftp://a",
        "/x",
        "",
        "http://",
        "http://[::1]:80",
    ];
    let lines = texts.map(|text| match parse_address(text) {
        Ok(uri) => {
            let below = crate::http::below(&uri, "/discover").unwrap();
            format!("{text} -> {uri} -> {below}\n")
        }
        Err(error) => format!("{error}\n"),
    });
    expect![[r#"
        http://a:1 -> http://a:1/ -> http://a:1/discover
        http://a:1/ -> http://a:1/ -> http://a:1/discover
        https://a/b/ -> https://a/b/ -> https://a/b/discover
        http://a/b?x=y -> http://a/b?x=y -> http://a/b/discover?x=y
        `a:1` is not the address of a service: it has no scheme; write http://host:port
        `ftp://a` is not the address of a service: its scheme is neither http nor https
        `/x` is not the address of a service: it has no scheme; write http://host:port
        `` is not the address of a service: it is not a URL
        `http://` is not the address of a service: it is not a URL
        http://[::1]:80 -> http://[::1]:80/ -> http://[::1]:80/discover
    "#]]
    .assert_eq(&lines.concat());
}
