//! Doors for agents: the same invocations as everywhere else, seen as tasks. They translate, and
//! decide nothing.

pub mod a2a;
pub mod mcp;
