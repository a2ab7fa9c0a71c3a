//! Which headers of a request a handler sees, and the names of those that the ingress itself reads
//! and writes. Never changes a value.

use super::Error;
use http::{HeaderMap, HeaderName, Uri, header};

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(super) const IDEMPOTENCY_EXPIRES: HeaderName = HeaderName::from_static("idempotency-expires");
pub(super) const LIMIT_KEY: HeaderName = HeaderName::from_static("x-restate-limit-key");
pub(super) const ID: HeaderName = HeaderName::from_static("x-restate-id");
pub(super) const ERROR_SOURCE: HeaderName = HeaderName::from_static("x-restate-error-source");
pub(super) const ERROR_CODE: HeaderName = HeaderName::from_static("x-holdfast-error");
pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The synthetic header that tells a handler how it was called; always the first.
const INGRESS_PATH: &str = "x-restate-ingress-path";

/// The headers of the invocation: path and query as received, then those of the request but for
/// what concerns this hop only.
pub(super) fn for_handler(uri: &Uri, request: &HeaderMap) -> Result<Vec<(String, String)>, Error> {
    let mut headers = Vec::with_capacity(request.len() + 1);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    headers.push((INGRESS_PATH.to_owned(), path.to_owned()));
    for (name, value) in request {
        if is_of_this_hop(name) {
            continue;
        }
        let value = value.to_str().map_err(|_| Error::HeaderValue(name.to_string()))?;
        headers.push((name.as_str().to_owned(), value.to_owned()));
    }
    Ok(headers)
}

fn is_of_this_hop(name: &HeaderName) -> bool {
    *name == header::CONNECTION
        || *name == header::HOST
        || *name == IDEMPOTENCY_KEY
        || *name == IDEMPOTENCY_EXPIRES
}

/// A header's value as text, where it is there.
pub(super) fn text<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h str>, Error> {
    let text = |value: &'h http::HeaderValue| {
        value.to_str().map_err(|_| Error::HeaderValue(name.to_string()))
    };
    headers.get(name).map(text).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use http::Request;

    fn check(request: http::request::Builder, expected: Expect) {
        let (head, ()) = request.body(()).unwrap().into_parts();
        let text = match for_handler(&head.uri, &head.headers) {
            Ok(headers) => {
                headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
            }
            Err(error) => format!("{} {error}\n", error.code()),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn everything_passes_but_what_is_of_this_hop() {
        let request = Request::post("http://here/Greeter/greet?a=b%20c&d")
            .header("Host", "here")
            .header("Connection", "keep-alive")
            .header("Idempotency-Key", "k")
            .header("idempotency-expires", "never")
            .header("Authorization", "Bearer x")
            .header("content-type", "application/json")
            .header("content-length", "3")
            .header("traceparent", "00-1-2-01")
            .header("X-Twice", "1")
            .header("x-twice", "2")
            .header("x-empty", "");
        check(
            request,
            expect![[r#"
            x-restate-ingress-path: /Greeter/greet?a=b%20c&d
            authorization: Bearer x
            content-type: application/json
            content-length: 3
            traceparent: 00-1-2-01
            x-twice: 1
            x-twice: 2
            x-empty: 
        "#]],
        );
    }

    #[test]
    fn a_value_that_is_not_ascii_is_refused() {
        check(
            Request::get("/Greeter/greet").header("x-name", "é"),
            expect![[r#"
                HF0120 header `x-name` has characters other than visible ASCII; encode its value
            "#]],
        );
    }
}
