//! What was seen on the wire between others, read and written again to the byte.

use bytes::Bytes;
use expect_test::expect_file;
use holdfast_wire::frame::{Decoder, Frame, PAYLOAD_BYTES_MAX_DEFAULT};
use holdfast_wire::message::MessageType;

use crate::entry;

const CAPTURES: &str = include_str!("captures.txt");

#[test]
fn captures_mean_what_they_say_and_are_written_to_the_byte() {
    let mut meaning = String::new();
    for line in CAPTURES.lines() {
        if line.is_empty() || line.starts_with('#') {
            meaning += &format!("{line}\n");
            continue;
        }
        let [direction, name, hex] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("expected direction, name and hex, got {line}");
        };
        let bytes = unhex(hex);
        let frame = frame(&bytes);
        assert_eq!(frame.ty.name(), name, "{hex}");
        let read = entry::decode(&frame).expect("a known type").expect("a whole message");
        assert_eq!(read.written.encode(), bytes, "{line}");
        let ack = if frame.requires_ack { " (requires ack)" } else { "" };
        meaning += &format!("{direction} {name}{ack} {}\n", read.shown);
    }
    expect_file!["captures.expected.txt"].assert_eq(&meaning);
}

#[test]
fn every_type_but_those_that_nobody_sent_is_captured() {
    let seen: Vec<_> = CAPTURES.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let unseen: Vec<_> =
        MessageType::ALL.iter().map(|ty| ty.name()).filter(|name| !seen.contains(name)).collect();
    let expected = ["CommandAck", "GetInvocationOutput", "GetInvocationOutputCompletion"];
    assert_eq!(unseen, expected);
}

fn frame(bytes: &Bytes) -> Frame {
    let mut decoder = Decoder::new(PAYLOAD_BYTES_MAX_DEFAULT);
    decoder.push(bytes.clone());
    let frame = decoder.next().unwrap().expect("a whole frame");
    assert!(decoder.is_empty());
    frame
}

fn unhex(hex: &str) -> Bytes {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect()
}
