//! Chance that is the same in every attempt of an invocation.
//!
//! SplitMix64 over the seed that comes with the start: small, and good enough for ids and jitter.
//! Must never be used for secrets: whoever knows the seed knows all that follows.

/// A generator of numbers that replay gives again.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// For peers that send no seed: one made of the invocation id, which never changes either.
    pub(crate) fn from_id(id: &[u8]) -> Random {
        let fold = |seed: u64, byte: &u8| (seed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Random(id.iter().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random (version 4) UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let high = self.next_u64() & !0xf000 | 0x4000;
        let low = self.next_u64() >> 2 | 0x8000_0000_0000_0000;
        let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
        format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_uuid_says_that_it_is_random() {
        let mut random = Random::seeded(7);
        for _ in 0..100 {
            let uuid = random.uuid();
            assert_eq!(uuid.len(), 36);
            assert_eq!(&uuid[14..15], "4");
            assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |mut random: Random| [random.next_u64(), random.next_u64()];
        assert_eq!(draw(Random::seeded(1)), draw(Random::seeded(1)));
        assert_ne!(draw(Random::seeded(1)), draw(Random::seeded(2)));
        assert_ne!(draw(Random::from_id(b"one")), draw(Random::from_id(b"two")));
    }
}
