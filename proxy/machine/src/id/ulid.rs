//! ULIDs: 48 bits of time in milliseconds and 80 bits of chance; as a text, 26 digits of Crockford's
//! base 32. Never draws chance itself.

use crate::time::Timestamp;

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGIT_BITS: u32 = 5;
const CHARS: usize = 26;
const TIME_BITS: u32 = 48;
/// What is not the time.
pub const CHANCE: u128 = (1 << 80) - 1;

/// Of what `random` has beyond 80 bits, nothing is taken.
pub fn new(now: Timestamp, random: u128) -> u128 {
    let time = u128::from(now.0) & ((1 << TIME_BITS) - 1);
    time << CHANCE.count_ones() | random & CHANCE
}

/// The text of a new one.
pub fn text(now: Timestamp, random: u128) -> String {
    let mut value = new(now, random);
    let mut text = [b'0'; CHARS];
    for digit in text.iter_mut().rev() {
        *digit = DIGITS[(value % 32) as usize];
        value >>= DIGIT_BITS;
    }
    String::from_utf8(text.to_vec()).expect("digits are ASCII")
}

/// The value of a text as `text` makes them: in capitals, without the letters that look like digits.
pub fn parse(text: &str) -> Option<u128> {
    let digits: &[u8; CHARS] = text.as_bytes().try_into().ok()?;
    let mut value = 0u128;
    for digit in digits {
        let digit = DIGITS.binary_search(digit).ok()?;
        value = value.checked_mul(32)? | digit as u128;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        let known = [
            (0, 0, "00000000000000000000000000"),
            ((1 << 48) - 1, u128::MAX, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
            // The example of the ULID specification begins with this time.
            (1_469_918_176_385, 31, "01ARYZ6S41000000000000000Z"),
        ];
        for (time, random, expected) in known {
            assert_eq!(text(Timestamp(time), random), expected);
            assert_eq!(parse(expected), Some(new(Timestamp(time), random)));
        }
        assert_eq!(text(Timestamp(1 << 48), 1 << 80), known[0].2);
    }

    #[test]
    fn other_texts_are_none() {
        for other in [
            "",
            "my-key",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "01ARYZ6S4100000000000000ZZZ",
            "01aryz6s41000000000000000z",
            "01ARYZ6S4100000000000000IO",
            "01ARYZ6S41000000000000000é",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
