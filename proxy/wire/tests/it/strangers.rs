//! Bytes of strangers do no harm. The same ways in are fuzzed in `fuzz/wire`.

use holdfast_wire::message::MessageType;
use proptest::prelude::*;

use crate::entry;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..600)
}

/// Bytes that look like fields of a message more often than chance would have it.
fn fields() -> impl Strategy<Value = Vec<u8>> {
    let field = (1..18u8, 0..6u8, prop::collection::vec(any::<u8>(), 0..12)).prop_map(
        |(number, wire_type, content)| {
            // Numbers from 16 on take two bytes.
            let mut field = match number {
                16.. => vec![(number << 3 | wire_type) | 0x80, 1],
                _ => vec![number << 3 | wire_type],
            };
            if wire_type == 2 {
                field.push(content.len() as u8);
            }
            field.extend(content);
            field
        },
    );
    prop::collection::vec(field, 0..8).prop_map(|fields| fields.concat())
}

/// Headers as they may be, around payloads as they may not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let frame = (any::<u16>(), any::<u16>(), 0..40u32, bytes());
    prop::collection::vec(frame, 0..6).prop_map(|frames| {
        let mut stream = vec![13];
        for (ty, flags, length, payload) in frames {
            stream.extend(ty.to_be_bytes());
            stream.extend(flags.to_be_bytes());
            stream.extend(length.to_be_bytes());
            stream.extend(payload.into_iter().take(length as usize));
        }
        stream
    })
}

/// A manifest that is right but for some bytes.
fn damaged_manifest() -> impl Strategy<Value = Vec<u8>> {
    let manifest = br#"{"minProtocolVersion":5,"maxProtocolVersion":7,"protocolMode":"BIDI_STREAM",
        "services":[{"name":"Wf","ty":"WORKFLOW","abortTimeout":10,"handlers":[
        {"name":"run","ty":"WORKFLOW","input":{"contentType":"a/b","jsonSchema":{"$ref":"x"}}},
        {"name":"see","retryPolicyMaxAttempts":3,"output":{}}]}]}"#;
    prop::collection::vec((0..manifest.len(), any::<u8>()), 0..3).prop_map(|damages| {
        let mut bytes = manifest.to_vec();
        for (at, byte) in damages {
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #[test]
    fn frames(bytes in prop_oneof![bytes(), stream()]) {
        entry::frames(&bytes);
    }

    #[test]
    fn messages(
        ty in prop::sample::select(MessageType::ALL),
        payload in prop_oneof![bytes(), fields()],
    ) {
        entry::message(&[&ty.0.to_be_bytes(), &payload[..]].concat());
    }

    #[test]
    fn manifests(bytes in prop_oneof![bytes(), damaged_manifest()]) {
        entry::manifest(&bytes);
    }
}

#[test]
fn a_future_nested_too_deep_is_refused() {
    // Field 4 of a suspension, then field 4 of each future in turn.
    let payload = (0..500).fold(vec![], |inner: Vec<u8>, _| {
        let mut outer = vec![0x22];
        prost::encode_length_delimiter(inner.len(), &mut outer).unwrap();
        outer.extend(inner);
        outer
    });
    let frame = holdfast_wire::frame::Frame::raw(MessageType::SUSPENSION, payload.into());
    assert!(entry::decode(&frame).expect("a known type").is_err());
}
