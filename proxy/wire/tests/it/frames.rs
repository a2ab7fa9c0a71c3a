//! Frames: any cut of the stream gives the same frames, and bounds hold.

use bytes::{Bytes, BytesMut};
use holdfast_wire::frame::{Decoder, Error, Frame, HEADER_BYTES};
use holdfast_wire::message::{MessageType, pb};
use proptest::prelude::*;

const PAYLOAD_BYTES_MAX: u32 = 300;

fn any_frame() -> impl Strategy<Value = Frame> {
    let payload = prop::collection::vec(any::<u8>(), 0..=PAYLOAD_BYTES_MAX as usize);
    (any::<u16>(), any::<bool>(), payload).prop_map(|(ty, requires_ack, payload)| Frame {
        ty: MessageType(ty),
        requires_ack,
        payload: payload.into(),
    })
}

fn any_frames() -> impl Strategy<Value = Vec<Frame>> {
    prop::collection::vec(any_frame(), 0..8)
}

fn stream_of(frames: &[Frame]) -> Bytes {
    let mut stream = BytesMut::new();
    frames.iter().for_each(|frame| frame.encode_into(&mut stream));
    stream.freeze()
}

fn drain(decoder: &mut Decoder) -> Vec<Frame> {
    std::iter::from_fn(|| decoder.next().unwrap()).collect()
}

proptest! {
    #[test]
    fn any_cut_of_the_stream_gives_the_same_frames(
        frames in any_frames(),
        cuts in prop::collection::vec((0..60usize, any::<bool>()), 0..200),
    ) {
        let mut stream = stream_of(&frames);
        let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX);
        let mut seen = vec![];
        let mut pending = 0;
        for (length, take) in cuts {
            let chunk = stream.split_to(length.min(stream.len()));
            pending += chunk.len();
            decoder.push(chunk);
            if take {
                let taken = drain(&mut decoder);
                pending -= taken.iter().map(Frame::encoded_bytes).sum::<usize>();
                seen.extend(taken);
            }
            prop_assert_eq!(decoder.buffered_bytes(), pending);
        }
        decoder.push(stream);
        seen.extend(drain(&mut decoder));
        prop_assert_eq!(seen, frames);
        prop_assert!(decoder.is_empty());
        prop_assert_eq!(decoder.finish(), Ok(()));
    }

    #[test]
    fn a_stream_may_end_only_between_frames(frames in any_frames(), end in any::<prop::sample::Index>()) {
        let stream = stream_of(&frames);
        let end = end.index(stream.len() + 1);
        let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX);
        decoder.push(stream.slice(..end));
        let whole: usize = drain(&mut decoder).iter().map(Frame::encoded_bytes).sum();
        let expected =
            if whole == end { Ok(()) } else { Err(Error::Truncated { bytes: end - whole }) };
        prop_assert_eq!(decoder.finish(), expected);
    }

    #[test]
    fn a_frame_within_one_chunk_is_not_copied(frames in any_frames()) {
        let stream = stream_of(&frames);
        let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX);
        decoder.push(stream.clone());
        for frame in drain(&mut decoder) {
            prop_assert!(stream.as_ptr_range().contains(&frame.payload.as_ptr())
                || frame.payload.is_empty());
        }
    }
}

#[test]
fn a_payload_beyond_the_limit_is_refused_by_its_header_alone() {
    let frame = Frame::raw(MessageType::RUN, vec![0; 11].into());
    for at in [HEADER_BYTES, frame.encoded_bytes()] {
        let mut decoder = Decoder::new(10);
        decoder.push(frame.encode().slice(..at));
        let error = Error::TooLarge { ty: MessageType::RUN, bytes: 11, bytes_max: 10 };
        assert_eq!(decoder.next(), Err(error.clone()));
        decoder.push(Frame::raw(MessageType::END, Bytes::new()).encode());
        assert_eq!(decoder.next(), Err(error.clone()), "a broken decoder stays broken");
        assert_eq!(decoder.finish(), Err(error));
        assert_eq!(decoder.buffered_bytes(), 0, "a broken decoder holds nothing");
    }
}

#[test]
fn a_payload_as_large_as_the_limit_is_taken() {
    let frame = Frame::raw(MessageType::RUN, vec![7; 10].into());
    let mut decoder = Decoder::new(10);
    decoder.push(frame.encode());
    assert_eq!(decoder.next(), Ok(Some(frame)));
}

#[test]
fn a_large_payload_in_small_chunks_is_put_together() {
    let payload: Bytes = (0..3_000_000u32).map(|number| number as u8).collect();
    let frame = Frame::raw(MessageType::OUTPUT, payload);
    let mut decoder = Decoder::new(u32::MAX);
    let mut seen = vec![];
    let stream = frame.encode();
    for start in (0..stream.len()).step_by(1000) {
        decoder.push(stream.slice(start..stream.len().min(start + 1000)));
        seen.extend(drain(&mut decoder));
    }
    assert_eq!(seen, [frame]);
}

#[test]
fn a_payload_that_comes_after_its_header_is_not_copied() {
    let frame = Frame::raw(MessageType::OUTPUT, Bytes::from_static(b"payload"));
    let mut decoder = Decoder::new(10);
    decoder.push(Bytes::copy_from_slice(&frame.header()[..3]));
    decoder.push(Bytes::copy_from_slice(&frame.header()[3..]));
    assert_eq!(decoder.next(), Ok(None));
    decoder.push(frame.payload.clone());
    let seen = decoder.next().unwrap().expect("a whole frame");
    assert_eq!(seen, frame);
    assert_eq!(seen.payload.as_ptr(), frame.payload.as_ptr());
}

#[test]
fn the_header_is_type_flags_and_length() {
    let payload = Bytes::from_static(b"\x08\x01");
    let frame = Frame { ty: MessageType::PROPOSE_RUN_COMPLETION, requires_ack: true, payload };
    assert_eq!(frame.header(), [0x00, 0x05, 0x80, 0x00, 0, 0, 0, 2]);
    assert_eq!(&frame.encode()[..], [0x00, 0x05, 0x80, 0x00, 0, 0, 0, 2, 8, 1]);
}

#[test]
fn a_message_is_appended_as_its_frame_is_encoded() {
    let message = pb::ProposeRunCompletionAck { completion_id: 300 };
    let ty = MessageType::PROPOSE_RUN_COMPLETION_ACK;
    let mut bytes = BytesMut::from("before");
    Frame::encode_message_into(ty, &message, &mut bytes);
    assert_eq!(bytes.strip_prefix(b"before").unwrap(), Frame::of(ty, &message).encode());
}

#[test]
fn reserved_flags_are_dropped() {
    let mut decoder = Decoder::new(10);
    decoder.push(Bytes::from_static(&[0x04, 0x11, 0x7F, 0xFF, 0, 0, 0, 0]));
    assert_eq!(decoder.next(), Ok(Some(Frame::raw(MessageType::RUN, Bytes::new()))));
}
