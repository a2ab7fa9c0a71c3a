//! The outside effects of the example handlers, told to a counter that is not part of the system
//! under test. Each carries a value made up on the spot, so that whoever counts can also tell
//! *which* execution of a step it was whose result was recorded. Must never retry an effect by
//! itself: that is what the journal is for.
//!
//! An effect is one `POST` to the address in `EFFECTS_URL`, done when the answer is 2xx:
//!
//! ```json
//! { "id": "who asks", "step": "which step", "value": "0123456789abcdef", "detail": "optional" }
//! ```
//!
//! Without `EFFECTS_URL` an effect is a line on standard output.

use crate::http::{Error, Http};
use serde_json::json;

/// The way out to the world.
#[derive(Clone, Default)]
pub struct Effects {
    http: Http,
    url: Option<String>,
}

impl Effects {
    /// Effects go where `EFFECTS_URL` says.
    pub fn from_env() -> Self {
        Self { http: Http::default(), url: std::env::var("EFFECTS_URL").ok() }
    }

    /// Does the effect of `step` for `id` and returns its value, which differs at each execution.
    ///
    /// # Errors
    /// When the outside world did not answer 2xx; the effect may have happened or not.
    pub async fn perform(
        &self,
        id: &str,
        step: &str,
        detail: Option<&str>,
    ) -> Result<String, Error> {
        let value = format!("{:016x}", getrandom::u64()?);
        match &self.url {
            Some(url) => {
                let effect = json!({ "id": id, "step": step, "value": value, "detail": detail });
                self.http.post(url, &effect).await?;
            }
            None => println!("{step} {value} {}", detail.unwrap_or_default()),
        }
        Ok(value)
    }
}
