//! A2A 0.3: the older words for the same operations, as JSON-RPC and as HTTP+JSON. Translates into
//! the model and back, and knows nothing else.

pub mod rest;
pub mod rpc;
mod words;
