//! Answers in gzip for whoever takes them so. Small ones stay as they are: they would not be
//! fewer packets.

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// Smaller bodies are not compressed, in bytes.
const BYTES_MIN: u64 = 1_024;
/// From this size on another thread compresses, in bytes: it takes milliseconds.
const BYTES_ASIDE: usize = 64 * 1_024;

pub(super) async fn gzip(request: Request, next: Next) -> Response {
    let wanted = takes_gzip(request.headers());
    let mut response = next.run(request).await;
    let vary = HeaderValue::from_static("accept-encoding");
    response.headers_mut().append(header::VARY, vary);
    if wanted && is_worth_it(&response) { compressed(response).await } else { response }
}

/// `gzip` or `*`, and not with the quality 0.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let named = values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut gzip = None;
    let mut any = None;
    for coding in named {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = parameters.trim().strip_prefix("q=").and_then(|it| it.parse::<f32>().ok());
        let taken = quality.unwrap_or(1.0) > 0.0;
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => gzip = Some(taken),
            "*" => any = Some(taken),
            _ => {}
        }
    }
    gzip.or(any).unwrap_or(false)
}

fn is_worth_it(response: &Response) -> bool {
    !response.headers().contains_key(header::CONTENT_ENCODING)
        && response.body().size_hint().exact().is_some_and(|bytes| bytes >= BYTES_MIN)
}

/// Bodies here are whole in memory, so there is nothing to wait for and nothing to break.
async fn compressed(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let Ok(plain) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(head, Body::empty());
    };
    let small = match plain.len() {
        0..BYTES_ASIDE => Ok(encode(&plain)),
        _ => {
            let plain = plain.clone();
            tokio::task::spawn_blocking(move || encode(&plain)).await
        }
    };
    match small {
        Ok(Ok(small)) => {
            head.headers.remove(header::CONTENT_LENGTH);
            let gzip = HeaderValue::from_static("gzip");
            head.headers.insert(header::CONTENT_ENCODING, gzip);
            Response::from_parts(head, Body::from(small))
        }
        _ => Response::from_parts(head, Body::from(plain)),
    }
}

fn encode(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_gzip_says_so() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        for yes in ["gzip", "br, GZIP;q=0.5", "*", "deflate, *;q=0.1", "zstd,gzip , br"] {
            assert!(takes(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "*;q=0", "*, gzip;q=0.0", "identity"] {
            assert!(!takes(no), "{no}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
