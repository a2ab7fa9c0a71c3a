//! A2A 1.0: every exposed service is an agent, every invocation that one started a task. Translates
//! what clients of agents say into tasks, and what becomes of these into their words; the tasks
//! themselves, their events and their questions are the room below's.

mod answer;
pub mod card;
pub mod config;
pub mod core;
mod door;
pub mod error;
pub mod grpc;
pub mod json;
mod jsonrpc;
mod legacy;
pub mod model;
mod operation;
mod pulled;
pub mod push;
pub mod render;
mod rest;
mod sse;
mod version;

pub use self::core::Core;
pub use config::Config;
pub use door::A2a;
pub use error::Error;
