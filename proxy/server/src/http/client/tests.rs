//! The client against real servers on loopback.

use super::*;
use crate::http::{
    body::channel,
    empty, full, read_body,
    testing::{self, Manner, Server, until},
};
use std::{error::Error as _, net::SocketAddr, time::Duration};
use tokio::{io::AsyncWriteExt, sync::mpsc, task::JoinSet, time::timeout};

const BODY_BYTES_MAX: usize = 1 << 20;

fn client(config: Config) -> Client {
    Client::new(config, CancellationToken::new()).unwrap()
}

fn trusting() -> Config {
    let extra_ca_file = Some(testing::testdata("authority.pem"));
    Config { extra_ca_file, ..Config::default() }
}

fn post(scheme: &str, address: SocketAddr, body: Body) -> Request<Body> {
    let uri = format!("{scheme}://localhost:{}/a?b=c", address.port());
    Request::post(uri).body(body).unwrap()
}

async fn ask(client: &Client, protocol: Protocol, request: Request<Body>) -> String {
    let response = client.send(protocol, request).await.unwrap();
    let body = read_body(response.into_body(), BODY_BYTES_MAX).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn both_protocols_are_spoken_with_and_without_tls() {
    for (scheme, tls) in [("http", false), ("https", true)] {
        let manner = Manner { tls, ..Manner::default() };
        let server = Server::start(manner, testing::describe).await;
        let client = client(trusting());
        let request = || post(scheme, server.address, empty());
        assert_eq!(ask(&client, Protocol::Http2, request()).await, "HTTP/2.0 /a");
        assert_eq!(ask(&client, Protocol::Http1, request()).await, "HTTP/1.1 /a");
        assert_eq!(client.negotiate(request().uri()).await, Ok(Protocol::Http2));
    }
}

#[tokio::test]
async fn an_unknown_authority_is_refused() {
    let server = Server::start(Manner { tls: true, ..Manner::default() }, testing::echo).await;
    let client = client(Config::default());
    let error = client.send(Protocol::Http2, post("https", server.address, empty())).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("UnknownIssuer"), "{error}");
}

#[tokio::test]
async fn a_guard_sees_each_address_before_it_is_connected_to() {
    let server = Server::start(Manner::default(), testing::describe).await;
    let guarded = |guard: fn(std::net::IpAddr) -> Result<(), &'static str>| {
        let guard = std::sync::Arc::new(guard);
        Client::guarded(Config::default(), guard, CancellationToken::new()).unwrap()
    };
    let request = || post("http", server.address, empty());
    let loopback = guarded(|ip| if ip.is_loopback() { Ok(()) } else { Err("it is far away") });
    assert_eq!(ask(&loopback, Protocol::Http1, request()).await, "HTTP/1.1 /a");
    let none = guarded(|_| Err("it is near"));
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let error = none.send(protocol, request()).await.unwrap_err().to_string();
        assert!(error.ends_with("is not to be sent to: it is near"), "{error}");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn connections_are_kept_and_made_once() {
    let server = Server::start(Manner::default(), testing::echo).await;
    let client = client(Config::default());
    let mut tasks = JoinSet::new();
    for i in 0..100 {
        let (client, address) = (client.clone(), server.address);
        tasks.spawn(async move {
            let request = post("http", address, full(i.to_string()));
            assert_eq!(ask(&client, Protocol::Http2, request).await, i.to_string());
        });
    }
    tasks.join_all().await;
    assert_eq!(server.connections(), 1);
    for i in 0..3 {
        let request = post("http", server.address, full("again"));
        assert_eq!(ask(&client, Protocol::Http1, request).await, "again");
        until(|| client.pool.kept() == 2).await;
        assert_eq!(server.connections(), 2, "request {i}");
    }
}

#[tokio::test]
async fn no_more_streams_than_the_peer_allows() {
    let manner = Manner { streams_max: Some(2), ..Manner::default() };
    let server = Server::start(manner, testing::echo).await;
    let client = client(Config::default());
    let mut writers = Vec::new();
    for _ in 0..5 {
        let (writer, body) = channel(1);
        let response = client.send(Protocol::Http2, post("http", server.address, body));
        let response = timeout(Duration::from_secs(20), response).await.unwrap().unwrap();
        writers.push((writer, response));
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_full_address_is_busy() {
    let manner = Manner { streams_max: Some(1), ..Manner::default() };
    let server = Server::start(manner, testing::echo).await;
    let client = client(Config {
        connections_per_authority_max: 1,
        connect_timeout_ms: 200,
        ..Config::default()
    });
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let (_writer, body) = channel(1);
        let held = client.send(protocol, post("http", server.address, body)).await.unwrap();
        let refused = client.send(protocol, post("http", server.address, empty())).await;
        let authority = format!("localhost:{}", server.address.port());
        assert_eq!(refused.unwrap_err(), Error::Busy { authority, connections_max: 1 });
        drop((held, _writer));
        assert_eq!(ask(&client, protocol, post("http", server.address, full("x"))).await, "x");
    }
}

#[tokio::test]
async fn a_dead_connection_is_left() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let server = Server::start(Manner::default(), testing::echo).await;
        let (client, address) = (client(Config::default()), server.address);
        let request = || post("http", address, full("x"));
        assert_eq!(ask(&client, protocol, request()).await, "x");
        until(|| client.pool.kept() == 1).await;
        drop(server);
        let failed = client.send(protocol, request()).await.unwrap_err();
        assert!(matches!(failed, Error::Broken { .. } | Error::Connect { .. }), "{failed}");
        let again = Server::start_at(address, Manner::default(), testing::echo).await;
        assert_eq!(ask(&client, protocol, request()).await, "x");
        assert_eq!(again.connections(), 1);
    }
}

/// Neither a refused stream nor one behind the last of a connection that goes away was looked at.
#[tokio::test]
async fn a_request_that_nobody_looked_at_is_told_apart() {
    let manner = Manner { refusing: 0..1, ..Manner::default() };
    let server = Server::start(manner, testing::echo).await;
    let client = client(Config::default());
    for reason in ["reset the stream (REFUSED_STREAM)", "closes the connection (NO_ERROR)"] {
        let request = post("http", server.address, full("x"));
        let refused = client.send(Protocol::Http2, request).await.unwrap_err();
        let authority = format!("localhost:{}", server.address.port());
        let reason = format!("the service {reason}");
        assert_eq!(refused, Error::Refused { authority, reason });
    }
    let request = post("http", server.address, full("x"));
    assert_eq!(ask(&client, Protocol::Http2, request).await, "x");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let server = Server::start(Manner::default(), testing::echo).await;
    let client = client(Config { idle_ms: 40, ..Config::default() });
    for protocol in [Protocol::Http1, Protocol::Http2] {
        assert_eq!(ask(&client, protocol, post("http", server.address, full("x"))).await, "x");
        until(|| client.pool.kept() == 0).await;
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn large_bodies_flow_both_ways_at_once() {
    const PIECES: usize = 256;
    let piece = Bytes::from(vec![7; 64 << 10]);
    let server = Server::start(Manner::default(), testing::echo).await;
    let client = client(Config::default());
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut tasks = JoinSet::new();
        let body = testing::stream(piece.clone(), PIECES, &mut tasks);
        let response = client.send(protocol, post("http", server.address, body)).await.unwrap();
        let read = read_body(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(read.len(), PIECES * piece.len());
        tasks.join_all().await;
    }
}

/// How the server sees the end of a request: the reason of its failure, or `None`.
fn watching(
    tell: mpsc::UnboundedSender<Option<h2::Reason>>,
) -> impl Fn(Request<Incoming>) -> std::future::Ready<Response<Body>> + Clone {
    move |request: Request<Incoming>| {
        let (tell, mut tasks) = (tell.clone(), JoinSet::new());
        tasks.spawn(async move {
            let end = read_body_error(request.into_body()).await;
            let _ = tell.send(end);
        });
        // The tasks live as long as the response.
        let (writer, body) = channel(1);
        tasks.spawn(async move {
            let _ = writer.write(Bytes::from_static(b"x")).await;
            std::future::pending::<()>().await;
        });
        tasks.detach_all();
        std::future::ready(Response::new(body))
    }
}

async fn read_body_error(mut body: Incoming) -> Option<h2::Reason> {
    use http_body_util::BodyExt;
    loop {
        match body.frame().await? {
            Ok(_) => {}
            Err(error) => return error.source()?.downcast_ref::<h2::Error>()?.reason(),
        }
    }
}

#[tokio::test]
async fn a_body_larger_than_the_windows_of_the_peer_arrives_whole() {
    const BYTES: usize = (8 << 20) + 7;
    let count = |request: Request<Incoming>| async move {
        let got = read_body(request.into_body(), usize::MAX).await.unwrap().len();
        Response::new(full(got.to_string()))
    };
    let server = Server::start(Manner::default(), count).await;
    let client = client(Config::default());
    let whole = full(vec![0; BYTES]);
    let (writer, pieces) = channel(1);
    let writing = tokio::spawn(async move {
        for piece in vec![0; BYTES].chunks(3_000_001) {
            writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
        }
        writer.reserve().await.unwrap().finish();
    });
    for body in [whole, pieces] {
        let sent = client.send(Protocol::Http2, post("http", server.address, body));
        let response = tokio::time::timeout(Duration::from_secs(30), sent).await;
        let response = response.expect("the body went out").unwrap();
        assert_eq!(read_body(response.into_body(), 64).await.unwrap(), BYTES.to_string());
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn dropping_the_writer_resets_the_stream() {
    use http_body_util::BodyExt;
    let (tell, mut ends) = mpsc::unbounded_channel();
    let server = Server::start(Manner::default(), watching(tell)).await;
    let client = client(Config::default());
    let (writer, body) = channel(1);
    let response = client.send(Protocol::Http2, post("http", server.address, body)).await.unwrap();
    let mut response = response.into_body();
    let reading = tokio::spawn(async move { while let Some(Ok(_)) = response.frame().await {} });
    drop(writer);
    assert_eq!(ends.recv().await, Some(Some(h2::Reason::CANCEL)));
    reading.await.unwrap();
}

#[tokio::test]
async fn dropping_the_response_resets_the_stream() {
    let (tell, mut ends) = mpsc::unbounded_channel();
    let server = Server::start(Manner::default(), watching(tell)).await;
    let client = client(Config::default());
    let (_writer, body) = channel(1);
    let response = client.send(Protocol::Http2, post("http", server.address, body)).await.unwrap();
    drop(response);
    assert_eq!(ends.recv().await, Some(Some(h2::Reason::CANCEL)));
}

#[tokio::test]
async fn errors_say_what_to_think_of() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let free = listener.local_addr().unwrap();
    drop(listener);
    let client = client(Config { connect_timeout_ms: 2_000, ..Config::default() });
    let send = async |uri: &str| {
        let request = Request::post(uri).body(empty()).unwrap();
        client.send(Protocol::Http2, request).await.unwrap_err().to_string()
    };
    assert_eq!(
        send(&format!("http://{free}/")).await,
        format!("cannot connect to {free}: connection refused; is the service running?")
    );
    assert_eq!(
        send("/x").await,
        "`/x` is not an address to send to: expected http:// or https:// and a host"
    );
    let unknown = send("http://no.such.name.invalid/").await;
    assert!(unknown.contains("its name cannot be resolved"), "{unknown}");
    let old = old_server().await;
    let error = send(&format!("http://{}/", old.0)).await;
    assert!(error.contains("it does not speak HTTP/2"), "{error}");
}

/// Answers everything in HTTP/1.1.
async fn old_server() -> (SocketAddr, JoinSet<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            let _ = stream.write_all(answer).await;
        }
    });
    (address, tasks)
}
