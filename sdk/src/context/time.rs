//! Time that survives: timers, and a clock that replay reads again.

use super::durable::{Durable, read_done};
use super::kinds::Context;
use crate::error::Terminal;
use std::panic::Location;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

impl Context {
    /// Waits so long, through restarts of everything. Costs nothing while it waits.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::Duration;
    /// async fn remind(ctx: &Context) -> Result<()> {
    ///     ctx.sleep(Duration::from_secs(7 * 24 * 3600)).await?;
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to wait"]
    pub fn sleep(&self, duration: Duration) -> Durable<'_, ()> {
        self.sleep_until_ms(after(duration))
    }

    /// Waits until that time.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// # use std::time::SystemTime;
    /// async fn remind(ctx: &Context, due: SystemTime) -> Result<()> {
    ///     Ok(ctx.sleep_until(due).await?)
    /// }
    /// ```
    #[track_caller]
    #[must_use = "await it to wait"]
    pub fn sleep_until(&self, time: SystemTime) -> Durable<'_, ()> {
        self.sleep_until_ms(millis(time))
    }

    #[track_caller]
    fn sleep_until_ms(&self, time_ms: u64) -> Durable<'_, ()> {
        let at = Location::caller();
        let leaf = self.shared.act(|attempt| attempt.sleep(time_ms, "", at));
        Durable::new(self, leaf, at, read_done)
    }

    /// The time, read once and recorded.
    ///
    /// ```
    /// # use holdfast_sdk::prelude::*;
    /// async fn stamp(ctx: &Context) -> Result<std::time::SystemTime> {
    ///     Ok(ctx.now().await?)
    /// }
    /// ```
    #[track_caller]
    pub fn now(&self) -> impl Future<Output = Result<SystemTime, Terminal>> + Send {
        let read = self.run("now", async || Ok(millis(SystemTime::now())));
        async move { Ok(UNIX_EPOCH + Duration::from_millis(read.await?)) }
    }
}

/// The time after that duration from now, in milliseconds since 1970.
pub(crate) fn after(duration: Duration) -> u64 {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    millis(SystemTime::now()).saturating_add(duration_ms)
}

/// Milliseconds since 1970; earlier times are taken for 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
