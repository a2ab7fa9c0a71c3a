//! The admin routes over a socket, with real partitions in memory whose attempts never start.

mod asks;
mod bench;
mod deployments;
mod invocations;
mod schedules;
