//! What the services under test share. Must never know the sidecar: to a service, the sidecar is
//! whoever calls it.

#[path = "../../../examples/src/effects.rs"]
pub mod effects;
pub mod gate;
#[path = "../../../examples/src/http.rs"]
pub mod http;
pub mod identity;
pub mod serve;
