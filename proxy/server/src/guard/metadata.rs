//! What a client that lacks a token is told: where the description of what it asked for is, and in
//! it who makes tokens (RFC 9728).

use super::{Guard, Resource};
use crate::http::{Body, full};
use http::{HeaderValue, Response, header, request::Parts};
use serde_json::json;

/// Below it the path of a resource.
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl Guard {
    /// The description of `resource`; `None` where tokens are not made by an issuer.
    pub fn metadata(&self, head: &Parts, resource: &Resource<'_>) -> Option<Response<Body>> {
        let jwt = self.shared.config.jwt.as_ref()?;
        let document = json!({
            "resource": format!("{}{}", self.base_url(head), resource.path),
            "authorization_servers": [jwt.issuer],
            "scopes_supported": resource.scopes,
            "bearer_methods_supported": ["header"],
        });
        let mut response = Response::new(full(document.to_string()));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
        Some(response)
    }

    pub(super) fn metadata_url(&self, head: &Parts, resource: &Resource<'_>) -> Option<String> {
        self.shared.config.jwt.as_ref()?;
        Some(format!("{}{WELL_KNOWN}{}", self.base_url(head), resource.path))
    }

    pub(super) fn challenge(&self, head: &Parts, resource: &Resource<'_>) -> String {
        let metadata = self.metadata_url(head, resource);
        let metadata = metadata.map(|url| format!("resource_metadata=\"{url}\""));
        let scopes = resource.scopes.join(" ");
        let scope = (!scopes.is_empty()).then(|| format!("scope=\"{scopes}\""));
        let parts: Vec<String> = metadata.into_iter().chain(scope).collect();
        match parts.is_empty() {
            true => "Bearer realm=\"holdfast\"".to_owned(),
            false => format!("Bearer {}", parts.join(", ")),
        }
    }
}
