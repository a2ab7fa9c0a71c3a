//! Frames: an eight byte header, then one message.
//!
//! ```text
//! byte 0..2  type, big-endian
//! byte 2..4  flags; 0x8000 requests an acknowledgement, the others are reserved
//! byte 4..8  length of the payload in bytes, big-endian, the header not counted
//! ```
//!
//! The chunks of an HTTP body have no relation to frames. The decoder never copies a payload that
//! lies within one chunk, and never holds more than what was pushed into it and not yet taken.

use std::collections::VecDeque;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::message::MessageType;

/// Size of the header before each payload, in bytes.
pub const HEADER_BYTES: usize = 8;

/// The largest payload a service is allowed unless configured otherwise, in bytes.
pub const PAYLOAD_BYTES_MAX_DEFAULT: u32 = 32 * 1024 * 1024;

/// A payload up to this size, in bytes, gets its memory at once; a larger one as it arrives, so
/// that a header alone never costs much.
const RESERVE_BYTES_MAX: usize = 1024 * 1024;

const FLAG_REQUIRES_ACK: u16 = 0x8000;

/// One message as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the payload is.
    pub ty: MessageType,
    /// Whether the sender asks for an acknowledgement. The sidecar itself never asks.
    pub requires_ack: bool,
    /// The protobuf message, not yet decoded. It may share memory with all that arrived together
    /// with it: who keeps it for long should copy it.
    pub payload: Bytes,
}

impl Frame {
    /// A frame that asks for no acknowledgement, with `message` as its payload.
    pub fn of(ty: MessageType, message: &impl prost::Message) -> Frame {
        Frame::raw(ty, message.encode_to_vec().into())
    }

    /// Appends a frame that asks for no acknowledgement, with `message` as its payload.
    ///
    /// # Panics
    /// If the message has 4 GiB or more.
    pub fn encode_message_into(
        ty: MessageType,
        message: &impl prost::Message,
        bytes: &mut BytesMut,
    ) {
        let length = message.encoded_len();
        bytes.reserve(HEADER_BYTES + length);
        let length = u32::try_from(length).expect("a message is bounded far below");
        bytes.put_slice(&Header { ty, requires_ack: false, length }.encode());
        message.encode(bytes).expect("there is room for it");
    }

    /// A frame that asks for no acknowledgement, around a payload that is already encoded.
    pub fn raw(ty: MessageType, payload: Bytes) -> Frame {
        Frame { ty, requires_ack: false, payload }
    }

    /// Header and payload in one piece.
    ///
    /// # Panics
    /// If the payload has 4 GiB or more.
    pub fn encode(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.encoded_bytes());
        self.encode_into(&mut bytes);
        bytes.freeze()
    }

    /// Appends header and payload.
    ///
    /// # Panics
    /// If the payload has 4 GiB or more.
    pub fn encode_into(&self, bytes: &mut BytesMut) {
        bytes.reserve(self.encoded_bytes());
        bytes.put_slice(&self.header());
        bytes.put_slice(&self.payload);
    }

    /// The header alone, for a writer that sends the payload without copying it.
    ///
    /// # Panics
    /// If the payload has 4 GiB or more.
    pub fn header(&self) -> [u8; HEADER_BYTES] {
        let length = u32::try_from(self.payload.len()).expect("a payload is bounded far below");
        Header { ty: self.ty, requires_ack: self.requires_ack, length }.encode()
    }

    /// Size of header and payload, in bytes.
    pub fn encoded_bytes(&self) -> usize {
        HEADER_BYTES + self.payload.len()
    }
}

/// Why a stream of frames cannot be read further. There is no way on after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The payload is not read; its header says enough.
    #[error(
        "message {ty} of {bytes} bytes is larger than the limit of {bytes_max} bytes; send less or \
         raise the limit"
    )]
    TooLarge { ty: MessageType, bytes: u32, bytes_max: u32 },
    /// The stream ended where a frame had begun.
    #[error("stream ended inside a message, after {bytes} bytes of it; expected whole messages")]
    Truncated { bytes: usize },
}

/// Cuts a stream of chunks into frames.
///
/// Push a chunk, then take frames until there is none. After an error the decoder stays broken and
/// gives the same error again.
#[derive(Debug)]
pub struct Decoder {
    payload_bytes_max: u32,
    /// What was pushed and not yet looked at. Never holds an empty chunk.
    chunks: VecDeque<Bytes>,
    /// The header of the next frame, as far as it is there.
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    /// The beginning of a payload that no chunk holds whole.
    payload: BytesMut,
    buffered_bytes: usize,
    broken: Option<Error>,
}

impl Decoder {
    /// A decoder that refuses payloads of more than `payload_bytes_max` bytes.
    pub fn new(payload_bytes_max: u32) -> Decoder {
        Decoder {
            payload_bytes_max,
            chunks: VecDeque::new(),
            header: [0; HEADER_BYTES],
            header_bytes: 0,
            payload: BytesMut::new(),
            buffered_bytes: 0,
            broken: None,
        }
    }

    /// Takes the next chunk of the stream, of any size.
    pub fn push(&mut self, chunk: Bytes) {
        if chunk.is_empty() || self.broken.is_some() {
            return;
        }
        self.buffered_bytes += chunk.len();
        self.chunks.push_back(chunk);
    }

    /// The next whole frame, or `None` until more is pushed.
    ///
    /// Reserved flags are dropped: a version that gives them a meaning has to be agreed on first.
    ///
    /// # Errors
    /// [`Error::TooLarge`], as soon as the header of such a frame is there.
    #[expect(clippy::should_implement_trait, reason = "no iterator: `None` is not the end of it")]
    pub fn next(&mut self) -> Result<Option<Frame>, Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let frame = self.take().inspect_err(|error| self.break_off(error))?;
        if let Some(frame) = &frame {
            self.buffered_bytes -= frame.encoded_bytes();
        }
        Ok(frame)
    }

    /// What was pushed and not yet taken, in bytes, headers included.
    pub fn buffered_bytes(&self) -> usize {
        self.buffered_bytes
    }

    /// Whether all that was pushed has been taken.
    pub fn is_empty(&self) -> bool {
        self.buffered_bytes == 0
    }

    /// Says whether the stream may end here. To be asked after [`Decoder::next`] gave `None`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if a frame had begun, or the error that broke the decoder.
    pub fn finish(&self) -> Result<(), Error> {
        match &self.broken {
            Some(error) => Err(error.clone()),
            None if self.is_empty() => Ok(()),
            None => Err(Error::Truncated { bytes: self.buffered_bytes }),
        }
    }

    fn take(&mut self) -> Result<Option<Frame>, Error> {
        gather(&mut self.chunks, HEADER_BYTES - self.header_bytes, |bytes| {
            self.header[self.header_bytes..][..bytes.len()].copy_from_slice(bytes);
            self.header_bytes += bytes.len();
        });
        if self.header_bytes < HEADER_BYTES {
            return Ok(None);
        }
        let header = Header::decode(self.header);
        let length = header.payload_bytes(self.payload_bytes_max)?;
        let Some(payload) = self.take_payload(length) else {
            return Ok(None);
        };
        self.header_bytes = 0;
        Ok(Some(Frame { ty: header.ty, requires_ack: header.requires_ack, payload }))
    }

    /// The payload, once all of it is there.
    fn take_payload(&mut self, length: usize) -> Option<Bytes> {
        if self.payload.is_empty()
            && let Some(payload) = slice_of_first(&mut self.chunks, length)
        {
            return Some(payload);
        }
        gather(&mut self.chunks, length - self.payload.len(), |bytes| {
            reserve(&mut self.payload, length, bytes.len());
            self.payload.extend_from_slice(bytes);
        });
        (self.payload.len() == length).then(|| std::mem::take(&mut self.payload).freeze())
    }

    fn break_off(&mut self, error: &Error) {
        self.broken = Some(error.clone());
        self.chunks.clear();
        self.header_bytes = 0;
        self.payload = BytesMut::new();
        self.buffered_bytes = 0;
    }
}

/// The first bytes of the first chunk, if it has as many, without copying.
fn slice_of_first(chunks: &mut VecDeque<Bytes>, length: usize) -> Option<Bytes> {
    let first = chunks.front_mut().filter(|first| first.len() >= length)?;
    let slice = first.split_to(length);
    if first.is_empty() {
        chunks.pop_front();
    }
    Some(slice)
}

/// Takes `wanted` bytes out of the chunks, or all there are if they are fewer.
fn gather(chunks: &mut VecDeque<Bytes>, mut wanted: usize, mut put: impl FnMut(&[u8])) {
    while wanted > 0
        && let Some(first) = chunks.front_mut()
    {
        let taken = wanted.min(first.len());
        put(&first[..taken]);
        first.advance(taken);
        wanted -= taken;
        if first.is_empty() {
            chunks.pop_front();
        }
    }
}

/// Makes room for the `next` bytes of a payload that will have `length`.
fn reserve(payload: &mut BytesMut, length: usize, next: usize) {
    if payload.capacity() - payload.len() < next {
        let missing = length - payload.len();
        payload.reserve(missing.min(RESERVE_BYTES_MAX.max(payload.len())).max(next));
    }
}

struct Header {
    ty: MessageType,
    requires_ack: bool,
    length: u32,
}

impl Header {
    fn encode(&self) -> [u8; HEADER_BYTES] {
        let flags = if self.requires_ack { FLAG_REQUIRES_ACK } else { 0 };
        let word = u64::from(self.ty.0) << 48 | u64::from(flags) << 32 | u64::from(self.length);
        word.to_be_bytes()
    }

    fn decode([t0, t1, f0, f1, l0, l1, l2, l3]: [u8; HEADER_BYTES]) -> Header {
        Header {
            ty: MessageType(u16::from_be_bytes([t0, t1])),
            requires_ack: u16::from_be_bytes([f0, f1]) & FLAG_REQUIRES_ACK != 0,
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }

    /// The length of the payload, if it is allowed.
    fn payload_bytes(&self, bytes_max: u32) -> Result<usize, Error> {
        if self.length > bytes_max {
            return Err(Error::TooLarge { ty: self.ty, bytes: self.length, bytes_max });
        }
        Ok(self.length as usize)
    }
}
