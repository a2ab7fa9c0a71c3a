//! Why notices cannot be delivered at all. For the person who starts the sidecar.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "cannot use the secret in `{}` (`notify.secret_file`): {reason}; make one with \
         `openssl rand -hex 32`", path.display()
    )]
    Secret { path: PathBuf, reason: String },
}

impl Error {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Secret { .. } => "HF0191",
        }
    }
}
