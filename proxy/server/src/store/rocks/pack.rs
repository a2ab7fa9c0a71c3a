//! Values as the engine has them. A large one is compressed here, once, before the log takes it: the
//! log, the table in memory and every file that it goes through afterwards are smaller by that.
//! Never changes what a reader sees.
//!
//! ```text
//! stored = value                              almost all
//!        | MAGIC  1  length:u32  LZ4 block    large, and worth it
//!        | MAGIC  0  value                    a value that begins with MAGIC itself
//! ```

use holdfast_machine::kv::Fault;
use std::borrow::Cow;

/// No protobuf message begins with a zero byte, so that no row of the machine begins like this.
const MAGIC: [u8; 4] = *b"\0lz4";
const PLAIN: u8 = 0;
const LZ4: u8 = 1;
const HEADER_BYTES: usize = MAGIC.len() + 1;
const LENGTH_BYTES: usize = 4;

/// Smaller values are compressed in the blocks of the files, together with their neighbours; for
/// these the log is not what a commit waits for.
const LARGE_BYTES: usize = 16 << 10;
/// Less than this part saved is not worth the work of every reader.
const SAVED_PART: usize = 8;
/// No byte of an LZ4 block stands for more.
const RATIO_MAX: usize = 255;

/// What is stored for `value`.
pub(super) fn packed(value: &[u8]) -> Cow<'_, [u8]> {
    if value.len() >= LARGE_BYTES
        && let Some(compressed) = compressed(value)
    {
        return Cow::Owned(compressed);
    }
    if value.starts_with(&MAGIC) {
        return Cow::Owned([&MAGIC[..], &[PLAIN], value].concat());
    }
    Cow::Borrowed(value)
}

/// The value that was stored as `stored`.
///
/// # Errors
/// Where `packed` cannot have written it.
pub(super) fn unpacked(stored: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    let Some(rest) = stored.strip_prefix(&MAGIC) else {
        return Ok(Cow::Borrowed(stored));
    };
    match rest.split_first() {
        Some((&PLAIN, value)) => Ok(Cow::Borrowed(value)),
        Some((&LZ4, rest)) => decompressed(rest).map(Cow::Owned),
        _ => Err(damaged("a header")),
    }
}

/// `None` where it is hardly smaller.
fn compressed(value: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(value.len()).ok()?;
    let header = HEADER_BYTES + LENGTH_BYTES;
    let mut stored = vec![0; header + lz4_flex::block::get_maximum_output_size(value.len())];
    stored[..MAGIC.len()].copy_from_slice(&MAGIC);
    stored[MAGIC.len()] = LZ4;
    stored[HEADER_BYTES..header].copy_from_slice(&length.to_le_bytes());
    let bytes = lz4_flex::block::compress_into(value, &mut stored[header..]).ok()?;
    stored.truncate(header + bytes);
    (stored.len() <= value.len() - value.len() / SAVED_PART).then_some(stored)
}

fn decompressed(rest: &[u8]) -> Result<Vec<u8>, Fault> {
    let (length, block) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or(damaged("a length"))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > block.len().saturating_mul(RATIO_MAX) {
        return Err(damaged("a length"));
    }
    let value = lz4_flex::block::decompress(block, length);
    match value {
        Ok(value) if value.len() == length => Ok(value),
        _ => Err(damaged("an LZ4 block")),
    }
}

fn damaged(what: &str) -> Fault {
    Fault::Read(format!("a compressed value is damaged: {what} that was never written"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: usize) -> Vec<u8> {
        (0u32..).flat_map(|number| format!("line {number}\n").into_bytes()).take(bytes).collect()
    }

    /// xorshift: bytes that do not compress.
    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn only_what_is_large_and_compresses_is_compressed() {
        let small = text(LARGE_BYTES - 1);
        assert!(matches!(packed(&small), Cow::Borrowed(_)));
        let large = text(LARGE_BYTES);
        assert!(packed(&large).len() < large.len() / 2);
        let noise = noise(LARGE_BYTES);
        assert!(matches!(packed(&noise), Cow::Borrowed(_)));
    }

    #[test]
    fn what_was_never_written_is_refused() {
        let whole = packed(&text(LARGE_BYTES)).into_owned();
        for length in MAGIC.len()..whole.len() {
            unpacked(&whole[..length]).expect_err("a part of a value is not a value");
        }
        let mut other = whole.clone();
        other[MAGIC.len()] = 7;
        unpacked(&other).expect_err("a kind that there is not");
        let mut huge = whole;
        huge[HEADER_BYTES..HEADER_BYTES + LENGTH_BYTES].fill(0xff);
        unpacked(&huge).expect_err("no memory is taken for a length that cannot be");
    }

    proptest! {
        #[test]
        fn every_value_comes_back(
            head in prop_oneof![Just(vec![]), Just(MAGIC.to_vec()), Just(packed(&text(20_000)).into_owned())],
            tail in prop::collection::vec(any::<u8>(), 0..64),
            times in 0usize..2_000,
        ) {
            let mut value = head;
            for _ in 0..times {
                value.extend(&tail);
            }
            let stored = packed(&value).into_owned();
            prop_assert_eq!(unpacked(&stored).unwrap(), value);
        }
    }
}
