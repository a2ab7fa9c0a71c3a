//! Push notifications: what a client may register as a receiver of a task's events.

mod check;
mod config;

pub use check::check;
pub use config::{Config, ContentType};
