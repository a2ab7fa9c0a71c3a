//! How fields of commands are written: as SDKs write them in their errors, and as they are shown.
//! Never shows a payload or a header: their size and their hash tell whether two are the same.

use bytes::Bytes;
use holdfast_wire::message::pb;
use sha2::{Digest, Sha256};

/// What a field holds, and so how its text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Text or a number, as it is.
    Plain,
    /// The key of a state entry, in quotes.
    Key,
    /// Bytes of a user, nothing, or a failure.
    Payload,
    Headers,
}

/// How SDKs write a field that is not there.
const ABSENT: &str = "<empty>";
const VOID: &str = "void";
/// Longest text that is shown.
const SHOWN_CHARS_MAX: usize = 256;
/// Bytes of a hash that are shown.
const HASH_BYTES: usize = 4;

impl Form {
    /// What is shown of a field that an SDK writes as `text`; `None` where it has no value.
    pub(super) fn shown(self, text: &str) -> Option<String> {
        if text.is_empty() || text == ABSENT {
            return None;
        }
        Some(match self {
            Form::Plain => shortened(text),
            Form::Key => match bytes_of(text) {
                Some(key) => shortened(&String::from_utf8_lossy(&key)),
                None => shortened(text),
            },
            Form::Payload => payload(text),
            Form::Headers => digest(text.as_bytes()),
        })
    }
}

/// The beginning of a text.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn payload(text: &str) -> String {
    if text == VOID {
        return "no value".to_owned();
    }
    if let Some((code, message)) = text.strip_prefix("error [").and_then(|it| it.split_once("] ")) {
        return format!("failure {code}: {}", shortened(message.trim_matches('\'')));
    }
    bytes_of(text).map_or_else(|| "(cannot be read)".to_owned(), |bytes| digest(&bytes))
}

fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hash: String = hash[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} bytes, sha256 {hash}", bytes.len())
}

// --- as SDKs write them; they differ where bytes are no text

/// Bytes that stand in a field of their own.
pub(super) fn bytes(bytes: &Bytes) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("'{text}'"),
        Err(_) => format!("{:?}", &bytes[..]),
    }
}

/// Bytes within a value.
pub(super) fn value(value: Option<&pb::Value>) -> String {
    let Some(value) = value else {
        return ABSENT.to_owned();
    };
    match std::str::from_utf8(&value.content) {
        Ok(text) => format!("'{text}'"),
        Err(_) => format!("{:?}", value.content),
    }
}

pub(super) fn failure(failure: &pb::Failure) -> String {
    format!("error [{}] '{}'", failure.code, failure.message)
}

pub(super) fn void() -> String {
    VOID.to_owned()
}

pub(super) fn absent() -> String {
    ABSENT.to_owned()
}

pub(super) fn optional(text: Option<&str>) -> String {
    text.unwrap_or(ABSENT).to_owned()
}

pub(super) fn headers(headers: &[pb::Header]) -> String {
    let pairs = headers.iter().map(|header| format!("{}: {}", header.key, header.value));
    pairs.collect::<Vec<_>>().join(", ")
}

pub(super) fn keys(keys: Option<&pb::StateKeys>) -> String {
    let Some(keys) = keys else {
        return ABSENT.to_owned();
    };
    let keys = keys.keys.iter().map(|key| format!("'{}'", String::from_utf8_lossy(key)));
    format!("[{}]", keys.collect::<Vec<_>>().join(", "))
}

// --- and back

/// The bytes that `text` is written for: `'text'`, `[1, 2]` or `b"\x01"`.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let within = |open: &str, close: &str| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(text) = within("'", "'") {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(list) = within("[", "]") {
        return list.split(", ").map(|byte| byte.parse().ok()).collect();
    }
    within("b\"", "\"").and_then(unescaped)
}

fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        if next != '\\' {
            bytes.extend(next.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let (escape, behind) = rest.split_at_checked(1)?;
        rest = behind;
        bytes.push(match escape {
            "n" => b'\n',
            "r" => b'\r',
            "t" => b'\t',
            "0" => 0,
            "\\" | "\"" | "'" => escape.as_bytes()[0],
            "x" => {
                let (digits, behind) = rest.split_at_checked(2)?;
                rest = behind;
                u8::from_str_radix(digits, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_written_can_be_read(content: Vec<u8>) {
            let content = Bytes::from(content);
            prop_assert_eq!(bytes_of(&bytes(&content)), Some(content.to_vec()));
            let value = value(Some(&pb::Value { content: content.clone() }));
            prop_assert_eq!(bytes_of(&value), Some(content.to_vec()));
        }

        #[test]
        fn no_text_panics(text: String) {
            let forms = [Form::Plain, Form::Key, Form::Payload, Form::Headers];
            for text in [format!("b\"{text}\""), format!("error [{text}"), text] {
                forms.into_iter().for_each(|form| drop(form.shown(&text)));
            }
        }
    }

    #[test]
    fn payloads_are_never_shown() {
        let secret = "'correct horse battery staple'";
        for form in [Form::Payload, Form::Headers] {
            let shown = form.shown(secret).unwrap();
            assert!(!shown.contains("horse"), "{shown}");
        }
        // What a cut of a long message leaves of a payload is no payload any more.
        assert_eq!(Form::Payload.shown("'correct horse").unwrap(), "(cannot be read)");
        let hash = Sha256::digest("correct horse battery staple");
        let shown = format!(
            "28 bytes, sha256 {:02x}{:02x}{:02x}{:02x}",
            hash[0], hash[1], hash[2], hash[3]
        );
        assert_eq!(Form::Payload.shown(secret).unwrap(), shown);
    }
}
