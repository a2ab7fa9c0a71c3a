//! Text inside of a path, a query or a header: its UTF-8, percent-encoded.

use std::fmt::Write;

/// `text` with every byte escaped that is not unreserved in a URI.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => write!(escaped, "%{byte:02X}").expect("a string takes everything"),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_is_not_unreserved_is_escaped() {
        assert_eq!(escaped("aZ09-_.~"), "aZ09-_.~");
        assert_eq!(escaped("a/b c+ж%"), "a%2Fb%20c%2B%D0%B6%25");
        assert_eq!(escaped(""), "");
    }
}
