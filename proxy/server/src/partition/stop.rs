//! Why a partition cannot go on. Never something that a caller or a service can bring about.

use crate::store::CommitError;
use holdfast_machine::kv::Fault;

/// Why a partition stops. The text begins with the code of its page.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("HF0029: {0}")]
    Fault(#[from] Fault),
    #[error("HF0028: {0}")]
    Commit(#[from] CommitError),
    /// An invariant of this program does not hold.
    #[error("HF0029: {0}")]
    Broken(String),
}

impl Stop {
    /// What a panic of the partition's thread says.
    pub(super) fn panic(panic: &(dyn std::any::Any + Send)) -> Stop {
        let text = panic.downcast_ref::<&'static str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
        Stop::Broken(format!("panic: {}", text.unwrap_or("without a text")))
    }
}
