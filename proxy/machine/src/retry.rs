//! Retry arithmetic: how long to wait after which failure, and when to give up. Draws no chance
//! itself.

use std::time::Duration;

/// What to do when the attempts of a policy are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnMaxAttempts {
    /// Keep the invocation; a person resumes it.
    Pause,
    /// End the invocation with the last failure.
    Kill,
}

/// When and how often a failed attempt is repeated. `max_attempts` counts the first attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    pub initial_interval: Duration,
    pub exponentiation_factor: f64,
    pub max_interval: Duration,
    /// `None`: without limit. At least 1.
    pub max_attempts: Option<u32>,
    pub on_max_attempts: OnMaxAttempts,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            initial_interval: Duration::from_millis(500),
            exponentiation_factor: 2.0,
            max_interval: Duration::from_secs(60),
            max_attempts: Some(70),
            on_max_attempts: OnMaxAttempts::Pause,
        }
    }
}

/// Smallest jitter.
const JITTER_MIN_MS: f64 = 3.0;
/// Largest jitter, as a part of the interval.
const JITTER_MAX_PART: f64 = 0.3;

/// What comes after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Try again after this long.
    After(Duration),
    /// The attempts of the policy are used up.
    Exhausted,
}

impl RetryPolicy {
    /// What comes after failure number `failures` in a row, from 1.
    ///
    /// The interval is `initial_interval` after the first failure and grows by
    /// `exponentiation_factor` with each, up to `max_interval`. A jitter is added to it, between
    /// 3 ms and 0.3 of the interval, where `chance` = 0 gives the smallest and `u64::MAX` the
    /// largest. With the default policy the waits lie within 503 to 650 ms, 1003 to 1300 ms,
    /// 2003 to 2600 ms, and from the eighth on within 60.003 to 78 s; the seventieth failure is
    /// the last.
    pub fn after(&self, failures: u32, chance: u64) -> Next {
        if self.max_attempts.is_some_and(|attempts| failures >= attempts.max(1)) {
            return Next::Exhausted;
        }
        let interval = self.interval_ms(failures);
        let spread = (interval * JITTER_MAX_PART - JITTER_MIN_MS).max(0.0);
        let jitter = JITTER_MIN_MS + spread * (chance as f64 / u64::MAX as f64);
        Next::After(Duration::from_millis((interval + jitter) as u64))
    }

    fn interval_ms(&self, failures: u32) -> f64 {
        let initial = self.initial_interval.as_secs_f64() * 1000.0;
        let max = self.max_interval.as_secs_f64() * 1000.0;
        let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let interval = initial * self.exponentiation_factor.max(0.0).powi(exponent);
        // Zero times infinity is no number; zero is what was meant.
        if interval.is_nan() { 0.0 } else { interval.min(max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    /// For each number of failures: the shortest and the longest wait, in milliseconds.
    fn check(policy: RetryPolicy, failures: &[u32], expected: Expect) {
        let mut table = String::new();
        for failures in failures {
            let row = match (policy.after(*failures, 0), policy.after(*failures, u64::MAX)) {
                (Next::After(least), Next::After(most)) => {
                    format!("{}..{}", least.as_millis(), most.as_millis())
                }
                (Next::Exhausted, Next::Exhausted) => "exhausted".into(),
                mixed => panic!("chance decides whether there is a retry: {mixed:?}"),
            };
            writeln!(table, "{failures}: {row}").unwrap();
        }
        expected.assert_eq(&table);
    }

    #[test]
    fn intervals_grow_to_a_limit_and_attempts_are_used_up() {
        check(
            RetryPolicy::default(),
            &[1, 2, 3, 7, 8, 9, 69, 70, 71],
            expect![[r#"
                1: 503..650
                2: 1003..1300
                3: 2003..2600
                7: 32003..41600
                8: 60003..78000
                9: 60003..78000
                69: 60003..78000
                70: exhausted
                71: exhausted
            "#]],
        );
    }

    #[test]
    fn short_intervals_get_the_smallest_jitter() {
        let policy = RetryPolicy {
            initial_interval: Duration::from_millis(5),
            exponentiation_factor: 1.0,
            max_attempts: None,
            ..RetryPolicy::default()
        };
        check(
            policy,
            &[1, 2, u32::MAX],
            expect![[r#"
                1: 8..8
                2: 8..8
                4294967295: 8..8
            "#]],
        );
    }

    #[test]
    fn odd_policies_do_no_harm() {
        let none = RetryPolicy { max_attempts: Some(0), ..RetryPolicy::default() };
        check(
            none,
            &[1],
            expect![[r#"
                1: exhausted
            "#]],
        );
        let zero = RetryPolicy {
            initial_interval: Duration::ZERO,
            exponentiation_factor: f64::INFINITY,
            ..RetryPolicy::default()
        };
        check(
            zero,
            &[1, 2, 3],
            expect![[r#"
                1: 3..3
                2: 3..3
                3: 3..3
            "#]],
        );
        let steep = RetryPolicy { exponentiation_factor: f64::MAX, ..RetryPolicy::default() };
        check(
            steep,
            &[1, 2, 60],
            expect![[r#"
                1: 503..650
                2: 60003..78000
                60: 60003..78000
            "#]],
        );
    }
}
