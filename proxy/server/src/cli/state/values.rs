//! Values as JSON that a person can read and edit, and back to the same bytes.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use holdfast_machine::command::StateMap;
use serde_json::{Map, Value, json};
use std::fmt::Write;

use super::super::text::shorten;

/// What stands for a text that is no JSON, and for bytes that are no text.
const TEXT: &str = "$text";
const BASE64: &str = "$base64";
/// Longest value in a line about a change, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// All values, by name.
pub fn object(state: &StateMap) -> Map<String, Value> {
    state.iter().map(|(key, value)| (name(key), show(value))).collect()
}

fn name(key: &Bytes) -> String {
    String::from_utf8_lossy(key).into_owned()
}

fn show(value: &[u8]) -> Value {
    if let Ok(json) = serde_json::from_slice(value) {
        return json;
    }
    match std::str::from_utf8(value) {
        Ok(text) => json!({ TEXT: text }),
        Err(_) => json!({ BASE64: BASE64_STANDARD.encode(value) }),
    }
}

fn bytes(value: &Value) -> Bytes {
    let single = value.as_object().filter(|object| object.len() == 1);
    let named = |name: &str| single?.get(name)?.as_str();
    let decoded = named(BASE64).and_then(|text| BASE64_STANDARD.decode(text).ok());
    match (named(TEXT), decoded) {
        (Some(text), _) => Bytes::copy_from_slice(text.as_bytes()),
        (None, Some(bytes)) => bytes.into(),
        (None, None) => value.to_string().into(),
    }
}

/// As they were, but for what the patch names: null removes, anything else replaces.
pub fn merge(before: &StateMap, patch: &Map<String, Value>) -> StateMap {
    let mut after = before.clone();
    for (name, value) in patch {
        let key = Bytes::copy_from_slice(name.as_bytes());
        match value {
            Value::Null => {
                after.remove(&key);
            }
            value => {
                let kept = before.get(&key).filter(|bytes| show(bytes) == *value);
                after.insert(key, kept.cloned().unwrap_or_else(|| bytes(value)));
            }
        }
    }
    after
}

/// Only what `edited` names; what it shows as it was keeps its bytes.
pub fn replace(before: &StateMap, edited: &Map<String, Value>) -> StateMap {
    let value = |(name, value): (&String, &Value)| {
        let key = Bytes::copy_from_slice(name.as_bytes());
        let kept = before.get(&key).filter(|bytes| show(bytes) == *value);
        let bytes = kept.cloned().unwrap_or_else(|| bytes(value));
        (key, bytes)
    };
    edited.iter().map(value).collect()
}

/// A line for each value that is different.
pub fn changes(before: &StateMap, after: &StateMap) -> String {
    let shown = |value: Option<&Bytes>| match value {
        Some(value) => shorten(&show(value).to_string(), VALUE_CHARS_MAX),
        None => "nothing".into(),
    };
    let mut names: Vec<&Bytes> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let different = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    different.fold(String::new(), |mut out, key| {
        let (was, is) = (shown(before.get(key)), shown(after.get(key)));
        let _ = writeln!(out, "  {}: {was} → {is}", name(key));
        out
    })
}

/// As the server takes them: texts, and else numbers of bytes.
pub fn wire(state: &StateMap) -> Map<String, Value> {
    let value = |value: &Bytes| match std::str::from_utf8(value) {
        Ok(text) => Value::from(text),
        Err(_) => Value::from(value.to_vec()),
    };
    state.iter().map(|(key, bytes)| (name(key), value(bytes))).collect()
}

pub fn from_hex(text: &str) -> Option<Bytes> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    rest.is_empty().then(|| bytes.collect::<Option<Vec<u8>>>()).flatten().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn state(pairs: &[(&str, &[u8])]) -> StateMap {
        let own = |(name, value): &(&str, &[u8])| {
            (Bytes::copy_from_slice(name.as_bytes()), Bytes::copy_from_slice(value))
        };
        pairs.iter().map(own).collect()
    }

    #[test]
    fn values_are_shown_and_come_back() {
        let before = state(&[
            ("count", b" 7"),
            ("name", b"\"Ada\""),
            ("note", b"not json"),
            ("raw", &[0xff, 0]),
        ]);
        let shown = object(&before);
        expect![[r#"
            {"count":7,"name":"Ada","note":{"$text":"not json"},"raw":{"$base64":"/wA="}}
        "#]]
        .assert_eq(&format!("{}\n", Value::from(shown.clone())));
        assert_eq!(replace(&before, &shown), before, "what is not changed keeps its bytes");
        assert_eq!(bytes(&shown["note"]), before["note".as_bytes()]);
        assert_eq!(bytes(&shown["raw"]), before["raw".as_bytes()]);
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let before = state(&[("a", b"1"), ("b", b" 2"), ("c", b"3")]);
        let patch = json!({ "a": { "x": [1] }, "b": 2, "c": null, "d": "new" });
        let after = merge(&before, patch.as_object().unwrap());
        expect![[r#"
            changed
              a: 1 → {"x":[1]}
              c: 3 → nothing
              d: nothing → "new"
        "#]]
        .assert_eq(&format!("changed\n{}", changes(&before, &after)));
        expect![[r#"
            {"a":"{\"x\":[1]}","b":" 2","d":"\"new\""}
        "#]]
        .assert_eq(&format!("{}\n", Value::from(wire(&after))));
        assert_eq!(changes(&after, &after), "");
    }

    #[test]
    fn hexadecimal_is_read() {
        assert_eq!(from_hex("00fF10").as_deref(), Some(&[0, 255, 16][..]));
        assert_eq!((from_hex("0"), from_hex("zz")), (None, None));
    }
}
