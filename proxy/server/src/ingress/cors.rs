//! Cross-origin rules: every origin, method and header that asks is allowed. Who may reach this
//! listener is decided by where it is bound, never here.

use crate::http::{Body, full};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};

/// What the response takes over from the request.
pub(super) struct Cors {
    origin: Option<HeaderValue>,
}

const TRUE: HeaderValue = HeaderValue::from_static("true");
const VARY: HeaderValue = HeaderValue::from_static(
    "origin, access-control-request-method, access-control-request-headers",
);
/// What a script in a browser may read besides the headers that it always may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-restate-id, x-restate-error-source, idempotency-expires, x-holdfast-error",
);
/// Each header that a preflight asks about, and the one that allows it.
const ASKED: [(HeaderName, HeaderName); 2] = [
    (header::ACCESS_CONTROL_REQUEST_METHOD, header::ACCESS_CONTROL_ALLOW_METHODS),
    (header::ACCESS_CONTROL_REQUEST_HEADERS, header::ACCESS_CONTROL_ALLOW_HEADERS),
];

impl Cors {
    pub fn of(request: &HeaderMap) -> Cors {
        Cors { origin: request.get(header::ORIGIN).cloned() }
    }

    /// Adds to a response what lets a browser show it.
    pub fn allow(self, response: &mut HeaderMap) {
        response.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
        response.insert(header::VARY, VARY);
        if let Some(origin) = self.origin {
            response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// The answer to an OPTIONS request: yes.
pub(super) fn preflight<B>(request: &Request<B>) -> Response<Body> {
    let mut response = Response::new(full(""));
    for (asked, allowed) in ASKED {
        if let Some(value) = request.headers().get(asked) {
            response.headers_mut().insert(allowed, value.clone());
        }
    }
    response
}
