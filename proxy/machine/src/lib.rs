//! What is decided, and nothing of how it is carried out: `apply(txn, now, command) -> effects`
//! over an ordered map of bytes, and `attempt`, one conversation with a service as a sans-io
//! object. Never waits, reads a clock, draws a random number, logs or touches a socket or a file.

pub mod apply;
pub mod ask;
pub mod attempt;
pub mod awaiting;
pub mod cadence;
pub mod command;
pub mod describe;
pub mod effect;
pub mod id;
pub mod kv;
pub mod model;
pub mod recover;
pub mod replay;
pub mod retry;
pub mod schedule;
pub mod tables;
pub mod task;
pub mod text;
pub mod time;
