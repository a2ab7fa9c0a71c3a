//! Benchmarks. `bin/bench` measures a whole sidecar (or another server) end to end, `bin/micro` single
//! operations without network, `bin/sdk_dispatch` what our SDK adds to a handler. The tests hold
//! what can be counted (system calls, fsyncs, allocations, instructions) against bounds.
//!
//! Absolute times mean little: machines differ and are shared. Hold two runs on one machine against
//! each other.

pub mod call;
pub mod histogram;
pub mod load;
pub mod micro;
pub mod plot;
pub mod report;
pub mod scenario;
pub mod service;
pub mod stage;
pub mod trace;
pub mod usage;

/// Whatever may go wrong in a benchmark; told to a person.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
