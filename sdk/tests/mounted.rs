//! An endpoint within a larger server, on one port beside other routes: found, called, drained.

use axum::{Router, routing::get};
use bytes::Bytes;
use holdfast_sdk::prelude::*;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Version;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

struct Greeter;

#[service]
impl Greeter {
    async fn greet(&self, _: &Context, name: String) -> String {
        format!("Hello {name}")
    }

    async fn wait(&self, ctx: &Context) -> Result<String> {
        Ok(ctx.awakeable().1.await?)
    }
}

fn frames(input: &str) -> Bytes {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: 1,
        ..pb::Start::default()
    };
    let value = Some(pb::Value { content: input.to_owned().into() });
    let input = pb::InputCommand { value, ..pb::InputCommand::default() };
    let start = Frame::of(MessageType::START, &start).encode();
    [start, Frame::of(MessageType::INPUT, &input).encode()].concat().into()
}

fn said(bytes: Bytes) -> Vec<String> {
    let mut decoder = Decoder::new(1 << 20);
    decoder.push(bytes);
    let next = || decoder.next().unwrap().map(|frame| frame.ty.name().to_owned());
    std::iter::from_fn(next).collect()
}

fn attempt<B>(address: SocketAddr, handler: &str, body: B) -> Request<B> {
    Request::post(format!("http://{address}/durable/invoke/Greeter/{handler}"))
        .header("content-type", Version::V7.content_type())
        .body(body)
        .unwrap()
}

async fn connect(address: SocketAddr) -> TokioIo<TcpStream> {
    TokioIo::new(TcpStream::connect(address).await.unwrap())
}

async fn text(address: SocketAddr, path: &str) -> (u16, String) {
    let (mut client, connection) = http1::handshake(connect(address).await).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::get(path)
        .header("host", "localhost")
        .header("accept", holdfast_wire::manifest::ACCEPT)
        .body(Full::<Bytes>::default())
        .unwrap();
    let answer = client.send_request(request).await.unwrap();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    drop(client);
    connection.await.unwrap().unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// The application of an axum user, with a durable corner.
fn serve(listener: TcpListener, endpoint: Endpoint) -> (oneshot::Sender<()>, impl Future) {
    let (stop, stopped) = oneshot::channel::<()>();
    let app = Router::new()
        .route("/", get(async || "the rest of the application"))
        .nest_service("/durable", endpoint.clone());
    let stopped = async move {
        drop(stopped.await);
        endpoint.drain();
    };
    let serving = axum::serve(listener, app).with_graceful_shutdown(stopped).into_future();
    (stop, tokio::spawn(serving))
}

#[tokio::test]
async fn an_axum_app_has_a_durable_corner() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, serving) = serve(listener, Endpoint::builder().bind(Greeter).build());

    assert_eq!(text(address, "/").await, (200, "the rest of the application".to_owned()));
    assert_eq!(text(address, "/durable/health").await.0, 200);
    let (status, manifest) = text(address, "/durable/discover").await;
    assert!(status == 200 && manifest.contains("Greeter"), "{status} {manifest}");
    assert_eq!(text(address, "/elsewhere").await.0, 404);

    let handshake = http2::handshake(TokioExecutor::new(), connect(address).await);
    let (mut client, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    let (mut sender, open) = http_body_util::channel::Channel::<Bytes>::new(4);
    sender.send_data(frames("\"Ada\"")).await.unwrap();
    let answer = client.send_request(attempt(address, "greet", open.boxed())).await.unwrap();
    drop(sender);
    let heard = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(said(heard), ["Output", "End"]);

    // A handler that waits is suspended when the application shuts down, and nothing hangs.
    let (mut sender, open) = http_body_util::channel::Channel::<Bytes>::new(4);
    sender.send_data(frames("")).await.unwrap();
    let answer = client.send_request(attempt(address, "wait", open.boxed())).await.unwrap();
    let mut answer = answer.into_body();
    let first = answer.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(said(first), ["AwaitingOn"]);
    stop.send(()).unwrap();
    let last = answer.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(said(last), ["Suspension"]);
    drop(sender);
    let rest = answer.collect().await.unwrap().to_bytes();
    assert!(rest.is_empty(), "the response ends: {rest:?}");
    drop(client);
    let ended = tokio::time::timeout(Duration::from_secs(20), serving).await;
    assert!(ended.is_ok(), "the application drains");
    let _ = connection.await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_hyper_server_asks_the_endpoint_for_some_of_its_paths() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::builder().bind(Greeter).build();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let answer = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
            let answer = match request.uri().path().starts_with("/durable/") {
                true => endpoint.handle(request).map(BodyExt::boxed_unsync),
                false => http::Response::new(Full::from("elsewhere").boxed_unsync()),
            };
            async move { Ok::<_, std::convert::Infallible>(answer) }
        });
        hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), answer)
            .await
    });
    let handshake = http2::handshake(TokioExecutor::new(), connect(address).await);
    let (mut client, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    let body = Full::new(frames("\"Ada\""));
    let answer = client.send_request(attempt(address, "greet", body.clone())).await.unwrap();
    assert_eq!(said(answer.into_body().collect().await.unwrap().to_bytes()), ["Output", "End"]);
    let other = Request::get(format!("http://{address}/")).body(body).unwrap();
    let answer = client.send_request(other).await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(answer.to_bytes(), "elsewhere");
    drop(client);
    let (served, _) = (serving.await.unwrap(), connection.await);
    assert!(served.is_ok());
}
