//! The model as ProtoJSON: read liberally, written strictly. Never knows an operation.

pub mod read;
#[cfg(test)]
mod tests;
mod time;
mod value;
pub mod write;

pub use value::Fields;
