//! Why a sidecar cannot start. Each is for the person who started it.

use crate::bridge::a2a;
use crate::guard;
use crate::http::{client, identity, listen};
use crate::notifier;
use crate::partition;
use crate::registry;
use crate::store;
use crate::telemetry;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// HF0004
    #[error("HF0004: cannot start the runtime: {0}")]
    Runtime(String),
    /// HF0005
    #[error("HF0005: {0}")]
    Listen(#[from] listen::Error),
    /// HF0006
    #[error(
        "HF0006: cannot start `{command}`: {reason}; give a program after `--` that can be run"
    )]
    Child { command: String, reason: String },
    /// HF0007
    #[error("HF0007: {0}")]
    Client(#[from] client::Unusable),
    /// HF0008
    #[error("HF0008: {0}; make one with `holdfast identity new`")]
    Identity(#[from] identity::Error),
    #[error("{code}: {0}", code = .0.code())]
    Store(#[from] store::Error),
    #[error("{code}: {0}", code = .0.code())]
    Partition(#[from] partition::Error),
    #[error("{code}: {0}", code = .0.code())]
    Registry(#[from] registry::Error),
    #[error("{code}: {0}", code = .0.code())]
    Notifier(#[from] notifier::Error),
    #[error(transparent)]
    Guard(#[from] guard::Error),
    /// HF0260
    #[error("{code}: {0}", code = .0.code())]
    Cards(#[from] a2a::card::Error),
    #[error("{code}: {0}", code = .0.code())]
    Pushes(#[from] a2a::push::Unusable),
    #[error("{code}: {0}", code = .0.code())]
    Telemetry(#[from] telemetry::Error),
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Runtime(_) => "HF0004",
            Error::Listen(_) => "HF0005",
            Error::Child { .. } => "HF0006",
            Error::Client(_) => "HF0007",
            Error::Identity(_) => "HF0008",
            Error::Store(error) => error.code(),
            Error::Partition(error) => error.code(),
            Error::Registry(error) => error.code(),
            Error::Notifier(error) => error.code(),
            Error::Guard(error) => error.code(),
            Error::Cards(error) => error.code(),
            Error::Pushes(error) => error.code(),
            Error::Telemetry(error) => error.code(),
        }
    }
}
