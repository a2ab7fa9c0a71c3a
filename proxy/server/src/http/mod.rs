//! HTTP over sockets: listening, connecting, bodies, signatures. Never knows what is said over
//! them.

mod address;
pub mod body;
pub mod client;
mod crowd;
pub mod door;
pub mod identity;
mod inbound;
pub mod listen;
mod network;
mod patience;
pub mod percent;
mod seldom;
mod socket;
mod tasks;
#[cfg(test)]
pub mod testing;
mod uri;

pub use address::{address, address_without_user};
pub use body::{Body, BodyError, BoxError, empty, full, read_body, read_body_in_time};
pub use crowd::Crowd;
pub use inbound::Inbound;
pub use network::{Network, not_public};
pub use uri::below;
