//! Latencies by their frequency. A value keeps its seven highest bits, so that a percentile is at most
//! 1.6 percent too high, whatever its size; recording one allocates nothing.

/// Buckets for each power of two.
const PER_POWER: u64 = 64;
const PER_POWER_BITS: u32 = PER_POWER.trailing_zeros();
const BUCKETS: usize = ((u64::BITS - PER_POWER_BITS + 1) as u64 * PER_POWER) as usize;

/// How often each value came.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS], total: 0, max: 0 }
    }
}

impl Histogram {
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.total += 1;
        self.max = self.max.max(value);
    }

    pub fn add(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    /// The value that so many percent of all do not exceed; 0 if there is none.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return highest(at).min(self.max);
            }
        }
        self.max
    }
}

fn bucket(value: u64) -> usize {
    if value < PER_POWER {
        return value as usize;
    }
    let shift = u64::BITS - 1 - value.leading_zeros() - PER_POWER_BITS;
    (u64::from(shift + 1) * PER_POWER + ((value >> shift) - PER_POWER)) as usize
}

/// The highest value of a bucket.
fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PER_POWER {
        return bucket;
    }
    let (shift, within) = (bucket / PER_POWER - 1, bucket % PER_POWER);
    let lowest = (PER_POWER + within) << shift;
    lowest + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let mut last = 0;
        for at in 1..BUCKETS {
            assert_eq!(bucket(highest(at)), at);
            assert_eq!(bucket(highest(at - 1) + 1), at, "{at}");
            last = highest(at);
        }
        assert_eq!(last, u64::MAX);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values() {
        let mut histogram = Histogram::default();
        let mut values: Vec<u64> = (0..10_000u64).map(|n| (n * n * 7919) % 5_000_000).collect();
        values.iter().for_each(|value| histogram.record(*value));
        values.sort_unstable();
        for percent in [1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
            let exact = values[(percent / 100.0 * 10_000.0) as usize - 1];
            let told = histogram.percentile(percent);
            let off = (told - exact) as f64 / exact as f64;
            assert!(told >= exact && off < 0.016, "p{percent}: {told} for {exact}");
        }
        assert_eq!(histogram.percentile(100.0), histogram.max());
        assert_eq!(Histogram::default().percentile(99.0), 0);
    }

    #[test]
    fn two_are_as_good_as_one() {
        let (mut one, mut two, mut both) = <(Histogram, Histogram, Histogram)>::default();
        for value in 0..1000 {
            if value % 3 == 0 { &mut one } else { &mut two }.record(value);
            both.record(value);
        }
        one.add(&two);
        assert_eq!((one.total(), one.max()), (both.total(), both.max()));
        assert_eq!(one.percentile(42.0), both.percentile(42.0));
    }
}
