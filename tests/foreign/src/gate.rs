//! A gate outside that lets whoever comes wait, so that somebody can count how many are inside of a
//! handler at once. Must never retry: who is turned away has left.
//!
//! To pass is one `POST {"id": "who", "step": "where"}` to the address in `GATE_URL`, answered with
//! 2xx when the gate lets it through. Without `GATE_URL` there is no gate.

use crate::http::{Error, Http};
use serde_json::json;

/// The way through.
#[derive(Clone, Default)]
pub struct Gate {
    http: Http,
    url: Option<String>,
}

impl Gate {
    /// The gate is where `GATE_URL` says.
    pub fn from_env() -> Self {
        Self { http: Http::default(), url: std::env::var("GATE_URL").ok() }
    }

    /// Waits until `id` may pass at `step`. Dropped, it is not inside any more.
    ///
    /// # Errors
    /// When the gate did not answer 2xx.
    pub async fn pass(&self, id: &str, step: &str) -> Result<(), Error> {
        if let Some(url) = &self.url {
            self.http.post(url, &json!({ "id": id, "step": step })).await?;
        }
        Ok(())
    }
}
