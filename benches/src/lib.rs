//! Benchmarks. Each program prints what one operation costs, so that two versions can be held
//! against each other on one machine. Absolute figures mean little: machines differ and are shared.

use std::time::{Duration, Instant};

/// How often `operation` can be done within about `duration`, and what one costs.
pub fn measure(name: &str, duration: Duration, mut operation: impl FnMut()) {
    let began = Instant::now();
    let mut count = 0u64;
    while began.elapsed() < duration {
        for _ in 0..BURST {
            operation();
        }
        count += BURST;
    }
    let nanoseconds = began.elapsed().as_nanos() / u128::from(count);
    println!("{name:<32} {nanoseconds:>8} ns each, {count} times");
}

/// Operations between two looks at the clock.
const BURST: u64 = 100;
