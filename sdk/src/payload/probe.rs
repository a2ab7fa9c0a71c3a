//! How a type says that it is no JSON: by serializing as a newtype of a name that is ours.
//!
//! A probe is a serializer (and deserializer) that understands such a newtype and refuses all else
//! at the first word, after which the value is taken for JSON.

use super::Encoded;
use bytes::Bytes;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::ser::{Impossible, Serialize, Serializer};
use std::fmt;

pub(super) const RAW: &str = "$holdfast::Raw";
pub(super) const TEXT: &str = "$holdfast::Text";
pub(super) const PROTO: &str = "$holdfast::Proto";

/// The media type that goes with such a name.
fn content_type(name: &str) -> Option<&'static str> {
    match name {
        RAW => Some("application/octet-stream"),
        TEXT => Some("text/plain; charset=utf-8"),
        PROTO => Some("application/protobuf"),
        _ => None,
    }
}

/// The value as the bytes that it is, if it says that it is no JSON.
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Option<Encoded> {
    value.serialize(Probe { nothing: size_of_val(value) == 0, inside: None }).ok()
}

/// The value that these bytes are, if its type says that it is no JSON.
pub(super) fn decode<T: DeserializeOwned>(bytes: &Bytes) -> Option<T> {
    T::deserialize(Ask(bytes)).ok()
}

/// That the probe does not apply. Has no text, since nobody reads it.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is JSON")
    }
}

impl std::error::Error for Refused {}

impl serde::ser::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Refused {
        Refused
    }
}

impl serde::de::Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Refused {
        Refused
    }
}

/// Bytes as the plain types serialize them.
pub(super) struct Plain<'a>(pub(super) &'a [u8]);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// Understands the newtypes of this file and `()`.
struct Probe {
    /// The value has no size, so that a unit is `()`, and not the null of some JSON.
    nothing: bool,
    /// Within such a newtype: how what follows is sent.
    inside: Option<&'static str>,
}

/// Every word of a serializer that a plain type does not say.
macro_rules! refuse {
    ($($method:ident($($ty:ty),*);)*) => {
        $(fn $method(self, $(_: $ty),*) -> Result<Encoded, Refused> {
            Err(Refused)
        })*
    };
}

impl Serializer for Probe {
    type Ok = Encoded;
    type Error = Refused;
    type SerializeSeq = Impossible<Encoded, Refused>;
    type SerializeTuple = Impossible<Encoded, Refused>;
    type SerializeTupleStruct = Impossible<Encoded, Refused>;
    type SerializeTupleVariant = Impossible<Encoded, Refused>;
    type SerializeMap = Impossible<Encoded, Refused>;
    type SerializeStruct = Impossible<Encoded, Refused>;
    type SerializeStructVariant = Impossible<Encoded, Refused>;

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Encoded, Refused> {
        let content_type = content_type(name).ok_or(Refused)?;
        value.serialize(Probe { inside: Some(content_type), ..self })
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Encoded, Refused> {
        let content_type = self.inside.ok_or(Refused)?;
        let bytes = Bytes::copy_from_slice(bytes);
        Ok(Encoded { bytes, content_type: Some(content_type) })
    }

    fn serialize_unit(self) -> Result<Encoded, Refused> {
        match self.nothing {
            true => Ok(Encoded { bytes: Bytes::new(), content_type: None }),
            false => Err(Refused),
        }
    }

    refuse! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_none();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<Encoded, Refused> {
        Err(Refused)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Encoded, Refused> {
        Err(Refused)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Refused> {
        Err(Refused)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Refused> {
        Err(Refused)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Refused> {
        Err(Refused)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Refused> {
        Err(Refused)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Refused> {
        Err(Refused)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Refused> {
        Err(Refused)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Refused> {
        Err(Refused)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<Encoded, Refused> {
        Err(Refused)
    }
}

/// Reads the newtypes of this file and nothing else.
struct Ask<'a>(&'a Bytes);

impl<'de> Deserializer<'de> for Ask<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refused> {
        Err(Refused)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match content_type(name) {
            Some(_) => visitor.visit_bytes(self.0),
            None => Err(Refused),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Takes bytes however they come: as they are, or within JSON as a list of numbers or a string.
pub(super) struct Plainly;

impl<'de> Visitor<'de> for Plainly {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inside: D) -> Result<Vec<u8>, D::Error> {
        inside.deserialize_byte_buf(self)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = vec![];
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// The empty payload, for types that can be nothing.
pub(super) struct Nothing;

impl<'de> Deserializer<'de> for Nothing {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
