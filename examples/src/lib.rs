//! What the examples and the demo share: how an example touches the outside world, and how it is
//! served. Must never know the sidecar: to a service, the sidecar is whoever calls it.

pub mod effects;
pub mod http;
pub mod serve;
