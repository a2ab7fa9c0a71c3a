//! The gRPC binding: the words of `lf.a2a.v1.A2AService`, to and from the model that all bindings
//! have in common, and how a call ends.

pub mod convert;
pub mod deadline;
pub mod frame;
pub mod status;
pub mod value;

/// As generated, to the byte: included, so that no formatter rewrites it.
pub mod pb {
    include!("generated.rs");
}
