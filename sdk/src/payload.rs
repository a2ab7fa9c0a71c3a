//! Payloads: JSON, unless the type says otherwise.
//!
//! Any type of serde is JSON. [`Raw`], [`Text`] and [`Proto`] are sent as they are. They are known
//! by the name under which they serialize, which costs the other types nothing and needs no trait
//! of their own. `()` is the empty payload.

mod probe;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) const JSON: &str = "application/json";

/// Bytes as they are: `application/octet-stream`.
///
/// ```
/// use holdfast_sdk::Raw;
///
/// let picture = Raw::from(vec![0x89, 0x50, 0x4e, 0x47]);
/// assert_eq!(picture.0.len(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw(pub Bytes);

/// Text as it is, without the quotes of JSON: `text/plain`.
///
/// ```
/// use holdfast_sdk::Text;
///
/// assert_eq!(Text::from("hello").0, "hello");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub String);

/// A protobuf message: `application/protobuf`.
///
/// ```
/// use holdfast_sdk::Proto;
///
/// fn answer(question: Proto<String>) -> Proto<u64> { // any `prost::Message`
///     Proto(question.0.len() as u64)
/// }
/// assert_eq!(answer(Proto("four".to_owned())).0, 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proto<M>(pub M);

impl<B: Into<Bytes>> From<B> for Raw {
    fn from(bytes: B) -> Raw {
        Raw(bytes.into())
    }
}

impl<S: Into<String>> From<S> for Text {
    fn from(text: S) -> Text {
        Text(text.into())
    }
}

/// How a payload is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    pub(crate) bytes: Bytes,
    /// None for the empty payload.
    pub(crate) content_type: Option<&'static str>,
}

/// Why a payload cannot be written or read. Never shows the payload.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("a `{ty}` cannot be written: {reason}")]
    Write { ty: &'static str, reason: String },
    #[error("{bytes} bytes cannot be read as a `{ty}`: {reason}")]
    Read { ty: &'static str, bytes: usize, reason: String },
}

/// The bytes of a value.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Encoded, Error> {
    if let Some(encoded) = probe::encode(value) {
        return Ok(encoded);
    }
    match serde_json::to_vec(value) {
        Ok(json) => Ok(Encoded { bytes: json.into(), content_type: Some(JSON) }),
        Err(error) => {
            Err(Error::Write { ty: std::any::type_name::<T>(), reason: error.to_string() })
        }
    }
}

/// The value that bytes stand for.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Error> {
    if let Some(value) = probe::decode(bytes) {
        return Ok(value);
    }
    let read = if bytes.is_empty() {
        T::deserialize(probe::Nothing).map_err(|error| error.to_string())
    } else {
        serde_json::from_slice(bytes).map_err(without_payload)
    };
    read.map_err(|reason| Error::Read {
        ty: std::any::type_name::<T>(),
        bytes: bytes.len(),
        reason,
    })
}

/// What is wrong with JSON and where, without what stands there.
fn without_payload(error: serde_json::Error) -> String {
    use serde_json::error::Category;
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Syntax => format!("not JSON, at line {line} column {column}"),
        Category::Eof => "not JSON, it ends too early".to_owned(),
        Category::Data | Category::Io => {
            format!("{} (line {line} column {column})", first_words(&error.to_string()))
        }
    }
}

/// Serde names a field that is missing or a type that is wrong, and quotes values of the payload
/// only after a colon.
fn first_words(error: &str) -> &str {
    let error = error.split(" at line ").next().unwrap_or(error);
    match error.split_once(": ") {
        Some(("invalid type" | "invalid value" | "invalid length", _)) => {
            error.split_once(", expected").map_or("invalid value", |_| "not of the expected type")
        }
        _ => error,
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(probe::RAW, &probe::Plain(&self.0))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(probe::TEXT, &probe::Plain(self.0.as_bytes()))
    }
}

impl<M: prost::Message> Serialize for Proto<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.0.encode_to_vec();
        serializer.serialize_newtype_struct(probe::PROTO, &probe::Plain(&bytes))
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        let bytes = deserializer.deserialize_newtype_struct(probe::RAW, probe::Plainly)?;
        Ok(Raw(bytes.into()))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        let bytes = deserializer.deserialize_newtype_struct(probe::TEXT, probe::Plainly)?;
        String::from_utf8(bytes).map(Text).map_err(serde::de::Error::custom)
    }
}

impl<'de, M: prost::Message + Default> Deserialize<'de> for Proto<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Proto<M>, D::Error> {
        let bytes = deserializer.deserialize_newtype_struct(probe::PROTO, probe::Plainly)?;
        M::decode(bytes.as_slice()).map(Proto).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn round_trip<T>(value: T, text: &str, content_type: Option<&str>)
    where
        T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let encoded = encode(&value).unwrap();
        assert_eq!(String::from_utf8_lossy(&encoded.bytes), text);
        assert_eq!(encoded.content_type, content_type);
        assert_eq!(decode::<T>(&encoded.bytes).unwrap(), value);
    }

    #[test]
    fn types_say_how_they_are_sent() {
        round_trip("x".to_owned(), "\"x\"", Some(JSON));
        round_trip(vec![1, 2], "[1,2]", Some(JSON));
        round_trip(Value::Null, "null", Some(JSON));
        round_trip(None::<u8>, "null", Some(JSON));
        round_trip(Raw::from("{\"as\": it is"), "{\"as\": it is", Some("application/octet-stream"));
        round_trip(Raw::default(), "", Some("application/octet-stream"));
        round_trip(Text::from("it's"), "it's", Some("text/plain; charset=utf-8"));
        round_trip(Proto("ab".to_owned()), "\n\u{2}ab", Some("application/protobuf"));
        round_trip((), "", None);
    }

    #[test]
    fn what_wraps_a_plain_type_is_sent_like_it() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        #[serde(transparent)]
        struct Picture(Raw);
        round_trip(Picture(Raw::from("png")), "png", Some("application/octet-stream"));
    }

    #[test]
    fn nothing_is_read_by_types_that_can_be_nothing() {
        let nothing = Bytes::new();
        assert_eq!(decode::<Option<String>>(&nothing).unwrap(), None);
        assert_eq!(decode::<Value>(&nothing).unwrap(), Value::Null);
        decode::<()>(&nothing).unwrap();
        let error = decode::<String>(&nothing).unwrap_err().to_string();
        assert!(error.contains("0 bytes cannot be read as a `alloc::string::String`"), "{error}");
    }

    #[test]
    fn an_error_does_not_tell_the_payload() {
        let secret = Bytes::from_static(b"{\"card\": \"4111\"}");
        for error in [
            decode::<u32>(&secret).unwrap_err().to_string(),
            decode::<Vec<u32>>(&secret).unwrap_err().to_string(),
            decode::<std::collections::HashMap<String, u8>>(&secret).unwrap_err().to_string(),
        ] {
            assert!(!error.contains("4111"), "{error}");
        }
    }
}
