//! The head of the request that carries an attempt. Never knows where it is sent.

use super::Head;
use crate::{id::InvocationId, model::Target};
use holdfast_wire::version::Version;

pub(super) fn head(invocation: InvocationId, target: &Target, version: Version) -> Head {
    let mut headers = vec![("x-restate-invocation-id", invocation.to_string())];
    if let Some(key) = &target.key {
        headers.push(("x-restate-service-key", percent_encoded(key)));
    }
    Head {
        path: format!("/invoke/{}/{}", target.service, target.handler),
        content_type: version.content_type(),
        headers,
    }
}

/// Escapes every byte that is not unreserved in a URI.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
