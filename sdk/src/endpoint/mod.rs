//! Serving: from services to an HTTP service, with or without a listener of its own.

mod body;
mod discovery;
mod identity;
mod route;
mod serve;

pub use body::Body;
pub use identity::IdentityKeyError;

use crate::context::Context;
use crate::drive::{Called, Drive, Start};
use crate::service::{Running, Service};
use bytes::Bytes;
use holdfast_wire::manifest::{self, HandlerType};
use holdfast_wire::version::Version;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// The largest message that the sidecar may send, in bytes.
const MESSAGE_BYTES_MAX: u32 = holdfast_wire::frame::PAYLOAD_BYTES_MAX_DEFAULT;

/// Some services, ready to be served.
///
/// Cheap to clone. It is a [`tower_service::Service`] and a [`hyper::service::Service`], so that it
/// can be part of a larger application; or it serves a listener by itself.
///
/// ```no_run
/// # use holdfast_sdk::prelude::*;
/// # struct Greeter;
/// # #[service]
/// # impl Greeter {
/// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
/// # }
/// #[tokio::main]
/// async fn main() -> std::io::Result<()> {
///     let endpoint = Endpoint::builder().bind(Greeter).build();
///     endpoint.listen("127.0.0.1:9080").await
/// }
/// ```
#[derive(Clone)]
pub struct Endpoint {
    inside: Arc<Inside>,
}

struct Inside {
    services: HashMap<Arc<str>, Bound>,
    /// In the order in which they were bound.
    manifest: Vec<manifest::Service>,
    keys: Vec<identity::Key>,
    /// Whether the request of an attempt may stay open.
    streaming: bool,
    draining: watch::Sender<bool>,
}

struct Bound {
    name: Arc<str>,
    handlers: HashMap<Arc<str>, usize>,
    service: Arc<dyn Handle>,
}

/// A service whose type is forgotten.
trait Handle: Send + Sync {
    fn handle(self: Arc<Self>, handler: usize, context: Context, input: Bytes) -> Running;
}

impl<S: Service> Handle for S {
    fn handle(self: Arc<Self>, handler: usize, context: Context, input: Bytes) -> Running {
        Service::handle(self, handler, context, input)
    }
}

/// Puts an [`Endpoint`] together.
///
/// ```
/// # use holdfast_sdk::prelude::*;
/// let endpoint = Endpoint::builder().request_response().build();
/// # let _ = endpoint;
/// ```
pub struct Builder {
    services: HashMap<Arc<str>, Bound>,
    manifest: Vec<manifest::Service>,
    keys: Vec<identity::Key>,
    streaming: bool,
}

impl Endpoint {
    /// Begins with no services.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let builder = Endpoint::builder();
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn builder() -> Builder {
        Builder { services: HashMap::new(), manifest: vec![], keys: vec![], streaming: true }
    }

    /// What a handler is, by its names.
    pub(crate) fn handler_type(&self, service: &str, handler: &str) -> Option<HandlerType> {
        let service = self.inside.manifest.iter().find(|known| known.name == service)?;
        service.handlers.iter().find(|known| known.name == handler).map(|known| known.ty)
    }

    /// An attempt of a handler that has heard nothing.
    pub(crate) fn open(&self, service: &str, handler: &str, version: Version) -> Option<Drive> {
        let bound = self.inside.services.get(service)?;
        let (handler, at) = bound.handlers.get_key_value(handler)?;
        let called = Called { service: bound.name.clone(), handler: handler.clone() };
        let (service, at) = (bound.service.clone(), *at);
        let start: Start = Box::new(move |context, input| service.handle(at, context, input));
        Some(Drive::new(version, MESSAGE_BYTES_MAX, called, start))
    }

    /// Asks the handlers that run to suspend where they wait, since this process is about to end.
    /// New attempts still are taken.
    ///
    /// [`Endpoint::serve_until`] does this by itself; it is for endpoints within a larger server.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let endpoint = Endpoint::builder().build();
    /// endpoint.drain();
    /// ```
    pub fn drain(&self) {
        self.inside.draining.send_replace(true);
    }
}

impl Builder {
    /// Adds a service under the name that its definition gives it.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// let endpoint = Endpoint::builder().bind(Greeter).build();
    /// # let _ = endpoint;
    /// ```
    ///
    /// What has no handlers is no service, and does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use holdfast_sdk::prelude::*;
    /// struct Nothing;
    /// let endpoint = Endpoint::builder().bind(Nothing).build();
    /// ```
    ///
    /// # Panics
    /// When a service of that name is there already.
    #[must_use]
    pub fn bind<S: Service>(self, service: S) -> Builder {
        let name = S::describe().name;
        self.bind_as(name, service)
    }

    /// Adds a service under another name.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # struct Greeter;
    /// # #[service]
    /// # impl Greeter {
    /// #     async fn greet(&self, _ctx: &Context, name: String) -> Result<String> { Ok(name) }
    /// # }
    /// let endpoint = Endpoint::builder().bind_as("GreeterOfTests", Greeter).build();
    /// # let _ = endpoint;
    /// ```
    ///
    /// # Panics
    /// When a service of that name is there already.
    #[must_use]
    pub fn bind_as<S: Service>(mut self, name: impl Into<String>, service: S) -> Builder {
        let description = manifest::Service { name: name.into(), ..S::describe() };
        let name: Arc<str> = description.name.as_str().into();
        let handlers = description.handlers.iter().map(|handler| handler.name.as_str().into());
        let bound = Bound {
            name: name.clone(),
            handlers: handlers.enumerate().map(|(at, name)| (name, at)).collect(),
            service: Arc::new(service),
        };
        let twice = self.services.insert(name.clone(), bound).is_some();
        assert!(!twice, "there are two services of the name `{name}`; bind one by another name");
        self.manifest.push(description);
        self
    }

    /// Takes requests only from sidecars that sign with this key, `publickeyv1_...`. With several
    /// keys, any of them will do.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let key = "publickeyv1_AfQwmwfgEZhrWpvv8N52SHpRtZqGGaFr4AZN6qtYWSiY";
    /// let endpoint = Endpoint::builder().identity_key(key)?.build();
    /// # let _ = endpoint;
    /// # Ok::<(), holdfast_sdk::IdentityKeyError>(())
    /// ```
    ///
    /// # Errors
    /// When this is no such key.
    pub fn identity_key(mut self, key: &str) -> Result<Builder, IdentityKeyError> {
        self.keys.push(identity::Key::parse(key)?);
        Ok(self)
    }

    /// Says that requests do not stay open, where something in between does not let them. Over
    /// HTTP/1.1 this goes without saying.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let endpoint = Endpoint::builder().request_response().build();
    /// # let _ = endpoint;
    /// ```
    #[must_use]
    pub fn request_response(mut self) -> Builder {
        self.streaming = false;
        self
    }

    /// The endpoint.
    ///
    /// ```
    /// # use holdfast_sdk::Endpoint;
    /// let endpoint = Endpoint::builder().build();
    /// # let _ = endpoint;
    /// ```
    #[must_use]
    pub fn build(self) -> Endpoint {
        let Builder { services, manifest, keys, streaming } = self;
        let (draining, _) = watch::channel(false);
        Endpoint { inside: Arc::new(Inside { services, manifest, keys, streaming, draining }) }
    }
}
