//! Percent-decoding of path segments and query values. Never fails on a stray `%`: it stands for
//! itself, as in every URL parser.

use super::Error;
use std::borrow::Cow;

/// A path segment, decoded; `what` names it in the error.
pub(super) fn segment<'p>(text: &'p str, what: &'static str) -> Result<Cow<'p, str>, Error> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = decode(text.bytes());
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Error::KeyEncoding(what))
}

/// The first value of `name` in a query string, form-decoded. The case of `name` does not matter.
pub(super) fn query_value<'q>(query: Option<&'q str>, name: &str) -> Option<Cow<'q, str>> {
    let pairs = query?.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = { pairs }.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    if !value.contains(['%', '+']) {
        return Some(Cow::Borrowed(value));
    }
    let bytes = decode(value.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }));
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

fn decode(mut bytes: impl Iterator<Item = u8> + Clone) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.size_hint().1.unwrap_or(0));
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        match (byte, ahead.next().and_then(hex), ahead.next().and_then(hex)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(high << 4 | low);
                bytes = ahead;
            }
            _ => decoded.push(byte),
        }
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_segment(text: &str, expected: &str) {
        assert_eq!(segment(text, "key").unwrap(), expected);
    }

    #[test]
    fn segments() {
        check_segment("plain", "plain");
        check_segment("", "");
        check_segment("k%2F1%20x", "k/1 x");
        check_segment("%D0%BA%d0%bb", "кл");
        check_segment("%2B+", "++");
        check_segment("50%25", "50%");
        check_segment("50%", "50%");
        check_segment("%zz%4", "%zz%4");
        check_segment("%%41", "%A");
        assert!(matches!(segment("%ff", "key"), Err(Error::KeyEncoding("key"))));
    }

    #[test]
    fn query_values() {
        let query = Some("a=1&DELAY=1h+30m&delay=2s&flag&x=%31%26");
        assert_eq!(query_value(query, "delay").as_deref(), Some("1h 30m"));
        assert_eq!(query_value(query, "flag").as_deref(), Some(""));
        assert_eq!(query_value(query, "x").as_deref(), Some("1&"));
        assert_eq!(query_value(query, "lay"), None);
        assert_eq!(query_value(None, "delay"), None);
    }
}
