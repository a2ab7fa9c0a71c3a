//! Panics of the user's code: failures like any other, and no end of the process.

use crate::error::Error;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A panic that was caught.
pub(crate) struct Panic(Box<dyn Any + Send>);

/// Runs code of the user. What it shares with others is left as it is at the panic; the attempt
/// ends by it, so that nobody goes on with a half-done handler.
pub(crate) fn caught<R>(act: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(act)).map_err(Panic)
}

impl Panic {
    /// What was said; where, the panic hook of the program has told.
    pub(crate) fn message(&self) -> String {
        let said = self.0.downcast_ref::<&str>().copied();
        let said = said.or_else(|| self.0.downcast_ref::<String>().map(String::as_str));
        format!("panicked: {}", said.unwrap_or("with something that is no text"))
    }

    pub(crate) fn into_error(self) -> Error {
        Error::retry(self.message())
    }

    pub(crate) fn resume(self) -> ! {
        resume_unwind(self.0)
    }
}
