//! Percent-decoding of path segments and query values. Never fails on a stray `%`: it stands for
//! itself, as in every URL parser.

use std::borrow::Cow;

/// A path segment, decoded; `None` where what it stands for is not UTF-8.
pub fn segment(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    String::from_utf8(decode(text.bytes())).map(Cow::Owned).ok()
}

/// The first value of `name` in a query string, form-decoded. The case of `name` does not matter.
pub fn query_value<'q>(query: Option<&'q str>, name: &str) -> Option<Cow<'q, str>> {
    query_pairs(query).find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Names and values of a query string, values form-decoded.
pub fn query_pairs(query: Option<&str>) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name, form(value))
    })
}

fn form(value: &str) -> Cow<'_, str> {
    if !value.contains(['%', '+']) {
        return Cow::Borrowed(value);
    }
    let bytes = decode(value.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }));
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
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
        assert_eq!(segment(text).unwrap(), expected);
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
        assert_eq!(segment("%ff"), None);
    }

    #[test]
    fn query_values() {
        let query = Some("a=1&DELAY=1h+30m&delay=2s&flag&x=%31%26");
        assert_eq!(query_value(query, "delay").as_deref(), Some("1h 30m"));
        assert_eq!(query_value(query, "flag").as_deref(), Some(""));
        assert_eq!(query_value(query, "x").as_deref(), Some("1&"));
        assert_eq!(query_value(query, "lay"), None);
        assert_eq!(query_value(None, "delay"), None);
        let pairs: Vec<_> = query_pairs(Some("a=1&&b=x+y")).collect();
        assert_eq!(pairs, [("a", "1".into()), ("b", "x y".into())]);
    }
}
