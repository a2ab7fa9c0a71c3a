//! The ways in for bytes of strangers, shared by the tests and by the fuzz targets in `fuzz/wire`.
//!
//! Each takes any bytes and must not panic, whatever they are. What was read is written again and
//! has to come out the same.

use std::fmt::Debug;

use bytes::Bytes;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::manifest::{Manifest, ManifestVersion};
use holdfast_wire::message::{MessageType, pb};
use prost::{DecodeError, Message};

/// Small enough that bytes by chance go beyond it.
const PAYLOAD_BYTES_MAX: u32 = 4096;

/// Reads a stream of frames: the first byte says how large the chunks are.
pub fn frames(bytes: &[u8]) {
    let Some((&size, stream)) = bytes.split_first() else {
        return;
    };
    let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX);
    let mut written = Vec::new();
    for chunk in stream.chunks(usize::from(size).max(1)) {
        decoder.push(Bytes::copy_from_slice(chunk));
        loop {
            match decoder.next() {
                Ok(Some(frame)) => written.extend_from_slice(&frame.encode()),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(decoder.finish(), Err(error), "a broken decoder stays broken");
                    return;
                }
            }
        }
    }
    assert_eq!(written.len() + decoder.buffered_bytes(), stream.len());
    assert_eq!(decoder.finish().is_ok(), written.len() == stream.len());
    // All but the reserved flags has to come out as it went in.
    let differs = written.iter().zip(stream).filter(|(written, read)| written != read).count();
    assert!(differs <= written.len() / 8 * 2);
}

/// Reads one message: the first two bytes are its type.
pub fn message(bytes: &[u8]) {
    let Some((ty, payload)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let frame = Frame::raw(MessageType(u16::from_be_bytes(*ty)), Bytes::copy_from_slice(payload));
    let Some(Ok(read)) = decode(&frame) else {
        return;
    };
    let again = decode(&read.written).expect("its type is known").expect("we wrote it");
    assert_eq!(read.shown, again.shown);
    assert_eq!(read.written, again.written);
}

/// Reads a manifest.
pub fn manifest(bytes: &[u8]) {
    let content_type = ManifestVersion::V4.content_type();
    let Ok(manifest) = Manifest::parse(content_type, bytes) else {
        return;
    };
    let written = serde_json::to_vec(&manifest).expect("a manifest is JSON");
    assert_eq!(Manifest::parse(content_type, &written).as_ref(), Ok(&manifest));
    assert_eq!(serde_json::from_slice::<Manifest>(&written).ok(), Some(manifest));
}

/// What became of a frame that was decoded and encoded again.
pub struct Read {
    pub shown: String,
    pub written: Frame,
}

/// Decodes the payload of a frame as its type says; `None` if the type is not in the catalogue.
pub fn decode(frame: &Frame) -> Option<Result<Read, DecodeError>> {
    use MessageType as T;
    Some(match frame.ty {
        T::START => read::<pb::Start>(frame),
        T::SUSPENSION => read::<pb::Suspension>(frame),
        T::ERROR => read::<pb::Error>(frame),
        T::END => read::<pb::End>(frame),
        T::COMMAND_ACK => read::<pb::CommandAck>(frame),
        T::PROPOSE_RUN_COMPLETION => read::<pb::ProposeRunCompletion>(frame),
        T::AWAITING_ON => read::<pb::AwaitingOn>(frame),
        T::PROPOSE_RUN_COMPLETION_ACK => read::<pb::ProposeRunCompletionAck>(frame),
        T::INPUT => read::<pb::InputCommand>(frame),
        T::OUTPUT => read::<pb::OutputCommand>(frame),
        T::GET_LAZY_STATE => read::<pb::GetLazyStateCommand>(frame),
        T::SET_STATE => read::<pb::SetStateCommand>(frame),
        T::CLEAR_STATE => read::<pb::ClearStateCommand>(frame),
        T::CLEAR_ALL_STATE => read::<pb::ClearAllStateCommand>(frame),
        T::GET_LAZY_STATE_KEYS => read::<pb::GetLazyStateKeysCommand>(frame),
        T::GET_EAGER_STATE => read::<pb::GetEagerStateCommand>(frame),
        T::GET_EAGER_STATE_KEYS => read::<pb::GetEagerStateKeysCommand>(frame),
        T::GET_PROMISE => read::<pb::GetPromiseCommand>(frame),
        T::PEEK_PROMISE => read::<pb::PeekPromiseCommand>(frame),
        T::COMPLETE_PROMISE => read::<pb::CompletePromiseCommand>(frame),
        T::SLEEP => read::<pb::SleepCommand>(frame),
        T::CALL => read::<pb::CallCommand>(frame),
        T::ONE_WAY_CALL => read::<pb::OneWayCallCommand>(frame),
        T::SEND_SIGNAL => read::<pb::SendSignalCommand>(frame),
        T::RUN => read::<pb::RunCommand>(frame),
        T::ATTACH_INVOCATION => read::<pb::AttachInvocationCommand>(frame),
        T::GET_INVOCATION_OUTPUT => read::<pb::GetInvocationOutputCommand>(frame),
        T::COMPLETE_AWAKEABLE => read::<pb::CompleteAwakeableCommand>(frame),
        ty if ty.is_notification() && ty.is_known() => read::<pb::Notification>(frame),
        _ => return None,
    })
}

fn read<M: Message + Default + Debug>(frame: &Frame) -> Result<Read, DecodeError> {
    let message = M::decode(frame.payload.clone())?;
    let written = Frame { requires_ack: frame.requires_ack, ..Frame::of(frame.ty, &message) };
    Ok(Read { shown: format!("{message:?}"), written })
}
