//! The Holdfast sidecar as a library. Rooms by floor, lowest first: a room uses lower floors only,
//! and rooms of one floor never know each other.

// ground
pub mod chance;
pub mod clock;
pub mod duration;
pub mod http;
pub mod schema;
pub mod store;
pub mod telemetry;
// heart
pub mod delivery;
pub mod guard;
pub mod partition;
pub mod query;
pub mod registry;
// what the bridges stand on
pub mod tasks;
// doors and hands
pub mod admin;
pub mod bridge;
pub mod ingress;
pub mod invoker;
pub mod notifier;
// house
pub mod cli;
pub mod config;
pub mod node;
