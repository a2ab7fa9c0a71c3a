//! Which request asks for what.

use super::body::Body;
use super::{Endpoint, discovery, identity};
use bytes::Bytes;
use holdfast_wire::version::parse_content_type;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::SystemTime;

const SERVER: &str = concat!("holdfast-sdk/", env!("CARGO_PKG_VERSION"));

/// What a path asks for; everything before it belongs to the address of the deployment.
enum Asked<'a> {
    Discovery,
    Health,
    Attempt { service: &'a str, handler: &'a str },
}

impl Endpoint {
    /// Answers one request, whatever carries it.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let endpoint = Endpoint::builder().build();
    /// let request = http::Request::get("/health").body(String::new()).unwrap();
    /// assert_eq!(endpoint.handle(request).status(), 200);
    /// ```
    pub fn handle<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let mut response = self.answer(request);
        response.headers_mut().insert("x-restate-server", HeaderValue::from_static(SERVER));
        response
    }

    fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let (head, body) = request.into_parts();
        let Some((asked, path)) = asked(head.uri.path()) else {
            return refuse(StatusCode::NOT_FOUND, "expected /discover, /health or /invoke/…/…");
        };
        if let Asked::Health = asked {
            return Response::new(Body::full(Bytes::new()));
        }
        let now = crate::context::millis(SystemTime::now()) / 1000;
        if let Err(stranger) = identity::verify(&self.inside.keys, &head.headers, path, now) {
            return refuse(StatusCode::UNAUTHORIZED, &stranger.to_string());
        }
        match asked {
            Asked::Discovery => self.discovered(&head),
            Asked::Attempt { service, handler } => {
                if self.handler_type(service, handler).is_none() {
                    let message = format!("there is no handler `{service}/{handler}` here");
                    return refuse(StatusCode::NOT_FOUND, &message);
                }
                self.attempted(&head, body, service, handler)
            }
            Asked::Health => Response::new(Body::full(Bytes::new())),
        }
    }

    fn discovered(&self, head: &http::request::Parts) -> Response<Body> {
        let accept = head.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let version = match discovery::negotiate(accept) {
            Ok(version) => version,
            Err(refusal) => {
                return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &refusal.to_string());
            }
        };
        let streaming = head.version == http::Version::HTTP_2;
        match discovery::manifest(&self.inside, version, streaming) {
            Ok(manifest) => {
                let json = serde_json::to_vec(&manifest).expect("a manifest has only string keys");
                typed(version.content_type(), Body::full(json))
            }
            Err(refusal) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &refusal.to_string()),
        }
    }

    fn attempted<B>(
        &self,
        head: &http::request::Parts,
        body: B,
        service: &str,
        handler: &str,
    ) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        if head.method != Method::POST {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "an attempt is a POST");
        }
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let Some(version) = content_type.and_then(parse_content_type) else {
            let message = "this service speaks versions 5 to 7 of the service protocol";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        };
        let Some(drive) = self.open(service, handler, version) else {
            return refuse(StatusCode::NOT_FOUND, "there is no such handler here");
        };
        let draining = self.inside.draining.subscribe();
        typed(version.content_type(), Body::attempt(drive, body, draining))
    }
}

/// What a path asks for, and its part that belongs to the endpoint.
fn asked(path: &str) -> Option<(Asked<'_>, &str)> {
    let slashes: Vec<usize> = path.rmatch_indices('/').map(|(at, _)| at).take(3).collect();
    let last = *slashes.first()?;
    match &path[last + 1..] {
        "discover" => return Some((Asked::Discovery, &path[last..])),
        "health" => return Some((Asked::Health, &path[last..])),
        _ => {}
    }
    let [last, middle, first] = slashes[..] else {
        return None;
    };
    let (service, handler) = (&path[middle + 1..last], &path[last + 1..]);
    match &path[first + 1..middle] {
        "invoke" => Some((Asked::Attempt { service, handler }, &path[first..])),
        _ => None,
    }
}

fn typed(content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn refuse(status: StatusCode, message: &str) -> Response<Body> {
    let json = serde_json::json!({ "message": message }).to_string();
    let mut response = typed("application/json", Body::full(json));
    *response.status_mut() = status;
    response
}

impl<B> tower_service::Service<Request<B>> for Endpoint
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.handle(request)))
    }
}

impl<B> hyper::service::Service<Request<B>> for Endpoint
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn call(&self, request: Request<B>) -> Self::Future {
        ready(Ok(self.handle(request)))
    }
}
