//! Messages on the wire of gRPC: a byte that says whether what follows is compressed, its length,
//! and the message. Never knows what a message says.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

/// Bytes before each message.
pub const PREFIX_BYTES: usize = 5;

/// What a body is that does not hold exactly one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    #[error("the body holds no message")]
    Missing,
    #[error("the message is compressed, and only `identity` is understood")]
    Compressed,
    #[error("the message is shorter than its length says")]
    Short,
    #[error("the body holds more than one message")]
    More,
    #[error("the first byte of the message is neither 0 nor 1")]
    Flag,
}

/// The one message of a body.
pub fn only(body: &Bytes) -> Result<Bytes, Malformed> {
    let Some((prefix, rest)) = body.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(if body.is_empty() { Malformed::Missing } else { Malformed::Short });
    };
    let [flag, length @ ..] = *prefix;
    match flag {
        0 => {}
        1 => return Err(Malformed::Compressed),
        _ => return Err(Malformed::Flag),
    }
    let length = u32::from_be_bytes(length) as usize;
    match rest.len() {
        there if there < length => Err(Malformed::Short),
        there if there > length => Err(Malformed::More),
        _ => Ok(body.slice(PREFIX_BYTES..)),
    }
}

/// A message with its prefix.
pub fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(PREFIX_BYTES + length);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(length).expect("a message is far below 4 GiB"));
    message.encode(&mut bytes).expect("there is room for it");
    bytes.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_body_holds_one_message() {
        let check = |bytes: &'static [u8]| only(&Bytes::from_static(bytes));
        assert_eq!(check(b""), Err(Malformed::Missing));
        assert_eq!(check(b"\0\0\0\0"), Err(Malformed::Short));
        assert_eq!(check(b"\0\0\0\0\x02x"), Err(Malformed::Short));
        assert_eq!(check(b"\x01\0\0\0\x01x"), Err(Malformed::Compressed));
        assert_eq!(check(b"\x02\0\0\0\x01x"), Err(Malformed::Flag));
        assert_eq!(check(b"\0\0\0\0\x01xy"), Err(Malformed::More));
        assert_eq!(check(b"\0\0\0\0\0"), Ok(Bytes::new()));
        assert_eq!(check(b"\0\0\0\0\x02xy"), Ok(Bytes::from_static(b"xy")));
    }

    proptest! {
        #[test]
        fn what_is_framed_is_read(message: String) {
            let framed = framed(&message);
            let read = String::decode(only(&framed).unwrap()).unwrap();
            prop_assert_eq!(read, message);
        }
    }
}
