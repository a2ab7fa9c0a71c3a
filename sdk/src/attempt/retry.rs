//! How often a step is tried.
//!
//! A step that fails ends its attempt; the sidecar begins another one after the time that this
//! policy says, and keeps count. Must never wait by itself.

use std::time::Duration;

/// How often a step is tried, and how long one waits in between.
///
/// A step without a policy is tried by the retry policy of its handler. When a policy is used up,
/// the step fails for good: its last error becomes a [`Terminal`](crate::Terminal) that is recorded
/// and that the handler sees.
///
/// ```
/// use holdfast_sdk::RetryPolicy;
/// use std::time::Duration;
///
/// let policy = RetryPolicy::new()
///     .initial_delay(Duration::from_millis(100))
///     .factor(2.0)
///     .max_delay(Duration::from_secs(10))
///     .max_attempts(5);
/// # let _ = policy;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    initial_delay: Duration,
    factor: f64,
    max_delay: Option<Duration>,
    max_attempts: Option<u32>,
    max_duration: Option<Duration>,
}

impl RetryPolicy {
    /// Without end: 100 ms after the first failure, then twice as long each time.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// assert_eq!(RetryPolicy::new(), RetryPolicy::default());
    /// ```
    #[must_use]
    pub const fn new() -> RetryPolicy {
        RetryPolicy {
            initial_delay: Duration::from_millis(100),
            factor: 2.0,
            max_delay: None,
            max_attempts: None,
            max_duration: None,
        }
    }

    /// The time between the first failure and the second try.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// # use std::time::Duration;
    /// let policy = RetryPolicy::new().initial_delay(Duration::from_secs(1));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub const fn initial_delay(mut self, delay: Duration) -> RetryPolicy {
        self.initial_delay = delay;
        self
    }

    /// What each delay is multiplied with to get the next one.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// let steady = RetryPolicy::new().factor(1.0);
    /// # let _ = steady;
    /// ```
    #[must_use]
    pub const fn factor(mut self, factor: f64) -> RetryPolicy {
        self.factor = factor;
        self
    }

    /// No delay gets longer than this.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// # use std::time::Duration;
    /// let policy = RetryPolicy::new().max_delay(Duration::from_secs(60));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub const fn max_delay(mut self, delay: Duration) -> RetryPolicy {
        self.max_delay = Some(delay);
        self
    }

    /// How often the step is tried, the first time included.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// let once = RetryPolicy::new().max_attempts(1);
    /// # let _ = once;
    /// ```
    #[must_use]
    pub const fn max_attempts(mut self, attempts: u32) -> RetryPolicy {
        self.max_attempts = Some(attempts);
        self
    }

    /// How long the step is tried, from its first failure on.
    ///
    /// ```
    /// # use holdfast_sdk::RetryPolicy;
    /// # use std::time::Duration;
    /// let policy = RetryPolicy::new().max_duration(Duration::from_secs(3600));
    /// # let _ = policy;
    /// ```
    #[must_use]
    pub const fn max_duration(mut self, duration: Duration) -> RetryPolicy {
        self.max_duration = Some(duration);
        self
    }

    /// The time to the next try after `attempts` tries within `spent`, or none if that was the
    /// last.
    pub(crate) fn next_delay(&self, attempts: u32, spent: Duration) -> Option<Duration> {
        let used_up = self.max_attempts.is_some_and(|max| attempts >= max)
            || self.max_duration.is_some_and(|max| spent >= max);
        if used_up {
            return None;
        }
        let exponent = i32::try_from(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
        let seconds = self.initial_delay.as_secs_f64() * self.factor.powi(exponent);
        let delay = Duration::try_from_secs_f64(seconds).unwrap_or(DELAY_MAX);
        Some(delay.min(self.max_delay.unwrap_or(DELAY_MAX)))
    }
}

/// Also what a factor leads to that makes no sense.
const DELAY_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: RetryPolicy) -> Vec<Option<u128>> {
        let delay =
            |attempts| policy.next_delay(attempts, Duration::from_secs(u64::from(attempts)));
        (1..5).map(|attempts| delay(attempts).map(|delay| delay.as_millis())).collect()
    }

    #[test]
    fn delays_grow_up_to_their_bound() {
        let policy = RetryPolicy::new().initial_delay(Duration::from_millis(50));
        assert_eq!(delays(policy), [Some(50), Some(100), Some(200), Some(400)]);
        let bounded = policy.max_delay(Duration::from_millis(120));
        assert_eq!(delays(bounded), [Some(50), Some(100), Some(120), Some(120)]);
    }

    #[test]
    fn a_policy_is_used_up_by_attempts_or_by_time() {
        assert_eq!(delays(RetryPolicy::new().factor(1.0).max_attempts(3))[1..3], [Some(100), None]);
        let timed = RetryPolicy::new().factor(1.0).max_duration(Duration::from_secs(2));
        assert_eq!(delays(timed)[..2], [Some(100), None]);
    }

    #[test]
    fn a_senseless_factor_does_no_harm() {
        assert_eq!(
            RetryPolicy::new().factor(f64::NAN).next_delay(9, Duration::ZERO),
            Some(DELAY_MAX)
        );
        assert_eq!(RetryPolicy::new().factor(1e9).next_delay(99, Duration::ZERO), Some(DELAY_MAX));
    }
}
