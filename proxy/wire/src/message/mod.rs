//! Messages: which types there are, and what is in each.
//!
//! The structs in [`pb`] are generated from `proto/service_protocol.proto` and committed. What is
//! stored in a journal are the bytes as they arrived: a message is decoded to be understood, never
//! to be encoded again.

mod alike;
mod future;
mod notification;
mod types;

pub use notification::CANCEL_SIGNAL_INDEX;
pub use types::MessageType;

/// The protobuf messages, one struct each. Decode with `pb::X::decode(frame.payload)`.
pub mod pb {
    include!("generated.rs");
}
