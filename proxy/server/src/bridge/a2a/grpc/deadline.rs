//! How long a caller waits: the header `grpc-timeout`.

use hyper::HeaderMap;
use std::time::Duration;

const TIMEOUT: &str = "grpc-timeout";
/// More digits are against the protocol.
const DIGITS_MAX: usize = 8;

/// What the caller allows; `None`: it says nothing.
///
/// # Errors
/// A sentence, where it says something that is no time.
pub fn of(headers: &HeaderMap) -> Result<Option<Duration>, String> {
    let Some(value) = headers.get(TIMEOUT) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default();
    parse(text).map(Some).ok_or_else(|| {
        format!("`{TIMEOUT}` is `{text}`; expected up to 8 digits and one of H, M, S, m, u, n")
    })
}

fn parse(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let digits = text.strip_suffix(unit)?;
    if digits.len() > DIGITS_MAX || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        'H' => Duration::from_secs(count * 3_600),
        'M' => Duration::from_secs(count * 60),
        'S' => Duration::from_secs(count),
        'm' => Duration::from_millis(count),
        'u' => Duration::from_micros(count),
        'n' => Duration::from_nanos(count),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_a_unit() {
        let times = [("1H", 3_600_000), ("2M", 120_000), ("3S", 3_000), ("99999999m", 99_999_999)];
        for (text, ms) in times {
            assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(parse("5u"), Some(Duration::from_micros(5)));
        assert_eq!(parse("0n"), Some(Duration::ZERO));
        for text in ["", "S", "1", "1s", "123456789S", "-1S", "1.5S", "+1S", "1µ"] {
            assert_eq!(parse(text), None, "{text}");
        }
        let mut headers = HeaderMap::new();
        assert_eq!(of(&headers), Ok(None));
        headers.insert(TIMEOUT, "x".parse().unwrap());
        assert!(of(&headers).unwrap_err().contains("`x`"));
    }
}
