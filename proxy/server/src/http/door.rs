//! Doors that share one listener. Each says which paths are its own; what none of them takes is for
//! whoever owns the listener. Never looks further than at the path.

use super::{Body, BoxError, Inbound};
use http_body_util::BodyExt;
use hyper::{Request, Response};
use std::{future::Future, pin::Pin, sync::Arc};

/// A response on its way.
pub type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// A way in that shares a listener with others.
pub trait Door: Send + Sync + 'static {
    /// Whether requests to `path` are for this door. Asked with every request, so it must be quick.
    fn takes(&self, path: &str) -> bool;

    /// Answers a request to one of its paths. Where it came from is among the extensions of the
    /// request. Dropped where the client went away.
    fn answer(self: Arc<Self>, request: Request<Body>) -> Answering;
}

/// Doors, asked in order.
#[derive(Clone, Default)]
pub struct Doors(Arc<[Arc<dyn Door>]>);

impl Doors {
    pub fn new(doors: Vec<Arc<dyn Door>>) -> Doors {
        Doors(doors.into())
    }

    /// The door for `request`, if there is one.
    pub fn of<B>(&self, request: &Request<B>) -> Option<Arc<dyn Door>> {
        let path = request.uri().path();
        self.0.iter().find(|door| door.takes(path)).cloned()
    }
}

/// A request as doors take it.
pub fn boxed(mut request: Request<Inbound>) -> Request<Body> {
    let peer = request.body().peer();
    request.extensions_mut().insert(peer);
    request.map(|body| body.map_err(|error| -> BoxError { Box::new(error) }).boxed_unsync())
}

/// Whether `path` is `prefix`, or a path below it.
pub fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{full, read_body};

    struct Named(&'static str);

    impl Door for Named {
        fn takes(&self, path: &str) -> bool {
            is_below(path, self.0)
        }

        fn answer(self: Arc<Self>, _request: Request<Body>) -> Answering {
            Box::pin(async move { Response::new(full(self.0)) })
        }
    }

    #[tokio::test]
    async fn the_first_door_that_takes_a_path_answers() {
        let doors = Doors::new(vec![Arc::new(Named("/mcp/a")), Arc::new(Named("/mcp"))]);
        let ask = async |path: &str| {
            let request = Request::get(path).body(full("")).unwrap();
            let door = doors.of(&request)?;
            let body = read_body(door.answer(request).await.into_body(), 100).await.unwrap();
            Some(String::from_utf8(body.to_vec()).unwrap())
        };
        assert_eq!(ask("/mcp").await.as_deref(), Some("/mcp"));
        assert_eq!(ask("/mcp/b?c").await.as_deref(), Some("/mcp"));
        assert_eq!(ask("/mcp/a").await.as_deref(), Some("/mcp/a"));
        assert_eq!(ask("/mcpx/a").await, None);
        assert_eq!(ask("/").await, None);
    }
}
