//! A2A 1.0: every exposed service is an agent, every invocation that one started a task. Translates
//! what clients of agents say into tasks, and what becomes of these into their words; the tasks
//! themselves, their events and their questions are the room below's.

pub mod card;
pub mod error;
pub mod grpc;
pub mod json;
pub mod model;
pub mod push;

pub use error::Error;
