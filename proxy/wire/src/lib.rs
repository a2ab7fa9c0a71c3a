//! What is said between sidecar and service: frames, messages, versions, discovery manifest.
//!
//! This crate turns bytes into values and values into bytes. It never does I/O, never looks at a
//! clock and never decides what a message means for an invocation; that is the machine's.
//!
//! - [`frame`]: cuts the body of an attempt into frames and makes frames into bytes.
//! - [`message`]: which types there are, and what is in each.
//! - [`percent`]: text inside of paths and headers.
//! - [`version`]: all that differs between the versions of the protocol.
//! - [`manifest`]: what a deployment says about itself when it is discovered.

pub mod frame;
pub mod manifest;
pub mod message;
pub mod percent;
pub mod version;
