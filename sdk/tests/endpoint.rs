//! The endpoint as a sidecar meets it: discovery, attempts, refusals, and the listener.

use bytes::Bytes;
use expect_test::{Expect, expect};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{Body, Raw, Text, schemars};
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::manifest::{Manifest, ManifestVersion};
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Version;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::time::Duration;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    /// Which one.
    id: String,
    amount: f64,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct NoSchema {
    id: String,
}

struct Shop;

/// Sells things.
#[service(inactivity_timeout = "1m", expose = "mcp,a2a", retry(max_attempts = 3))]
impl Shop {
    /// Buys one.
    #[handler(title = "Buy", idempotency_retention = "2d", private, metadata("team" = "shop"))]
    async fn buy(&self, ctx: &Context, order: Order) -> Result<NoSchema> {
        Ok(NoSchema { id: format!("{} by {}", order.id, ctx.handler()) })
    }

    async fn picture(&self, _: &Context, picture: Raw) -> Text {
        Text(format!("{} bytes", picture.0.len()))
    }

    async fn ping(&self, _: &Context) {}
}

struct Cart;

#[object(name = "shop.Cart", lazy_state)]
impl Cart {
    async fn add(&self, ctx: &ObjectContext, thing: Option<String>) {
        ctx.set("thing", &thing);
    }

    async fn show(&self, ctx: &SharedObjectContext) -> Result<Option<String>> {
        Ok(ctx.get("thing").await?)
    }
}

struct Signup;

#[workflow]
impl Signup {
    #[handler(workflow_retention = "7d")]
    async fn run(&self, ctx: &WorkflowContext) -> Result<String> {
        Ok(ctx.promise("confirmed").await?)
    }
}

/// Any implementation of it can be served.
#[service]
trait Greeter {
    async fn greet(&self, ctx: &Context, name: String) -> Result<String>;

    async fn bye(&self, _: &Context) -> String {
        "bye".to_owned()
    }
}

struct Polite;

impl Greeter for Polite {
    async fn greet(&self, _: &Context, name: String) -> Result<String> {
        Ok(format!("Dear {name}"))
    }
}

fn endpoint() -> Endpoint {
    Endpoint::builder().bind(Shop).bind(Cart).bind(Signup).bind(GreeterService(Polite)).build()
}

async fn body(response: Response<Body>) -> Bytes {
    response.into_body().collect().await.unwrap().to_bytes()
}

fn discover(accept: &str) -> Request<Full<Bytes>> {
    Request::get("/some/prefix/discover").header("accept", accept).body(Full::default()).unwrap()
}

#[tokio::test]
async fn discovery_tells_everything() {
    let response = endpoint().handle(discover(holdfast_wire::manifest::ACCEPT));
    assert_eq!(response.status(), StatusCode::OK);
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert_eq!(content_type, ManifestVersion::V4.content_type());
    let json = body(response).await;
    Manifest::parse(&content_type, &json).expect("what we write we can read");
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    expect![[r#"
        [
          {
            "name": "Shop",
            "ty": "SERVICE",
            "handlers": [
              {
                "name": "buy",
                "input": {
                  "required": true,
                  "contentType": "application/json",
                  "jsonSchema": {
                    "type": "object",
                    "properties": {
                      "id": {
                        "type": "string",
                        "description": "Which one."
                      },
                      "amount": {
                        "type": "number",
                        "format": "double"
                      }
                    },
                    "required": [
                      "id",
                      "amount"
                    ],
                    "title": "Order",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                },
                "output": {
                  "contentType": "application/json",
                  "setContentTypeIfEmpty": false
                },
                "documentation": "Buys one.",
                "metadata": {
                  "holdfast.title": "Buy",
                  "team": "shop"
                },
                "idempotencyRetention": 172800000,
                "ingressPrivate": true
              },
              {
                "name": "picture",
                "input": {
                  "required": true,
                  "contentType": "*/*"
                },
                "output": {
                  "contentType": "text/plain; charset=utf-8",
                  "setContentTypeIfEmpty": false
                }
              },
              {
                "name": "ping",
                "input": {
                  "required": false
                },
                "output": {
                  "setContentTypeIfEmpty": false
                }
              }
            ],
            "documentation": "Sells things.",
            "metadata": {
              "holdfast.expose": "mcp,a2a"
            },
            "inactivityTimeout": 60000,
            "retryPolicyMaxAttempts": 3
          },
          {
            "name": "shop.Cart",
            "ty": "VIRTUAL_OBJECT",
            "handlers": [
              {
                "name": "add",
                "ty": "EXCLUSIVE",
                "input": {
                  "required": false,
                  "contentType": "application/json",
                  "jsonSchema": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "title": "Nullable_string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                },
                "output": {
                  "setContentTypeIfEmpty": false
                }
              },
              {
                "name": "show",
                "ty": "SHARED",
                "input": {
                  "required": false
                },
                "output": {
                  "contentType": "application/json",
                  "setContentTypeIfEmpty": false,
                  "jsonSchema": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "title": "Nullable_string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                }
              }
            ],
            "enableLazyState": true
          },
          {
            "name": "Signup",
            "ty": "WORKFLOW",
            "handlers": [
              {
                "name": "run",
                "ty": "WORKFLOW",
                "input": {
                  "required": false
                },
                "output": {
                  "contentType": "application/json",
                  "setContentTypeIfEmpty": false,
                  "jsonSchema": {
                    "type": "string",
                    "title": "string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                },
                "workflowCompletionRetention": 604800000
              }
            ]
          },
          {
            "name": "Greeter",
            "ty": "SERVICE",
            "handlers": [
              {
                "name": "greet",
                "input": {
                  "required": true,
                  "contentType": "application/json",
                  "jsonSchema": {
                    "type": "string",
                    "title": "string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                },
                "output": {
                  "contentType": "application/json",
                  "setContentTypeIfEmpty": false,
                  "jsonSchema": {
                    "type": "string",
                    "title": "string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                }
              },
              {
                "name": "bye",
                "input": {
                  "required": false
                },
                "output": {
                  "contentType": "application/json",
                  "setContentTypeIfEmpty": false,
                  "jsonSchema": {
                    "type": "string",
                    "title": "string",
                    "$schema": "https://json-schema.org/draft/2020-12/schema"
                  }
                }
              }
            ],
            "documentation": "Any implementation of it can be served."
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&json["services"]).unwrap());
}

#[tokio::test]
async fn an_older_manifest_is_written_if_it_can_say_everything() {
    async fn check(endpoint: Endpoint, accept: &str, expected: Expect) {
        let response = endpoint.handle(discover(accept));
        let status = response.status().as_u16();
        let json: serde_json::Value = serde_json::from_slice(&body(response).await).unwrap();
        let said = json["message"].as_str().unwrap_or("a manifest");
        expected.assert_eq(&format!("{status} {said}"));
    }
    let plain = || Endpoint::builder().bind(GreeterService(Polite)).build();
    check(plain(), ManifestVersion::V2.content_type(), expect!["200 a manifest"]).await;
    check(plain(), ManifestVersion::V1.content_type(), expect!["415 this service writes its manifest in versions 2 to 4, and none of them is among what is accepted; update the sidecar"]).await;
    check(endpoint(), ManifestVersion::V2.content_type(), expect!["500 `Shop` has an inactivity timeout, which manifests know from version V3 on, but version V2 was asked for; update the sidecar, or remove the option"]).await;
    check(endpoint(), ManifestVersion::V3.content_type(), expect!["500 `Shop` has a retry policy, which manifests know from version V4 on, but version V3 was asked for; update the sidecar, or remove the option"]).await;
}

fn frames(input: &str) -> Bytes {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: 1,
        key: "k".to_owned(),
        ..pb::Start::default()
    };
    let value = Some(pb::Value { content: input.to_owned().into() });
    let input = pb::InputCommand { value, ..pb::InputCommand::default() };
    let start = Frame::of(MessageType::START, &start).encode();
    [start, Frame::of(MessageType::INPUT, &input).encode()].concat().into()
}

fn attempt(path: &str, input: &str) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("content-type", Version::V7.content_type())
        .body(Full::new(frames(input)))
        .unwrap()
}

/// What was answered, a line for each frame.
fn said(bytes: Bytes) -> String {
    use pb::output_command::Result::{Failure, Value};
    use prost::Message;
    let mut decoder = Decoder::new(1 << 20);
    decoder.push(bytes);
    let mut said = String::new();
    while let Some(frame) = decoder.next().unwrap() {
        said.push_str(frame.ty.name());
        if frame.ty == MessageType::OUTPUT {
            said.push_str(&match pb::OutputCommand::decode(frame.payload).unwrap().result {
                Some(Value(value)) => format!(" {}", String::from_utf8_lossy(&value.content)),
                Some(Failure(failure)) => format!(" {} {}", failure.code, failure.message),
                None => String::new(),
            });
        }
        said.push('\n');
    }
    said
}

#[tokio::test]
async fn attempts_run_handlers() {
    async fn check(path: &str, input: &str, expected: Expect) {
        let response = endpoint().handle(attempt(path, input));
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], Version::V7.content_type());
        expected.assert_eq(&said(body(response).await));
    }
    check(
        "/invoke/Shop/buy",
        r#"{"id": "book", "amount": 1}"#,
        expect![[r#"
        Output {"id":"book by buy"}
        End
    "#]],
    )
    .await;
    check("/invoke/Shop/buy", r#"{"id": "book"}"#, expect![[r#"
        Output 400 the input of the handler: 14 bytes cannot be read as a `endpoint::Order`: missing field `amount` (line 1 column 14)
        End
    "#]]).await;
    check(
        "/invoke/Shop/picture",
        "{not json",
        expect![[r#"
        Output 9 bytes
        End
    "#]],
    )
    .await;
    check(
        "/a/b/invoke/Shop/ping",
        "",
        expect![[r#"
        Output 
        End
    "#]],
    )
    .await;
    check(
        "/invoke/shop.Cart/add",
        "",
        expect![[r#"
        SetState
        Output 
        End
    "#]],
    )
    .await;
    check(
        "/invoke/Signup/run",
        "",
        expect![[r#"
        GetPromise
        Suspension
    "#]],
    )
    .await;
    check(
        "/invoke/Greeter/greet",
        "\"Ada\"",
        expect![[r#"
        Output "Dear Ada"
        End
    "#]],
    )
    .await;
    check(
        "/invoke/Greeter/bye",
        "",
        expect![[r#"
        Output "bye"
        End
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_not_for_us_is_refused() {
    let status = |request: Request<Full<Bytes>>| endpoint().handle(request).status().as_u16();
    assert_eq!(status(attempt("/invoke/Shop/sell", "")), 404);
    assert_eq!(status(attempt("/invoke/Shop", "")), 404);
    assert_eq!(status(attempt("/", "")), 404);
    let mut other = attempt("/invoke/Shop/ping", "");
    other.headers_mut().insert("content-type", "application/json".parse().unwrap());
    assert_eq!(status(other), 415);
    let mut other = attempt("/invoke/Shop/ping", "");
    *other.method_mut() = http::Method::GET;
    assert_eq!(status(other), 405);
    let health = Request::get("/health").body(Full::default()).unwrap();
    assert_eq!(status(health), 200);
}

#[tokio::test]
async fn with_a_key_only_signed_requests_are_taken() {
    let key = "publickeyv1_AfQwmwfgEZhrWpvv8N52SHpRtZqGGaFr4AZN6qtYWSiY";
    let endpoint = Endpoint::builder().bind(Shop).identity_key(key).unwrap().build();
    let status = |request: Request<Full<Bytes>>| endpoint.handle(request).status().as_u16();
    assert_eq!(status(attempt("/invoke/Shop/ping", "")), 401);
    assert_eq!(status(discover(holdfast_wire::manifest::ACCEPT)), 401);
    assert_eq!(status(Request::get("/health").body(Full::default()).unwrap()), 200);
}

/// A listener, and what ends it.
async fn listening()
-> (std::net::SocketAddr, tokio::sync::oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        endpoint().serve_until(listener, async { drop(stopped.await) }).await;
    });
    (address, stop, serving)
}

#[tokio::test]
async fn both_versions_of_http_are_served_on_one_port() {
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let (address, stop, serving) = listening().await;
    let connect = || async { TokioIo::new(tokio::net::TcpStream::connect(address).await.unwrap()) };
    let request = || {
        let mut request = attempt("/invoke/Greeter/greet", "\"Ada\"");
        *request.uri_mut() = format!("http://{address}/invoke/Greeter/greet").parse().unwrap();
        request
    };
    let expected = "Output \"Dear Ada\"\nEnd\n";

    let (mut one, connection) =
        hyper::client::conn::http1::handshake(connect().await).await.unwrap();
    let one_connection = tokio::spawn(connection);
    let answer = one.send_request(request()).await.unwrap();
    assert_eq!(said(answer.into_body().collect().await.unwrap().to_bytes()), expected);

    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), connect().await);
    let (mut two, connection) = handshake.await.unwrap();
    let two_connection = tokio::spawn(connection);
    let answer = two.send_request(request()).await.unwrap();
    assert_eq!(said(answer.into_body().collect().await.unwrap().to_bytes()), expected);

    stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(20), serving).await;
    ended.expect("the listener drains").unwrap();
    drop((one, two));
    let _ = tokio::join!(one_connection, two_connection);
}

#[tokio::test]
async fn a_request_that_stays_open_is_suspended_when_the_process_ends() {
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let (address, stop, serving) = listening().await;
    let stream = TokioIo::new(tokio::net::TcpStream::connect(address).await.unwrap());
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
    let (mut client, connection) = handshake.await.unwrap();
    let connection = tokio::spawn(connection);
    let (mut sender, open) = http_body_util::channel::Channel::<Bytes>::new(4);
    sender.send_data(frames("")).await.unwrap();
    let request = Request::post(format!("http://{address}/invoke/Signup/run"))
        .header("content-type", Version::V7.content_type())
        .body(open)
        .unwrap();
    let mut answer = client.send_request(request).await.unwrap().into_body();
    let mut heard = vec![];
    let mut next = async |heard: &mut Vec<u8>| {
        heard.extend_from_slice(&answer.frame().await.unwrap().unwrap().into_data().unwrap());
        said(Bytes::copy_from_slice(heard))
    };
    assert_eq!(next(&mut heard).await, "GetPromise\nAwaitingOn\n");
    stop.send(()).unwrap();
    assert_eq!(next(&mut heard).await, "GetPromise\nAwaitingOn\nSuspension\n");
    drop(sender);
    let ended = tokio::time::timeout(Duration::from_secs(20), serving).await;
    ended.expect("the listener drains").unwrap();
    drop(client);
    let _ = connection.await;
}
