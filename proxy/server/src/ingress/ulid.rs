//! The text of a ULID: what an injected idempotency key looks like. Never draws chance itself.

use holdfast_machine::time::Timestamp;

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CHARS: usize = 26;
const TIME_BITS: u32 = 48;
const CHANCE_BITS: u32 = 80;

/// 48 bits of time and the lowest 80 bits of `chance`, in Crockford's base 32.
pub(super) fn text(now: Timestamp, chance: u128) -> String {
    let time = u128::from(now.0) & ((1 << TIME_BITS) - 1);
    let mut value = time << CHANCE_BITS | chance & ((1 << CHANCE_BITS) - 1);
    let mut text = [b'0'; CHARS];
    for digit in text.iter_mut().rev() {
        *digit = DIGITS[(value % 32) as usize];
        value /= 32;
    }
    String::from_utf8(text.to_vec()).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts() {
        assert_eq!(text(Timestamp(0), 0), "00000000000000000000000000");
        assert_eq!(text(Timestamp((1 << 48) - 1), u128::MAX), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        // The example of the ULID specification begins with this time.
        assert_eq!(text(Timestamp(1_469_918_176_385), 31), "01ARYZ6S41000000000000000Z");
        assert_eq!(text(Timestamp(1 << 48), 1 << 80), "00000000000000000000000000");
    }
}
