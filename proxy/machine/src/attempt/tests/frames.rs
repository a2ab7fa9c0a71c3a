//! Frames as text, in both directions. See the notation in the parent.

use bytes::{BufMut, Bytes, BytesMut};
use holdfast_wire::{
    frame::{Decoder, Frame},
    message::MessageType,
};

/// Reads frames that stand one after the other.
pub fn frames(text: &str) -> Vec<Frame> {
    let mut reader = Reader { rest: text.trim() };
    std::iter::from_fn(|| (!reader.rest.is_empty()).then(|| reader.frame())).collect()
}

/// Each frame of `bytes` on a line: its name, then all of it in hex.
pub fn show_frames(bytes: &[u8]) -> String {
    let mut decoder = Decoder::new(u32::MAX);
    decoder.push(Bytes::copy_from_slice(bytes));
    let mut text = String::new();
    while let Some(frame) = decoder.next().unwrap() {
        text.push_str(&format!("{} {:x}\n", frame.ty.name(), frame.encode()));
    }
    assert!(decoder.is_empty(), "only whole frames are sent");
    text
}

pub fn hex(text: &str) -> Bytes {
    assert!(text.len().is_multiple_of(2), "an odd number of digits: {text}");
    let pairs = (0..text.len()).step_by(2).map(|i| &text[i..i + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn frame(&mut self) -> Frame {
        let frame = if self.rest.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.symbolic()
        } else {
            let mut decoder = Decoder::new(u32::MAX);
            decoder.push(hex(self.take(|c| c.is_ascii_hexdigit())));
            decoder.next().unwrap().expect("a whole frame")
        };
        self.rest = self.rest.trim_start();
        frame
    }

    fn symbolic(&mut self) -> Frame {
        let name = self.take(|c| c.is_alphanumeric());
        let ty = match name.strip_prefix("Type") {
            Some(number) => MessageType(u16::from_str_radix(number, 16).unwrap()),
            None => *MessageType::ALL.iter().find(|ty| ty.name() == name).expect(name),
        };
        let requires_ack = self.skip("!");
        Frame { ty, requires_ack, payload: self.message() }
    }

    fn message(&mut self) -> Bytes {
        assert!(self.skip("{"), "a message begins with a brace: {}", self.rest);
        let mut bytes = BytesMut::new();
        while !self.skip("}") {
            self.field(&mut bytes);
            self.rest = self.rest.trim_start();
        }
        bytes.freeze()
    }

    fn field(&mut self, bytes: &mut BytesMut) {
        let number: u64 = self.take(|c| c.is_ascii_digit()).parse().expect("a field number");
        assert!(self.skip(":"), "a field has a value: {}", self.rest);
        let value = match self.rest.chars().next().expect("a value") {
            '"' => self.string(),
            '{' => self.message(),
            'x' => hex(&self.take(|c| c.is_ascii_hexdigit() || c == 'x')[1..]),
            _ => {
                let value = self.take(|c| c.is_ascii_digit()).parse().expect("a number");
                put_varint(bytes, number << 3);
                return put_varint(bytes, value);
            }
        };
        put_varint(bytes, number << 3 | 2);
        put_varint(bytes, value.len() as u64);
        bytes.put(value);
    }

    fn string(&mut self) -> Bytes {
        self.skip("\"");
        let text = self.take(|c| c != '"');
        self.skip("\"");
        text.to_owned().into()
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn put_varint(bytes: &mut BytesMut, mut value: u64) {
    while value >= 0x80 {
        bytes.put_u8(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.put_u8(value as u8);
}
