//! Protobuf written and read field by field, for rows of which every call writes some: nothing is
//! built in between. What is written is to the byte what prost writes. What is read is only what
//! stands there as the writer writes it; anything else is `None`, and for prost to judge.

use bytes::Bytes;
use prost::Message;

/// Longest message that is moved to where it fits.
const FITTED_BYTES_MAX: usize = 4 << 10;
/// Longest varint.
const VARINT_BYTES_MAX: u32 = 10;

/// How a field is written.
#[derive(Clone, Copy)]
enum Kind {
    Varint = 0,
    Fixed64 = 1,
    Delimited = 2,
}

/// What stands before a field.
const fn key(field: u32, kind: Kind) -> u64 {
    (field << 3 | kind as u32) as u64
}

/// A message being written: its fields in the order of their numbers.
pub struct Writer(Vec<u8>);

impl Writer {
    /// `bytes` is about how long the message becomes.
    pub fn new(bytes: usize) -> Self {
        Writer(Vec::with_capacity(bytes))
    }

    /// What is small is made to fit, because it may be remembered; to move what is large would cost more
    /// than it has too much.
    pub fn done(self) -> Bytes {
        match self.0.len() > FITTED_BYTES_MAX {
            true => self.0.into(),
            false => self.0.into_boxed_slice().into(),
        }
    }

    /// Nothing is written of a 0.
    pub fn number(&mut self, field: u32, value: impl Into<u64>) {
        let value = value.into();
        if value != 0 {
            self.oneof(field, value);
        }
    }

    /// Nothing is written of a `None`.
    pub fn maybe(&mut self, field: u32, value: Option<impl Into<u64>>) {
        if let Some(value) = value {
            self.oneof(field, value.into());
        }
    }

    fn oneof(&mut self, field: u32, value: u64) {
        self.varint(key(field, Kind::Varint));
        self.varint(value);
    }

    /// Nothing is written of a 0.
    pub fn fixed(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.varint(key(field, Kind::Fixed64));
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Nothing is written of an empty one.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        if !value.is_empty() {
            self.some_bytes(field, value);
        }
    }

    /// Is written even if it is empty.
    pub fn some_bytes(&mut self, field: u32, value: &[u8]) {
        self.varint(key(field, Kind::Delimited));
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Is written even if nothing is in it.
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Writer)) {
        self.varint(key(field, Kind::Delimited));
        let at = self.0.len();
        self.0.push(0);
        write(self);
        let bytes = self.0.len() - at - 1;
        match u8::try_from(bytes) {
            Ok(byte) if byte < 0x80 => self.0[at] = byte,
            _ => self.widen(at, bytes as u64),
        }
    }

    /// Makes room for a length that is longer than a byte.
    fn widen(&mut self, at: usize, bytes: u64) {
        let mut length = Writer::new(VARINT_BYTES_MAX as usize);
        length.varint(bytes);
        self.0.splice(at..=at, length.0);
    }

    /// What is too rare to be written field by field.
    pub fn rare(&mut self, field: u32, message: &impl Message) {
        self.some_bytes(field, &message.encode_to_vec());
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A message being read: its fields in the order of their numbers. What cannot be read is nothing,
/// or a stand-in, and `end` says that it was so: one look for all fields costs less than one each.
pub struct Reader<'a> {
    left: &'a [u8],
    /// What it is a part of.
    row: &'a Bytes,
    sound: bool,
}

impl<'a> Reader<'a> {
    pub fn new(row: &'a Bytes) -> Self {
        Reader { left: row, row, sound: true }
    }

    /// What was read, if that was all and nothing was amiss.
    pub fn end<T>(self, value: T) -> Option<T> {
        (self.sound && self.left.is_empty()).then_some(value)
    }

    /// Something cannot stand there as it does.
    pub fn fail(&mut self) {
        (self.sound, self.left) = (false, &[]);
    }

    /// `value`, which must be one.
    pub fn sound<T>(&mut self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.fail();
        }
        value
    }

    /// 0 if it is not there.
    pub fn number<T: TryFrom<u64> + Default>(&mut self, field: u32) -> T {
        self.maybe(field).unwrap_or_default()
    }

    pub fn maybe<T: TryFrom<u64>>(&mut self, field: u32) -> Option<T> {
        if !self.is(field, Kind::Varint) {
            return None;
        }
        let value = self.varint();
        self.sound(T::try_from(value).ok())
    }

    /// False if it is not there.
    pub fn flag(&mut self, field: u32) -> bool {
        let value: u8 = self.number(field);
        if value > 1 {
            self.fail();
        }
        value == 1
    }

    /// 0 if it is not there.
    pub fn fixed(&mut self, field: u32) -> u64 {
        if !self.is(field, Kind::Fixed64) {
            return 0;
        }
        let Some((value, left)) = self.left.split_first_chunk() else {
            self.fail();
            return 0;
        };
        self.left = left;
        u64::from_le_bytes(*value)
    }

    /// Empty if it is not there.
    pub fn bytes(&mut self, field: u32) -> &'a [u8] {
        self.maybe_bytes(field).unwrap_or_default()
    }

    pub fn maybe_bytes(&mut self, field: u32) -> Option<&'a [u8]> {
        if !self.is(field, Kind::Delimited) {
            return None;
        }
        let length = self.varint();
        let parts = usize::try_from(length).ok().and_then(|at| self.left.split_at_checked(at));
        let (bytes, left) = self.sound(parts)?;
        self.left = left;
        Some(bytes)
    }

    /// Empty if it is not there.
    pub fn text(&mut self, field: u32) -> String {
        self.maybe_text(field).unwrap_or_default()
    }

    pub fn maybe_text(&mut self, field: u32) -> Option<String> {
        let text = std::str::from_utf8(self.maybe_bytes(field)?).ok();
        self.sound(text).map(str::to_owned)
    }

    /// As bytes that share the row's memory.
    pub fn maybe_shared(&mut self, field: u32) -> Option<Bytes> {
        self.maybe_bytes(field).map(|bytes| self.row.slice_ref(bytes))
    }

    /// A message that must be there.
    pub fn message<T>(&mut self, field: u32, read: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.maybe_bytes(field);
        let bytes = self.sound(bytes).unwrap_or_default();
        self.within(bytes, read)
    }

    pub fn maybe_message<T>(&mut self, field: u32, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.maybe_bytes(field).map(|bytes| self.within(bytes, read))
    }

    fn within<T>(&mut self, bytes: &'a [u8], read: impl FnOnce(&mut Self) -> T) -> T {
        let left = std::mem::replace(&mut self.left, bytes);
        let value = read(self);
        self.sound &= self.left.is_empty();
        self.left = left;
        value
    }

    /// What is too rare to be read field by field.
    pub fn rare<M: Message + Default>(&mut self, field: u32) -> Option<M> {
        let message = M::decode(self.maybe_shared(field)?).ok();
        self.sound(message)
    }

    /// Whether the next field is this one. Its key is passed over then.
    fn is(&mut self, field: u32, kind: Kind) -> bool {
        let key = key(field, kind);
        let left = match self.left {
            [byte, left @ ..] if key < 0x80 && u64::from(*byte) == key => left,
            [low, high, left @ ..]
                if key >= 0x80
                    && u64::from(*low) == key & 0x7f | 0x80
                    && u64::from(*high) == key >> 7 =>
            {
                left
            }
            _ => return false,
        };
        self.left = left;
        true
    }

    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for at in 0..VARINT_BYTES_MAX {
            let Some((byte, left)) = self.left.split_first() else {
                break;
            };
            self.left = left;
            let bits = u64::from(byte & 0x7f);
            value |= bits << (7 * at);
            // The tenth byte has room for one bit.
            if *byte < 0x80 && (at < 9 || bits < 2) {
                return value;
            }
        }
        self.fail();
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The field `field`, and a text in a message that is in the field behind it.
    fn written(field: u32, number: u64, text: &str) -> Bytes {
        let mut writer = Writer::new(0);
        writer.number(field, number);
        writer.message(field + 1, |writer| writer.some_bytes(1, text.as_bytes()));
        writer.done()
    }

    fn read(row: &Bytes, field: u32) -> Option<(u64, String)> {
        let mut reader = Reader::new(row);
        let number = reader.number(field);
        let text = reader.message(field + 1, |reader| reader.text(1));
        reader.end((number, text))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(field in 1..30u32, number: u64, bits in 0..64, text: String) {
            let (number, text) = (number >> bits, text.repeat(9));
            prop_assert_eq!(read(&written(field, number, &text), field), Some((number, text)));
        }

        #[test]
        fn a_number_is_what_prost_reads(
            bytes in proptest::collection::vec(prop_oneof![3 => 0x80u8.., 1 => 0..4u8], 0..12),
        ) {
            let row = Bytes::from(bytes);
            let expected = prost::encoding::decode_varint(&mut &row[..]).ok();
            let mut reader = Reader::new(&row);
            let read = reader.varint();
            prop_assert_eq!(reader.sound.then_some(read), expected);
        }
    }

    #[test]
    fn what_stands_there_otherwise_is_not_read() {
        let row = written(1, 7, "text");
        assert_eq!(read(&row, 2), None, "another field");
        assert_eq!(read(&row.slice(..row.len() - 1), 1), None, "cut off");
        let more = |more: &[u8]| Bytes::from([&row, more].concat());
        assert_eq!(read(&more(&[0x18, 1]), 1), None, "a field that is not known");
        assert_eq!(read(&more(&row), 1), None, "a field again");
        let sound = |number: u64, read: fn(&mut Reader<'_>)| {
            let row = written(1, number, "text");
            let mut reader = Reader::new(&row);
            read(&mut reader);
            reader.sound
        };
        let small = |reader: &mut Reader<'_>| assert_eq!(reader.number::<u8>(1) % 255, 0);
        assert!(sound(255, small));
        assert!(!sound(256, small), "too large");
        let flag = |reader: &mut Reader<'_>| {
            reader.flag(1);
        };
        assert!(sound(1, flag));
        assert!(!sound(2, flag), "not a flag");
    }
}
